#!/usr/bin/env python3
"""Makes docs/claims.md, the verdict on each circulating claim, from reports of lt-audit.

The parameter "claims" of a case says what claims predict of it: "C9=fails C1=status:INVALID_VALUE". Predictions:
  works          the outcome is "correct"
  fails          any other outcome of a case that ran
  refused        the outcome is "refused" or "late_refusal"
  status:X       a stage of the observation has the status X
  cublas-only    cuBLAS ran the product rightly while cublasLt refused it
  OUTCOME        an outcome as the report spells it: stale, out_of_bounds, ...
  FACT=VALUE     a fact of the observation: "C3=unused_ids=-1"
A case counts when it ran and can answer: skipped cases, errors, outcomes that prove nothing and missing facts do not.
All as claimed: confirmed. None: refuted. Both: partly. No case: not testable here. Texts of the claims: scripts/claims.json.

Exit code 0, 1 when --check finds another page, 2 for wrong usage or a report that cannot be used.
"""

import argparse
import collections
import itertools
import json
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXTS = ROOT / "scripts" / "claims.json"
PAGE = ROOT / "docs" / "claims.md"
OUTCOMES = {
    "correct", "refused", "late_refusal", "wrong_result", "unwritten", "out_of_bounds", "input_changed", "not_captured",
    "stale", "nondeterministic", "context_lost", "crashed", "timed_out", "slower"}
NO_ANSWER = {"not_run", "audit_error", "unproven"}
REFUSALS = {"refused", "late_refusal"}
SUCCESS = {"SUCCESS", "cudaSuccess"}
# Numbers of a verification: each is zero when cuBLAS wrote every element rightly and nothing else.
AMISS = ("wrong", "unwritten", "bytes_before_d", "bytes_behind_d", "padding_bytes_changed")
MOST_ROWS = 8
COLUMNS = 100

Report = collections.namedtuple("Report", "name shown simulated gpu driver library complete cases")
# One case of one report that speaks about one claim. agrees: None when it cannot answer, and why_not says why.
Run = collections.namedtuple("Run", "report case prediction agrees seen why_not")
# What all reports say of one case and one claim.
Row = collections.namedtuple("Row", "case prediction agrees seen")


class Unusable(Exception):
    """One sentence for the user: the file, what is wrong, what to do."""


# ---- Reading -------------------------------------------------------------------------------------------------------


def part(container, key, kind, default=None):
    """container[key] when it has the kind; null and missing give the default; anything else is damage."""
    value = container.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, kind):
        raise ValueError(f'"{key}" is {"missing" if value is None else "of the wrong type"}')
    return value


def cases_of(document):
    for check in part(document, "checks", list):
        for case in part(check, "cases", list):
            part(case, "id", str), part(case, "outcome", str)
            # None where the audit never got to the case.
            case["observation"] = part(case, "observation", dict, {})
            case["claims"] = part(part(case, "parameters", dict, {}), "claims", str, "")
            for field, kind in (("stages", list), ("facts", dict), ("cublas", dict)):
                case["observation"][field] = part(case["observation"], field, kind, kind())
            for stage in case["observation"]["stages"]:
                part(stage, "name", str), part(stage, "status", str)
            for name in AMISS:
                part(part(case["observation"]["cublas"], "verification", dict, {}), name, int, 0)
            if case["claims"]:
                case["check"] = part(check, "id", str)
                yield case


def read_report(path, allow_simulator):
    try:
        document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Unusable(f"{path}: cannot be read ({error.strerror}); name a report that `lt-audit run --json` wrote")
    except ValueError as error:
        raise Unusable(f"{path}: is no whole JSON document ({error}); take an undamaged copy or run the audit again")
    if not isinstance(document, dict) or not isinstance(document.get("tool"), dict) \
            or document["tool"].get("name") != "lt-audit":
        raise Unusable(f"{path}: is no report of lt-audit; name a file that `lt-audit run --json` wrote")
    version = document.get("schema_version")
    if not isinstance(version, str) or version.split(".")[0] != "1":
        raise Unusable(f"{path}: has schema version {version}, this script reads 1.x; use the script that came with the "
                       "lt-audit that wrote it")
    try:
        report = understood(document, path)
    except (ValueError, AttributeError) as error:
        raise Unusable(f"{path}: is damaged ({error}); scripts/validate_report.py shows where, run the audit again")
    if document.get("fault") is not None:
        raise Unusable(f"{path}: was made with the planted fault {document['fault']}, which says nothing about the "
                       "library; run the audit without --inject")
    if report.simulated and not allow_simulator:
        raise Unusable(f"{path}: was made on the simulator, which says nothing about a GPU; run the audit on one, or add "
                       "--allow-simulator to try the script")
    return report


