// dlopen, dlsym and ELF notes behind library.h.
#include "platform/gpu/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "lt_audit/error.h"

namespace lt_audit {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, 3> kMajors = {13, 12, 11};

/// Directories of CUDA installations that the dynamic linker may not know of, newest first.
std::vector<fs::path> usual_directories() {
  std::vector<fs::path> toolkits;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/local", ignored)) {
    if (entry.path().filename().string().starts_with("cuda-")) toolkits.push_back(entry.path() / "lib64");
  }
  std::sort(toolkits.rbegin(), toolkits.rend());
  std::vector<fs::path> directories = {"/usr/local/cuda/lib64"};
  directories.insert(directories.end(), toolkits.begin(), toolkits.end());
  directories.emplace_back("/usr/lib/x86_64-linux-gnu");
  directories.emplace_back("/usr/lib/aarch64-linux-gnu");
  return directories;
}

std::string last_dl_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "no reason given";
}

/// RTLD_LOCAL: the symbols of two versions must not mix; libcublas finds an already loaded libcublasLt by its soname.
void* open_quietly(const std::string& name) { return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); }

/// The build id among the notes of one segment, in hex.
std::string build_id_in(const std::byte* notes, std::size_t bytes) {
  const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= bytes) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    const std::size_t name = at + sizeof header;
    const std::size_t description = name + padded(header.n_namesz);
    if (description + header.n_descsz > bytes) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
      std::string hex;
      for (std::size_t i = 0; i < header.n_descsz; ++i) {
        hex += fmt::format("{:02x}", std::to_integer<unsigned>(notes[description + i]));
      }
      return hex;
    }
    at = description + padded(header.n_descsz);
  }
  return {};
}

struct BuildIdSearch {
  ElfW(Addr) base = 0;
  std::string path;
  std::string build_id;
};

int visit_object(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<BuildIdSearch*>(data);
  if (info->dlpi_addr != search.base || search.path != info->dlpi_name) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // The loader hands out addresses as integers. NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* notes = reinterpret_cast<const std::byte*>(info->dlpi_addr + segment.p_vaddr);
    search.build_id = build_id_in(notes, segment.p_memsz);
    if (!search.build_id.empty()) return 1;
  }
  return 1;
}

SharedLibrary identify(void* handle) {
  SharedLibrary library;
  library.handle = handle;
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return library;
  BuildIdSearch search{map->l_addr, map->l_name, {}};
  dl_iterate_phdr(visit_object, &search);
  library.build_id = search.build_id;
  std::error_code failed;
  const fs::path resolved = fs::canonical(map->l_name, failed);
  library.path = failed ? std::string(map->l_name) : resolved.string();
  return library;
}

SharedLibrary load_from_path(const std::string& path, const char* option, const char* soname_stem) {
  const std::string remedy =
      fmt::format("give {} the path of a 64-bit {}.13, .12 or .11, or leave it out", option, soname_stem);
  std::error_code failed;
  if (!fs::exists(path, failed)) {
    throw AuditError(ErrorKind::cannot_run, fmt::format("{} {}: no such file; {}", option, path, remedy));
  }
  if (fs::is_directory(path, failed)) {
    throw AuditError(ErrorKind::cannot_run, fmt::format("{} {}: is a directory; {}", option, path, remedy));
  }
  // Absolute, because dlopen searches the library path for a name without a slash.
  void* handle = open_quietly(fs::absolute(path).string());
  if (handle == nullptr) {
    throw AuditError(ErrorKind::cannot_run,
                     fmt::format("{} {}: cannot be loaded: {}; {}", option, path, last_dl_error(), remedy));
  }
  return identify(handle);
}

/// By soname, then in the directories. Appends to `first_error` what the loader said about a file that exists but does
/// not load.
SharedLibrary find_library(const std::string& soname, const std::vector<fs::path>& directories,
                           std::string& first_error) {
  if (void* handle = open_quietly(soname)) return identify(handle);
  for (const fs::path& directory : directories) {
    const fs::path file = directory / soname;
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    if (void* handle = open_quietly(file.string())) return identify(handle);
    if (first_error.empty()) first_error = last_dl_error();
  }
  return {};
}

/// Binds one function after the other and remembers the required ones that are missing.
class Binder {
 public:
  explicit Binder(const SharedLibrary& library) : library_(library) {}

