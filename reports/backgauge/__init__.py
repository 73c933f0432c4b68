# SPDX-License-Identifier: Apache-2.0
"""What people see of backgauge's runs: `backgauge.report` (charts, page, summary) and `backgauge.compare` (verdicts).

A pure function of files: nothing here runs an implementation or judges one.
"""
