// SPDX-License-Identifier: Apache-2.0
#include "ci/run/process/progress.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace backgauge::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A stream that can be read afterwards, and a clock that the test advances.
struct Watched {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  Progress::Clock::time_point now{};

  ~Watched() {
    std::fclose(stream);
    std::free(text);
  }
  std::unique_ptr<Progress> progress(bool terminal) {
    return std::make_unique<Progress>(1000, stream, terminal, [this] { return now; });
  }
  std::string written() const {
    std::fflush(stream);
    return {text, size};
  }
};

TEST(Progress, BeatsEveryTenSecondsOffATerminal) {
  Watched watched;
  const auto progress = watched.progress(false);
  for (int k = 1; k <= 50; ++k) {  // 25 seconds
    watched.now += milliseconds(500);
    progress->show(static_cast<std::size_t>(10 * k), 3, 0.01 * k, "a case");
  }
  EXPECT_EQ(watched.written(),
            "backgauge: [200/1000] 3 failed, about 40 s left\n"
            "backgauge: [400/1000] 3 failed, about 30 s left\n");
}

TEST(Progress, SaysNothingOfARunOfLessThanTenSeconds) {
  Watched watched;
  {
    const auto progress = watched.progress(false);
    watched.now += milliseconds(9999);
    progress->show(999, 0, 0.999, "a case");
    progress->show_phase("phase", 1, 2);
  }
  EXPECT_EQ(watched.written(), "");
}

TEST(Progress, PromisesNothingBeforeThereIsSomethingToGoBy) {
  Watched watched;
  const auto progress = watched.progress(true);
  watched.now += milliseconds(1900);
  progress->show(5, 0, 0.5, "early");
  watched.now += seconds(60);
  progress->show(6, 0, 0.009, "little");
  EXPECT_EQ(watched.written().find("left"), std::string::npos) << watched.written();
  watched.now += seconds(1);
  progress->show(7, 0, 0.5, "enough");
  EXPECT_NE(watched.written().find("[7/1000] 0 failed, about 63 s left  enough"), std::string::npos)
      << watched.written();
}

TEST(Progress, CountsWhatThisRunDid) {
  Watched watched;
  const auto progress = watched.progress(true);
  progress->start_at(0.5);
  watched.now += seconds(10);
  progress->show(600, 0, 0.6, "case");
  EXPECT_NE(watched.written().find("about 40 s left"), std::string::npos) << watched.written();
}

TEST(Progress, LargeCasesAreMoreWork) {
  std::string error;
  const auto work = [&](const char* line) { return expected_work(*parse_case(line, error)); };
  const double small = work("block_lstm_grad_v2 t1b1i1h1 dt=f32 data=strat:0x1");
  EXPECT_LT(small, 1.01);
  EXPECT_GT(work("block_lstm_grad_v2 t40b64i256h256 dt=f32 data=strat:0x1"), 1000 * small);
  EXPECT_LT(work("block_lstm_grad_v2 t1b1i1h1 dt=f32 data=malformed:0x1"), small);
}

}  // namespace
}  // namespace backgauge::cli
