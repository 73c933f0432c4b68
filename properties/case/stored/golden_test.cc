// SPDX-License-Identifier: Apache-2.0
#include "properties/case/stored/golden.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "properties/case/draw/inputs.h"
#include "properties/case/files/npy.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;

std::vector<Golden> shipped(fs::path& directory) {
  std::string error;
  directory = golden_directory(error);
  EXPECT_EQ(error, "");
  std::vector<Golden> goldens = list_goldens(directory, error);
  EXPECT_EQ(error, "");
  return goldens;
}

bool all_finite(const std::vector<Tensor>& tensors) {
  return std::ranges::all_of(tensors, [](const Tensor& tensor) {
    return std::ranges::all_of(tensor.values, [](double value) { return std::isfinite(value); });
  });
}

TEST(Goldens, AllLoadWithTheShapesOfTheContract) {
  fs::path directory;
  const std::vector<Golden> goldens = shipped(directory);
  ASSERT_EQ(goldens.size(), 170u);  // properties/cases/goldens/README.md
  int masks = 0, forwards = 0;
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(golden.name);
    GoldenData data;
    std::string error;
    ASSERT_TRUE(read_golden(directory, golden, data, error)) << error;
    const OpSpec& spec = *find_op(golden.case_line.op);
    for (const Tensor& tensor : data.problem.inputs) {
      const auto row = std::ranges::find(spec.inputs, std::string_view(tensor.name), &TensorSpec::name);
      ASSERT_NE(row, spec.inputs.end());
      EXPECT_EQ(tensor.shape, row->shape(data.problem.extents)) << tensor.name;
      ASSERT_EQ(static_cast<std::int64_t>(tensor.values.size()), element_count(tensor.shape));
      const std::int64_t read = elements_in_rows(tensor.shape, row->rows(data.problem.extents));
      EXPECT_TRUE(std::all_of(tensor.values.begin(), tensor.values.begin() + read,
                              [](double value) { return std::isfinite(value); }))
          << tensor.name << " has a NaN among the rows that are read";
    }
    EXPECT_FALSE(data.outputs.empty());
    EXPECT_TRUE(all_finite(data.outputs));
    EXPECT_TRUE(all_finite(data.forward));
    EXPECT_EQ(data.forward.size(), !spec.traits.forward ? 0u : data.problem.extents.lstm ? 3u : 2u);
    for (const std::vector<std::uint8_t>& keep : data.problem.keep) {
      ++masks;
      EXPECT_EQ(static_cast<std::int64_t>(keep.size()), mask_elements(data.problem.extents));
      const auto kept = std::ranges::count(keep, 1);
      EXPECT_TRUE(kept > 0 && kept < static_cast<std::ptrdiff_t>(keep.size()));
    }
    forwards += golden.from_forward;
  }
  // Two gaps of cudnn_f64_lstm_dropout_half_L3_bi, one of cudnn_f64_gru_dropout_half_L2, and `extra` of device.
  EXPECT_EQ(masks, 3 + 81);
  // manifest.json: 11 of 17 cells, 9 of 14 sequences, all 24 of cudnn and 115 of device.
  EXPECT_EQ(forwards, 44 + 115);
}

TEST(Goldens, EveryOneIsACaseThatFills) {
  fs::path directory;
  for (const Golden& golden : shipped(directory)) {
    std::string error;
    const std::optional<Case> c = parse_case(to_string(golden.case_line), error);
    ASSERT_TRUE(c.has_value()) << error;
    EXPECT_EQ(*c, golden.case_line);
    const Filled filled = fill(*c);
    EXPECT_EQ(filled.error, "");
    EXPECT_EQ(filled.problem.attributes.seed, golden.attributes.seed);
  }
}

TEST(Goldens, ACaseMustSayWhatTheGoldenSays) {
  std::string error;
  const Case other = *parse_case("block_lstm_grad_v2 t5b3i4h7 peep=1 seq=3 dt=f32 data=golden:block_f32_tail", error);
  EXPECT_EQ(fill(other).error,
            "data=golden:block_f32_tail: the golden is block_lstm_grad_v2 t5b3i4h7 peep=0 order=ifco seq=3 dt=f32 "
            "data=golden:block_f32_tail");
  const Case unknown = *parse_case("block_lstm_grad_v2 t5b3i4h7 dt=f32 data=golden:nothing", error);
  EXPECT_EQ(fill(unknown).error.substr(0, 47), "data=golden:nothing: no golden of that name in ");
}

TEST(Goldens, AManifestThatHasChangedIsReadAgain) {
  fs::path directory;
  const Golden golden = shipped(directory).front();
  const fs::path folder = fs::path(testing::TempDir()) / ("backgauge_manifest_" + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy_file(directory / "manifest.json", folder / "manifest.json");
  fs::copy_file(directory / golden.file, folder / golden.file);
  ASSERT_EQ(setenv("BACKGAUGE_GOLDENS", folder.c_str(), 1), 0);
  const auto found = [&] {
    std::string problem;
    GoldenData data;
    find_golden(golden.case_line, data, problem);
    return problem;
  };
  EXPECT_EQ(found(), "");
  std::string error;
  const fs::file_time_type written = fs::last_write_time(folder / "manifest.json");
  EXPECT_TRUE(write_file(folder / "manifest.json", R"({"cases": []})", error));
  fs::last_write_time(folder / "manifest.json", written + std::chrono::seconds(1));
  EXPECT_EQ(found(), "data=golden:" + golden.name + ": no golden of that name in " + folder.string());
  ASSERT_EQ(unsetenv("BACKGAUGE_GOLDENS"), 0);
  fs::remove_all(folder);
}

TEST(Goldens, MissingAndBrokenFoldersAreNamed) {
  const fs::path folder = fs::path(testing::TempDir()) / ("backgauge_goldens_" + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::string error;
  ASSERT_EQ(setenv("BACKGAUGE_GOLDENS", folder.c_str(), 1), 0);
  EXPECT_TRUE(golden_directory(error).empty());
  EXPECT_EQ(error, "BACKGAUGE_GOLDENS=" + folder.string() + ": no manifest.json there");
  ASSERT_EQ(unsetenv("BACKGAUGE_GOLDENS"), 0);

  const auto list_error = [&](const std::string& manifest) {
    std::string problem;
    EXPECT_TRUE(write_file(folder / "manifest.json", manifest, problem));
    EXPECT_TRUE(list_goldens(folder, problem).empty());
    return problem;
  };
  EXPECT_NE(list_error("{").find("parse error"), std::string::npos);
  EXPECT_NE(list_error(R"({"cases": [{"name": "a"}]})").find("case 0: "), std::string::npos);
  EXPECT_NE(list_error(
                R"({"cases": [{"name": "a", "file": "a.npz", "regime": "", "producer": "", "group": "", "forward": null,
                         "op": "Conv2D"}]})")
                .find("unknown op \"Conv2D\""),
            std::string::npos);

  fs::path directory;
  GoldenData data;
  Golden golden = shipped(directory).front();
  golden.case_line.H += 1;
  EXPECT_FALSE(read_golden(directory, golden, data, error));
  EXPECT_EQ(error,
            (directory / golden.file).string() + ": tensor cs_prev: expected float32 [1, 2], got float32 [1, 1]");
  EXPECT_FALSE(read_golden(folder, golden, data, error));
  EXPECT_EQ(error, (folder / golden.file).string() + ": No such file");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace backgauge
