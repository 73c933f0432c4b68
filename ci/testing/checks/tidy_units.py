# SPDX-License-Identifier: Apache-2.0
"""Prints the files of a compilation database that clang-tidy reads: those of the project that are not tests."""

import json
import pathlib
import sys

for file in sorted({command["file"] for command in json.loads(pathlib.Path(sys.argv[1]).read_text())}):
    if not file.endswith("_test.cc") and "/_deps/" not in file:
        print(file)
