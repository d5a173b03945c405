#!/usr/bin/env python3
"""docs/doctor.schema.json refuses what is no document of the doctor: a committed one, broken in one place at a time."""

import copy
import importlib.util
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("validate_report", ROOT / "scripts" / "validate_report.py")
validate_report = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(validate_report)

FAILING = json.loads((ROOT / "docs" / "reports" / "doctor" / "int8-ldd-97.json").read_text(encoding="utf-8"))
WORKING = copy.deepcopy(FAILING)
WORKING["diagnoses"][0].update(
    status="SUCCESS", outcome="correct", works=True, sets=[],
    speed={"timed": True, "given_us": 20.5, "noise": 0.02, "given_calls": 18, "changed_calls": 9, "faster": [
        {"kind": "algorithm", "problem": "m=96,n=64,k=64,ta=t,a=i8,d=i32,algo=1", "ratio": 1.25, "gpu_us": 16.4, "memory_bytes": 0,
         "change": {"group": "algo", "what": "algorithm number 2 of the heuristic", "set": "algo = result 1"}}]})


class DoctorSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.validators = validate_report.load_validators()

    def errors(self, document, change=lambda document: None):
        changed = copy.deepcopy(document)
        change(changed)
        return validate_report.errors_of(changed, self.validators)

    def test_whole_documents_are_valid(self):
        for document in (FAILING, WORKING):
            self.assertEqual(self.errors(document), [])

    def test_broken_documents_are_not(self):
        breaks = {
            "the form before 2.0.0": lambda d: (d.update(d.pop("diagnoses")[0]), d.pop("not_diagnosed")),
            "another version": lambda d: d.update(schema_version="1.0.0"),
            "no diagnosis": lambda d: d.update(diagnoses=[]),
            "an unknown field": lambda d: d["diagnoses"][0].update(surplus=1),
            "no outcome": lambda d: d["diagnoses"][0].pop("outcome"),
            "an outcome that is none": lambda d: d["diagnoses"][0].update(outcome="fine"),
            "a number as text": lambda d: d["diagnoses"][0].update(tried="18"),
            "no list of calls that were not run": lambda d: d.pop("not_diagnosed"),
            "a call that was not run, without its reason": lambda d: d["not_diagnosed"].append({"call": "m=1"}),
        }
        for name, change in breaks.items():
            for document in (FAILING, WORKING):
                self.assertNotEqual(self.errors(document, change), [], name)

    def test_sets_and_speeds_are_looked_into(self):
        failing = {
            "a set without changes": lambda d: d["diagnoses"][0]["sets"][0].update(changes=[]),
            "a change without what to set": lambda d: d["diagnoses"][0]["sets"][0]["changes"][0].pop("set"),
            "a set without its memory": lambda d: d["diagnoses"][0]["sets"][0].pop("memory_bytes"),
            "a call that works and has remedies": lambda d: d["diagnoses"][0].update(works=True),
            "a speed of a call that fails": lambda d: d["diagnoses"][0].update(speed={"timed": False}),
        }
        working = {
            "a call that works and says nothing of its speed": lambda d: d["diagnoses"][0].pop("speed"),
            "timed, and no noise": lambda d: d["diagnoses"][0]["speed"].pop("noise"),
            "a fifth kind": lambda d: d["diagnoses"][0]["speed"]["faster"][0].update(kind="weather"),
            "slower": lambda d: d["diagnoses"][0]["speed"]["faster"][0].update(ratio=0.9),
        }
        for document, breaks in ((FAILING, failing), (WORKING, working)):
            for name, change in breaks.items():
                self.assertNotEqual(self.errors(document, change), [], name)

    def test_a_call_that_was_not_run_and_a_sequence_are_valid(self):
        self.assertEqual(self.errors(FAILING, lambda d: d["not_diagnosed"].append({"call": "m=1", "reason": "no memory"})), [])
        self.assertEqual(self.errors(FAILING, lambda d: d["diagnoses"][0].update(sequence="r.json:graph-capture/x")), [])


if __name__ == "__main__":
    unittest.main()
