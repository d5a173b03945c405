# Script of lt_audit_embed: the bytes as an array, since a string literal has a length limit.
file(READ ${INPUT} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR bytes "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1," array "${hex}")
file(WRITE ${OUTPUT}
  "#include <cstddef>\n#include <string_view>\nnamespace lt_audit::embedded {\n"
  "extern const std::string_view ${SYMBOL};\n"
  "static const unsigned char bytes_of_${SYMBOL}[] = {${array}0};\n"
  "const std::string_view ${SYMBOL}{reinterpret_cast<const char*>(bytes_of_${SYMBOL}), ${bytes}};\n}\n")
