// Words of the command lines that a user is to copy: names of files and cases come from elsewhere.
#pragma once

#include <string>

namespace lt_audit {

/// For a POSIX shell: as it is when harmless, in single quotes otherwise.
std::string shell_word(const std::string& text);

}  // namespace lt_audit
