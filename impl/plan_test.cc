// SPDX-License-Identifier: Apache-2.0
// prepare ignores the shape that a call states for reserve_space, as the contract says: its length is only known from
// prepare, so that the caller states any. Otherwise run needs another workspace than prepare has asked for. Of every
// implementation that this build can open, and of cudnn with a stand-in for cuDNN.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <sstream>

#include "impl/registry.h"
#include "reference/contract/claims.h"
#include "reference/contract/malformed.h"

namespace backgauge {
namespace {

std::vector<std::string> subjects() {
  std::vector<std::string> all = registry_names();
  std::ranges::copy(foreign_names(), std::back_inserter(all));
  std::istringstream more(BACKGAUGE_CUDNN_STANDINS);
  for (std::string path; std::getline(more, path, ',');) all.push_back(path);
  std::erase_if(all, [](const std::string& name) {
    std::string error;
    const backgauge_implementation* table = open_implementation(name, error);
    return table != nullptr && table->forward == nullptr;  // no op of theirs has reserve_space
  });
  return all;
}

const Claims* claims_about(const backgauge_implementation& table, const OpSpec& op, std::optional<Claims>& read) {
  const auto gradient = static_cast<std::int32_t>(op.traits.gradient.value_or(op.op));
  for (std::int32_t k = 0; k < table.num_claims; ++k) {
    std::string error;
    if (table.claims[k].op == gradient) read = read_claims(table.claims[k], error);
  }
  return read ? &*read : nullptr;
}

// Legal calls of other sizes than the small ones of base_setups: reserve_space has from none to some thousand elements.
std::vector<CallSetup> with_other_sizes(const std::vector<CallSetup>& setups, std::uint32_t seed) {
  std::vector<CallSetup> out = setups;
  std::mt19937 random(seed);
  const auto draw = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
  for (const CallSetup& setup : setups) {
    for (int repeat = 0; repeat < 4; ++repeat) {
      CallSetup other = setup;
      const bool skips = setup.attributes.input_mode == BACKGAUGE_SKIP_INPUT;
      other.extents.T = 1 + draw(8);
      other.extents.B = draw(5);
      other.extents.H = 1 + draw(16);
      other.extents.I = skips ? other.extents.H : draw(9);
      out.push_back(other);
    }
  }
  return out;
}

struct Answer {
  backgauge_status status{};
  std::uint64_t workspace = 0;
  std::int64_t reserve = 0;
  bool operator==(const Answer&) const = default;
};

void PrintTo(const Answer& a, std::ostream* out) {
  *out << "status " << a.status << ", workspace of " << a.workspace << " bytes, reserve_space of " << a.reserve;
}

Answer prepared(const backgauge_implementation& table, const CallSetup& setup, std::int64_t stated) {
  DescribedCall described(setup);
  described.call.memory_space = table.memory_space;
  for (auto* tensors : {&described.inputs, &described.outputs}) {
    for (backgauge_tensor& tensor : *tensors) {
      if (tensor.dtype != BACKGAUGE_INT64) tensor.memory_space = table.memory_space;
      if (std::string_view(tensor.name) == "reserve_space") tensor.shape[0] = stated;
    }
  }
  backgauge_plan plan{};
  plan.struct_size = sizeof plan;
  backgauge_message message{};
  const backgauge_status status = table.prepare(&described.call, &plan, &message);
  return {status, plan.workspace_bytes, plan.reserve_space_length};
}

class Plan : public ::testing::TestWithParam<std::string> {};

TEST_P(Plan, IsTheSameForAnyShapeThatIsStatedForReserveSpace) {
  std::string error;
  const backgauge_implementation* table = open_implementation(GetParam(), error);
  ASSERT_NE(table, nullptr) << error;
  ASSERT_NE(table->prepare, nullptr);
  int calls = 0;
  for (const OpSpec& op : op_specs()) {
    if (!op.has(Role::kReserve)) continue;
    std::optional<Claims> read;
    const Claims* claims = claims_about(*table, op, read);
    if (claims == nullptr) continue;
    for (const backgauge_dtype dtype : kFloatDtypes) {
      if (!claims->takes(dtype)) continue;
      for (const CallSetup& setup : with_other_sizes(base_setups(op.op, dtype), 1)) {
        const Answer first = prepared(*table, setup, 0);
        if (first.status != BACKGAUGE_OK) continue;  // outside its claims
        ++calls;
        for (const std::int64_t stated : {std::int64_t{1}, std::int64_t{7}, first.reserve, std::int64_t{1} << 40}) {
          const Extents& e = setup.extents;
          EXPECT_EQ(prepared(*table, setup, stated), first)
              << op.word << " " << dtype_word(dtype) << " T,B,I,H,L " << e.T << "," << e.B << "," << e.I << "," << e.H
              << "," << e.L << ", reserve_space stated as " << stated;
        }
      }
    }
  }
  EXPECT_GT(calls, 0);
}

INSTANTIATE_TEST_SUITE_P(All, Plan, ::testing::ValuesIn(subjects()), [](const auto& instance) {
  std::string name = instance.param.substr(instance.param.rfind('/') + 1);
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.'; }, '_');  // GoogleTest takes no other names
  return name;
});

}  // namespace
}  // namespace backgauge
