#!/usr/bin/env python3
"""Validates documents of lt-audit (reports, comparisons, gates, merges, workloads, diagnoses, the known issues) against their
schemas in docs and data.

Usage: validate_report.py FILE...

Prints the places of the first errors of each file. Exit code 0 when all are valid, 1 when one is not, 2 for wrong usage or when
the module jsonschema (Debian: python3-jsonschema) is missing.
"""

import json
import pathlib
import sys

MOST_ERRORS = 10
ROOT = pathlib.Path(__file__).resolve().parent.parent
# By the field "schema" of a document; everything else is held against the report's.
SCHEMAS = {
    "lt-audit-workload": "docs/workload.schema.json",
    "lt-audit-diff": "docs/diff.schema.json",
    "lt-audit-doctor": "docs/doctor.schema.json",
    "lt-audit-gate": "docs/gate.schema.json",
    "lt-audit-merge": "docs/merge.schema.json",
    "lt-audit/known-issues/2": "data/known-issues.schema.json",
}
REPORT = "docs/report.schema.json"


def errors_of(document, validators):
    """Messages about one document, with the place of each error; empty for a valid one."""
    name = document.get("schema") if isinstance(document, dict) else None
    validator = validators[SCHEMAS.get(name, REPORT) if isinstance(name, str) else REPORT]
    errors = sorted(validator.iter_errors(document), key=lambda error: [str(part) for part in error.absolute_path])
    messages = [f"{error.json_path}: {error.message[:200]}" for error in errors[:MOST_ERRORS]]
    if len(errors) > MOST_ERRORS:
        messages.append(f"and {len(errors) - MOST_ERRORS} more")
    return messages


def load_validators():
    """A validator for each schema, by its file; the schemas themselves are checked."""
    from jsonschema import Draft202012Validator

    validators = {}
    for name in (REPORT, *SCHEMAS.values()):
        schema = json.loads((ROOT / name).read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        validators[name] = Draft202012Validator(schema)
    return validators


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if arguments else 2
    try:
        validators = load_validators()
    except ImportError:
        print("validate_report.py needs the Python module jsonschema (Debian: apt install python3-jsonschema)", file=sys.stderr)
        return 2
    exit_code = 0
    for path in arguments:
        try:
            messages = errors_of(json.loads(pathlib.Path(path).read_text(encoding="utf-8")), validators)
        except (OSError, ValueError) as error:
            messages = [str(error)]
        for message in messages:
            print(f"{path}: {message}")
        exit_code = 1 if messages else exit_code
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
