#!/usr/bin/env python3
"""Runs the examples of a page as they stand there: files from its blocks, commands with the output that it shows.

Usage: pages_test.py LT_AUDIT PAGE LEAST [--write]     LEAST: how many blocks of commands the page has at the least;
                                                       --write puts the real output into the page

A block of `console` is run; one with file=NAME is written to that file first; one with same-as=FILE is that file of the repository.

Reports: main.json is the committed report of an H200 in which known issue KI-060 does not show, lt-audit.json that report as it is,
without-workspace.json one without the check workspace.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORT = ROOT / "docs" / "reports" / "h200-cublaslt-13.1.0.json"
BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>\S[^\n]*)\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL)


def make_reports(folder):
    text = REPORT.read_text(encoding="utf-8")
    (folder / "lt-audit.json").write_text(text, encoding="utf-8")
    report = json.loads(text)
    for check in report["checks"]:
        for case in check["cases"]:
            if check["id"] == "known-issues" and case["status"] == "fail":
                case.update(status="pass", reason=None, message=None)
    report["findings"] = [finding for finding in report["findings"] if finding["check"] != "known-issues"]
    (folder / "main.json").write_text(json.dumps(report), encoding="utf-8")
    report = json.loads(text)
    report["checks"] = [check for check in report["checks"] if check["id"] != "workspace"]
    (folder / "without-workspace.json").write_text(json.dumps(report), encoding="utf-8")


def run_block(body, folder, environment):
    """The block with what its commands really print."""
    lines = []
    code = 0
    for line in body.splitlines():
        if not line.startswith("$ "):
            continue
        lines.append(line)
        if line == "$ echo $?":
            lines.append(str(code))
            continue
        done = subprocess.run(["bash", "-c", line[2:]], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=200)
        code = done.returncode
        lines += [printed.rstrip() for printed in done.stdout.splitlines()]
    return "\n".join(lines) + "\n"


def without_times(text):
    return re.sub(r"\b[0-9]+\.[0-9] s\b", "N s", text)


def main(program, path, least, write):
    page = path.read_text(encoding="utf-8")
    failed = 0
    ran = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_reports(folder)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CUDA", "CUBLAS", "NVIDIA", "GITHUB"))}
        environment.update(LT_AUDIT_SOURCE=str(ROOT), PATH=f"{pathlib.Path(program).parent}:{environment['PATH']}", COLUMNS="100", LC_ALL="C.UTF-8")

        def replaced(block):
            nonlocal failed, ran
            indent = block["indent"]
            body = "\n".join(line.removeprefix(indent) for line in block["body"].splitlines()) + "\n"
            if file := re.search(r"file=(\S+)", block["info"]):
                (folder / file[1]).write_text(body, encoding="utf-8")
            if same := re.search(r"same-as=(\S+)", block["info"]):
                ran += 1
                if body != (ROOT / same[1]).read_text(encoding="utf-8"):
                    failed += 1
                    print(f"the page and {same[1]} differ")
            if block["info"] != "console":
                return block[0]
            ran += 1
            real = run_block(body, folder, environment)
            if without_times(real) != without_times(body) and not write:
                failed += 1
                print(f"the page shows:\n{body}\nreally:\n{real}")
            lines = "".join(f"{indent}{line}\n" if line else "\n" for line in real.splitlines())
            return f"{indent}```console\n{lines}{indent}```"

        changed = BLOCK.sub(replaced, page)
    if write:
        path.write_text(changed, encoding="utf-8")
    if ran < least:
        print(f"only {ran} blocks were found: the page or this test is broken")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), "--write" in sys.argv))
