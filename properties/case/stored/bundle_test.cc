// SPDX-License-Identifier: Apache-2.0
#include "properties/case/stored/bundle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "properties/case/draw/inputs.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::path(testing::TempDir()) /
                  (std::string("backgauge_") + testing::UnitTest::GetInstance()->current_test_info()->name());
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
};

// A case directory of one line, with invented outputs.
Filled write(const fs::path& directory, const std::string& line) {
  std::string error;
  const Case c = parse_case(line, error).value_or(Case{});
  EXPECT_EQ(error, "");
  Filled filled = fill(c);
  EXPECT_EQ(filled.error, "");
  const std::vector<Wanted> wanted = {{"w_grad", {2, 1}, {0.1L, -3}, {std::numeric_limits<double>::infinity(), 0}}};
  EXPECT_TRUE(write_bundle(directory, c, filled, wanted, error)) << error;
  return filled;
}

void expect_same(const Tensor& got, const Tensor& want) {
  EXPECT_EQ(got.name, want.name);
  EXPECT_EQ(got.shape, want.shape);
  ASSERT_EQ(got.values.size(), want.values.size());
  for (std::size_t k = 0; k < got.values.size(); ++k) {
    EXPECT_TRUE(got.values[k] == want.values[k] || (std::isnan(got.values[k]) && std::isnan(want.values[k])));
  }
}

TEST(Bundle, ReadsBackWhatItWrites) {
  for (const char* line : {"block_lstm_grad_v2 t3b2i4h5 peep=1 seq=2 dt=f16 data=strat:0x5",
                           "lstm_block_cell_grad b0i4h5 peep=0 dt=f32 data=nan:0x6",
                           "cudnn_rnn_backprop t3b2i4h5 mode=gru dir=bi layers=2 dt=f64 data=constant:0x7",
                           "cudnn_rnn_backprop t4b3i2h5 mode=lstm dir=bi layers=3 drop=0.5 dt=f64 "
                           "data=golden:cudnn_f64_lstm_dropout_half_L3_bi"}) {
    SCOPED_TRACE(line);
    const Folder folder;
    const Filled filled = write(folder.path, line);
    Bundle bundle;
    std::string error;
    ASSERT_TRUE(read_bundle(folder.path, bundle, error)) << error;
    EXPECT_EQ(bundle.case_line.checksum, filled.checksum);
    EXPECT_EQ(checksum_of(bundle.problem), filled.checksum);
    EXPECT_EQ(bundle.problem.attributes.seed, filled.problem.attributes.seed);
    EXPECT_EQ(bundle.problem.attributes.seed2, filled.problem.attributes.seed2);
    EXPECT_EQ(bundle.problem.keep, filled.problem.keep);
    EXPECT_EQ(bundle.facts, filled.facts);
    ASSERT_EQ(bundle.problem.inputs.size(), filled.problem.inputs.size());
    for (std::size_t k = 0; k < filled.problem.inputs.size(); ++k) {
      expect_same(bundle.problem.inputs[k], filled.problem.inputs[k]);
    }
  }
}

// A decision that depends on a fact must be the same for files.
TEST(Bundle, KeepsEveryFact) {
  std::string error;
  const Case c = *parse_case("lstm_block_cell_grad b1i1h1 peep=0 dt=f16 data=strat:0x1", error);
  Filled filled = fill(c);
  auto& [structured, consistent_saved, nonfinite, training] = filled.facts;
  for (bool* fact : {&structured, &consistent_saved, &nonfinite, &training}) {
    *fact = !*fact;
    const Folder folder;
    ASSERT_TRUE(write_bundle(folder.path, c, filled, {}, error)) << error;
    Bundle bundle;
    ASSERT_TRUE(read_bundle(folder.path, bundle, error)) << error;
    EXPECT_EQ(bundle.facts, filled.facts);
  }
}

TEST(Bundle, HoldsWhatIsWantedAndAllowed) {
  const Folder folder;
  write(folder.path, "block_lstm_grad_v2 t3b2i4h5 dt=f16 data=strat:0x5");
  std::string error;
  NpyArray want, allowed;
  ASSERT_TRUE(read_npy(folder.path / "want" / "w_grad.npy", want, error)) << error;
  ASSERT_TRUE(read_npy(folder.path / "allowed" / "w_grad.npy", allowed, error)) << error;
  EXPECT_EQ(want.type, NpyType::kFloat64);
  EXPECT_EQ(want.values, (std::vector<double>{0.1, -3}));
  EXPECT_EQ(allowed.values, (std::vector<double>{std::numeric_limits<double>::infinity(), 0}));
  EXPECT_EQ(allowed.shape, (Shape{2, 1}));
}

TEST(Bundle, ChangedOrMissingFilesAreNamed) {
  const Folder folder;
  write(folder.path, "lstm_block_cell_grad b2i4h5 dt=f32 data=strat:0x5");
  Bundle bundle;
  std::string error, bytes;
  ASSERT_TRUE(read_file(folder.path / "i.npy", bytes, error));
  bytes.back() ^= 1;
  ASSERT_TRUE(write_file(folder.path / "i.npy", bytes, error));
  EXPECT_FALSE(read_bundle(folder.path, bundle, error));
  EXPECT_EQ(error, (folder.path / "i.npy").string() + ": changed since it was written");
  fs::remove(folder.path / "x.npy");
  EXPECT_FALSE(read_bundle(folder.path, bundle, error));
  EXPECT_EQ(error, (folder.path / "x.npy").string() + ": no such file");
  ASSERT_TRUE(write_file(folder.path / "case.json", R"({"schema": "backgauge.case/2"})", error));
  EXPECT_FALSE(read_bundle(folder.path, bundle, error));
  EXPECT_EQ(error,
            (folder.path / "case.json").string() + ": schema is \"backgauge.case/2\", expected backgauge.case/1");
}

TEST(Outputs, ComeFromAFolderOrAnArchive) {
  const Folder folder;
  fs::create_directories(folder.path);
  std::string error;
  ASSERT_TRUE(write_npy(folder.path / "x_grad.npy", {NpyType::kFloat16, {2}, {1, 2}}, error));
  ASSERT_TRUE(write_npy(folder.path / "b_grad.npy", {NpyType::kFloat32, {}, {3}}, error));
  const std::vector<OutputFile> outputs = read_outputs(folder.path, error);
  ASSERT_EQ(outputs.size(), 2u) << error;
  EXPECT_EQ(outputs[0].tensor.name, "b_grad");
  EXPECT_EQ(outputs[0].type, NpyType::kFloat32);
  EXPECT_EQ(outputs[1].tensor.values, (std::vector<double>{1, 2}));
  EXPECT_EQ(outputs[1].type, NpyType::kFloat16);

  const std::vector<OutputFile> archive = read_outputs(fs::path(BACKGAUGE_TEST_GOLDENS) / "cell_f32_1x1.npz", error);
  EXPECT_EQ(archive.size(), 22u) << error;
  ASSERT_TRUE(write_file(folder.path / "b_grad.npy", "nothing", error));
  EXPECT_TRUE(read_outputs(folder.path, error).empty());
  EXPECT_EQ(error, (folder.path / "b_grad.npy").string() + ": it does not start like an .npy file");
  error.clear();
  EXPECT_TRUE(read_outputs(folder.path / "none", error).empty());
  EXPECT_EQ(error, (folder.path / "none").string() + ": No such file");
}

}  // namespace
}  // namespace backgauge