def understood(document, path):
    target, environment = part(document, "target", dict), part(document, "environment", dict)
    simulated = part(target, "kind", str) == "simulator"
    gpu = "simulator" if simulated else part(target, "name", str, "unknown GPU")
    count = part(target, "device_count", int, 1)
    library = part(part(environment, "cublaslt", dict, {}), "version", str, "unknown")
    resolved = pathlib.Path(path).resolve()
    shown = resolved.relative_to(ROOT).as_posix() if resolved.is_relative_to(ROOT) else resolved.name
    return Report(resolved.name, shown, simulated, f"{count} x {gpu}" if count > 1 else gpu,
                  part(environment, "driver", str, "unknown"), library, document.get("complete") is True,
                  list(cases_of(document)))


def read_reports(paths, allow_simulator):
    """In the order of their names, so that the page does not depend on that of the arguments."""
    resolved = [pathlib.Path(path).resolve() for path in paths]
    for path in paths:
        if resolved.count(pathlib.Path(path).resolve()) > 1:
            raise Unusable(f"{path}: is named twice, and would count twice; name it once")
    reports = [read_report(path, allow_simulator) for path in paths]
    return sorted(reports, key=lambda report: (report.name, report.shown))


# ---- Judging -------------------------------------------------------------------------------------------------------


def predictions_of(case, report, texts):
    """(claim, prediction) for each word of the parameter."""
    predictions = {}
    for word in case["claims"].split():
        claim, _, prediction = word.partition("=")
        place = f'{report.shown}: case {case["check"]}/{case["id"]}'
        if claim not in texts:
            raise Unusable(f"{place} speaks of the claim {claim}, which scripts/claims.json does not list; add its text")
        if not is_prediction(prediction):
            raise Unusable(f'{place} has the claim "{word}", whose prediction is unknown; `scripts/claims.py --help` '
                           "lists them, correct the check")
        if claim in predictions:
            raise Unusable(f"{place} says twice what {claim} predicts; correct the check")
        predictions[claim] = prediction
    return predictions.items()


def is_prediction(text):
    if text in OUTCOMES or text in ("works", "fails", "refused", "cublas-only"):
        return True
    before, _, after = text.partition(":" if text.startswith("status:") else "=")
    return bool(before and after)


def is_right(verification):
    """Elements were compared, and nothing is amiss."""
    return bool(verification.get("compared")) and not any(verification.get(name) for name in AMISS)


def run_of(report, case, prediction):
    outcome, observation = case["outcome"], case["observation"]
    if outcome in NO_ANSWER:
        why_not = observation.get("not_run") or observation.get("audit_error") or outcome.replace("_", " ")
        return Run(report, case, prediction, None, "", str(why_not))
    agrees, seen, why_not = None, outcome_text(outcome, observation, prediction), ""
    facts, cublas = observation["facts"], observation["cublas"]
    if prediction in ("works", "fails"):
        agrees = (outcome == "correct") == (prediction == "works")
    elif prediction == "refused":
        agrees = outcome in REFUSALS
    elif prediction.startswith("status:"):
        if observation["stages"]:
            agrees = any(status_is(stage, prediction) for stage in observation["stages"])
        else:
            why_not = "the report keeps no stages of it"
    elif prediction == "cublas-only":
        seen += f'; cuBLAS {cublas["status"]}' if "status" in cublas else ""
        if outcome not in REFUSALS:
            agrees = False
        elif "status" in cublas:
            agrees = cublas["status"] == "SUCCESS" and is_right(cublas.get("verification") or {})
        else:
            why_not = "cuBLAS did not run beside it"
    elif prediction in OUTCOMES:
        agrees = outcome == prediction
    else:
        name, _, value = prediction.partition("=")
        if name in facts:
            agrees, seen = facts[name] == value, f"{name} = {facts[name]}"
        else:
            why_not = f'the fact "{name}" was not measured'
    return Run(report, case, prediction, agrees, seen, why_not)


