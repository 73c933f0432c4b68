# SPDX-License-Identifier: Apache-2.0
"""A right and a wrong kernel in tests of pytest, and the functions of the package on them, as a user writes them. Run by
wheel_check.py, next to kernel.py, a copy of impl/numpy/lstm_block_cell_grad.py."""
import backgauge
import kernel
import pytest

NAMES = ("cs_prev_grad", "dicfo", "wci_grad", "wcf_grad", "wco_grad")
READ = ("cs_prev", "wci", "wcf", "wco", "i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad")


def right(case):
    return dict(zip(NAMES, kernel.cell(*(case.inputs[name] for name in READ), **case.attributes)))


def without_f(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    return kernel.cell(cs_prev, wci, wcf, wco, i, cs, 1 + 0 * f, o, ci, co, cs_grad, h_grad, use_peephole)


@pytest.mark.backgauge(op="LSTMBlockCellGrad", dtypes=["f32"])
def test_right(case):
    case.assert_conforms(right(case))


@pytest.mark.backgauge(op="LSTMBlockCellGrad", dtypes=["f32"], use_peephole=[False])
def test_wrong(case):
    case.assert_conforms(dict(zip(NAMES, without_f(*(case.inputs[name] for name in READ), **case.attributes))))


def test_functions_of_the_package():
    case = next(iter(backgauge.cases("LSTMBlockCellGrad", tier="smoke", dtypes=["f32"])))
    want, allowed = backgauge.oracle("LSTMBlockCellGrad", case.inputs, **case.attributes)
    assert set(want) == set(allowed) == set(NAMES)
    backgauge.assert_conforms("LSTMBlockCellGrad", case.inputs, right(case), **case.attributes)
    result = backgauge.verify(kernel.cell, tier="smoke")
    assert result, result
    result = backgauge.verify(without_f, op="LSTMBlockCellGrad", dtypes=["f32"], tier="smoke")
    assert not result and result.failures and "repro" in str(result), result
