// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/memory/arena.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "reference/contract/sanitized.h"

namespace backgauge {
namespace {

constexpr std::size_t kInput = 0, kOutput = 1, kWorkspace = 2;

std::vector<Block> blocks(std::size_t unit, std::size_t elements, std::size_t workspace_alignment = 64) {
  std::vector<std::byte> bytes(unit * elements);
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(k * 7);
  return {{.name = "co", .role = Block::Role::kInput, .unit = unit, .size = bytes.size(), .bytes = bytes},
          {.name = "dicfo", .role = Block::Role::kOutput, .unit = unit, .size = unit * elements},
          {.name = "workspace", .role = Block::Role::kWorkspace, .unit = workspace_alignment, .size = 100}};
}

std::vector<std::string> texts(const Arena& arena) {
  std::vector<std::string> out;
  for (const Violation& violation : arena.violations()) out.push_back(violation.text());
  return out;
}

// The seeds below 32 hold flush and shifted placements, and both edges for every block.
constexpr std::uint64_t kSeeds = 32;

class ArenaOfUnit : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Units, ArenaOfUnit, ::testing::Values(2, 4, 8));

TEST_P(ArenaOfUnit, AlignsToTheElementAndToNothingMoreWhenShifted) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Placement placement(seed);
    const Arena arena(blocks(GetParam(), 84), placement);
    for (const std::size_t block : {kInput, kOutput}) {
      const auto address = reinterpret_cast<std::uintptr_t>(arena.data(block));
      EXPECT_EQ(address % GetParam(), 0u);
      if (placement.shifted()) {
        EXPECT_EQ(address / GetParam() % 2, 1u);
      }
    }
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data(kWorkspace)) % 64, 0u);
  }
}

TEST_P(ArenaOfUnit, StartsAsPromised) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<Block> wanted = blocks(GetParam(), 84);
    Arena arena(wanted, Placement(seed));
    EXPECT_EQ(std::memcmp(arena.data(kInput), wanted[kInput].bytes.data(), wanted[kInput].size), 0);
    for (std::size_t k = 0; k < 84; ++k) EXPECT_TRUE(arena.unwritten(kOutput, k));
    for (const std::byte b : arena.bytes(kWorkspace)) EXPECT_EQ(b, std::byte{0xff});
    EXPECT_TRUE(arena.violations().empty());
    std::memset(arena.data(kOutput), 0, 84 * GetParam());
    std::memset(arena.data(kWorkspace), 0, 100);
    EXPECT_TRUE(arena.violations().empty());
    for (std::size_t k = 0; k < 84; ++k) EXPECT_FALSE(arena.unwritten(kOutput, k));
  }
}

TEST_P(ArenaOfUnit, NoticesAWriteOfOneElementPastTheEnd) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool value_is_zero : {false, true}) {
      Arena arena(blocks(GetParam(), 84), Placement(seed));
      arena.guarded([&] { std::memset(arena.data(kOutput) + 84 * GetParam(), value_is_zero ? 0 : 0x41, GetParam()); });
      EXPECT_EQ(texts(arena), std::vector<std::string>{"wrote past the end of dicfo (element 84 of 84)"}) << seed;
    }
  }
}

TEST_P(ArenaOfUnit, NoticesAWriteOfOneElementBeforeTheBeginning) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Arena arena(blocks(GetParam(), 84), Placement(seed));
    arena.guarded([&] { std::memset(arena.data(kOutput) - GetParam(), 0, GetParam()); });
    EXPECT_EQ(texts(arena), std::vector<std::string>{"wrote before the beginning of dicfo (element -1 of 84)"}) << seed;
  }
}

TEST_P(ArenaOfUnit, NoticesAChangedBitOfAnInput) {
  Arena arena(blocks(GetParam(), 84), Placement(1));
  arena.guarded([&] { arena.data(kInput)[3 * GetParam() + 1] ^= std::byte{1}; });
  EXPECT_EQ(texts(arena), std::vector<std::string>{"changed the input co (element 3 of 84)"});
}

