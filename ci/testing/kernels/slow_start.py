# SPDX-License-Identifier: Apache-2.0
"""LSTMBlockCellGrad of cells.py, in a file that takes a second to load, as those do that import a framework. Each process that loads it
adds a line to BACKGAUGE_TEST_STARTS."""
import os
import time

from cells import cell  # noqa: F401

time.sleep(1)
with open(os.environ["BACKGAUGE_TEST_STARTS"], "a") as starts:
    starts.write("started\n")
