# SPDX-License-Identifier: Apache-2.0
"""backgauge in Python: `oracle` and `assert_conforms` judge outputs for inputs of your own; `verify` judges a function on a whole
campaign; `cases` are the inputs of a tier; `implements` declares an implementation that `backgauge verify --impl=FILE.py` judges;
`backgauge.report` draws charts, pages and summaries of runs, `backgauge.compare` compares them.
"""
from backgauge.campaign.verify import verify
from backgauge.cases import Case, case, cases
from backgauge.errors import Error, HarnessError, InputError, NothingProven
from backgauge.implementation import implements
from backgauge.params import params_layout
from backgauge.reference import assert_conforms, oracle
from backgauge.result import Failure, Result

__all__ = ["Case", "Error", "Failure", "HarnessError", "InputError", "NothingProven", "Result", "assert_conforms", "case", "cases",
           "implements", "oracle", "params_layout", "verify"]
