# SPDX-License-Identifier: Apache-2.0
"""Presents the runs of backgauge: `backgauge.report` (charts, page, summary) and `backgauge.compare` (verdicts).

A pure function of files: nothing here runs an implementation or judges one.
"""
