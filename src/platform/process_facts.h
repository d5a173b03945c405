// Variables and loaded files of this process.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lt_audit {

/// The variables that CUDA and its libraries read, as set now; others are nobody's business.
std::map<std::string, std::string> variables_of_cuda();

/// The paths of CUDA libraries in the text of /proc/self/maps, sorted; a path once for each time that its start is
/// mapped. The text says more than dl_iterate_phdr, which sees one namespace of the dynamic linker.
std::vector<std::string> cuda_libraries_in(std::string_view maps);
/// The same of this process; empty where there is no such file.
std::vector<std::string> cuda_libraries();

}  // namespace lt_audit