def status_is(stage, prediction):
    return prediction == f'status:{stage["status"]}'


def outcome_text(outcome, observation, prediction):
    """The outcome and the status that decided: the predicted one, else the first that is no success."""
    deciding = [stage for stage in observation["stages"] if status_is(stage, prediction)]
    deciding += [stage for stage in observation["stages"] if stage["status"] not in SUCCESS]
    text = f"`{outcome}`"
    if deciding:
        text += f': {deciding[0]["name"]} {deciding[0]["status"]}'
    elif observation["stages"]:
        text += ": every stage SUCCESS"
    if observation.get("end_detail"):
        text += f'; {observation["end_detail"]}'
    return text


def runs_by_claim(reports, texts):
    runs = {claim: [] for claim in texts}
    for report in reports:
        for case in report.cases:
            for claim, prediction in predictions_of(case, report, texts):
                runs[claim].append(run_of(report, case, prediction))
    return runs


def verdict_of(runs):
    answers = {run.agrees for run in runs if run.agrees is not None}
    if not answers:
        return "not testable here"
    return "partly" if len(answers) == 2 else "confirmed" if True in answers else "refuted"


def count_of(runs):
    """"3 of 12 cases as claimed"; a case that several reports ran counts once for each."""
    counted = [run for run in runs if run.agrees is not None]
    agreeing = sum(run.agrees for run in counted)
    cases = len({id_of(run.case) for run in counted})
    noun = "case" if cases == 1 else "cases"
    if len(counted) == cases:
        return f"{agreeing} of {cases} {noun} as claimed"
    return f"{agreeing} of {len(counted)} runs of {cases} {noun} as claimed"


def reason_of(runs):
    """Why nothing answered."""
    if not runs:
        return "no case of these reports speaks about it"
    # One case with one reason counts once, however many reports have it.
    reasons = collections.Counter(why_not for _, why_not in dict.fromkeys((id_of(run.case), run.why_not) for run in runs))
    return "; ".join(f"{count} {'case' if count == 1 else 'cases'}: {reason}" for reason, count in reasons.most_common())


# ---- Writing -------------------------------------------------------------------------------------------------------


def id_of(case):
    return f'{case["check"]}/{case["id"]}'


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def table(titles, rows):
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join("| " + " | ".join(cell(text) for text in line) + " |\n" for line in lines)


def prose(text):
    return textwrap.fill(text, COLUMNS, break_long_words=False, break_on_hyphens=False) + "\n"


def rows_of(runs):
    """One row for each case and prediction, in the order of the reports."""
    grouped = collections.defaultdict(list)
    for run in runs:
        if run.agrees is not None:
            grouped[id_of(run.case), run.prediction].append(run)
    for (case, prediction), same in grouped.items():
        agreeing = sum(run.agrees for run in same)
        mixed = f"{agreeing} of {len(same)} runs"
        agrees = "yes" if agreeing == len(same) else "no" if agreeing == 0 else mixed
        yield Row(case, prediction, agrees, "; in another report ".join(dict.fromkeys(run.seen for run in same)))


def chosen(rows):
    """MOST_ROWS of them: in turn as claimed and not as claimed, and among each of them every kind before a second one."""
    def spread(some):
        kinds = collections.defaultdict(list)
        for row in some:
            kinds[row.seen, row.prediction, row.case.split("/")[0]].append(row)
        return [row for turn in itertools.zip_longest(*kinds.values()) for row in turn if row]

    by_answer = [spread([row for row in rows if (row.agrees == "no") == no]) for no in (False, True)]
    taken = [row for turn in itertools.zip_longest(*by_answer) for row in turn if row][:MOST_ROWS]
    return [row for row in rows if row in taken]


