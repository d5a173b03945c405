# Language level, warnings and the few options of the build.
option(LT_AUDIT_TESTS "Build the tests" ON)
option(LT_AUDIT_BENCHMARKS "Build the benchmark programs" OFF)
option(LT_AUDIT_WERROR "Treat warnings as errors" ON)
set(LT_AUDIT_SANITIZE "" CACHE STRING "Sanitizers for host code, as -fsanitize takes them: address,undefined")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
# CMake 3.25 (Debian 12) knows no C++20 flag of nvcc; nvcc 12 and later have it.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Turing to Blackwell as machine code, PTX of the newest for what comes after.
if(NOT DEFINED CACHE{CMAKE_CUDA_ARCHITECTURES} OR CMAKE_CUDA_ARCHITECTURES STREQUAL "75")
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 100-real 120 CACHE STRING "CUDA architectures" FORCE)
endif()

# Linked by every target of ours, never exported: warnings and sanitizers for host code.
add_library(lt_audit_warnings INTERFACE)
target_compile_options(lt_audit_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor>
  # GCC 12 sees an overlap in `"text" + std::string` when it optimises; there is none (GCC bug 105651, mended in 13).
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${LT_AUDIT_WERROR}>>:-Werror>)
if(LT_AUDIT_SANITIZE)
  target_compile_options(lt_audit_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${LT_AUDIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>)
  target_link_options(lt_audit_warnings INTERFACE -fsanitize=${LT_AUDIT_SANITIZE})
endif()

# One test program per area; ctest discovers its tests when it runs, since a listing at build time would start the program.
# GPU: the fixtures whose tests skip themselves without a GPU; they get the label `gpu`.
function(lt_audit_add_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "GPU" "SOURCES;LIBRARIES")
  if(NOT LT_AUDIT_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main lt_audit_warnings)
  # Where the tests run must not decide about them: a job of GitHub Actions would get annotations of every test.
  set(surroundings ENVIRONMENT_MODIFICATION GITHUB_ACTIONS=unset:)
  if(arg_GPU)
    set(elsewhere TEST_FILTER -${arg_GPU}.*)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_LIST ${name}_gpu TEST_FILTER ${arg_GPU}.*
      PROPERTIES TIMEOUT 300 LABELS gpu ${surroundings})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST ${elsewhere} PROPERTIES TIMEOUT 300 ${surroundings})
endfunction()
