#!/usr/bin/env python3
"""Validates reports and workloads of lt-audit against docs/report.schema.json and docs/workload.schema.json.

Usage: validate_report.py FILE...

Prints the places of the first errors of each file. Exit code 0 when all are valid, 1 when one is not, 2 for wrong usage or when
the module jsonschema (Debian: python3-jsonschema) is missing.
"""

import json
import pathlib
import sys

MOST_ERRORS = 10
DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"


def errors_of(path, report, workload):
    """Messages about one file, with the place of each error; empty for a valid one."""
    try:
        document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [str(error)]
    is_workload = isinstance(document, dict) and document.get("schema") == "lt-audit-workload"
    validator = workload if is_workload else report
    errors = sorted(validator.iter_errors(document), key=lambda error: [str(part) for part in error.absolute_path])
    messages = [f"{error.json_path}: {error.message[:200]}" for error in errors[:MOST_ERRORS]]
    if len(errors) > MOST_ERRORS:
        messages.append(f"and {len(errors) - MOST_ERRORS} more")
    return messages


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if arguments else 2
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("validate_report.py needs the Python module jsonschema (Debian: apt install python3-jsonschema)", file=sys.stderr)
        return 2
    validators = []
    for name in ("report.schema.json", "workload.schema.json"):
        schema = json.loads((DOCS / name).read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        validators.append(Draft202012Validator(schema))
    exit_code = 0
    for path in arguments:
        messages = errors_of(path, *validators)
        for message in messages:
            print(f"{path}: {message}")
        exit_code = 1 if messages else exit_code
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
