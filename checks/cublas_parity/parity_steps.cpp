// What the cases do: the product through cuBLAS, the same memory again through cuBLASLt, bits and times of both; and
// the modes of a new handle.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "lt_audit/error.h"
#include "lt_audit/owners.h"
#include "lt_audit/session.h"
#include "lt_audit/verdict.h"
#include "parity_cases.h"
#include "parity_times.h"

namespace lt_audit::cublas_parity {
namespace {

/// As many as the engine asks for.
constexpr int kRequested = 8;
/// Bits are compared on the host: a larger D would take longer to copy than to compute.
constexpr std::int64_t kMostBytesOfBits = std::int64_t{64} << 20;

/// Waits for the call. False when it has spoiled the context, which is then the end of the case.
bool survived(Session& session, PreparedMatmul& matmul, const std::string& call, Observation& observation) {
  const auto error = session.platform().cuda.stream_synchronize(matmul.stream());
  if (error == cudaSuccess) return true;
  observation.end = ProcessEnd::context_lost;
  observation.end_detail = fmt::format("{} after {}", name_of(error), call);
  return false;
}

/// cuBLAS on freshly filled memory. False when there is no going on.
bool run_cublas(Session& session, PreparedMatmul& matmul, const CublasForm& form, Observation& observation) {
  matmul.fill();
  Observation seen;
  auto& cublas = observation.cublas.emplace();
  if (const auto reason = matmul.cublas(seen, form); !reason.empty()) throw NotRun(reason);
  cublas.call = seen.stages.back().call;
  cublas.status = seen.stages.back().status;
  if (!survived(session, matmul, cublas.call, observation)) return false;
  if (!seen.stages.back().ok()) return true;
  matmul.verify(seen);
  cublas.verification = seen.verification;
  observation.end = seen.end;
  observation.end_detail = seen.end_detail;
  return observation.end == ProcessEnd::survived;
}

/// cuBLASLt on freshly filled memory, with the first result. True when everything is right.
bool run_lt(Session& session, PreparedMatmul& matmul, HeuristicAnswer& answer, Observation& observation) {
  if (!matmul.describe(observation)) return false;
  answer = matmul.query(session.handle(), kRequested);
  const bool answered = record(observation, "heuristic", "cublasLtMatmulAlgoGetHeuristic", answer.status);
  for (const auto& result : answer.results) observation.heuristic.push_back(matmul.read(result));
  if (!answered || answer.results.empty() || answer.results.front().state != CUBLAS_STATUS_SUCCESS) return false;
  const auto& first = observation.heuristic.front();
  observation.facts[kAlgorithm] =
      fmt::format("algo {}, tile {}, stages {}, split-K {}, {} bytes of workspace", first.algo_id, first.tile,
                  first.stages, first.split_k, first.workspace_bytes);
  matmul.fill();
  const auto& algo = answer.results.front().algo;
  const bool accepted = matmul.matmul(session.handle(), &algo, matmul.stream(), observation);
  if (!survived(session, matmul, "cublasLtMatmul", observation) || !accepted) return false;
  return matmul.verify(observation);
}

/// Whether both libraries add in the same order: promised nowhere, and what an application sees that compares outputs.
/// The digests are kept: another version of either library can be held against them.
std::string compare_bits(Session& session, PreparedMatmul& matmul, const CublasForm& form,
                         const cublasLtMatmulAlgo_t& algo, Observation& observation) {
  const auto& p = matmul.problem();
  if (is_integer(p.type_a)) return "equal, as integers are";
  if (shape_d(p).bytes() > kMostBytesOfBits) return "not compared";
  Observation ignored;
  matmul.fill_rounding();
  static_cast<void>(matmul.cublas(ignored, form));
  const auto by_cublas = matmul.d_digest();
  matmul.fill_rounding();
  static_cast<void>(matmul.matmul(session.handle(), &algo, matmul.stream()));
  const auto by_lt = matmul.d_digest();
  observation.facts[kCublasDBitsFact] = fmt::format("{:016x}", by_cublas);
  observation.facts[kDBitsFact] = fmt::format("{:016x}", by_lt);
  return by_lt == by_cublas ? "equal" : "differ";
}

Observation observe_parity(Session& session, const Case& the_case) {
  Observation observation;
  auto matmul = session.prepare(the_case.problem);
  const auto form = form_of(the_case);
  if (!run_cublas(session, matmul, form, observation)) return observation;
  HeuristicAnswer answer;
  const bool lt_works = run_lt(session, matmul, answer, observation);
  if (observation.end != ProcessEnd::survived) return observation;
  if (lt_works && cublas_is_right(observation)) {
    observation.facts[kBits] = compare_bits(session, matmul, form, answer.results.front().algo, observation);
    compare_times(session, matmul, form, answer, observation);
  }
  set_route(observation);
  return observation;
}

std::string name_of_mode(cublasMath_t mode) {
  switch (mode) {
    case CUBLAS_DEFAULT_MATH:
      return "CUBLAS_DEFAULT_MATH";
    case CUBLAS_PEDANTIC_MATH:
      return "CUBLAS_PEDANTIC_MATH";
    case CUBLAS_TF32_TENSOR_OP_MATH:
      return "CUBLAS_TF32_TENSOR_OP_MATH";
    default:
      return fmt::format("math mode {}", static_cast<int>(mode));
  }
}
std::string name_of_mode(cublasPointerMode_t mode) {
  return mode == CUBLAS_POINTER_MODE_HOST ? "CUBLAS_POINTER_MODE_HOST" : "CUBLAS_POINTER_MODE_DEVICE";
}
std::string name_of_mode(cublasAtomicsMode_t mode) {
  return mode == CUBLAS_ATOMICS_NOT_ALLOWED ? "CUBLAS_ATOMICS_NOT_ALLOWED" : "CUBLAS_ATOMICS_ALLOWED";
}

/// One mode of the handle as a fact under the name of its getter, and in kChanged when it is not the documented one.
template <class Mode>
void read_mode(const Fn<cublasStatus_t(cublasHandle_t, Mode*)>& get, const char* call, cublasHandle_t handle,
               Mode documented, Observation& observation) {
  if (!get) {
    observation.facts[call] = "not exported";
    return;
  }
  auto mode = documented;
  const auto status = get(handle, &mode);
  record(observation, "get_mode", call, status);
  observation.facts[call] = status == CUBLAS_STATUS_SUCCESS ? name_of_mode(mode) : name_of(status);
  if (status == CUBLAS_STATUS_SUCCESS && mode == documented) return;
  auto& changed = observation.facts[kChanged];
  changed += fmt::format("{}{} says {} where {} is documented", changed.empty() ? "" : ", ", call,
                         observation.facts[call], name_of_mode(documented));
}

Observation observe_defaults(Session& session) {
  const auto& blas = session.platform().blas;
  if (!blas.create) throw NotRun("libcublas is not loaded");
  Observation observation;
  cublasHandle_t object = nullptr;
  require(blas.create(&object), "cublasCreate");
  const BlasHandle handle(blas, object);
  read_mode(blas.get_pointer_mode, "cublasGetPointerMode", object, CUBLAS_POINTER_MODE_HOST, observation);
  read_mode(blas.get_math_mode, "cublasGetMathMode", object, CUBLAS_DEFAULT_MATH, observation);
  read_mode(blas.get_atomics_mode, "cublasGetAtomicsMode", object, CUBLAS_ATOMICS_NOT_ALLOWED, observation);
  return observation;
}

}  // namespace

Observation observe(Session& session, const Case& the_case) {
  return the_case.id == kDefaults ? observe_defaults(session) : observe_parity(session, the_case);
}

Observation cublas_as_matmul(const CublasObservation& cublas) {
  Observation observation;
  observation.stages = {{"matmul", cublas.call, cublas.status}};
  observation.verification = cublas.verification;
  return observation;
}

Outcome outcome_of_cublas(const Observation& observation) {
  if (!observation.cublas || observation.cublas->status != "SUCCESS" || !observation.cublas->verification) {
    return Outcome::refused;
  }
  return outcome_of(cublas_as_matmul(*observation.cublas));
}

bool cublas_is_right(const Observation& observation) {
  const auto outcome = outcome_of_cublas(observation);
  return outcome == Outcome::correct || outcome == Outcome::unproven;
}

bool lt_is_right(const Observation& observation) {
  const auto outcome = outcome_of(observation);
  return outcome == Outcome::correct || outcome == Outcome::unproven;
}

void set_route(Observation& observation) {
  const auto lt = outcome_of(observation);
  const auto cublas = outcome_of_cublas(observation);
  const auto set = [&observation](std::string_view route, std::string_view reason) {
    observation.facts[kRoute] = route;
    observation.facts[kRouteReason] = reason;
  };
  const bool lt_refuses = lt == Outcome::refused || lt == Outcome::late_refusal;
  const bool cublas_refuses = cublas == Outcome::refused;
  if (lt_is_right(observation) && cublas_is_right(observation)) {
    const std::string speed = observation.facts.count(kSpeed) > 0 ? observation.facts[kSpeed] : std::string(kNotTimed);
    const bool one_faster = speed == kLtFaster || speed == kCublasFaster;
    if (!one_faster)
      return set("either", speed == kWithinNoise ? "both right, times within noise" : "both right, not timed");
    return speed == kLtFaster ? set("cublaslt", "both right, cuBLASLt is faster")
                              : set("cublas", "both right, cuBLAS is faster");
  }
  if (lt_is_right(observation)) return set("cublaslt", cublas_refuses ? "cuBLAS refuses it" : "cuBLAS is wrong");
  if (cublas_is_right(observation)) return set("cublas", lt_refuses ? "cuBLASLt refuses it" : "cuBLASLt is wrong");
  set("neither", lt_refuses && cublas_refuses ? "both refuse it" : "no library gives right numbers");
}

}  // namespace lt_audit::cublas_parity
