#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the tests that were skipped, wholly or in part, with the reasons: ci/testing/checks/skipped_tests.py JUNIT, a file that
`ctest --output-junit=JUNIT` wrote. Exit code 1: a test was skipped without a reason."""

import re
import sys
import xml.etree.ElementTree

# What GoogleTest and unittest, asked with -v, say of it.
REASONS = re.compile(r": Skipped\n+(.+)|\.\.\. skipped ['\"](.+)['\"]$", re.MULTILINE)


def main():
    silent = False
    for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        reasons = ["".join(found).strip() for found in REASONS.findall(output)]
        if case.find("skipped") is not None and not reasons:  # a test that is a command says it last
            reasons = [line.strip() for line in output.splitlines() if line.strip()][-1:]
            silent = silent or not reasons
            reasons = reasons or ["no reason given"]
        for reason in reasons:
            print(f"SKIPPED {case.get('name').split('  #')[0]}: {reason}")
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
