# SPDX-License-Identifier: Apache-2.0
"""Whole campaigns: backgauge.verify, which runs one on this machine, and `backgauge campaign`, which runs it on many."""
