// A scripted worker process for the tests of supervisor and audit: the test program started again with --fake-worker.
#pragma once

#include <string>
#include <vector>

namespace lt_audit {

/// The command of a fake worker. `script` is a blank-separated list of what it does instead of answering well:
///   crash=ID     dies with SIGSEGV on that case (ID may be *)        exit=ID     exits with code 3
///   hang=ID      never answers                                       rubbish=ID  answers with no JSON
///   stray=ID     answers another case                                lose=ID     loses its context
///   refuse=ID    observes a refusal by matmul                        kill-parent-signal=ID  sends its parent SIGINT,
///   then hangs fail         says at the start that there is no GPU              die         dies at the start
///   die-once=FILE, fail-after-first=FILE  at the start, told by whether FILE exists; the file is made
std::vector<std::string> fake_worker_command(const std::string& script);

/// Runs the worker when the program was started as one; returns its exit code, or -1 when it was not.
int fake_worker_main(int argc, char** argv);

}  // namespace lt_audit
