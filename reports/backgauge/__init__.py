# SPDX-License-Identifier: Apache-2.0
"""backgauge in Python: `oracle` and `assert_conforms` judge outputs for inputs of your own; `cases` are the inputs of a tier;
`implements` declares an implementation that `backgauge verify --impl=FILE.py` judges;
`backgauge.report` draws charts, pages and summaries of runs, `backgauge.compare` compares them.
"""
from backgauge.cases import Case, case, cases
from backgauge.errors import InputError
from backgauge.implementation import implements
from backgauge.reference import assert_conforms, oracle

__all__ = ["Case", "InputError", "assert_conforms", "case", "cases", "implements", "oracle"]
