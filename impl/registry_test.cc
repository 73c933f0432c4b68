// SPDX-License-Identifier: Apache-2.0
#include "impl/registry.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

namespace backgauge {
namespace {

// Opening must fail, and the error must name the path and contain `what`.
void expect_refused(const std::string& path, const std::string& what) {
  std::string error;
  EXPECT_EQ(open_implementation(path, error), nullptr) << path;
  EXPECT_NE(error.find(path), std::string::npos) << error;
  EXPECT_NE(error.find(what), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

std::string plugin(const std::string& name) { return BACKGAUGE_TEST_PLUGINS "/" + name + ".so"; }

TEST(Registry, EveryNameOpensATableOfThatName) {
  std::vector<std::string> names = registry_names();
  ASSERT_EQ(names, (std::vector<std::string>{"plain", "cpu"}));
  const std::vector<std::string> foreign = foreign_names();
  ASSERT_NE(std::ranges::find(foreign, "eigen"), foreign.end());
  names.insert(names.end(), foreign.begin(), foreign.end());
  for (const std::string& name : names) {
    std::string error = "stale";
    const backgauge_implementation* table = open_implementation(name, error);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->name, name);
    EXPECT_EQ(error, "");
    EXPECT_EQ(table_refusal(table), "");
    EXPECT_TRUE(is_built_in(name));
  }
}

TEST(Registry, OpensAPlugIn) {
  std::string error;
  const backgauge_implementation* table = open_implementation(BACKGAUGE_PLAIN_PLUGIN, error);
  ASSERT_NE(table, nullptr) << error;
  EXPECT_EQ(std::string(table->name), "plain");
  EXPECT_NE(table, open_implementation("plain", error)) << "the plug-in must have a table of its own";
  for (const char* name : {"writes_past_output", "leaves_output_unwritten", "changes_an_input"}) {
    const backgauge_implementation* wrapped = open_implementation(plugin(name), error);
    ASSERT_NE(wrapped, nullptr) << error;
    EXPECT_EQ(std::string(wrapped->name), name);
  }
}

TEST(Registry, RefusesWhatIsNoPlugIn) {
  expect_refused("no_such_name", "expected the path of a shared library or one of plain cpu eigen");
  expect_refused("", "not an implementation");
  expect_refused("/no/such/file", "no such file");
  expect_refused("no_such_file.so", "no such file");
  expect_refused(BACKGAUGE_TEST_PLUGINS "/", "not a shared library");
  expect_refused(plugin("no_entry"), "no symbol backgauge_entry");
  expect_refused(plugin("null_table"), "backgauge_entry() returned NULL");
  expect_refused(plugin("says_why"), "says_why.so: no such device");
  expect_refused(plugin("wrong_abi"), "abi: expected 2, got 3: compile it again with the backgauge.h of this version");
  expect_refused(plugin("wrong_table"), "run: expected a function, got NULL");

  const std::string text_file = ::testing::TempDir() + "/text_file_" + std::to_string(getpid()) + ".so";
  std::ofstream(text_file) << "not an ELF file, though longer than the header of one: 64 bytes at the very least\n";
  expect_refused(text_file, "not a shared library");
  std::filesystem::remove(text_file);
}

TEST(Registry, AFileNameWithoutAFolderIsOneOfTheCurrentFolder) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(BACKGAUGE_TEST_PLUGINS);
  std::string error;
  EXPECT_NE(open_implementation("changes_an_input.so", error), nullptr) << error;
  expect_refused("null_table.so", "returned NULL");
  std::filesystem::current_path(before);
}

TEST(Registry, RefusesEveryWrongFieldOfATable) {
  std::string error;
  const backgauge_implementation legal = *open_implementation("cpu", error);
  struct Wrong {
    std::string what;
    std::function<void(backgauge_implementation&)> damage;
  };
  const std::vector<Wrong> tables = {
      {"abi", [](auto& t) { t.abi = 0; }},
      {"struct_size", [](auto& t) { t.struct_size = sizeof t - 1; }},
      {"name", [](auto& t) { t.name = nullptr; }},
      {"name", [](auto& t) { t.name = ""; }},
      {"name", [](auto& t) { t.name = "two words"; }},
      {"version", [](auto& t) { t.version = nullptr; }},
      {"description", [](auto& t) { t.description = nullptr; }},
      {"description", [](auto& t) { t.description = "two\nlines"; }},
      {"memory_space", [](auto& t) { t.memory_space = 0; }},
      {"memory_space", [](auto& t) { t.memory_space = 3; }},
      {"run", [](auto& t) { t.run = nullptr; }},
      {"forward", [](auto& t) { t.forward = nullptr; }},
      {"prepare", [](auto& t) { t.prepare = nullptr; }},
      {"claims", [](auto& t) { t.claims = nullptr; }},
      {"claims", [](auto& t) { t.num_claims = 0; }},
      {"claims", [](auto& t) { t.num_claims = -1; }},
  };
  for (const Wrong& wrong : tables) {
    backgauge_implementation table = legal;
    wrong.damage(table);
    EXPECT_EQ(table_refusal(&table).find(wrong.what) == std::string::npos, false) << table_refusal(&table);
  }
}

TEST(Registry, RefusesTablesOfTheFirstAbiWithWhatToDo) {
  std::string error;
  backgauge_implementation table = *open_implementation("cpu", error);
  table.abi = 1;
  EXPECT_EQ(table_refusal(&table),
            "abi: expected 2, got 1: compile it again with the backgauge.h of this version; claims are a list of names "
            "and values now, as backgauge_claim in that header says");
}

TEST(Registry, SaysWhichClaimsAreWrong) {
  std::string error;
  const backgauge_implementation legal = *open_implementation("cpu", error);
  const std::vector<backgauge_op_claims> legal_claims(legal.claims, legal.claims + legal.num_claims);
  ASSERT_EQ(legal_claims.size(), 3u);
  const auto refusal_of = [&](const std::vector<backgauge_op_claims>& claims) {
    backgauge_implementation table = legal;
    table.claims = claims.data();
    return table_refusal(&table);
  };
  std::vector<backgauge_op_claims> claims = legal_claims;
  claims[1].op = BACKGAUGE_LSTM_BLOCK_CELL_GRAD;
  EXPECT_EQ(refusal_of(claims), "claims[1]: op 1 a second time");
  claims = legal_claims;
  claims[2].num_claims = 0;
  EXPECT_EQ(refusal_of(claims), "claims[2]: claims: expected at least one");
  EXPECT_EQ(refusal_of(legal_claims), "");
}

}  // namespace
}  // namespace backgauge
