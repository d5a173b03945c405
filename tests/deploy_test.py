#!/usr/bin/env python3
"""The files that others copy: action, pipelines, job files, image and CMake module, each against what reads it.

Usage: deploy_test.py --venv DIR --lt-audit PROGRAM [UNITTEST ARGUMENT...]

The validators come from PyPI into DIR, once. Without network the test fails and says so; with LT_AUDIT_OFFLINE=1 it is skipped
(exit code 77) unless DIR is complete. deploy/ci/Jenkinsfile is not validated: nothing does it without a Jenkins.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "tests" / "deploy_requirements.txt"
SKIPPED = 77
OPTIONS = None


def run(*command, **keywords):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **keywords)


def prepare(venv):
    """The environment with the validators; ends the test where it cannot be had."""
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    mark = venv / "complete"
    if mark.is_file() and mark.read_text(encoding="utf-8") == wanted:
        return
    if os.environ.get("LT_AUDIT_OFFLINE") == "1":
        print(f"deploy_test: SKIPPED: LT_AUDIT_OFFLINE=1, and {venv} does not hold the validators; no file was validated")
        sys.exit(SKIPPED)
    shutil.rmtree(venv, ignore_errors=True)
    made = run(sys.executable, "-m", "venv", venv)
    if made.returncode != 0:
        sys.exit(f"deploy_test: python3 -m venv failed (Debian: apt install python3-venv)\n{made.stdout}")
    got = run(venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", REQUIREMENTS)
    if got.returncode != 0:
        sys.exit(f"{got.stdout}\ndeploy_test: the validators of {REQUIREMENTS.name} could not be installed from PyPI: is there a network? "
                 "LT_AUDIT_OFFLINE=1 skips this test.")
    mark.write_text(wanted, encoding="utf-8")


class Files(unittest.TestCase):
    """Every file is valid, and a broken copy of it is not: a validator that says yes to all proves nothing."""

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="lt-audit-deploy-"))
        self.addCleanup(shutil.rmtree, self.scratch)

    def broken(self, path, old, new):
        text = (ROOT / path).read_text(encoding="utf-8")
        self.assertIn(old, text, path)
        copy = self.scratch / pathlib.Path(path).name
        copy.write_text(text.replace(old, new, 1), encoding="utf-8")
        return copy

    def check(self, command, path, old, new):
        valid = run(*command, ROOT / path)
        self.assertEqual(valid.returncode, 0, valid.stdout)
        self.assertNotEqual(run(*command, self.broken(path, old, new)).returncode, 0, f"{path} with '{new}' passed")

    def schema(self, name, *further):
        return OPTIONS.venv / "bin" / "check-jsonschema", "--builtin-schema", f"vendor.{name}", *further

    def test_action(self):
        self.check(self.schema("github-actions"), "action.yml", "using: composite", "using: magic")

    def test_github_workflow(self):
        self.check(self.schema("github-workflows"), "deploy/ci/github.yml", "runs-on: ubuntu-24.04", "runson: ubuntu-24.04")

    def test_github_workflow_uses_inputs_that_the_action_has(self):
        has = set(re.findall(r"^  ([a-z-]+):\n    description:", (ROOT / "action.yml").read_text(encoding="utf-8"), re.M))
        workflow = (ROOT / "deploy/ci/github.yml").read_text(encoding="utf-8")
        blocks = re.findall(r"uses: lt-audit/lt-audit@\S+\n {8}with:\n((?: {10}.*\n)+)", workflow)
        self.assertEqual(len(blocks), 2)
        for block in blocks:
            self.assertLessEqual(set(re.findall(r"^ {10}([a-z-]+):", block, re.M)), has)

    def test_gitlab_pipeline(self):
        self.check(self.schema("gitlab-ci", "--data-transform", "gitlab-ci"), "deploy/ci/gitlab-ci.yml", "when: always", "when: sometimes")

    def test_kubernetes(self):
        validate = (OPTIONS.venv / "bin" / "kubernetes-validate", "--strict")
        self.check(validate, "deploy/kubernetes/lt-audit-job.yaml", "completionMode", "completionMood")
        self.check(validate, "deploy/kubernetes/lt-audit-merge.yaml", "backoffLimit: 0", "backoffLimit: none")

    def test_dockerfile(self):
        self.check((OPTIONS.venv / "bin" / "hadolint",), "Dockerfile", "WORKDIR /src", "WORKDIR src")

    def test_commands_of_all_files_exist(self):
        """Options that the files pass to lt-audit are options that it has."""
        texts = {path: path.read_text(encoding="utf-8") for path in
                 (*(ROOT / "deploy").rglob("*"), ROOT / "action.yml", ROOT / "Dockerfile") if path.is_file()}
        seen = 0
        for path, text in texts.items():
            joined = re.sub(r"\\\n\s*", " ", text)
            commands = re.findall(r"^  ([a-z-]+) ", run(OPTIONS.program, "--help").stdout, re.M)
            for command, rest in re.findall(r"lt-audit (run|merge|show|env|gate)((?: +[^ \n'`\"|]+)*)", joined):
                if command not in commands:
                    continue
                helped = run(OPTIONS.program, command, "--help").stdout
                for option in re.findall(r" (--[a-z-]+)", rest):
                    self.assertIn(option, helped, f"{path}: lt-audit {command} {option}")
                    seen += 1
        self.assertGreater(seen, 5)


class Action(unittest.TestCase):
    """The step of action.yml, with a program that writes down what it was given."""

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="lt-audit-deploy-"))
        self.addCleanup(shutil.rmtree, self.scratch)
        self.program = self.scratch / "recorder"
        self.program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$RECORD"\nexit "${CODE:-0}"\n', encoding="utf-8")
        self.program.chmod(0o755)

    def step(self, **inputs):
        environment = {"PATH": os.environ["PATH"], "LT_AUDIT": str(self.program), "RECORD": str(self.scratch / "record"),
                       "GITHUB_OUTPUT": str(self.scratch / "output"), **inputs}
        done = run(ROOT / "deploy/ci/action.sh", env=environment, cwd=self.scratch)
        record, output = self.scratch / "record", self.scratch / "output"
        return (done, record.read_text(encoding="utf-8").splitlines() if record.exists() else None,
                dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines()) if output.exists() else {})

    def test_audits_without_a_report(self):
        done, words, outputs = self.step(INPUT_JSON="x.json", INPUT_ARGS="--depth quick", INPUT_FAIL_ON="warn", INPUT_SARIF="s.sarif")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(words, ["run", "--json", "x.json", "--progress", "never", "--fail-on", "warn", "--sarif", "s.sarif", "--depth",
                                 "quick"])
        self.assertEqual(outputs, {"report": "x.json", "exit-code": "0"})

    def test_gates_a_report_and_passes_the_exit_code_on(self):
        done, words, outputs = self.step(INPUT_REPORT="a report.json", INPUT_BASELINE="old.json", INPUT_WAIVERS="$(touch x).toml", CODE="1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(words, ["gate", "a report.json", "--baseline", "old.json", "--waivers", "$(touch x).toml"])
        self.assertEqual(outputs, {"report": "a report.json", "exit-code": "1"})
        self.assertFalse((self.scratch / "x").exists())

    def test_says_that_the_program_is_missing(self):
        done, words, _ = self.step(LT_AUDIT="/nowhere/lt-audit")
        self.assertEqual(done.returncode, 3)
        self.assertIn("::error::", done.stdout)
        self.assertIsNone(words)

    def test_audits_for_real(self):
        done, _, outputs = self.step(LT_AUDIT=str(OPTIONS.program), INPUT_ARGS="alignment --target simulator --depth quick")
        self.assertEqual(done.returncode, 0, done.stdout)
        report = json.loads((self.scratch / outputs["report"]).read_text(encoding="utf-8"))
        self.assertEqual(report["target"]["kind"], "simulator")


PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES NONE)
enable_testing()
include({module})
lt_audit_add_gate(all REPORT report.json BASELINE old.json WAIVERS ci/waivers.toml FAIL_ON warn MAX_AGE 90 REQUIRE alignment workspace
  ALLOW_SIMULATOR)
lt_audit_add_gate(least REPORT report.json)
"""


