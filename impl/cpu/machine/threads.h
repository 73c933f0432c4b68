// SPDX-License-Identifier: Apache-2.0
// A team of threads for one call. Nothing outlives the call, so concurrent calls share nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace backgauge::cpu {

struct Range {
  std::int64_t begin, end;
};

// Lets the members of a team wait for each other.
class Barrier {
 public:
  void wait(int count);

 private:
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> generation_{0};
};

class Member {
 public:
  Member(int index, int count, Barrier& barrier) : index_(index), count_(count), barrier_(barrier) {}

  int index() const { return index_; }
  int count() const { return count_; }

  // Returns when every member has called it equally often: what they wrote before can then be read.
  void wait() {
    if (count_ > 1) barrier_.wait(count_);
  }

  // This member's part of 0 .. total - 1.
  Range share(std::int64_t total) const {
    const std::int64_t each = total / count_, rest = total % count_;
    const std::int64_t begin = each * index_ + (index_ < rest ? index_ : rest);
    return {begin, begin + each + (index_ < rest ? 1 : 0)};
  }

 private:
  int index_, count_;
  Barrier& barrier_;
};

// The number of members, from 1 to `most`, that gives each about `work_per_member` of the work.
int team_size(int most, double work, double work_per_member);

namespace detail {
void run_team(int size, void (*body)(void*, Member&), void* context);
}

// Runs body(Member&) on up to `size` threads, the caller's included; fewer if the system refuses one. `body` must not
// throw, and must not let results depend on the number of members.
template <class Body>
void run_team(int size, Body body) {
  detail::run_team(
      size, [](void* context, Member& member) { (*static_cast<Body*>(context))(member); }, &body);
}

}  // namespace backgauge::cpu
