// The further formats.
#include "cli/outputs.h"

namespace lt_audit {

bool takes_stdout(const OutputArguments& outputs, const std::string& json) {
  return json == "-" && outputs.junit.empty();
}

void write_outputs(const Report& /*report*/, const Annotations& /*annotations*/, const OutputArguments& /*outputs*/,
                   Context& /*context*/) {}

}  // namespace lt_audit
