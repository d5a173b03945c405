# Script of lt_audit_embed: the bytes as an array, since a string literal has a length limit.
file(READ ${INPUT} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR bytes "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1," array "${hex}")

# The sum in Base64: three bytes are four characters; 32 bytes leave two, which are three characters and a filler.
set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
file(SHA256 ${INPUT} sum)
set(base64 "")
foreach(at RANGE 0 60 6)
  string(SUBSTRING "${sum}00" ${at} 6 chunk)
  foreach(shift 18 12 6 0)
    math(EXPR place "(0x${chunk} >> ${shift}) & 63")
    string(SUBSTRING ${alphabet} ${place} 1 character)
    string(APPEND base64 ${character})
  endforeach()
endforeach()
string(REGEX REPLACE ".$" "=" base64 "${base64}")

file(WRITE ${OUTPUT}
  "#include <cstddef>\n#include <string_view>\nnamespace lt_audit::embedded {\n"
  "extern const std::string_view ${SYMBOL};\nextern const std::string_view ${SYMBOL}_sha256;\n"
  "static const unsigned char bytes_of_${SYMBOL}[] = {${array}0};\n"
  "const std::string_view ${SYMBOL}{reinterpret_cast<const char*>(bytes_of_${SYMBOL}), ${bytes}};\n"
  "const std::string_view ${SYMBOL}_sha256{\"${base64}\"};\n}\n")
