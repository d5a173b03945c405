#!/usr/bin/env python3
"""Holds JUnit and SARIF of lt-audit against the schemas that consumers use, and the other formats against their limits.

Usage: formats_test.py --program LT-AUDIT --samples LT_AUDIT_REPORT_TESTS --work DIRECTORY

The documents: every sample report of the unit tests (with a gate, waivers, hostile text, nothing in it), the committed reports of
the H200, those of workloads among them, and a run with a planted fault of the simulator. The schemas come out of pinned source packages of
PyPI (formats_requirements.txt), fetched by the pip of an environment under DIRECTORY and kept there.

Exit code 0 when all are valid, 1 when one is not or the schemas cannot be had, 77 (skipped) with LT_AUDIT_OFFLINE=1 and no schemas.
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import venv

from jsonschema import Draft7Validator

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "formats_requirements.txt"
JUNIT = "junit-10.xsd"
SARIF = "schema-2.1.0.json"
MOST_COMMENT = 65536
MOST_GZIP = 10 * 1024 * 1024
SKIPPED = 77


def fetch_schemas(work):
    """The two schemas as files of `work`; downloads what is not there from an earlier run of the same requirements."""
    schemas = work / "schemas"
    stamp = schemas / "requirements"
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return schemas
    if os.environ.get("LT_AUDIT_OFFLINE") == "1":
        print("SKIPPED: JUnit and SARIF were checked against no schema: LT_AUDIT_OFFLINE=1 and no schemas from an earlier run")
        sys.exit(SKIPPED)
    shutil.rmtree(schemas, ignore_errors=True)
    downloads = work / "downloads"
    shutil.rmtree(downloads, ignore_errors=True)
    venv.create(work / "venv", with_pip=True, clear=True)
    command = [work / "venv" / "bin" / "python", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--no-binary", ":all:", "--require-hashes", "--requirement", REQUIREMENTS, "--dest", downloads]
    fetched = subprocess.run(command, capture_output=True, text=True, timeout=500)
    if fetched.returncode != 0:
        last = fetched.stderr.strip().splitlines()[-3:]
        print("The schemas of JUnit and SARIF could not be fetched from PyPI, so nothing was checked: make PyPI reachable, or set "
              f"LT_AUDIT_OFFLINE=1 to skip this test. pip said: {' / '.join(last)}")
        sys.exit(1)
    schemas.mkdir(parents=True)
    for package in downloads.iterdir():
        with tarfile.open(package) as archive:
            for member in archive:
                name = pathlib.PurePosixPath(member.name).name
                if member.isfile() and name in (JUNIT, SARIF):
                    (schemas / name).write_bytes(archive.extractfile(member).read())
    for name in (JUNIT, SARIF):
        if not (schemas / name).is_file():
            print(f"The packages of {REQUIREMENTS.name} hold no {name} any more: name others there")
            sys.exit(1)
    stamp.write_text(wanted, encoding="utf-8")
    return schemas


class Documents:
    """Makes the documents in `directory`."""

    def __init__(self, program, directory):
        self.program = program
        self.directory = directory
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}

    def run(self, *words, codes=(0,)):
        done = subprocess.run([self.program, *words], cwd=self.directory, env=self.environment, capture_output=True, timeout=300)
        if done.returncode not in codes:
            sys.exit(f"lt-audit {' '.join(words)}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')[:2000]}")

    def samples(self, tests):
        done = subprocess.run([tests, "--gtest_filter=FormatsSamples.*"], env={**self.environment, "LT_AUDIT_SAMPLES": self.directory},
                              capture_output=True, timeout=300)
        if done.returncode != 0:
            sys.exit(f"{tests} could not write the samples:\n{done.stdout.decode(errors='replace')[-2000:]}")

    def page(self, path):
        """Runs the commands of a page as they stand there."""
        commands = re.findall(r"^```sh\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        if len(commands) < 5:
            sys.exit(f"{path} has only {len(commands)} commands")
        directory = self.directory.parent / "page"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        (directory / "docs").symlink_to(ROOT / "docs")
        environment = {**self.environment, "PATH": f"{pathlib.Path(self.program).parent}:{os.environ['PATH']}"}
        for command in commands:
            done = subprocess.run(["bash", "-ec", command], cwd=directory, env=environment, capture_output=True, timeout=300)
            if done.returncode != 0:
                sys.exit(f"{path}: exit code {done.returncode} of {command}{done.stderr.decode(errors='replace')[:2000]}")
        for suffix in (".xml", ".sarif", ".md"):
            shutil.copy(directory / f"lt-audit{suffix}", self.directory / f"page{suffix}")

    def formats_of(self, report, name):
        self.run("show", str(report), "-q", "--junit", f"{name}.xml", "--sarif", f"{name}.sarif", "--markdown", f"{name}.md")


def make_documents(arguments, directory):
    documents = Documents(arguments.program, directory)
    documents.samples(arguments.samples)
    # Those of a workload point to lines of the application's log.
    for folder in ("docs/reports", "docs/reports/workloads"):
        for report in sorted((ROOT / folder).glob("*.json")):
            documents.formats_of(report, report.stem)
    documents.page(ROOT / "docs" / "formats.md")
    documents.run("run", "--target", "simulator", "--problem", "m=64,n=48,k=32,a=f64", "--inject", "empty-success", "--json", "run.json",
                  "--junit", "run.xml", "--sarif", "run.sarif", "--markdown", "run.md", codes=(1,))


def sarif_validator(schemas):
    schema = json.loads((schemas / SARIF).read_text(encoding="utf-8"))
    return Draft7Validator(schema, format_checker=Draft7Validator.FORMAT_CHECKER)


def sarif_problems(log, validator):
    """What the schema, and the standard beyond it, forbids."""
    problems = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(log)]
    if problems:
        return problems
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    if len({rule["id"] for rule in rules}) != len(rules):
        problems.append("two rules have one id")
    if len(run["results"]) > 25000 or len(rules) > 25000:
        problems.append("GitHub takes at most 25,000 results and rules")
    identities = collections.Counter(result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"])
    problems += [f"{count} results are {identity}" for identity, count in identities.items() if count > 1]
    for result in run["results"]:
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            problems.append(f"{result['ruleId']}: the rule's index names another one (3.27.6)")
        for location in result["locations"]:
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            if any(part == ".." for part in uri.split("/")) or " " in uri:
                problems.append(f"{uri}: no URI for a place in the repository")
    for field in ("suppressions", "baselineState"):
        if len({field in result for result in run["results"]}) > 1:
            problems.append(f"{field} is on some results and not on all (3.27.23, 3.27.24)")
    return problems


def check(directory, schemas):
    """Prints what is wrong; how many documents are wrong, and how many there were of each kind."""
    validator = sarif_validator(schemas)
    kinds = collections.Counter()
    wrong = 0
    for path in sorted(directory.iterdir()):
        kinds[path.suffix] += 1
        problems = []
        if path.suffix == ".xml":
            lint = subprocess.run(["xmllint", "--noout", "--huge", "--schema", schemas / JUNIT, path], capture_output=True, text=True)
            problems = [] if lint.returncode == 0 else lint.stderr.strip().splitlines()[:5]
        elif path.suffix == ".sarif":
            problems = sarif_problems(json.loads(path.read_text(encoding="utf-8")), validator)
            if len(gzip.compress(path.read_bytes())) > MOST_GZIP:
                problems.append("GitHub takes at most 10 MB of compressed SARIF")
        elif path.suffix == ".md" and len(path.read_text(encoding="utf-8")) > MOST_COMMENT:
            problems = [f"a comment takes at most {MOST_COMMENT} characters"]
        for problem in problems[:10]:
            print(f"{path.name}: {problem}")
        wrong += bool(problems)
    return wrong, kinds


def refuses_broken_documents(directory, schemas):
    """The schemas are the right ones: a document that is broken on purpose is not valid."""
    text = (directory / "sample.xml").read_text(encoding="utf-8")
    broken = directory.parent / "broken.xml"
    broken.write_text(text.replace("<testcase ", "<testcase surprise=\"1\" ", 1), encoding="utf-8")
    lint = subprocess.run(["xmllint", "--noout", "--schema", schemas / JUNIT, broken], capture_output=True)
    validator = sarif_validator(schemas)
    log = json.loads((directory / "sample.sarif").read_text(encoding="utf-8"))
    log["runs"][0]["results"][0]["level"] = "fatal"
    return lint.returncode != 0 and bool(sarif_problems(log, validator))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--samples", required=True, type=os.path.abspath)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if shutil.which("xmllint") is None:
        sys.exit("xmllint is missing (Debian: apt install libxml2-utils), so nothing was checked")
    arguments.work.mkdir(parents=True, exist_ok=True)
    schemas = fetch_schemas(arguments.work.resolve())
    directory = arguments.work.resolve() / "documents"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    make_documents(arguments, directory)
    wrong, kinds = check(directory, schemas)
    if min(kinds[".xml"], kinds[".sarif"], kinds[".md"]) < 10:
        sys.exit(f"too few documents were made: {dict(kinds)}")
    if not refuses_broken_documents(directory, schemas):
        sys.exit("the schemas accept broken documents: they are not what they should be")
    print(f"{kinds['.xml']} JUnit, {kinds['.sarif']} SARIF and {kinds['.md']} Markdown documents, {wrong} of them wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
