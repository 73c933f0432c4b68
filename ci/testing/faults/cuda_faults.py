#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the implementation for NVIDIA GPUs: each is put into a copy of one of its sources, and `backgauge verify` must
fail the plug-in whose kernels the processor runs.

    cuda_faults.py SOURCE_DIR BUILD_DIR [ID...]

BUILD_DIR is made by ninja and holds backgauge and its plug-ins; nothing in either folder changes. Exit code 1 if a fault
goes unnoticed.
"""
import functools
import itertools
import os
import pathlib
import re
import subprocess
import sys

from fault_runner import Build, Fault, Product, run

PLUGIN = Product("backgauge_cuda-on-host", "impl/cuda/libbackgauge_cuda-on-host.so", "impl/cuda",
                 r"impl/cuda/CMakeFiles/backgauge_cuda(_host|-on-host)\.dir/", "-O0")
BLOCK = "impl/cuda/block_lstm_grad_v2.cu"
STEPS = "impl/cuda/lstm_steps.cu"
CELL = "impl/cuda/lstm_block_cell_grad.cu"
KERNEL = "impl/cuda/cell_kernel.h"
SUMS = "impl/cuda/column_sums.h"
ALIGNED = "impl/cuda/aligned.h"
BACKPROP = "impl/cuda/cudnn_rnn_backprop.cu"
FORWARD = "impl/cuda/cudnn_rnn_forward.cu"
RNN_STEP = "impl/cuda/rnn_backward_step.h"
TRACE = "impl/cuda/rnn_trace.h"
OPERAND = "impl/cuda/operand.h"
EXECUTE = "impl/cuda/execute.cu"
WIDENED = "impl/cuda/widened_call.h"
CLUSTER = "impl/cuda/clusters/kernel.h"
WEIGHTS = "impl/cuda/clusters/weights.h"
PLAN = "impl/cuda/clusters/plan.h"
LSTM = "impl/cuda/clusters/lstm.cu"
RNN = "impl/cuda/clusters/rnn.cu"
MMA = "impl/cuda/device/mma.h"

# The cell has none.
WITH_PRODUCTS = "block_lstm_grad_v2,cudnn_rnn_backprop"

# BACKGAUGE_CUDA_MATH and BACKGAUGE_CUDA_STEPS: every kernel is in one of the first two, or in the third.
SETTINGS = (("", ""), ("3xtf32,fp16", ""), ("3xtf32,fp16", "cluster-16"))
# Sources that only the third setting needs.
OF_CLUSTERS = (CLUSTER, WEIGHTS, PLAN, LSTM, RNN, MMA)

# id, what is wrong, file, and for each change the text as it is and the text as it becomes
FAULTS = [
    ("S1", "a last chunk of one step is left out", BLOCK, ("while (left > 0)", "while (left > 1)")),
    ("S2", "chunks overlap by a step", STEPS,
     ("place->steps_left = local.first + 1 - count;", "place->steps_left = local.first + 2 - count;")),
    ("S3", "every product of a chunk reads its first step", STEPS,
     ("&place->chunk_dgates[slot]", "&place->chunk_dgates[0]")),
    ("S4", "a step reads the cell state of its own instead of the one before", STEPS,
     ("a.cs + (at - B * H)", "a.cs + at")),
    ("S5", "gates f and ci are swapped", STEPS,
     ("dgates + H,\n            dgates + 2 * H,", "dgates + 2 * H,\n            dgates + H,")),
    ("S6", "every step leaves its sums where the first does", STEPS,
     ("a.sums + t * row_blocks * kSums * H", "a.sums")),
    ("S7", "a graph is replayed with the arguments of the call before", BLOCK,
     ("set_arguments(queue, arguments, place);", "if (!lock.owns_lock()) set_arguments(queue, arguments, place);")),
    ("S8", "the recurrent product reads W_x", BLOCK,
     ("return w_.operand() + c.I * 4 * c.H; }", "return w_.operand(); }")),
    ("S9", "what is carried into the last step is not cleared", BLOCK,
     ("queue.zero(dh_, c.B * c.H * static_cast<std::int64_t>(sizeof(Real)));", "")),
    ("Q1", "x_grad is computed before the steps that it reads", BLOCK,
     ("work.side(0).wait_for(queue);\n        input_gradient(work.side(0), left", "input_gradient(work.side(0), left")),
    ("Q2", "nobody waits for x_grad", BLOCK, ("queue.wait_for(work.side(0));", "")),
    ("Q3", "device memory is allocated in the midst of a call", BLOCK,
     ("Work work(stream, scratch_, kSides);", "Work work(stream, scratch_, kSides);\n    const Memory more(16);")),
    ("H1", "every group of x_grad reads the first steps", BLOCK,
     ("dgates = dgates_ + first * c.B * 4 * c.H, w", "dgates = dgates_, w")),
    ("H2", "w_grad pairs states with the gates of their own step", BLOCK,
     ("weight_product(queue, h_.operand(), c.H, c.B, rows_ - c.B, true, to);",
      "weight_product(queue, h_.operand(), c.H, 0, rows_ - c.B, true, to);")),
    ("H3", "the states before the first step are left out of w_grad", BLOCK,
     ("c.H, c.B, rows_ - c.B, true, to);", "c.H, c.B, rows_ - c.B, false, to);")),
    ("H4", "x_grad beyond seq_len_max is not cleared", BLOCK,
     ("queue.zero(c.x_grad + rows_ * c.I, (c.T - c.S) * c.B * c.I * kBytes);", "")),
    ("H5", "a copy of x_grad is not copied back", BLOCK, ("x_grad_.deliver(queue);", "")),
    ("H6", "a copy of w is not made", BLOCK, ("w_.fetch(queue);", "")),
    ("K1", "the last vector of a row is left out", KERNEL, ("if (column < columns) {", "if (column + kWidth < columns) {")),
    ("K2", "the rows of a block add up without a barrier", KERNEL,
     ("kPhases = kSums > 0 ? 2 : 1", "kPhases = 1"),
     ("      backward(thread, row_block, first_column, shared);\n",
      "      backward(thread, row_block, first_column, shared);\n      leave_sums(thread, row_block, first_column, shared);\n")),
    ("K3", "the last row of a block is left out of its sums", KERNEL, ("row < kCellRows; ++row) total", "row + 1 < kCellRows; ++row) total")),
    ("K4", "the sums of gate i are those of gate f", "impl/cuda/lstm_cell.h", ("terms[0] = d.i;", "terms[0] = d.f;")),
    ("K5", "a block of long columns takes the first rows only", KERNEL,
     ("for (std::int64_t k = 0; k < rows_each; ++k) {", "for (std::int64_t k = 0; k < 1; ++k) {")),
    ("K6", "rows of gates lie three units of columns apart", KERNEL, ("gate = row * 4 * columns + column", "gate = row * 3 * columns + column")),
    ("C1", "sums over many rows are made of the first ones", SUMS,
     ("for (int k = 0; rows > kRows; ++k) {", "for (int k = 0; rows < 0; ++k) {")),
    ("C2", "lanes add up without a barrier", SUMS,
     ("kPhases = 2;", "kPhases = 1;"), ("    } else if (lane == 0 && column < columns) {", "    }\n    if (lane == 0 && column < columns) {")),
    ("W1", "an array of the workspace is one row too short", BLOCK,
     (" dh_(workspace.take<Real>({carried_rows_, c.H}))", " dh_(workspace.take<Real>({carried_rows_ - (carried_rows_ > 1), c.H}))")),
    ("L1", "dicfo in the order of BlockLSTMGradV2", CELL,
     ("c.dicfo + 2 * c.H, c.dicfo + c.H,", "c.dicfo + c.H, c.dicfo + 2 * c.H,")),
    ("L2", "peephole gradients stay as they were without peepholes", CELL,
     ("for (S* const to : zeros) queue.zero(to, c.H * static_cast<std::int64_t>(sizeof(S)));", "(void)zeros;")),
    ("R1", "dx of a layer is made with W of the layer below", BACKPROP,
     ("W = weights_.operand() + params_.W(layer, d, 0);",
      "W = weights_.operand() + params_.W(std::max<std::int64_t>(layer - 1, 0), d, 0);")),
    ("R2", "the second direction does not wait for the layer above", BACKPROP, ("if (n.D == 2) second.wait_for(main);", "")),
    ("R3", "nobody waits for the second direction", BACKPROP, ("if (n.D == 2) main.wait_for(second);", "")),
    ("R4", "gate gradients are overwritten before the products of the weights have read them", BACKPROP,
     ("main.wait_for(weights);  // of the layer above", "// of the layer above")),
    ("R5", "dx of the second direction takes the place of that of the first", BACKPROP,
     ("input_product(queue, layer, d, dx, d > 0);", "input_product(queue, layer, d, dx, false);")),
    ("R6", "the recurrent gates of a GRU in a wrong order", BACKPROP, ("(column + n.G - 1) % n.G", "(column + 1) % n.G")),
    ("R7", "what is kept is read at the step itself instead of the one before", BACKPROP,
     ("trace_.kept(pseudo_layer, before);", "trace_.kept(pseudo_layer, t);")),
    ("R8", "every gap has the mask of the first", BACKPROP,
     ("side, dx, trace_.keep(n.mask(layer - 1, d))", "side, dx, trace_.keep(n.mask(0, d))")),
    ("R17", "both directions have the mask of the first", BACKPROP,
     ("side, dx, trace_.keep(n.mask(layer - 1, d))", "side, dx, trace_.keep(n.mask(layer - 1, 0))")),
    ("R9", "masks lie on the last values of reserve_space", TRACE, ("at(n.values()))", "at(n.values() - n.H))")),
    ("R10", "every step leaves its sums where the first does", BACKPROP, (" + t * sum_step;", ";")),
    ("R11", "gradients of biases are copied to one gate less", BACKPROP,
     ("queue.copy(bR, bW, n.G * n.H * kBytes);", "queue.copy(bR, bW, (n.G - 1) * n.H * kBytes);")),
    ("R12", "states before the steps of the second direction are those of the first", BACKPROP,
     ("n.width(), d == 1}", "n.width(), false}")),
    ("R13", "with skip_input dx is summed over the recurrent side", RNN_STEP,
     ("sum[n] = gates[kGradients - kGates][n];", "sum[n] = gates[0][n];")),
    ("R14", "the gradient of the initial state is that after the first step", BACKPROP,
     ("      state_product(queue, dgates_now, R, dh_[d]);", "      if (step > 0) state_product(queue, dgates_now, R, dh_[d]);")),
    ("R15", "copies of gradients of the weights are not copied back", BACKPROP, ("params_backprop_.deliver(main);", "")),
    ("R16", "an array of the workspace is one row too short", BACKPROP,
     ("dh_[d] = workspace.take<Real>({carried_rows_, n.H});", "dh_[d] = workspace.take<Real>({carried_rows_ - (carried_rows_ > 1), n.H});")),
    ("T1", "the second direction of the forward goes the way of the first", FORWARD,
     ("const std::int64_t t = d == 0 ? step : n.T - 1 - step;", "const std::int64_t t = step;")),
    ("T2", "every layer starts from the state of the first", FORWARD,
     ("state = pseudo_layer * n.B * n.H;", "state = d * n.B * n.H;")),
    ("T3", "a layer reads the one below before its second direction is done", FORWARD,
     ("if (n.D == 2) main.wait_for(work.side(0));\n", "if (n.D == 2 && layer + 1 == n.L) main.wait_for(work.side(0));\n")),
    ("M1", "of split operands one product of three is left out", OPERAND,
     ("queue.multiply(product, Addresses{a, b_low, result});", "")),
    ("M2", "the lower part of an operand is that of its double", OPERAND,
     ("low[k] = to_tf32(from[k] - high[k]);", "low[k] = to_tf32(2 * from[k] - high[k] - high[k]);")),
    ("M3", "half calls keep the operands of products in half unasked", EXECUTE, ("!settings().half_operands", "false")),
    ("M4", "the second half of each tensor of a half call is not widened", WIDENED,
     ("op, tensor, extents) : 0);", "op, tensor, extents) / 2 : 0);")),
    ("M5", "a copy of reserve_space is not copied back", WIDENED,
     ("queue.copy(to[k].data, from[k].data, reserve_bytes_);", "if (to != original_.outputs) queue.copy(to[k].data, from[k].data, reserve_bytes_);")),
    ("M6", "what is converted to half was never written", BLOCK,
     ("recurrent_weights(queue, w_h_grad_);\n      convert(", "convert(")),
    ("G1", "there is one buffer of parts", CLUSTER, ("static_cast<int>(step & 1) * parts(sizes)", "static_cast<int>(step & 0) * parts(sizes)")),
    ("G2", "the product of a warp does not wait for the gates of the others", CLUSTER, ("kStepPhases = 2", "kStepPhases = 1"),
     ("    } else {\n      // The values", "    }\n    {\n      // The values")),
    ("G3", "the part of the last block is left out", CLUSTER, ("rank < sizes.blocks; ++rank) dh", "rank < sizes.blocks - 1; ++rank) dh")),
    ("G4", "every step has the values of the step before", CLUSTER,
     ("place_in_batch(warp.block, cell, place), number + 1);", "place_in_batch(warp.block, cell, place), number);")),
    ("G5", "rows of the second cluster are those of the first", CLUSTER, ("{block.cluster * sizes.rows + cell.row,", "{cell.row,")),
    ("G6", "sums of rows lack the last row of a cluster", CLUSTER, ("row < sizes.rows; ++row) total", "row + (sizes.rows > 1) < sizes.rows; ++row) total")),
    ("G7", "the gradient of cs is not carried", LSTM, ("v.dcs = d.cs_prev;", "v.dcs = step + 1 == n.steps ? d.cs_prev : 0;")),
    ("G8", "the gradient of the initial state is that of the step after", CLUSTER,
     ("dh_before(warp.block, cell, place, sizes.steps));", "dh_before(warp.block, cell, place, sizes.steps - 1));")),
    ("G9", "the second cell of a thread is left out", CLUSTER, ("for (int k = 0; k < kCells; ++k) body(", "for (int k = 0; k < 1; ++k) body(")),
    ("G10", "gates of units that do not exist are not cleared", CLUSTER, ("gradients[k] = 0;", "(void)gradients[k];")),
    ("G11", "weights in registers are those of the first depths", WEIGHTS,
     ("local.kept.of[tile][k] = fragment(warp, recurrence, sizes, tile, k, lane.lane);",
      "local.kept.of[tile][k] = fragment(warp, recurrence, sizes, tile, 0, lane.lane);")),
    ("G12", "tiles of shared weights overlap", WEIGHTS, ("(products(sizes) - kKept) + k - kKept;", "(products(sizes) - kKept - 1) + k - kKept;")),
    ("G13", "the second unit of a thread has the weights of the first", WEIGHTS, ("columns + column[n]]", "columns + column[0]]")),
    ("G14", "a row of a product goes to the row before", WEIGHTS,
     ("const int row = mma_d_column(lane.lane, k);", "const int row = mma_d_column(lane.lane, k) & ~1;")),
    ("G15", "weights of the next block stand where a block has no more units", WEIGHTS, (" || from >= sizes.H ||", " ||")),
    ("G16", "the last cluster is left out", PLAN, ("blocks_for(n.B, taken)}", "n.B / taken}")),
    ("G17", "columns of operand a are exchanged", MMA,
     ("return lane % 4 * 2 + k / 2 * 8; }\nBACKGAUGE_BOTH int mma_b_row", "return lane % 4 * 2 + k % 2 * 8; }\nBACKGAUGE_BOTH int mma_b_row")),
    ("G18", "what bypasses the gates of a GRU is lost", CLUSTER, ("Recurrence::kBypasses ? cell.bypassed : 0", "0")),
    ("G19", "the gradient of the last state is not read", CLUSTER, ("rank == 0 ? dh : 0;", "0 * dh;")),
    ("G20", "gates of a GRU have the weights of the order of params", RNN, ("(gate + kGates - 1) % kGates", "gate")),
    ("G21", "the second direction goes the way of the first", RNN, ("return t.backwards ? step : n.steps - 1 - step; }", "return n.steps - 1 - step; }")),
    ("G22", "the first step in time reads the state after it", RNN, ("const bool last = step + 1 == n.steps;", "const bool last = false;")),
    ("G23", "the sum of the input side of a GRU takes the recurrent one", RNN, ("k >= kSums - kGates", "k < kGates")),
    ("G24", "a layer below the last reads the gradient of the output", BACKPROP,
     (".output_backprop = top ? c.output_backprop + column : nullptr,", ".output_backprop = c.output_backprop + column,")),
]


@functools.cache
def few_rows(program: pathlib.Path) -> list[str]:
    """Of the smoke tier: the threads of 16 blocks take turns on a processor, a minute for 65,537 rows."""
    planned = subprocess.run([program, "list", "--cases", "--as-planned", "--tier=smoke", f"--ops={WITH_PRODUCTS}"], check=True,
                             capture_output=True, text=True).stdout.splitlines()
    sizes = [(line, re.search(r" t(\d+)b(\d+)", line)) for line in planned]
    return [f"--case={line}" for line, size in sizes if int(size[1]) * int(size[2]) < 100]


def verify_passes(build: Build, plugin: pathlib.Path, fault: Fault | None) -> bool:
    settings = SETTINGS
    if fault:
        settings = SETTINGS[2:] if fault.file in OF_CLUSTERS or fault.id.startswith("G") else SETTINGS[:2]
    program = build.build / "ci/backgauge"
    common = [program, "verify", f"--impl={plugin}", "--no-shrink", "--fail-fast", "--jobs=1", "--timeout=300s"]  # a fault may never end
    hard = [f"--case={line}" for line in (build.source / "impl/cuda/cases.txt").read_text().splitlines()
            if line and not line.startswith("#")]
    for cases, (math, steps) in itertools.product((hard, ["--tier=smoke"]), settings):
        if steps and not fault and cases is not hard:
            cases = few_rows(program)
        elif math and cases is not hard:
            cases = [*cases, f"--ops={WITH_PRODUCTS}"]
        done = subprocess.run([*common, *cases], capture_output=True, cwd=build.source,
                              env={**os.environ, "BACKGAUGE_CUDA_MATH": math, "BACKGAUGE_CUDA_STEPS": steps})
        if done.returncode == 1:
            return False
        if done.returncode != 0:
            raise RuntimeError(f"verify: exit code {done.returncode}: {done.stderr.decode()}")
    return True


if __name__ == "__main__":
    sys.exit(run(__doc__, PLUGIN, FAULTS, verify_passes))
