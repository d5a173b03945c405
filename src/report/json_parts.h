// Pieces of the JSON form that the report and the worker protocol share. Included in src/report only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lt_audit/observation.h"
#include "lt_audit/target.h"
#include "report/json_fields.h"

namespace lt_audit {

/// The text as a JSON string, or null when it is empty: an absent fact.
nlohmann::ordered_json text_or_null(const std::string& text);
/// Seconds or microseconds with three decimals: what is beyond them is noise that makes files large.
double rounded(double value);

/// kind, device, device_count and the facts of the device: the report's "target".
nlohmann::ordered_json device_to_json(const Target& target);
/// {version, version_number, path, build_id}, or null when the library was not loaded.
nlohmann::ordered_json library_to_json(const LibraryFacts& library);

template <class Json>
void read_device(const Fields<Json>& fields, Target& target);
template <class Json>
LibraryFacts read_library(const Fields<Json>& parent, std::string_view key);
/// observation_from_json at a place in a larger document.
template <class Json>
Observation read_observation(const Json& json, const JsonPath& path);

/// The report's reader keeps the order of the fields, the worker protocol does not need it.
extern template void read_device(const Fields<nlohmann::json>&, Target&);
extern template void read_device(const Fields<nlohmann::ordered_json>&, Target&);
extern template LibraryFacts read_library(const Fields<nlohmann::json>&, std::string_view);
extern template LibraryFacts read_library(const Fields<nlohmann::ordered_json>&, std::string_view);
extern template Observation read_observation(const nlohmann::json&, const JsonPath&);
extern template Observation read_observation(const nlohmann::ordered_json&, const JsonPath&);

}  // namespace lt_audit
