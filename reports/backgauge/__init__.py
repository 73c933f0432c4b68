# SPDX-License-Identifier: Apache-2.0
"""backgauge in Python: `oracle` and `assert_conforms` judge outputs for inputs of your own; `implements` declares an
implementation that `backgauge verify --impl=FILE.py` judges;
`backgauge.report` draws charts, pages and summaries of runs, `backgauge.compare` compares them.
"""
from backgauge.errors import InputError
from backgauge.implementation import implements
from backgauge.params import params_layout
from backgauge.reference import assert_conforms, oracle

__all__ = ["InputError", "assert_conforms", "implements", "oracle", "params_layout"]
