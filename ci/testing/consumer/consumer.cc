// SPDX-License-Identifier: Apache-2.0
// Asks the installed oracle for one LSTM cell whose answer is known: all gates 1/2, all states 0, upstream 1.
#include <cstdio>

#include "reference/oracle.h"

int main() {
  backgauge::Problem problem;
  problem.op = BACKGAUGE_LSTM_BLOCK_CELL_GRAD;
  problem.dtype = BACKGAUGE_FLOAT32;
  problem.extents.B = problem.extents.I = problem.extents.H = 1;
  for (const backgauge::TensorSpec& spec : backgauge::find_op(problem.op)->inputs) {
    backgauge::Tensor tensor{std::string(spec.name), spec.shape(problem.extents), {}};
    const bool gate = spec.name == "i" || spec.name == "f" || spec.name == "o";
    const bool upstream = spec.name == "cs_grad" || spec.name == "h_grad";
    tensor.values.assign(static_cast<std::size_t>(*backgauge::element_count(tensor.shape)), gate       ? 0.5
                                                                                            : upstream ? 1.0
                                                                                                       : 0.0);
    problem.inputs.push_back(tensor);
  }
  const auto want = backgauge::oracle(problem, {}, backgauge::RoundingErrors::kCorrelated);
  // dcs = (1 - 0) * 1 * 0.5 + 1 = 1.5; cs_prev_grad = dcs * f = 0.75
  std::printf("cs_prev_grad %.3Lf, allowed error %.2g\n", want[0].value[0], want[0].allowed[0]);
  return want[0].name == "cs_prev_grad" && want[0].value[0] == 0.75L ? 0 : 1;
}