  /// Header is the declared type of the function, so that a table entry with other arguments does not compile.
  template <class Header, class Signature>
  void optional(const char* symbol, Fn<Signature>& function) {
    if (void* address = dlsym(library_.handle, symbol)) function = reinterpret_cast<Header*>(address);
  }
  template <class Header, class Signature>
  void required(const char* symbol, Fn<Signature>& function) {
    optional<Header>(symbol, function);
    if (!function) missing_ += fmt::format("{}{}", missing_.empty() ? "" : ", ", symbol);
  }
  /// Throws when a required function is missing.
  void finish(const char* option, const char* soname_stem) const {
    if (missing_.empty()) return;
    throw AuditError(ErrorKind::cannot_run, fmt::format("{} is no usable {}: it lacks {}; give another with {}",
                                                        library_.path, soname_stem, missing_, option));
  }

 private:
  const SharedLibrary& library_;
  std::string missing_;
};

template <class Api>
void read_version(const Api& api, LibraryFacts& facts) {
  static_cast<void>(api.get_property(MAJOR_VERSION, &facts.major));
  static_cast<void>(api.get_property(MINOR_VERSION, &facts.minor));
  static_cast<void>(api.get_property(PATCH_LEVEL, &facts.patch));
}

}  // namespace

SharedLibrary load_cublaslt(const std::string& path) {
  if (!path.empty()) return load_from_path(path, "--cublaslt", "libcublasLt.so");
  const std::vector<fs::path> directories = usual_directories();
  std::string error;
  for (const int major : kMajors) {
    SharedLibrary library = find_library(fmt::format("libcublasLt.so.{}", major), directories, error);
    if (library.handle != nullptr) return library;
  }
  std::string places;
  for (const fs::path& directory : directories) places += fmt::format(", {}", directory.string());
  throw AuditError(
      ErrorKind::cannot_run,
      fmt::format(
          "no libcublasLt.so.13, .12 or .11 found by the dynamic linker{}{}; install cuBLAS, give its path with "
          "--cublaslt, or use --target simulator",
          places, error.empty() ? "" : fmt::format(" (one did not load: {})", error)));
}

SharedLibrary load_cublas(const std::string& path, const SharedLibrary& cublaslt, int major) {
  if (!path.empty()) return load_from_path(path, "--cublas", "libcublas.so");
  const std::string soname = fmt::format("libcublas.so.{}", major);
  // Beside the Lt first: an installation's two libraries belong together.
  if (void* handle = open_quietly((fs::path(cublaslt.path).parent_path() / soname).string())) return identify(handle);
  std::string ignored;
  return find_library(soname, usual_directories(), ignored);
}

LtApi bind_cublaslt(const SharedLibrary& library) {
  LtApi api;
  Binder binder(library);
  binder.required<decltype(cublasLtCreate)>("cublasLtCreate", api.create);
  binder.required<decltype(cublasLtDestroy)>("cublasLtDestroy", api.destroy);
  binder.required<decltype(cublasLtGetVersion)>("cublasLtGetVersion", api.get_version);
  binder.required<decltype(cublasLtGetProperty)>("cublasLtGetProperty", api.get_property);
  binder.required<decltype(cublasLtMatmulDescCreate)>("cublasLtMatmulDescCreate", api.matmul_desc_create);
  binder.required<decltype(cublasLtMatmulDescDestroy)>("cublasLtMatmulDescDestroy", api.matmul_desc_destroy);
  binder.required<decltype(cublasLtMatmulDescSetAttribute)>("cublasLtMatmulDescSetAttribute",
                                                            api.matmul_desc_set_attribute);
  binder.optional<decltype(cublasLtMatmulDescGetAttribute)>("cublasLtMatmulDescGetAttribute",
                                                            api.matmul_desc_get_attribute);
  binder.required<decltype(cublasLtMatrixLayoutCreate)>("cublasLtMatrixLayoutCreate", api.matrix_layout_create);
  binder.required<decltype(cublasLtMatrixLayoutDestroy)>("cublasLtMatrixLayoutDestroy", api.matrix_layout_destroy);
  binder.required<decltype(cublasLtMatrixLayoutSetAttribute)>("cublasLtMatrixLayoutSetAttribute",
                                                              api.matrix_layout_set_attribute);
  binder.optional<decltype(cublasLtMatrixLayoutGetAttribute)>("cublasLtMatrixLayoutGetAttribute",
                                                              api.matrix_layout_get_attribute);
  binder.required<decltype(cublasLtMatmulPreferenceCreate)>("cublasLtMatmulPreferenceCreate",
                                                            api.matmul_preference_create);
  binder.required<decltype(cublasLtMatmulPreferenceDestroy)>("cublasLtMatmulPreferenceDestroy",
                                                             api.matmul_preference_destroy);
  binder.required<decltype(cublasLtMatmulPreferenceSetAttribute)>("cublasLtMatmulPreferenceSetAttribute",
                                                                  api.matmul_preference_set_attribute);
  binder.required<decltype(cublasLtMatmulAlgoGetHeuristic)>("cublasLtMatmulAlgoGetHeuristic",
                                                            api.matmul_algo_get_heuristic);
  binder.required<decltype(cublasLtMatmulAlgoCheck)>("cublasLtMatmulAlgoCheck", api.matmul_algo_check);
  binder.optional<decltype(cublasLtMatmulAlgoConfigGetAttribute)>("cublasLtMatmulAlgoConfigGetAttribute",
                                                                  api.matmul_algo_config_get_attribute);
  binder.optional<decltype(cublasLtMatmulAlgoCapGetAttribute)>("cublasLtMatmulAlgoCapGetAttribute",
                                                               api.matmul_algo_cap_get_attribute);
  binder.required<decltype(cublasLtMatmul)>("cublasLtMatmul", api.matmul);
  binder.optional<decltype(cublasLtLoggerSetCallback)>("cublasLtLoggerSetCallback", api.logger_set_callback);
  binder.optional<decltype(cublasLtLoggerSetLevel)>("cublasLtLoggerSetLevel", api.logger_set_level);
  binder.finish("--cublaslt", "libcublasLt");
  return api;
}

