// SPDX-License-Identifier: Apache-2.0
#include "properties/explain/hint.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/case/draw/inputs.h"

namespace backgauge {
namespace {

struct Asked {
  Problem problem;
  std::vector<Wanted> wanted;

  explicit Asked(const char* line) {
    std::string error;
    Filled filled = fill(*parse_case(line, error));
    EXPECT_EQ(filled.error, "");
    problem = std::move(filled.problem);
    wanted = oracle(problem, {}, RoundingErrors::kIndependent);
  }

  // The hint for one output, each of whose elements `change` turns from (index, want) into what was computed.
  std::string operator()(const std::string& name, const auto& change) const {
    const auto place = std::ranges::find(wanted, name, &Wanted::name);
    std::vector<double> got;
    for (std::size_t k = 0; k < place->value.size(); ++k) {
      got.push_back(static_cast<double>(static_cast<float>(change(k, static_cast<double>(place->value[k])))));
    }
    return hint(problem, wanted, static_cast<std::size_t>(place - wanted.begin()), got);
  }

  double want(const std::string& name, std::size_t k) const {
    return static_cast<double>(std::ranges::find(wanted, name, &Wanted::name)->value[k]);
  }
};

const char* const kCell = "lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37";

TEST(Hint, NamesFactorsOrdersAndPlaces) {
  const Asked cell(kCell);
  const auto starts = [](const std::string& text, const char* expected) {
    EXPECT_TRUE(text.starts_with(expected)) << text;
  };
  starts(cell("dicfo", [](std::size_t, double want) { return -want; }), "it has the other sign (to ");
  starts(cell("wco_grad", [](std::size_t, double want) { return want / 3; }), "it is divided by the batch size");
  starts(cell("dicfo",
              [&](std::size_t k, double) {
                return cell.want("dicfo", k % 28 < 7 ? k + 7 : k % 28 < 14 ? k - 7 : k);
              }),
         "its gates 0 and 1 are exchanged (to ");
  starts(cell("dicfo", [](std::size_t k, double want) { return k % 28 >= 21 ? 0 : want; }),
         "the part 'gate o' is missing (to ");
  const Asked block("block_lstm_grad_v2 t3b2i3h4 peep=0 dt=f32 data=strat:0x5");
  starts(block("w_grad", [](std::size_t k, double want) { return k >= 3 * 16 ? 0 : want; }),
         "the part 'h rows' is missing (to ");
}

TEST(Hint, SaysNothingOfWhatItDoesNotKnow) {
  const Asked cell(kCell);
  EXPECT_EQ(cell("dicfo", [](std::size_t k, double want) { return k == 3 ? want * 1.5 : want; }), "");
  EXPECT_EQ(cell("dicfo", [](std::size_t, double want) { return want * 1.001; }), "");
  EXPECT_EQ(cell("dicfo", [](std::size_t k, double want) { return -want * (k == 5 ? 1.01 : 1); }), "");
  EXPECT_EQ(cell("dicfo", [](std::size_t, double want) { return want; }), "");
}

}  // namespace
}  // namespace backgauge
