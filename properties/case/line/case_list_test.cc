// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/case_list.h"

#include <gtest/gtest.h>

#include "properties/case/draw/inputs.h"
#include "properties/case/files/npy.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;

class CaseList : public testing::Test {
 protected:
  CaseList() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "deeper");
  }
  ~CaseList() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name, const std::string& text) const {
    std::string error;
    EXPECT_TRUE(write_file(folder_ / name, text, error)) << error;
    return folder_ / name;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) /
                           (std::string("backgauge_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(CaseList, HoldsCasesWithTheirNotesAndPlaces) {
  file("deeper/more.txt", "lstm_block_cell_grad b1i1h1 dt=f32 data=strat:0x3");  // no newline at the end
  const fs::path path = file("list.txt",
                             "# About the file.\n"
                             "\n"
                             "# rows lost\r\n"
                             "#  where B is odd\n"
                             "lstm_block_cell_grad b3i5h7 dt=f32 data=strat:0x1\n"
                             "  lstm_block_cell_grad b3i5h7 dt=f16 data=strat:0x2  # its own\n"
                             "\n"
                             "@ deeper/more.txt\n"
                             "lstm_block_cell_grad b3i5h7 dt=f16 data=strat:0x4\n");
  std::string error = "old";
  const std::vector<ListedCase> cases = read_case_list(path, error);
  EXPECT_EQ(error, "");
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(to_string(cases[0].c), "lstm_block_cell_grad b3i5h7 peep=0 dt=f32 data=strat:0x1");
  EXPECT_EQ(cases[0].note, "rows lost where B is odd");
  EXPECT_EQ(cases[0].where, path.string() + ":5");
  EXPECT_EQ(cases[1].note, "its own");
  EXPECT_EQ(cases[2].c.seed, 3u);
  EXPECT_EQ(cases[2].note, "");
  EXPECT_EQ(cases[3].note, "");
}

TEST_F(CaseList, SaysWhatIsWrongAndWhere) {
  std::string error;
  const fs::path wrong = file("wrong.txt", "# fine\nlstm_block_cell_grad b3 dt=f32\n");
  EXPECT_TRUE(read_case_list(wrong, error).empty());
  EXPECT_TRUE(error.starts_with(wrong.string() + ":2: ")) << error;
  const fs::path absent = file("absent.txt", "\n@nowhere.txt\n");
  EXPECT_TRUE(read_case_list(absent, error).empty());
  EXPECT_TRUE(error.starts_with(absent.string() + ":2: ")) << error;
  EXPECT_NE(error.find("nowhere.txt"), std::string::npos) << error;
  file("one.txt", "@two.txt\n");
  EXPECT_TRUE(read_case_list(file("two.txt", "@one.txt\n"), error).empty());
  EXPECT_NE(error.find("includes itself"), std::string::npos) << error;
  // Including a file twice in a row is not a cycle.
  file("case.txt", "lstm_block_cell_grad b1i1h1 dt=f32 data=strat:0x3\n");
  EXPECT_EQ(read_case_list(file("twice.txt", "@case.txt\n@case.txt\n"), error).size(), 2u);
}

TEST(Museum, IsFilledAndEveryPieceSaysWhatItIs) {
  std::string error;
  const std::vector<ListedCase> cases = read_case_list(BACKGAUGE_MUSEUM, error);
  EXPECT_EQ(error, "");
  EXPECT_GE(cases.size(), 30u);
  for (const ListedCase& listed : cases) {
    EXPECT_NE(listed.note, "") << listed.where;
    EXPECT_TRUE(listed.c.checksum) << listed.where;
    EXPECT_EQ(fill(listed.c).error, "") << listed.where;
  }
}

}  // namespace
}  // namespace backgauge
