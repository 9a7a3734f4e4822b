#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the log of the last test run and names every test that was skipped.

A run whose tests were skipped still ends "100% tests passed". So with ASSAY_MUST_WORK=1 a skip that is not on
tests/allowed_skips.txt is a failure. A line of that file is: NAME-OF-THE-CTEST-TEST  TEXT-THAT-THE-SKIP-HOLDS
(NAME may be a pattern such as flow_*; the text is everything after the first run of blanks).
"""
import fnmatch
import os
import pathlib
import re
import sys

SKIP_LINE = re.compile(
    r"^(?:\[  SKIPPED \] (?P<cmocka>[^\s,]+)$"  # cmocka; its closing count has a comma
    r"|SKIPPED \[\d+\] (?P<pytest>.+)"  # pytest -rs
    r"|.*\*\*\*Skipped.*)"
)


def skips(log):
    """(ctest name, what was skipped) of a LastTest.log."""
    name = "?"
    for line in log.splitlines():
        header = re.match(r"^\d+/\d+ Test(?:ing)?: (\S+)", line)
        if header:
            name = header.group(1)
            continue
        found = SKIP_LINE.match(line)
        if found:
            yield name, found.group("cmocka") or found.group("pytest") or "the whole test"
        elif line.startswith("Test Skipped"):
            yield name, "the whole test"


def read_allowed(path):
    for line in path.read_text().splitlines() if path.exists() else []:
        line = line.split("#", 1)[0].strip()
        if line:
            name, _, text = line.partition(" ")
            yield name, text.strip()


def is_allowed(skip, allowed):
    return any(fnmatch.fnmatch(skip[0], name) and text in skip[1] for name, text in allowed)


def main(build):
    here = pathlib.Path(__file__).resolve().parent
    log = pathlib.Path(build, "Testing/Temporary/LastTest.log")
    allowed = list(read_allowed(here / "allowed_skips.txt"))
    bad = 0
    for skip in skips(log.read_text(errors="replace")):
        ok = is_allowed(skip, allowed)
        bad += not ok
        print(f"skipped{'' if ok else ', and not on tests/allowed_skips.txt'}: {skip[0]}: {skip[1]}")
    if bad and os.environ.get("ASSAY_MUST_WORK") == "1":
        sys.exit(f"{bad} tests were skipped that must work here")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build")
