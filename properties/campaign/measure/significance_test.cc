// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/measure/significance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "properties/campaign/plan/campaign.h"
#include "properties/case/draw/inputs.h"
#include "reference/contract/op_spec.h"

namespace backgauge {
namespace {

std::vector<Case> gate_of(backgauge_op op) { return plan({.tier = Tier::kCi, .seed = 1, .ops = {op}}); }

std::set<std::string> names_of(const TermCoverage& coverage) {
  std::set<std::string> out;
  for (const TermCoverage::Term& term : coverage.terms) out.insert(term.name);
  return out;
}

// What a wrong gradient may leave out, in each op.
const std::set<std::string> kCell{"dco", "cs_grad", "do wco", "dcs f", "di wci", "df wcf"};
const std::set<std::string> kBlock{"dco",
                                   "cs_grad",
                                   "cs_grad+dcs'",
                                   "do wco",
                                   "dcs f",
                                   "di wci",
                                   "df wcf",
                                   "h_grad",
                                   "di w[h]",
                                   "df w[h]",
                                   "dci w[h]",
                                   "do w[h]",
                                   "di w[x]",
                                   "df w[x]",
                                   "dci w[x]",
                                   "do w[x]",
                                   "first step: x.. di..",
                                   "last step: x.. di..",
                                   "first step: di..",
                                   "last step: di..",
                                   "last step: di cs_prev",
                                   "last step: df cs_prev",
                                   "last step: do cs"};
const std::set<std::string> kStacked{"output_backprop",
                                     "output_h_backprop",
                                     "output_c_backprop",
                                     "bW",
                                     "bR",
                                     "input W",
                                     "h W",
                                     "input_h R",
                                     "h R",
                                     "z h_prev",
                                     "(1-z) n",
                                     "r a",
                                     "i n",
                                     "f input_c",
                                     "dco",
                                     "dcs f",
                                     "da R",
                                     "da W",
                                     "di R",
                                     "df R",
                                     "dn R",
                                     "do R",
                                     "dr R",
                                     "dz R",
                                     "dn r R",
                                     "dh z",
                                     "di W",
                                     "df W",
                                     "dn W",
                                     "do W",
                                     "dr W",
                                     "dz W",
                                     "dx",
                                     "dh'",
                                     "last step: da input",
                                     "last step: di.. input",
                                     "last step: dr.. input",
                                     "last step: dr.. h"};

TEST(TermCoverage, TheGateShowsEveryTermOfTheEquations) {
  for (const auto& [op, terms] :
       {std::pair{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, kCell}, std::pair{BACKGAUGE_BLOCK_LSTM_GRAD_V2, kBlock},
        std::pair{BACKGAUGE_CUDNN_RNN_BACKPROP, kStacked}}) {
    const std::vector<Case> cases = gate_of(op);
    for (const backgauge_dtype dtype : kFloatDtypes) {
      if ((find_op(op)->dtypes & BACKGAUGE_BIT(dtype)) == 0) continue;
      const TermCoverage coverage = term_coverage(op, dtype, cases);
      const std::set<std::string> names = names_of(coverage);
      for (const std::string& term : terms) EXPECT_TRUE(names.contains(term)) << find_op(op)->word << " " << term;
      for (const TermCoverage::Term& term : coverage.terms) {
        EXPECT_GE(term.cases, kEnoughCases) << find_op(op)->word << " " << dtype_word(dtype) << " " << term.name;
      }
      EXPECT_EQ(coverage.shown(), static_cast<int>(coverage.terms.size()));
    }
  }
}

// Cases of ordinary unit tests: no peepholes, one step.
TEST(TermCoverage, MissesWhatCasesDoNotShow) {
  std::vector<Case> cases = gate_of(BACKGAUGE_BLOCK_LSTM_GRAD_V2);
  std::erase_if(cases, [](const Case& c) { return c.use_peephole || c.seq_len_max > 1; });
  const TermCoverage coverage = term_coverage(BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_FLOAT32, cases);
  const std::set<std::string> names = names_of(coverage);
  EXPECT_TRUE(names.contains("dcs f") || names.contains("dco"));
  for (const char* term : {"do wco", "di wci", "h_grad", "last step: di.."}) EXPECT_FALSE(names.contains(term)) << term;
}

TEST(TermCoverage, AFewCasesAreNotEnough) {
  std::vector<Case> cases = gate_of(BACKGAUGE_LSTM_BLOCK_CELL_GRAD);
  std::erase_if(cases, [](const Case& c) { return c.dtype != BACKGAUGE_FLOAT32 || !c.use_peephole; });
  cases.resize(kEnoughCases - 1);
  const TermCoverage coverage = term_coverage(BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_FLOAT32, cases);
  EXPECT_EQ(coverage.shown(), 0);
  ASSERT_NE(coverage.weakest(), nullptr);
  EXPECT_LT(coverage.weakest()->cases, kEnoughCases);
}

// By hand: H = B = 1, one term far below the error of the other.
TEST(TermSignificance, ComparesATermWithTheErrorOfItsSum) {
  std::string error;
  Filled filled = fill(*parse_case("lstm_block_cell_grad b1i1h1 peep=1 dt=f32 data=strat:0x1", error));
  const auto set = [&](const char* name, double value) {
    std::ranges::find(filled.problem.inputs, name, &Tensor::name)->values = {value};
  };
  for (const char* name : {"i", "f", "o"}) set(name, 0.5);
  set("co", 0);
  set("h_grad", 1);
  set("cs_grad", 0x1p-24);
  // through_co = 0.5, do = 0: E of the sum is about 2^-24 of it, which cs_grad is twice of.
  const std::map<std::string, double> terms = term_significance(filled.problem);
  EXPECT_GT(terms.at("dco"), 1e5);
  EXPECT_LT(terms.at("cs_grad"), 3);
  EXPECT_EQ(terms.at("do wco"), 0);
}

}  // namespace
}  // namespace backgauge
