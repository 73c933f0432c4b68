// SPDX-License-Identifier: Apache-2.0
#include "perf/peer_process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <functional>

namespace backgauge {
namespace {

using namespace std::chrono_literals;

PeerProcess shell(const std::string& script, const std::map<std::string, std::string>& environment = {}) {
  return PeerProcess({"sh", "-c", script}, environment);
}

std::string trouble_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const PeerError& error) {
    return error.what();
  }
  return "";
}

TEST(PeerProcess, AsksAndHears) {
  PeerProcess peer = shell(R"(echo '{"version":"1"}'; while read line; do echo "{\"got\":$line}"; done)");
  EXPECT_EQ(peer.hear(10s)["version"], "1");
  for (const int number : {1, 2, 3}) EXPECT_EQ(peer.ask({{"n", number}}, 10s)["got"]["n"], number);
}

TEST(PeerProcess, HearsAnswersThatComeTogetherOrInPieces) {
  PeerProcess peer = shell(R"(printf '{"a":1}\n{"a":2}\n{"a"'; sleep 0.1; printf ':3}\n'; read line)");
  for (const int number : {1, 2, 3}) EXPECT_EQ(peer.hear(10s)["a"], number);
}

TEST(PeerProcess, GetsItsEnvironmentAndKeepsOurs) {
  setenv("BACKGAUGE_PEER_TEST", "ours", 1);
  PeerProcess peer = shell(R"(echo "{\"a\":\"$OMP_NUM_THREADS\",\"b\":\"$BACKGAUGE_PEER_TEST\"}"; read line)",
                           {{"OMP_NUM_THREADS", "3"}});
  const nlohmann::json said = peer.hear(10s);
  EXPECT_EQ(said["a"], "3");
  EXPECT_EQ(said["b"], "ours");
}

TEST(PeerProcess, SaysWhatIsWrong) {
  EXPECT_EQ(trouble_of([] { PeerProcess({"/nobody/is/here"}, {}).hear(10s); }),
            "/nobody/is/here: cannot be started: No such file or directory");
  EXPECT_EQ(trouble_of([] { shell("exit 3").hear(10s); }), "ended without an answer");
  EXPECT_EQ(trouble_of([] { shell("echo hello; read line").hear(10s); }),
            "sent a line that is not a JSON object: hello");
  EXPECT_EQ(trouble_of([] { shell("echo 17; read line").hear(10s); }), "sent a line that is not a JSON object: 17");
  EXPECT_EQ(trouble_of([] { shell("exec sleep 60").hear(1s); }), "has not answered within 1 s");
  EXPECT_EQ(trouble_of([] { shell("exec cat /dev/zero | tr '\\0' x 2>/dev/null").hear(60s); }),
            "sent a line without an end");
}

TEST(PeerProcess, IsGoneAfterTrouble) {
  PeerProcess peer = shell("echo hello; exec sleep 60");
  const int process = peer.process();
  EXPECT_NE(trouble_of([&] { peer.hear(10s); }), "");
  EXPECT_EQ(kill(process, 0), -1);
  EXPECT_EQ(trouble_of([&] { peer.ask({{"do", "run"}}, 10s); }), "is gone");
}

TEST(PeerProcess, DiesWithItsOwner) {
  int process = 0;
  {
    PeerProcess peer = shell("echo '{}'; exec sleep 60");
    peer.hear(10s);
    process = peer.process();
    EXPECT_EQ(kill(process, 0), 0);
  }
  EXPECT_EQ(kill(process, 0), -1);
}

}  // namespace
}  // namespace backgauge
