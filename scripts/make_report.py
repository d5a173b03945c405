#!/usr/bin/env python3
"""Makes a large report out of a real one, for benchmarks: its cases again and again, each time with other ids and problems.

Usage: make_report.py REPORT CASES OUTPUT [--host NAME] [--slower FACTOR] [--changed N]

The result is a valid report: counts, statuses and findings are those of its cases. --host names the machine, --slower multiplies
the times that checks measured, --changed turns the first N cases that passed into failures (for merge and diff).
"""

import argparse
import collections
import json
import re
import sys

ORDER = ["pass", "skip", "warn", "error", "fail"]


def another(case, copy):
    """The case with an id and a problem that no other copy has: m grows by a multiple of 16, which keeps alignments."""
    if copy == 0:
        return case
    problem = re.sub(r"^m=(\d+)", lambda m: f"m={int(m.group(1)) + 16 * copy}", case["problem"])
    return {**case, "id": f"{case['id']}.copy{copy}", "problem": problem}


def slower(case, factor):
    facts = case["observation"].get("facts", {})
    if factor == 1 or not facts:
        return case
    facts = dict(facts)
    for key in ("cublas_us", "cublaslt_us"):
        if key in facts:
            facts[key] = f"{float(facts[key]) * factor:.2f}"
    if "times_us" in facts:
        facts["times_us"] = re.sub(r": ([0-9.]+)", lambda m: f": {float(m.group(1)) * factor:.1f}", facts["times_us"])
    return {**case, "observation": {**case["observation"], "facts": facts}}


def failed(case):
    return {**case, "status": "fail", "outcome": "wrong_result", "reason": "wrong-result", "message": "1 of 7680 elements of D is wrong"}


def summary_of(cases):
    counts = collections.Counter(case["status"] for case in cases)
    return {status: counts[status] for status in ("pass", "warn", "fail", "skip", "error")} | {"total": len(cases)}


def fill(report, wanted, factor, changed):
    """The cases of each check in turn until there are `wanted` of them."""
    originals = [check["cases"] for check in report["checks"]]
    total = sum(map(len, originals))
    for check, cases in zip(report["checks"], originals):
        # Its share of the whole, so that the mix stays that of the real report.
        share = len(cases) * wanted // total
        check["cases"] = [slower(another(cases[i % len(cases)], i // len(cases)), factor) for i in range(share)]
    most = max(report["checks"], key=lambda check: len(check["cases"]))
    place = originals[report["checks"].index(most)]
    while sum(len(check["cases"]) for check in report["checks"]) < wanted:
        i = len(most["cases"])
        most["cases"].append(slower(another(place[i % len(place)], i // len(place)), factor))
    for check in report["checks"]:
        for i, case in enumerate(check["cases"]):
            if changed > 0 and case["status"] == "pass":
                check["cases"][i] = failed(case)
                changed -= 1


def group(report):
    """Findings and counts anew."""
    known = {finding["id"]: finding for finding in report["findings"]}
    report["findings"] = []
    for check in report["checks"]:
        causes = collections.defaultdict(list)
        for case in check["cases"]:
            if case["status"] != "pass":
                causes[case["reason"]].append(case)
        for reason, cases in causes.items():
            name = f"{check['id']}.{reason}"
            first = cases[0]
            finding = known.get(name) or {
                "id": name, "check": check["id"], "title": first["message"], "measured": first["message"], "expected": None,
                "rule": first["rule"], "remedy": None, "repro": None}
            worst = max((case["status"] for case in cases), key=ORDER.index)
            report["findings"].append({
                "id": name, "check": check["id"], "status": worst, "title": finding["title"], "count": len(cases),
                **{key: finding[key] for key in ("measured", "expected", "rule", "remedy", "repro")},
                "cases": [case["id"] for case in cases]})
        check["status"] = max((case["status"] for case in check["cases"]), key=ORDER.index, default=check["status"])
        check["summary"] = summary_of(check["cases"])
    every = [case for check in report["checks"] for case in check["cases"]]
    report["summary"] = summary_of(every)


def write(report, path):
    """As lt-audit writes it: one case a line."""
    compact = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    with open(path, "w", encoding="utf-8") as out:
        head = [f'  "{key}": {compact(value)},\n' for key, value in report.items() if key not in ("checks", "findings", "profile")]
        out.write("{\n" + "".join(head) + '  "checks": [\n')
        for number, check in enumerate(report["checks"]):
            fields = [f'      "{key}": {compact(value)},\n' for key, value in check.items() if key != "cases"]
            cases = ",\n".join("        " + compact(case) for case in check["cases"])
            end = "," if number + 1 < len(report["checks"]) else ""
            out.write("    {\n" + "".join(fields) + '      "cases": [\n' + cases + "\n      ]\n    }" + end + "\n")
        tail = [f'  "{key}": {compact(report[key])}' for key in ("findings", "profile")]
        out.write("  ],\n" + ",\n".join(tail) + "\n}\n")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("report")
    parser.add_argument("cases", type=int)
    parser.add_argument("output")
    parser.add_argument("--host")
    parser.add_argument("--slower", type=float, default=1)
    parser.add_argument("--changed", type=int, default=0)
    options = parser.parse_args(arguments)
    with open(options.report, encoding="utf-8") as file:
        report = json.load(file)
    if options.host:
        report["environment"]["host"] = options.host
    fill(report, options.cases, options.slower, options.changed)
    group(report)
    write(report, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