TEST_P(ArenaOfUnit, NoticesAnInputThatIsOverwrittenAndRestored) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Arena arena(blocks(GetParam(), 84), Placement(seed));
    arena.guarded([&] {
      auto* element = reinterpret_cast<volatile unsigned char*>(arena.data(kInput) + 3 * GetParam());
      const unsigned char before = *element;
      *element = 0x77;
      *element = before;
    });
    EXPECT_EQ(texts(arena), std::vector<std::string>{"wrote to the input co (element 3 of 84)"}) << seed;
  }
}

TEST(Arena, AnInputThatMayChangeMayBeWritten) {
  std::vector<Block> changed = blocks(4, 84);
  changed[kInput].role = Block::Role::kChangedInput;
  Arena arena(changed, Placement(1));
  arena.guarded([&] { std::memset(arena.data(kInput), 0, changed[kInput].size); });
  EXPECT_TRUE(arena.violations().empty());
}

TEST(Arena, WritesOfALateThreadAreReported) {
  Arena arena(blocks(4, 84), Placement(1));
  arena.guarded([] {});
  EXPECT_TRUE(arena.freeze().empty());
  arena.data(kInput)[8] ^= std::byte{1};
  std::byte* const behind_guard = arena.data(kOutput) + 84 * 4 + page_bytes() * 2;
  *behind_guard = std::byte{1};
  const std::vector<Violation> late = arena.late_violations();
  ASSERT_EQ(late.size(), 2u);
  EXPECT_TRUE(late[0].text().starts_with("wrote past the end of dicfo (element ")) << late[0].text();
  EXPECT_TRUE(late[0].late);
  EXPECT_EQ(late[1].text(), "changed the input co (element 2 of 84) after the call had returned");
}

void expect_closed_for_writing(Arena& arena, std::size_t elements) {
  arena.guarded([&] {
    auto* element = reinterpret_cast<volatile unsigned char*>(arena.data(kInput) + 12);
    const unsigned char before = *element;
    *element = 0x77;
    *element = before;
  });
  EXPECT_EQ(texts(arena), std::vector<std::string>{fmt::format("wrote to the input co (element 3 of {})", elements)});
}

TEST(Arena, SparseInputsAreClosedForWritingToo) {
  std::vector<Block> sparse = blocks(4, 84);
  sparse[kInput].bytes.resize(4);
  Arena arena(sparse, Placement(1));
  expect_closed_for_writing(arena, 84);
}

