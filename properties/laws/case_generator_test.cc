// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/case_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>

#include "properties/case/draw/inputs.h"

namespace backgauge {
namespace {

Case itself(Case c) { return c; }

// Shrinks as RapidCheck does, as long as `fails`.
template <class Fails>
Case shrunk(Case c, Case (*about)(Case), Fails fails) {
  for (bool found = true; found;) {
    found = false;
    for (const Case& candidate : simpler(c, about)) {
      if (!fails(candidate)) continue;
      c = candidate;
      found = true;
      break;
    }
  }
  return c;
}

Case parsed(const char* line) {
  std::string error;
  const auto c = parse_case(line, error);
  EXPECT_TRUE(c.has_value()) << error;
  return c.value_or(Case{});
}

TEST(CaseGenerator, MakesLegalCasesThatTheLawIsAbout) {
  for (const Law& law : laws()) {
    for (const backgauge_op op :
         {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
      if (!law.holds_for(traits_of(op))) continue;
      EXPECT_TRUE(rc::check(std::string(law.name), [&] {
        const Case c = *cases(op, law.sizes, law.about);
        RC_ASSERT(fill(c).error == "");
        RC_ASSERT(law.about(c) == c);
        std::string error;
        RC_ASSERT(parse_case(to_string(c), error) == c);
        for (const Case& candidate : simpler(c, law.about)) {
          RC_ASSERT(complexity(candidate) < complexity(c));
          RC_ASSERT(law.about(candidate) == candidate);
          RC_ASSERT(fill(candidate).error == "");
        }
      }));
    }
  }
}

TEST(LawCases, AreTheSameEveryTimeAndWhatTheLawIsAbout) {
  const Law law = splits_over_the_batch();
  const auto cases = law_cases(law, BACKGAUGE_CUDNN_RNN_BACKPROP, 100, 7);
  ASSERT_EQ(cases.size(), 100u);
  for (const Case& c : cases) {
    EXPECT_EQ(c.op, BACKGAUGE_CUDNN_RNN_BACKPROP);
    EXPECT_EQ(law.about(c), c);
  }
  const auto fewer = law_cases(law, BACKGAUGE_CUDNN_RNN_BACKPROP, 10, 7);
  EXPECT_TRUE(std::ranges::equal(fewer, std::span(cases).first(10)));
  EXPECT_NE(law_cases(law, BACKGAUGE_CUDNN_RNN_BACKPROP, 10, 8), fewer);
  // A change here changes what every law is tried on.
  EXPECT_EQ(to_string(fewer[0]),
            "cudnn_rnn_backprop t5b5i1h1 mode=tanh dir=uni layers=3 in=auto dt=f32 data=strat:0xbe95");
}

TEST(Laws, HaveNamesOfTheirOwn) {
  std::set<std::string_view> ids, names, claims;
  for (const Law& law : laws()) {
    EXPECT_TRUE(law.id.starts_with('M') && ids.insert(law.id).second) << law.id;
    EXPECT_TRUE(!law.name.empty() && names.insert(law.name).second) << law.name;
    EXPECT_TRUE(!law.claim.empty() && claims.insert(law.claim).second) << law.claim;
    EXPECT_EQ(law.claim.find('\n'), std::string_view::npos) << law.name;
  }
}

TEST(CaseGenerator, ShrinksToThePlainestCase) {
  const auto always = [](const Case&) { return true; };
  EXPECT_EQ(to_string(shrunk(parsed("cudnn_rnn_backprop t5b7i9h9 mode=lstm dir=bi layers=3 in=skip drop=0.5 dt=f64 "
                                    "data=zeros:0x77"),
                             itself, always)),
            "cudnn_rnn_backprop t1b1i1h1 mode=tanh dir=uni layers=1 in=linear dt=f32 data=plain:0x0");
  EXPECT_EQ(to_string(shrunk(parsed("block_lstm_grad_v2 t5b0i0h9 peep=1 clip=0.5 seq=2 dt=f16 data=inf:0x77"), itself,
                             always)),
            "block_lstm_grad_v2 t1b1i1h1 peep=0 order=ifco seq=1 dt=f32 data=plain:0x0");
}

TEST(CaseGenerator, KeepsWhatMatters) {
  const Case c = parsed("block_lstm_grad_v2 t5b7i9h17 peep=1 clip=0.5 seq=3 dt=f16 data=zeros:0x77");
  const auto fails = [](const Case& each) { return each.B >= 3 && each.T > each.seq_len_max && each.use_peephole; };
  EXPECT_EQ(to_string(shrunk(c, itself, fails)),
            "block_lstm_grad_v2 t1b3i1h1 peep=1 order=ifco seq=0 dt=f32 data=plain:0x0");
}

}  // namespace
}  // namespace backgauge
