# SPDX-License-Identifier: Apache-2.0
"""Functions that are said to check their arguments, and accept all of them: every malformed call that reaches them FAILED."""
import backgauge


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f16", "f32"], refuses=True)
def cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole, out):
    pass


@backgauge.implements("BlockLSTMGradV2", dtypes=["f16", "f32"], refuses=True)
def sequence(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad, use_peephole, out):
    pass
