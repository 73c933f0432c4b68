#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the tests that were skipped, wholly or in part, with the reasons: ci/testing/checks/skipped_tests.py JUNIT..., files that
`ctest --output-junit=JUNIT` or a program of GoogleTest, asked by `--gtest_output=xml:`, wrote. Exit code 1: a test was skipped
without a reason."""

import re
import sys
import xml.etree.ElementTree

# What GoogleTest and unittest, asked with -v, say of it.
REASONS = re.compile(r": Skipped\n+(.+)|\.\.\. skipped ['\"](.+)['\"]$", re.MULTILINE)


def reasons_of(case):
    """Why a test was skipped, wholly or in part; [""] if it was and nothing says why."""
    output = case.findtext("system-out") or ""
    skipped = case.find("skipped")
    told = ["".join(found).strip() for found in REASONS.findall(output)]
    if skipped is None or told:
        return told
    # GoogleTest says it in a message, after the place in its source; a test that is a command says it last.
    lines = [line.strip() for line in (skipped.get("message") or "").splitlines()[1:] + output.splitlines() if line.strip()]
    return [lines[-1].removeprefix("SKIPPED: ")] if lines else [""]


def main():
    silent = False
    for file in sys.argv[1:]:
        for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
            name = case.get("name").split("  #")[0]
            if case.get("classname") != case.get("name"):  # ctest gives the name twice
                name = f"{case.get('classname')}.{name}"
            for reason in reasons_of(case):
                silent = silent or not reason
                print(f"SKIPPED {name}: {reason or 'no reason given'}")
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
