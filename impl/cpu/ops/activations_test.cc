// SPDX-License-Identifier: Apache-2.0
// The error of sigmoid and tanh on every path that the machine can run, over the whole range of their type, in units in
// the last place of the true result.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/ops/activations_test.cc"
#include "impl/cpu/machine/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "impl/cpu/machine/path.h"
#include "impl/cpu/machine/testing/paths.h"
#include "impl/cpu/ops/activations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

template <class T>
void sigmoid_of(const T* from, T* to) {
  store(Tag<T>(), sigmoid(Tag<T>(), load(Tag<T>(), from)), to);
}
template <class T>
void tanh_of(const T* from, T* to) {
  store(Tag<T>(), tanh(Tag<T>(), load(Tag<T>(), from)), to);
}

// Compares every kStep-th number of the type, including negative numbers and NaNs, with `truth` in a wider type.
template <class T, class Wide, class Bits>
void expect_accurate(const char* name, void (*activation)(const T*, T*), Wide (*truth)(Wide), Bits kStep) {
  constexpr auto L = static_cast<std::size_t>(kLanes<T>);
  constexpr Wide kMostUlps = 2.5;     // what activations-inl.h promises
  constexpr Wide kMostRoundings = 4;  // what bounds.md 3.6 allows
  constexpr Wide kRoundoff = std::numeric_limits<T>::epsilon() / 2;
  Wide worst = 0;
  T worst_at = 0;
  std::vector<T> in(L), out(L);
  Bits bits = 0;
  for (Bits count = std::numeric_limits<Bits>::max() / kStep / L; count > 0; --count) {
    for (T& value : in) value = std::bit_cast<T>(bits += kStep);
    activation(in.data(), out.data());
    for (std::size_t k = 0; k < L; ++k) {
      const Wide want = truth(in[k]), error = std::fabs(out[k] - want);
      if (std::isnan(in[k])) {
        ASSERT_TRUE(std::isnan(out[k])) << name;
      } else if (std::fabs(want) < std::numeric_limits<T>::min() && want != static_cast<Wide>(in[k])) {
        ASSERT_LE(error, std::numeric_limits<T>::min()) << name << " of " << in[k];
      } else {
        const int exponent = std::max(want == 0 ? 0 : std::ilogb(want) + 1, std::numeric_limits<T>::min_exponent);
        const Wide ulps = std::ldexp(error, std::numeric_limits<T>::digits - exponent);
        ASSERT_LE(ulps, kMostUlps) << name << " of " << in[k] << ": " << out[k] << " for " << want;
        ASSERT_LE(error, kMostRoundings * kRoundoff * std::fabs(want)) << name << " of " << in[k];
        if (ulps > worst) {
          worst = ulps;
          worst_at = in[k];
        }
      }
    }
  }
  std::printf("%s of %zu bytes: %.2f ulp at %.9g\n", name, sizeof(T), static_cast<double>(worst),
              static_cast<double>(worst_at));
}

template <class T>
void expect_limits() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity(), kLargest = std::numeric_limits<T>::max();
  const auto expect = [](void (*activation)(const T*, T*), T at, T want) HWY_ATTR {
    const std::vector<T> in(static_cast<std::size_t>(kLanes<T>), at);
    std::vector<T> out(in.size());
    activation(in.data(), out.data());
    EXPECT_EQ(out.back(), want) << at;
    EXPECT_EQ(std::signbit(out.back()), std::signbit(want)) << at;
  };
  for (const T huge : {T(100), T(1000), kLargest, kInfinity}) {
    expect(tanh_of<T>, huge, 1);
    expect(tanh_of<T>, -huge, -1);
    expect(sigmoid_of<T>, huge, 1);
  }
  for (const T huge : {T(1000), kLargest, kInfinity}) expect(sigmoid_of<T>, -huge, 0);
  expect(tanh_of<T>, 0, 0);
  expect(tanh_of<T>, -T(0), -T(0));
  expect(sigmoid_of<T>, 0, T(0.5));
  expect(sigmoid_of<T>, -T(0), T(0.5));
}

void expect_activations() {
  constexpr std::uint32_t kFloats = 1021;
  constexpr std::uint64_t kDoubles = 8796093022237;  // prime, some 2^43
  expect_accurate<float, double>(
      "sigmoid", sigmoid_of<float>, [](double v) { return 1 / (1 + std::exp(-v)); }, kFloats);
  expect_accurate<float, double>(
      "tanh", tanh_of<float>, [](double v) { return std::tanh(v); }, kFloats);
  expect_accurate<double, long double>(
      "sigmoid", sigmoid_of<double>, [](long double v) { return 1 / (1 + std::exp(-v)); }, kDoubles);
  expect_accurate<double, long double>(
      "tanh", tanh_of<double>, [](long double v) { return std::tanh(v); }, kDoubles);
  expect_limits<float>();
  expect_limits<double>();
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {
namespace {

class Activations : public TestOnAPath {};

void activations_on(Path path) { BACKGAUGE_ON(path, expect_activations()); }

TEST_P(Activations, AreAccurateOverTheWholeRange) { activations_on(GetParam()); }

INSTANTIATE_TEST_SUITE_P(, Activations, testing::ValuesIn(paths_of_this_architecture()), name_of_path);

}  // namespace
}  // namespace backgauge::cpu
#endif
