// The scenarios of check "environment": what is looked at or tried, and what the documentation says about it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "../scenario_check.h"
#include "lt_audit/check.h"
#include "lt_audit/session.h"

namespace lt_audit::environment {

/// Facts of the process and the device. They are looked at anew in every case, through the platform.
inline constexpr const char* kLtVersion = "cublaslt";
inline constexpr const char* kBlasVersion = "cublas";
/// Its first number alone, for a claim.
inline constexpr const char* kLtMajor = "cublaslt_major";
inline constexpr const char* kLtPath = "cublaslt_path";
inline constexpr const char* kBlasPath = "cublas_path";
/// Files of one library that are loaded beside each other, with blanks between.
inline constexpr const char* kTwice = "loaded_twice";
inline constexpr const char* kHeaders = "headers";
/// "13.0".
inline constexpr const char* kDriver = "driver_cuda";
inline constexpr const char* kMode = "mode";
inline constexpr const char* kFreeMiB = "free_mib";
/// Of a variable, when it is set to what changes something.
inline constexpr const char* kValue = "value";

/// NVIDIA_TF32_OVERRIDE, where it is set to anything but 0.
inline constexpr const char* kTf32Override = "tf32_override";

/// Facts of a run in another process: what it had set, and how the same run went here.
inline constexpr const char* kVariable = "variable";
inline constexpr const char* kBitsHere = "d_bits_here";
inline constexpr const char* kCublasBitsHere = "cublas_d_bits_here";
inline constexpr const char* kAlgorithmHere = "algorithm_here";
inline constexpr const char* kAlgorithmThere = "algorithm_there";

/// Facts of a handle made when memory is nearly gone: statuses, and what became of a product: a status, "right",
/// "wrong".
inline constexpr const char* kLeftMiB = "left_mib";
inline constexpr const char* kCreated = "create_when_full";
inline constexpr const char* kProduct = "product_when_full";

/// Parameters of a case.
inline constexpr const char* kSetsParameter = "sets";
inline constexpr const char* kLeaveParameter = "leave_mib";
inline constexpr const char* kDeviceParameter = "device";
inline constexpr const char* kNameParameter = "variable";

/// Free memory below this is low: the context of a process, the pool of a cuBLAS handle and two workspaces of the
/// recommended 32 MiB take about as much.
inline constexpr long long kLowMiB = 512;

/// All scenarios, in the order of the page.
std::span<const Scenario> scenarios();
const Scenario& scenario_named(std::string_view id);

/// What the facts say for or against the scenario; nothing leaves the judgement to the outcome.
std::optional<ScenarioResult> judge_facts(const Scenario& scenario, const Observation& observation);
/// The facts in a sentence.
std::string describe_facts(const Scenario& scenario, const Observation& observation);

// environment_facts.cpp
Observation look_at_libraries(Session& session, const Case& the_case);
Observation look_at_driver(Session& session, const Case& the_case);
Observation look_at_device(Session& session, const Case& the_case);
Observation look_at_memory(Session& session, const Case& the_case);
Observation look_at_variable(Session& session, const Case& the_case);

// environment_effects.cpp
Observation multiply_whole_significands(Session& session, const Case& the_case);
Observation switch_tf32(Session& session, const Case& the_case);
Observation set_variable(Session& session, const Case& the_case);
Observation pin_asynchronous_error(Session& session, const Case& the_case);

// environment_memory.cpp
Observation make_handle_when_full(Session& session, const Case& the_case);
Observation make_cublas_handle_when_full(Session& session, const Case& the_case);

}  // namespace lt_audit::environment