def section(claim, text, runs):
    rows = list(rows_of(runs))
    shown = chosen(rows)
    lines = [f"\n## {claim}: {verdict_of(runs)}\n\n", prose(f"{text} {count_of(runs)}."), "\n"]
    lines.append(table(["case", "the claim predicts", "seen", "as claimed"],
                       [[f"`{row.case}`", f"`{row.prediction}`", row.seen, row.agrees] for row in shown]))
    left_out = len(rows) - len(shown)
    if left_out:
        places = dict.fromkeys((run.report.shown, run.case["check"]) for run in runs if run.agrees is not None)
        lines.append(f"\n... and {left_out} more like these:\n\n```sh\n")
        lines += [f"lt-audit show {report} {check}\n" for report, check in places]
        lines.append("```\n")
    # A case that another report ran is no gap.
    counted = {row.case for row in rows}
    silent = [run for run in runs if id_of(run.case) not in counted]
    if silent:
        lines.append("\n" + prose(f"Not counted: {reason_of(silent)}."))
    return "".join(lines)


def header(reports):
    lines = ["<!-- Made by scripts/claims.py from the reports named below. Do not edit: run it again. -->\n\n"
             "# Claims about cuBLASLt, and what the audit saw\n\n"]
    lines.append(prose(
        "`scripts/claims.py` made this page from the reports below; no verdict is written by hand. A case says in its "
        "parameter \"claims\" what a claim predicts of it, and the claim is `confirmed` when every case that ran came out "
        "as predicted, `refuted` when none did, `partly` when some did. Verdicts hold for these GPUs, drivers and "
        "libraries."))
    if any(report.simulated for report in reports):
        lines.append("\n" + prose("**A report of the simulator is among them: its rows say nothing about a GPU.**"))
    rows = [[f"`{report.name}`", report.gpu, report.driver, report.library + ("" if report.complete else " (incomplete)")]
            for report in reports]
    lines += ["\n", table(["report", "GPU", "driver", "cuBLASLt"], rows)]
    return "".join(lines)


def page_of(reports, texts):
    runs = runs_by_claim(reports, texts)
    rows = []
    for claim, text in texts.items():
        checks = ", ".join(dict.fromkeys(run.case["check"] for run in runs[claim])) or "none"
        verdict = verdict_of(runs[claim])
        tested = verdict != "not testable here"
        rows.append([f"[{claim}](#{anchor(claim, verdict)})" if tested else claim, text, checks,
                     f"{verdict} ({count_of(runs[claim]) if tested else reason_of(runs[claim])})"])
    lines = [header(reports), "\n## Verdicts\n\n", table(["claim", "what it says", "checks", "verdict"], rows)]
    lines += [section(claim, text, runs[claim]) for claim, text in texts.items()
              if verdict_of(runs[claim]) != "not testable here"]
    return "".join(lines)


def anchor(claim, verdict):
    """GitHub's anchor of the section's heading."""
    return f"{claim}-{verdict}".lower().replace(" ", "-")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", metavar="REPORT", nargs="+", help="written by lt-audit run --json")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page, \"-\" for standard output (docs/claims.md)")
    parser.add_argument("--check", action="store_true", help="write nothing, only compare the page with the reports")
    parser.add_argument("--allow-simulator", action="store_true", help="take reports of the simulator, for a trial")
    options = parser.parse_args(arguments)
    output = pathlib.Path(options.output or PAGE)
    try:
        texts = {entry["id"]: entry["claim"] for entry in json.loads(TEXTS.read_text(encoding="utf-8"))}
        page = page_of(read_reports(options.reports, options.allow_simulator), texts)
        if options.output == "-" and not options.check:
            sys.stdout.write(page)
        elif not options.check:
            output.write_text(page, encoding="utf-8")
        elif output.read_text(encoding="utf-8", errors="replace") != page:
            print(f"{output}: is not what these reports say; run scripts/claims.py {' '.join(options.reports)}",
                  file=sys.stderr)
            return 1
    except Unusable as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: {error.strerror}; name a file that can be opened", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