class CmakeModule(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="lt-audit-deploy-"))
        self.addCleanup(shutil.rmtree, self.scratch)

    def configure(self, project, *definitions):
        (self.scratch / "CMakeLists.txt").write_text(project.format(module=ROOT / "cmake/lt-audit.cmake"), encoding="utf-8")
        return run("cmake", "-S", self.scratch, "-B", self.scratch / "b", *definitions)

    def ctest(self, *arguments):
        return run("ctest", "--test-dir", self.scratch / "b", "--output-on-failure", *arguments)

    def test_passes_every_option_on(self):
        program = self.scratch / "recorder"
        program.write_text('#!/bin/sh\necho "$@"\ncase "$*" in *waivers*) exit 1;; esac\n', encoding="utf-8")
        program.chmod(0o755)
        configured = self.configure(PROJECT, f"-DLT_AUDIT_PROGRAM={program}")
        self.assertEqual(configured.returncode, 0, configured.stdout)
        said = self.ctest("--verbose", "--label-regex", "lt-audit").stdout
        here = self.scratch
        self.assertIn(f"gate {here}/report.json --baseline {here}/old.json --waivers {here}/ci/waivers.toml --fail-on warn --max-age 90 "
                      "--require alignment --require workspace --allow-simulator\n", said)
        self.assertIn(f"gate {here}/report.json\n", said)
        self.assertRegex(said, r"all \.+\**Failed")
        self.assertRegex(said, r"least \.+ +Passed")

    def test_refuses_unknown_words_and_a_missing_report(self):
        head = "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES NONE)\nenable_testing()\ninclude({module})\n"
        for call, says in (("lt_audit_add_gate(x REPORT r.json BASELIN b)", "unknown words"), ("lt_audit_add_gate(x)", "REPORT FILE is missing"),
                           ("lt_audit_add_gate(x REPORT r.json BASELINE)", "without a value")):
            configured = self.configure(head + call + "\n")
            self.assertNotEqual(configured.returncode, 0, call)
            self.assertIn(says, " ".join(configured.stdout.split()))

    def test_gates_for_real(self):
        audited = run(OPTIONS.program, "run", "alignment", "--target", "simulator", "--depth", "quick", "--json", self.scratch / "report.json")
        self.assertEqual(audited.returncode, 0, audited.stdout)
        project = ("cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES NONE)\nenable_testing()\ninclude({module})\n"
                   "lt_audit_add_gate(open REPORT report.json ALLOW_SIMULATOR)\nlt_audit_add_gate(closed REPORT report.json)\n")
        configured = self.configure(project, f"-DLT_AUDIT_PROGRAM={OPTIONS.program}")
        self.assertEqual(configured.returncode, 0, configured.stdout)
        said = self.ctest().stdout
        self.assertRegex(said, r"open \.+ +Passed")
        self.assertRegex(said, r"closed \.+\**Failed")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--lt-audit", type=pathlib.Path, required=True, dest="program")
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.venv = OPTIONS.venv.resolve()
    OPTIONS.program = OPTIONS.program.resolve()
    prepare(OPTIONS.venv)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
