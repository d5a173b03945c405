# For projects that use cuBLASLt: gates of reports of lt-audit as tests of ctest. No GPU is needed to run them.
#
#   include(lt-audit.cmake)
#   lt_audit_add_gate(cublaslt_gate REPORT ci/lt-audit-h200.json BASELINE ci/baseline.json WAIVERS ci/waivers.toml)
#
# lt_audit_add_gate(NAME REPORT FILE [BASELINE FILE] [WAIVERS FILE] [FAIL_ON fail|warn|none] [MAX_AGE DAYS]
#                   [REQUIRE CHECK...] [ALLOW_SIMULATOR])
# registers the test NAME, which runs `lt-audit gate`; see `lt-audit gate --help` for what the options mean. Relative files are
# looked for in the current source folder. The test has the label lt-audit and fails when the gate is closed, when a file is
# missing or when lt-audit is: LT_AUDIT_PROGRAM says where it is, else it is looked for on PATH.
include_guard(GLOBAL)

find_program(LT_AUDIT_PROGRAM lt-audit DOC "The program lt-audit")

function(lt_audit_add_gate name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALLOW_SIMULATOR" "REPORT;BASELINE;WAIVERS;FAIL_ON;MAX_AGE" "REQUIRE")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR
      "lt_audit_add_gate(${name}): unknown words or words without a value: ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT arg_REPORT)
    message(FATAL_ERROR "lt_audit_add_gate(${name}): REPORT FILE is missing")
  endif()
  foreach(file IN ITEMS REPORT BASELINE WAIVERS)
    if(arg_${file})
      cmake_path(ABSOLUTE_PATH arg_${file} BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    endif()
  endforeach()
  set(command gate ${arg_REPORT})
  foreach(option IN ITEMS BASELINE WAIVERS FAIL_ON MAX_AGE)
    if(DEFINED arg_${option})
      string(TOLOWER "--${option}" flag)
      string(REPLACE "_" "-" flag "${flag}")
      list(APPEND command ${flag} ${arg_${option}})
    endif()
  endforeach()
  if(arg_REQUIRE)
    foreach(check IN LISTS arg_REQUIRE)
      list(APPEND command --require ${check})
    endforeach()
  endif()
  if(arg_ALLOW_SIMULATOR)
    list(APPEND command --allow-simulator)
  endif()
  # Not found is a failure of the test, not of the configuration: who only builds needs no lt-audit.
  set(program ${LT_AUDIT_PROGRAM})
  if(NOT program)
    set(program lt-audit)
  endif()
  add_test(NAME ${name} COMMAND ${program} ${command})
  set_tests_properties(${name} PROPERTIES LABELS lt-audit)
endfunction()
