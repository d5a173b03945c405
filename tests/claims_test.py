#!/usr/bin/env python3
"""Tests of scripts/claims.py with small reports made here: predictions, verdicts, several reports, refusals."""

import contextlib
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "claims.py"
SPEC = importlib.util.spec_from_file_location("claims", SCRIPT)
claims = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(claims)

FINE = [{"name": "heuristic", "status": "SUCCESS"}, {"name": "synchronize", "status": "cudaSuccess"}]
LATE = [{"name": "heuristic", "status": "SUCCESS"}, {"name": "matmul", "status": "NOT_SUPPORTED"}]
RIGHT = {"method": "elements", "compared": 64, "wrong": 0, "unwritten": 0}


def case(name, predictions, outcome="correct", stages=FINE, **observation):
    return {"id": name, "outcome": outcome, "status": "pass", "parameters": {"claims": predictions},
            "observation": {"stages": stages, **observation}}


def skipped(name, predictions):
    return case(name, predictions, "not_run", [], not_run="needs two GPUs, 1 is here")


def report(*cases, check="a-check", kind="gpu", **fields):
    return {"schema_version": "1.0.0", "tool": {"name": "lt-audit"}, "complete": True, "fault": None,
            "target": {"kind": kind, "name": "NVIDIA H200", "device_count": 1},
            "environment": {"driver": "580.1", "cublaslt": {"version": "13.1.0"}},
            "checks": [{"id": check, "cases": list(cases)}], **fields}


class ClaimsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page_path = self.folder / "page.md"

    def file(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def run_script(self, *arguments):
        """(exit code, standard output, standard error)"""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = claims.main([*arguments, "-o", str(self.page_path)])
            except SystemExit as stopped:
                code = stopped.code
        return code, out.getvalue(), err.getvalue()

    def page(self, *reports, options=()):
        paths = [self.file(f"report{number}.json", content) for number, content in enumerate(reports)]
        self.assertEqual(self.run_script(*paths, *options), (0, "", ""))
        return self.page_path.read_text(encoding="utf-8")

    def verdict(self, claim, *reports):
        """The last cell of the claim's row in the table of verdicts."""
        return self.verdict_in(self.page(*reports), claim)

    def verdict_in(self, page, claim):
        rows = [line for line in page.splitlines() if line.startswith((f"| [{claim}]", f"| {claim} |"))]
        self.assertEqual(len(rows), 1, page)
        return rows[0].split(" | ")[-1].removesuffix(" |")

    def agrees(self, prediction, *arguments, **observation):
        verdict = self.verdict("C1", report(case("one", f"C1={prediction}", *arguments, **observation)))
        self.assertIn(verdict, ("confirmed (1 of 1 case as claimed)", "refuted (0 of 1 case as claimed)"))
        return verdict.startswith("confirmed")

    def unusable(self, content, *words):
        path = self.file("bad.json", content)
        code, out, err = self.run_script(path)
        self.assertEqual((code, out), (2, ""), err)
        self.assertEqual(err.count("\n"), 1, "one sentence")
        for word in ("bad.json", *words):
            self.assertIn(word, err)
        self.assertFalse(self.page_path.exists())

    # Predictions.

    def test_works_means_the_outcome_correct(self):
        self.assertTrue(self.agrees("works"))
        self.assertFalse(self.agrees("works", "late_refusal", LATE))

    def test_fails_means_any_other_outcome(self):
        self.assertFalse(self.agrees("fails"))
        for outcome in ("refused", "wrong_result", "stale", "crashed"):
            self.assertTrue(self.agrees("fails", outcome))

    def test_refused_means_early_or_late(self):
        self.assertTrue(self.agrees("refused", "refused"))
        self.assertTrue(self.agrees("refused", "late_refusal", LATE))
        self.assertFalse(self.agrees("refused", "wrong_result"))

    def test_a_status_is_looked_for_in_every_stage(self):
        self.assertTrue(self.agrees("status:NOT_SUPPORTED", "late_refusal", LATE))
        self.assertFalse(self.agrees("status:INVALID_VALUE", "late_refusal", LATE))
        self.assertFalse(self.agrees("status:NOT", "late_refusal", LATE))

    def test_cublas_only_means_that_cublas_is_right_where_lt_refuses(self):
        beside = {"status": "SUCCESS", "verification": RIGHT}
        self.assertTrue(self.agrees("cublas-only", "late_refusal", LATE, cublas=beside))
        self.assertFalse(self.agrees("cublas-only", cublas=beside))
        self.assertFalse(self.agrees("cublas-only", "refused", LATE, cublas={"status": "NOT_SUPPORTED"}))
        late = {"status": "NOT_SUPPORTED", "verification": RIGHT}
        self.assertFalse(self.agrees("cublas-only", "refused", LATE, cublas=late))
        for amiss in ({"wrong": 1}, {"unwritten": 1}, {"bytes_behind_d": 4}, {"compared": 0}):
            wrong = {"status": "SUCCESS", "verification": {**RIGHT, **amiss}}
            self.assertFalse(self.agrees("cublas-only", "refused", LATE, cublas=wrong), amiss)

    def test_an_outcome_is_taken_by_its_word(self):
        self.assertTrue(self.agrees("out_of_bounds", "out_of_bounds"))
        self.assertFalse(self.agrees("stale", "out_of_bounds"))

    def test_a_fact_is_compared_as_text(self):
        self.assertTrue(self.agrees("unused_ids=-1", facts={"unused_ids": "-1"}))
        self.assertFalse(self.agrees("unused_ids=-1", facts={"unused_ids": "0"}))

    # Verdicts.

    def test_confirmed_refuted_and_partly(self):
        page = self.page(report(case("a", "C1=works C2=fails C3=fails"), case("b", "C1=works C2=fails C3=fails", "stale"),
                                case("c", "C1=fails", "refused"), case("d", "C3=refused")))
        self.assertEqual(self.verdict_in(page, "C1"), "partly (2 of 3 cases as claimed)")
        self.assertEqual(self.verdict_in(page, "C2"), "partly (1 of 2 cases as claimed)")
        self.assertEqual(self.verdict("C3", report(case("a", "C3=works"), case("b", "C3=stale", "stale"))),
                         "confirmed (2 of 2 cases as claimed)")
        self.assertEqual(self.verdict("C3", report(case("a", "C3=fails"), case("b", "C3=stale"))),
                         "refuted (0 of 2 cases as claimed)")

    def test_a_claim_that_no_case_speaks_about_is_not_testable_here(self):
        page = self.page(report(case("a", "C1=works")))
        self.assertEqual(self.verdict_in(page, "C30"), "not testable here (no case of these reports speaks about it)")
        self.assertNotIn("## C30", page)

    def test_every_claim_has_a_row(self):
        page = self.page(report())
        for entry in json.loads(claims.TEXTS.read_text(encoding="utf-8")):
            self.assertEqual(set(entry), {"id", "claim"}, "texts and ids, never verdicts")
            self.verdict_in(page, entry["id"])

    def test_a_case_without_an_answer_does_not_count(self):
        silent = [skipped("skip", "C1=fails"), case("error", "C1=fails", "audit_error", audit_error="no memory"),
                  case("proves-nothing", "C1=fails", "unproven"), case("no-fact", "C1=x=1"),
                  case("no-cublas", "C1=cublas-only", "refused", LATE), case("no-stages", "C1=status:X", stages=[])]
        verdict = self.verdict("C1", report(*silent))
        self.assertTrue(verdict.startswith("not testable here (1 case: needs two GPUs, 1 is here; "), verdict)
        page = self.page(report(*silent, case("ran", "C1=fails")))
        self.assertEqual(self.verdict_in(page, "C1"), "refuted (0 of 1 case as claimed)")
        self.assertIn("Not counted: 1 case: needs two GPUs", page)

    def test_an_observation_may_be_missing(self):
        lost = case("lost", "C1=fails", "crashed")
        lost["observation"] = None
        self.assertEqual(self.verdict("C1", report(lost)), "confirmed (1 of 1 case as claimed)")

    # Several reports.

    def test_a_case_counts_when_any_report_ran_it(self):
        ran = report(case("two-gpus", "C10=works", "refused", LATE), target={
            "kind": "gpu", "name": "NVIDIA H200", "device_count": 2})
        page = self.page(report(skipped("two-gpus", "C10=works")), ran)
        self.assertEqual(self.verdict_in(page, "C10"), "refuted (0 of 1 case as claimed)")
        self.assertIn("| `report1.json` | 2 x NVIDIA H200 | 580.1 | 13.1.0 |", page)
        self.assertNotIn("Not counted", page)

    def test_each_run_counts_and_its_case_is_shown_once(self):
        page = self.page(report(case("a", "C1=works")), report(case("a", "C1=works", "stale")))
        self.assertEqual(self.verdict_in(page, "C1"), "partly (1 of 2 runs of 1 case as claimed)")
        self.assertEqual(page.count("| `a-check/a` |"), 1)
        self.assertIn("| 1 of 2 runs |", page)

    def test_the_order_of_the_arguments_does_not_matter(self):
        first, second = self.file("a.json", report(case("a", "C1=works"))), self.file("b.json", report())
        self.run_script(first, second)
        page = self.page_path.read_text(encoding="utf-8")
        self.assertEqual(self.run_script(second, first, "--check"), (0, "", ""))
        self.assertLess(page.index("a.json"), page.index("b.json"))

    def test_a_report_named_twice_is_refused(self):
        path = self.file("a.json", report())
        code, _, err = self.run_script(path, path)
        self.assertEqual(code, 2)
        self.assertIn("twice", err)

    # What is shown.

    def test_eight_rows_at_most_with_both_answers(self):
        many = [case(f"works{number}", "C1=works") for number in range(20)]
        page = self.page(report(*many, case("late", "C1=works", "late_refusal", LATE)))
        self.assertEqual(page.count("| `a-check/"), 8)
        self.assertIn("| `a-check/late` | `works` | `late_refusal`: matmul NOT_SUPPORTED | no |", page)
        self.assertIn("| `a-check/works0` | `works` | `correct`: every stage SUCCESS | yes |", page)
        self.assertIn("... and 13 more like these:", page)
        self.assertIn("lt-audit show report0.json a-check\n", page)

    def test_prose_keeps_to_100_columns(self):
        page = self.page(report(case("a", " ".join(f"C{number}=works" for number in range(1, 31)))))
        self.assertEqual([line for line in page.splitlines() if len(line) > 100 and not line.startswith("|")], [])

    # What is refused.

    def test_a_simulator_report_is_refused_unless_allowed(self):
        simulated = report(case("a", "C1=works"), kind="simulator")
        self.unusable(simulated, "simulator", "--allow-simulator")
        page = self.page(simulated, options=["--allow-simulator"])
        self.assertIn("say nothing about a GPU", page)

    def test_a_report_with_a_planted_fault_is_refused(self):
        self.unusable(report(fault="stale-scale"), "stale-scale", "--inject")

    def test_a_damaged_file_is_refused(self):
        self.unusable(json.dumps(report(case("a", "C1=works")))[:-20], "JSON")
        self.unusable("{}", "no report of lt-audit")
        self.unusable("[]", "no report of lt-audit")
        self.unusable(report(schema_version="2.0.0"), "2.0.0")
        self.unusable(report(checks=None), '"checks" is missing')
        self.unusable(report("no case"), "damaged")
        self.unusable(report(case("a", "C1=status:X", stages=[{"name": "matmul"}])), '"status" is missing')
        self.unusable(report(case("a", "C2=cublas-only", cublas={"verification": {"wrong": "no"}})), '"wrong"')

    def test_a_missing_file_is_refused(self):
        code, _, err = self.run_script(str(self.folder / "nowhere.json"))
        self.assertEqual(code, 2)
        self.assertIn("nowhere.json: cannot be read", err)

    def test_unknown_claims_and_predictions_are_refused(self):
        self.unusable(report(case("a", "C99=works")), "a-check/a", "C99", "scripts/claims.json")
        for prediction in ("C1=wroks", "C1", "C1=", "C1=status:", "C1=x="):
            self.unusable(report(case("a", prediction)), "a-check/a", f'"{prediction}"')
        self.unusable(report(case("a", "C1=works C1=fails")), "twice")

    def test_a_call_without_reports_is_refused(self):
        self.assertEqual(self.run_script()[0], 2)

    # The page as committed.

    def test_check_finds_an_edited_page_and_writes_nothing(self):
        self.page(report(case("a", "C1=works")))
        path = str(self.folder / "report0.json")
        self.assertEqual(self.run_script(path, "--check"), (0, "", ""))
        edited = self.page_path.read_text(encoding="utf-8").replace("confirmed (", "refuted (")
        self.page_path.write_text(edited, encoding="utf-8")
        code, out, err = self.run_script(path, "--check")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("run scripts/claims.py", err)
        self.assertEqual(self.page_path.read_text(encoding="utf-8"), edited)

    def test_outcomes_are_those_of_the_schema(self):
        schema = json.loads((SCRIPT.parent.parent / "docs" / "report.schema.json").read_text(encoding="utf-8"))
        listed = set(schema["$defs"]["case"]["properties"]["outcome"]["enum"])
        self.assertEqual(claims.OUTCOMES | claims.NO_ANSWER, listed)


if __name__ == "__main__":
    unittest.main()
