// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/channel.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace backgauge {
namespace {

// What is behind a request would tell a worker of earlier ones.
TEST(Channel, LeavesNothingOfALongMessageBehindAShortOne) {
  Channel::Ends ends;
  Channel judge = Channel::open(ends);
  Channel worker(std::move(ends.socket), std::move(ends.memory));
  constexpr std::size_t kLong = 4096, kShort = 5;
  const std::vector<std::byte> one(kLong, std::byte{1}), two(kShort, std::byte{2});
  const auto behind = [&](const std::vector<std::byte>& message) {
    EXPECT_TRUE(judge.send(1, 1, message));
    const auto received = worker.receive();
    EXPECT_TRUE(received.has_value());
    return std::vector<std::byte>(received->bytes.data() + message.size(), received->bytes.data() + kLong);
  };
  behind(one);
  EXPECT_EQ(behind(two), std::vector<std::byte>(kLong - kShort));
  // Nor of an answer.
  EXPECT_TRUE(worker.send(1, 1, one));
  EXPECT_TRUE(judge.receive().has_value());
  EXPECT_EQ(behind(two), std::vector<std::byte>(kLong - kShort));
}

}  // namespace
}  // namespace backgauge