class Limited {
 public:
  Limited(__rlimit_resource which, rlim_t most) : which_(which) {
    getrlimit(which_, &before_);
    const rlimit limit{.rlim_cur = most, .rlim_max = before_.rlim_max};
    setrlimit(which_, &limit);
  }
  ~Limited() { setrlimit(which_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource which_;
  rlimit before_{};
};

// The limits on file sizes and on descriptors apply to files in memory too. The small arena is made first, so that it
// cannot reuse the file of another one.
TEST(Arena, InputsAreClosedForWritingWhereThereAreNoFilesInMemory) {
  constexpr std::size_t kSmall = 84, kLarge = std::size_t{1} << 19;
  for (const auto& [which, most] : {std::pair{RLIMIT_FSIZE, rlim_t{4096}}, std::pair{RLIMIT_NOFILE, rlim_t{0}}}) {
    for (const std::size_t elements : {kSmall, kLarge}) {
      std::optional<Arena> arena;
      {
        const Limited limited(which, most);
        arena.emplace(blocks(4, elements), Placement(1));
        std::vector<std::byte> other(4 * elements, std::byte{0x11});
        arena->write(kInput, other);
        EXPECT_EQ(std::memcmp(arena->data(kInput), other.data(), other.size()), 0);
      }
      expect_closed_for_writing(*arena, elements);
    }
  }
}

TEST(Arena, HoldsWhatItIsGivenInMemoryThatWasUsedBefore) {
  for (const std::byte value : {std::byte{0x11}, std::byte{0x22}}) {
    std::vector<Block> filled = blocks(4, 84);
    std::ranges::fill(filled[kInput].bytes, value);
    const Arena arena(filled, Placement(1));
    for (const std::byte each : arena.bytes(kInput)) ASSERT_EQ(each, value);
    EXPECT_TRUE(arena.violations().empty());
  }
}

std::uint64_t flush_seed(Edge edge) {
  for (std::uint64_t seed = 0;; ++seed) {
    const Placement placement(seed);
    if (!placement.shifted() && placement.edge(kInput) == edge && placement.edge(kWorkspace) == edge) return seed;
  }
}

TEST(Arena, NoticesReadsIntoGuardPages) {
  Arena at_end(blocks(4, 84), Placement(flush_seed(Edge::kEnd)));
  volatile float sink = 0;
  at_end.guarded([&] { sink = reinterpret_cast<volatile float*>(at_end.data(kInput))[84]; });
  EXPECT_EQ(texts(at_end), std::vector<std::string>{"read past the end of co (element 84 of 84)"});
  Arena at_start(blocks(4, 84), Placement(flush_seed(Edge::kStart)));
  at_start.guarded([&] { sink = reinterpret_cast<volatile float*>(at_start.data(kInput))[-1]; });
  EXPECT_EQ(texts(at_start), std::vector<std::string>{"read before the beginning of co (element -1 of 84)"});
  static_cast<void>(sink);
}

TEST(Arena, ReportsAWriteAfterAReadOfTheSamePage) {
  Arena arena(blocks(4, 84), Placement(flush_seed(Edge::kEnd)));
  arena.guarded([&] {
    auto* past = reinterpret_cast<volatile float*>(arena.data(kInput)) + 86;
    *past = *past + 1;
  });
  EXPECT_EQ(texts(arena), (std::vector<std::string>{"read past the end of co (element 86 of 84)",
                                                    "wrote past the end of co (element 86 of 84)"}));
}

TEST(Arena, ReportsTheElementNearestToTheTensor) {
  // In different pages: of each page, the first access is recorded.
  const auto page = static_cast<std::ptrdiff_t>(page_bytes() / 4);
  Arena past(blocks(4, 84), Placement(flush_seed(Edge::kEnd)));
  past.guarded([&] {
    for (const std::ptrdiff_t element : {84 + 2 * page, std::ptrdiff_t{84}, 84 + 4 * page})
      past.data(kInput)[element * 4] = std::byte{0};
  });
  EXPECT_EQ(texts(past), std::vector<std::string>{"wrote past the end of co (element 84 of 84)"});
  Arena before(blocks(4, 84), Placement(flush_seed(Edge::kStart)));
  before.guarded([&] {
    for (const std::ptrdiff_t element : {-2 * page, std::ptrdiff_t{-1}, -4 * page})
      before.data(kInput)[element * 4] = std::byte{0};
  });
  EXPECT_EQ(texts(before), std::vector<std::string>{"wrote before the beginning of co (element -1 of 84)"});
}

TEST(Arena, NoticesWhatIsCopiedFromPastAnInputToPastAnOutput) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    if (!Placement(seed).shifted()) continue;
    Arena arena(blocks(4, 84), Placement(seed));
    arena.guarded([&] { std::memcpy(arena.data(kOutput) + 84 * 4, arena.data(kInput) + 84 * 4, 4); });
    EXPECT_EQ(texts(arena), std::vector<std::string>{"wrote past the end of dicfo (element 84 of 84)"});
  }
}

TEST(Arena, CountsTheWorkspaceInBytes) {
  Arena arena(blocks(4, 84, 1), Placement(flush_seed(Edge::kEnd)));
  arena.guarded([&] { arena.data(kWorkspace)[100] = std::byte{0}; });
  EXPECT_EQ(texts(arena), std::vector<std::string>{"wrote past the end of the workspace (byte 100 of 100)"});
}

TEST(Arena, NoticesAnotherThread) {
  Arena arena(blocks(4, 84), Placement(flush_seed(Edge::kEnd)));
  arena.guarded([&] { std::thread([&] { arena.data(kInput)[84 * 4] = std::byte{0}; }).join(); });
  EXPECT_EQ(texts(arena), std::vector<std::string>{"wrote past the end of co (element 84 of 84)"});
}

