// SPDX-License-Identifier: Apache-2.0
// Question 4: cuDNN's answers to invalid arguments.
#include "impl/cudnn/probe/facts.h"
#include "impl/cudnn/probe/trial.h"
#include "impl/cudnn/session.h"

namespace backgauge::cudnn {

void probe_refusals(Findings& findings) {
  const NetworkShape legal = trial_shape(BACKGAUGE_LSTM, BACKGAUGE_FLOAT32);
  const auto ask = [&](const std::string& subject, const std::function<void(NetworkShape&)>& damage) {
    findings.ask("4", subject, [&] {
      NetworkShape shape = legal;
      damage(shape);
      const Lease lease(nullptr);
      const Network network(shape, lease->handle(), nullptr);
      const NetworkSizes sizes = network.sizes();
      return "taken: weights " + std::to_string(sizes.weights) + ", reserve " + std::to_string(sizes.reserve);
    });
  };
  ask("B = 0", [](NetworkShape& s) { s.B = 0; });
  ask("T = 0", [](NetworkShape& s) { s.T = 0; });
  ask("I = 0", [](NetworkShape& s) { s.I = 0; });
  ask("H = 0", [](NetworkShape& s) { s.H = 0; });
  ask("L = 0", [](NetworkShape& s) { s.L = 0; });
  ask("skip_input with I != H", [](NetworkShape& s) { s.skip = true; });
  ask("dropout -0.5, states NULL", [](NetworkShape& s) { s.dropout = -0.5f; });
  ask("dropout 0.5, states NULL", [](NetworkShape& s) { s.dropout = 0.5f; });
  ask("dropout 1.5, states NULL", [](NetworkShape& s) { s.dropout = 1.5f; });
  ask("T = 65536", [](NetworkShape& s) { s.T = 65536; });

  findings.ask("4", "forward, T = 65536", [&] {
    NetworkShape shape = legal;
    shape.T = 65536;
    Trial(shape).forward();
    return "done";
  });
  findings.ask("4", "one sequence of length 0", [] {
    const RnnDataDescriptor data;
    const int lengths[] = {3, 0};
    check(cudnnSetRNNDataDescriptor(data, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, 3, 2, 8, lengths,
                                    nullptr),
          "cudnnSetRNNDataDescriptor");
    return std::string("taken");
  });
  findings.ask("4", "forward, weights one element short", [&] {
    Trial t(legal);
    t.sizes.weights -= legal.element_bytes();
    t.forward();
    return "done";
  });
  findings.ask("4", "forward, reserve one element short", [&] {
    Trial t(legal);
    t.sizes.reserve -= legal.element_bytes();
    t.forward();
    return "done";
  });
}

}  // namespace backgauge::cudnn
