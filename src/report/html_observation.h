// What the HTML page takes from an observation, which a case holds as compact JSON text.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lt_audit {

/// The observation without what takes most room: the first stage that did not succeed, or the last one; log, end,
/// reasons why there is no result and facts, each up to 8 KiB. Starts with {"shortened":true. Empty for a text that is
/// no JSON object.
std::string shortened_observation(std::string_view observation);

/// The object "facts"; empty when there is none or the text is damaged.
std::map<std::string, std::string> facts_of(std::string_view observation);

}  // namespace lt_audit