TEST(Arena, KeepsArenasOfOtherThreadsApart) {
  constexpr int kThreads = 8, kRounds = 50;
  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([thread, &wrong] {
      for (int round = 0; round < kRounds; ++round) {
        const auto elements = static_cast<std::size_t>(10 + thread);
        Arena arena(blocks(4, elements), Placement(static_cast<std::uint64_t>(round)));
        arena.guarded([&] { std::memset(arena.data(kOutput) + elements * 4, 0, 4); });
        const std::string number = std::to_string(elements);
        const std::vector<std::string> wanted{"wrote past the end of dicfo (element " + number + " of " + number + ")"};
        if (texts(arena) != wanted) ++wrong[static_cast<std::size_t>(thread)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads));
}

TEST(Arena, HasPlacesForEmptyTensorsAndTouchesOfThemShow) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Arena arena(blocks(4, 0), Placement(seed));
    EXPECT_TRUE(arena.violations().empty());
    EXPECT_TRUE(arena.bytes(kOutput).empty());
    if (arena.data(kOutput) == nullptr) continue;
    arena.guarded([&] { arena.data(kOutput)[0] = std::byte{0}; });
    EXPECT_EQ(texts(arena), std::vector<std::string>{"wrote past the end of dicfo (element 0 of 0)"});
  }
}

TEST(Arena, AlignsWorkspacesToMoreThanAPage) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Arena arena(blocks(4, 84, 1 << 16), Placement(seed));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data(kWorkspace)) % (1 << 16), 0u);
    EXPECT_TRUE(arena.violations().empty());
  }
}

TEST(Arena, ThrowsWhereMemoryCannotBeHad) {
  std::vector<Block> too_large = blocks(4, 84);
  too_large[kWorkspace].size = std::size_t{1} << 62;
  EXPECT_THROW(Arena(too_large, Placement(0)), std::bad_alloc);
  too_large[kWorkspace].size = ~std::size_t{0};
  EXPECT_THROW(Arena(too_large, Placement(0)), std::bad_alloc);
}

int foreign_faults = 0;
void* foreign_page = nullptr;
void on_foreign_fault(int, siginfo_t* info, void*) {
  foreign_faults += info->si_addr == foreign_page ? 1 : 1000;
  mprotect(foreign_page, page_bytes(), PROT_READ | PROT_WRITE);
}

TEST(Guard, PassesForeignFaultsOnAndRestoresTheHandler) {
  struct sigaction ours {
  }, before{}, after{};
  ours.sa_sigaction = on_foreign_fault;
  ours.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGSEGV, &ours, &before), 0);
  foreign_page = mmap(nullptr, page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  foreign_faults = 0;
  {
    Arena arena(blocks(4, 84), Placement(0));
    arena.guarded([] { *static_cast<volatile char*>(foreign_page) = 1; });
    EXPECT_EQ(foreign_faults, 1);
    EXPECT_TRUE(arena.violations().empty());
  }
  ASSERT_EQ(sigaction(SIGSEGV, &before, &after), 0);
  EXPECT_EQ(after.sa_sigaction, on_foreign_fault);
  munmap(foreign_page, page_bytes());
}

TEST(Guard, TakesFaultsAgainWhereACallHasInstalledAHandlerOfItsOwn) {
  struct sigaction theirs {};
  theirs.sa_handler = SIG_IGN;
  Arena arena(blocks(4, 84), Placement(0));
  arena.guarded([&] { sigaction(SIGSEGV, &theirs, nullptr); });
  arena.guarded([&] { arena.data(kInput)[8] ^= std::byte{1}; });
  EXPECT_EQ(texts(arena), std::vector<std::string>{"changed the input co (element 2 of 84)"});
}

TEST(GuardDeathTest, AForeignFaultStillEndsTheProcess) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer ends the process by an exit of its own";
  Arena arena(blocks(4, 84), Placement(0));
  void* page = mmap(nullptr, page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EXIT(arena.guarded([page] { *static_cast<volatile char*>(page) = 1; }), ::testing::KilledBySignal(SIGSEGV),
              "");
  munmap(page, page_bytes());
}

}  // namespace
}  // namespace backgauge
