// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/layer_chain.h"

#include <string_view>
#include <vector>

#include "properties/laws/subnet.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

class LayerChain {
 public:
  LayerChain(Agreement& agreement, const backgauge_implementation& implementation, const Answer& net,
             const DataFacts& facts)
      : agreement_(agreement),
        implementation_(implementation),
        net_(net.problem),
        whole_(with_bounds(implementation, net, facts)) {}

  void expect() {
    for (std::int64_t layer = 0; layer < net_.extents.L; ++layer) add_layer(layer);
    for (std::int64_t layer = net_.extents.L - 1; layer >= 0; --layer) expect_layer(layer);
  }

 private:
  static Subnet subnet(std::int64_t layer, std::int64_t direction) {
    return {.layer = layer, .first_direction = direction, .directions = 1};
  }

  // Each direction of a layer by itself, because it may read the layer below through a mask of its own.
  void add_layer(std::int64_t layer) {
    std::vector<Problem>& nets = nets_.emplace_back();
    for (std::int64_t d = 0; d < net_.extents.D; ++d) {
      Problem& single = nets.emplace_back(subnet_problem(net_, subnet(layer, d)));
      if (layer > 0) {
        Tensor& read = input(single, "input");
        read = {read.name, below_.shape, {}};
        for (std::size_t k = 0; k < below_.value.size(); ++k) {
          read.values.push_back(round_to(net_.dtype, factor(layer - 1, d, k) * static_cast<double>(below_.value[k])));
        }
      }
      for (const char* name : {"input", "output_backprop"}) input(single, name) = in_order_of(d, input(single, name));
    }
    below_ = output_of(layer);
  }

  // [T, B, D*H]
  Wanted output_of(std::int64_t layer) const {
    Wanted out{"output", mask_shape(net_.extents), {}, {}};
    out.value.resize(static_cast<std::size_t>(mask_elements(net_.extents)));
    for (std::int64_t d = 0; d < net_.extents.D; ++d) {
      const Wanted alone = in_order_of(d, named(alone_of(layer, d), "output"));
      const Selection places = outputs_of(net_, subnet(layer, d));
      for (std::size_t k = 0; k < places.from.size(); ++k) out.value[places.from[k]] = alone.value[k];
    }
    return out;
  }

  std::vector<Wanted> alone_of(std::int64_t layer, std::int64_t d) const {
    return exactly(answer(implementation_, net_of(layer, d)));
  }

  // How a direction of layer `gap` + 1 reads element k of the layer below it.
  double factor(std::int64_t gap, std::int64_t direction, std::size_t k) const {
    if (net_.keep.empty()) return 1;
    return net_.mask(gap, direction)[k] != 0 ? 1 / (1 - static_cast<double>(net_.attributes.dropout)) : 0;
  }

  void expect_layer(std::int64_t layer) {
    Wanted input_gradient;
    for (std::int64_t d = 0; d < net_.extents.D; ++d) {
      const std::vector<Wanted> alone = alone_of(layer, d);
      for (const char* name : {"output_h", "output_c", "input_h_backprop", "input_c_backprop"}) {
        const bool is_cell_state = std::string_view(name).find("_c") != std::string_view::npos;
        if (is_cell_state && !net_.extents.lstm) continue;
        expect(select(named(whole_, name), states_of(net_, subnet(layer, d))), named(alone, name));
      }
      expect(select(named(whole_, "params_backprop"), params_of(layout_of(net_), subnet(layer, d))),
             named(alone, "params_backprop"));
      Wanted side = in_order_of(d, named(alone, "input_backprop"));
      for (std::size_t k = 0; layer > 0 && k < side.value.size(); ++k) side.value[k] *= factor(layer - 1, d, k);
      input_gradient = d == 0 ? side : sum(input_gradient, side);
    }
    if (layer + 1 == net_.extents.L) expect(named(whole_, "output"), below_);
    if (layer == 0) return expect(named(whole_, "input_backprop"), input_gradient);
    for (std::int64_t d = 0; d < net_.extents.D; ++d) {
      const Wanted part = in_order_of(d, select(input_gradient, outputs_of(net_, subnet(layer - 1, d))));
      Tensor& upstream = input(net_of(layer - 1, d), "output_backprop");
      for (std::size_t k = 0; k < part.value.size(); ++k) {
        upstream.values[k] = round_to(net_.dtype, static_cast<double>(part.value[k]));
      }
    }
  }

  Problem& net_of(std::int64_t layer, std::int64_t d) {
    return nets_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(d)];
  }
  const Problem& net_of(std::int64_t layer, std::int64_t d) const {
    return nets_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(d)];
  }

  void expect(const Wanted& part_of_net, const Wanted& alone) {
    Wanted expected = part_of_net;
    expected.value = alone.value;
    agreement_.expect(part_of_net, expected);
  }

  Agreement& agreement_;
  const backgauge_implementation& implementation_;
  const Problem& net_;
  const std::vector<Wanted> whole_;
  std::vector<std::vector<Problem>> nets_;  // [layer][direction], in the order of the direction's steps
  Wanted below_;                            // what the last added layer gives
};

}  // namespace

void expect_layer_chain(Agreement& agreement, const backgauge_implementation& implementation, const Answer& net,
                        const DataFacts& facts) {
  LayerChain(agreement, implementation, net, facts).expect();
}

}  // namespace backgauge