BlasApi bind_cublas(const SharedLibrary& library) {
  // cublas_api.h 13.1.0 overloads the two Ex functions in C++, so that their C types have to be written out.
  using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                const void*, cudaDataType_t, int, const void*, cudaDataType_t, int, const void*, void*,
                                cudaDataType_t, int, cublasComputeType_t, cublasGemmAlgo_t);
  using GemmStridedBatchedEx =
      cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
                     cudaDataType_t, int, long long, const void*, cudaDataType_t, int, long long, const void*, void*,
                     cudaDataType_t, int, long long, int, cublasComputeType_t, cublasGemmAlgo_t);
  BlasApi api;
  Binder binder(library);
  binder.required<decltype(cublasCreate_v2)>("cublasCreate_v2", api.create);
  binder.required<decltype(cublasDestroy_v2)>("cublasDestroy_v2", api.destroy);
  binder.required<decltype(cublasGetProperty)>("cublasGetProperty", api.get_property);
  binder.required<decltype(cublasSetStream_v2)>("cublasSetStream_v2", api.set_stream);
  binder.required<GemmEx>("cublasGemmEx", api.gemm_ex);
  binder.required<GemmStridedBatchedEx>("cublasGemmStridedBatchedEx", api.gemm_strided_batched_ex);
  binder.optional<decltype(cublasSgemm_v2)>("cublasSgemm_v2", api.sgemm);
  binder.optional<decltype(cublasDgemm_v2)>("cublasDgemm_v2", api.dgemm);
  binder.optional<decltype(cublasSetPointerMode_v2)>("cublasSetPointerMode_v2", api.set_pointer_mode);
  binder.optional<decltype(cublasGetPointerMode_v2)>("cublasGetPointerMode_v2", api.get_pointer_mode);
  binder.optional<decltype(cublasSetMathMode)>("cublasSetMathMode", api.set_math_mode);
  binder.optional<decltype(cublasGetMathMode)>("cublasGetMathMode", api.get_math_mode);
  binder.optional<decltype(cublasGetAtomicsMode)>("cublasGetAtomicsMode", api.get_atomics_mode);
  binder.optional<decltype(cublasSetWorkspace_v2)>("cublasSetWorkspace_v2", api.set_workspace);
  binder.finish("--cublas", "libcublas");
  return api;
}

LibraryFacts facts_of(const LtApi& api, const SharedLibrary& library) {
  LibraryFacts facts;
  read_version(api, facts);
  facts.version_number = api.get_version();
  facts.path = library.path;
  facts.build_id = library.build_id;
  return facts;
}

LibraryFacts facts_of(const BlasApi& api, const SharedLibrary& library) {
  LibraryFacts facts;
  read_version(api, facts);
  facts.path = library.path;
  facts.build_id = library.build_id;
  return facts;
}

}  // namespace lt_audit
