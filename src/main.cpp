// Entry: the worker subcommand, or the command line.
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/terminal.h"
#include "driver/audit.h"

int main(int argc, char** argv) {
  // Before any parsing: a worker starts often, and its arguments are the parent's business.
  if (argc == 2 && std::strcmp(argv[1], "worker") == 0) return lt_audit::worker_main();
  lt_audit::occupy_standard_descriptors();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(lt_audit::run_cli(arguments, std::cout, std::cerr));
}
