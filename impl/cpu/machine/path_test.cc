// SPDX-License-Identifier: Apache-2.0
#include "impl/cpu/machine/path.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace backgauge::cpu {
namespace {

TEST(Path, IsTheBestOfTheMachineWithoutAWish) {
  for (const char* no_wish : {static_cast<const char*>(nullptr), ""}) {
    const PathChoice choice = choose_path(no_wish);
    EXPECT_EQ(choice.refusal, "");
    for (const Path better : kPaths) {
      if (better == choice.path) break;
      EXPECT_NE(missing(better), "") << word(better);
    }
    EXPECT_EQ(missing(choice.path), "");
    EXPECT_EQ(choice.products, missing(Products::kAmx).empty() ? Products::kAmx : Products::kVectors);
  }
}

TEST(Path, IsTheOneWishedForOrARefusal) {
  for (const Path wished : kPaths) {
    const std::string wish(word(wished));
    const PathChoice choice = choose_path(wish.c_str());
    if (missing(wished).empty()) {
      EXPECT_EQ(choice.path, wished);
      EXPECT_EQ(choice.products, Products::kVectors);
      EXPECT_EQ(choice.refusal, "");
    } else {
      EXPECT_EQ(choice.refusal, "cpu: BACKGAUGE_CPU=" + wish + ": cannot be run here: " + std::string(missing(wished)));
    }
  }
}

TEST(Path, ProductsAreThoseWishedForOrARefusal) {
  const std::pair<const char*, Products> wishes[] = {
      {"amx", Products::kAmx}, {"amx-always", Products::kAmxAlways}, {"amx-emulated", Products::kAmxEmulated}};
  for (const auto& [wish, wished] : wishes) {
    const PathChoice choice = choose_path(wish);
    EXPECT_EQ(choice.path, choose_path(nullptr).path);
    if (missing(wished).empty()) {
      EXPECT_EQ(choice.products, wished);
      EXPECT_EQ(choice.refusal, "");
    } else {
      EXPECT_EQ(choice.products, Products::kVectors);
      EXPECT_EQ(choice.refusal,
                "cpu: BACKGAUGE_CPU=" + std::string(wish) + ": cannot be run here: " + std::string(missing(wished)));
    }
  }
}

TEST(Path, UnknownWishesAreRefused) {
  for (const char* wish : {"amx ", "AVX2", "avx2 ", "sse4", "emulated"}) {
    EXPECT_EQ(choose_path(wish).refusal, "cpu: BACKGAUGE_CPU=" + std::string(wish) +
                                             ": expected one of amx amx-always amx-emulated avx512 avx2 neon scalar");
  }
}

#ifdef BACKGAUGE_WITHOUT_AVX512
// Not the machine: on every machine this build cannot take it.
TEST(Path, ABuildWithoutAPathSaysThatItLacksIt) {
  EXPECT_EQ(choose_path("avx512").refusal,
            "cpu: BACKGAUGE_CPU=avx512: cannot be run here: builds for sanitizers leave it out");
}
#endif

// Vector code that is compiled with the wrong flags falls back silently; this names what runs.
TEST(Path, OfThisProcess) {
  const PathChoice choice = choose_path(std::getenv("BACKGAUGE_CPU"));
  std::printf("path: %s, vectors: %s\n", std::string(path_word()).c_str(), std::string(word(path())).c_str());
  EXPECT_EQ(path(), choice.path);
  EXPECT_EQ(products(), choice.products);
  EXPECT_EQ(path_refusal(), choice.refusal);
}

}  // namespace
}  // namespace backgauge::cpu
