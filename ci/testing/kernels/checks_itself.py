# SPDX-License-Identifier: Apache-2.0
"""LSTMBlockCellGrad in NumPy, which checks its arguments itself."""
import sys

sys.path.insert(0, __file__.rpartition("/ci/")[0] + "/impl/numpy")
import backgauge
import lstm_block_cell_grad as example


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"], refuses=True)
def cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    if x.ndim != 2 or cs_prev.ndim != 2 or cs_prev.shape[1] < 1:
        raise ValueError("x and cs_prev: expected [B, I] and [B, H] with H of at least 1")
    (B, width), H = x.shape, cs_prev.shape[1]
    states = {"cs_prev": cs_prev, "h_prev": h_prev, "i": i, "cs": cs, "f": f, "o": o, "ci": ci, "co": co, "cs_grad": cs_grad, "h_grad": h_grad}
    shapes = {**dict.fromkeys(states, (B, H)), "x": (B, width), "w": (width + H, 4 * H), "wci": (H,), "wcf": (H,), "wco": (H,), "b": (4 * H,)}
    for name, array in {**states, "x": x, "w": w, "wci": wci, "wcf": wcf, "wco": wco, "b": b}.items():
        if array.shape != shapes[name] or array.dtype != "float32":
            raise ValueError(f"{name}: expected float32 {shapes[name]}, got {array.dtype} {array.shape}")
    return example.cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole)
