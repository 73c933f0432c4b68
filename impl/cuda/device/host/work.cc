// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/work.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <span>
#include <utility>

#include "impl/cuda/device/host/multiply.h"

namespace backgauge::cuda {

struct WorkState {
  std::array<Stream, 1 + Work::kMostSides> streams;
};

struct GraphState {
  std::array<Stream, 1 + Work::kMostSides> streams;
};

namespace {

// Works of this thread that have not ended.
thread_local int works = 0;

void expect_no_work(const char* what) {
  if (works > 0) throw CallError(BACKGAUGE_INTERNAL, std::string(what) + " in the midst of work");
}

bool next_is_backwards() {
  static std::atomic<unsigned> count;
  return count.fetch_add(1, std::memory_order_relaxed) % 2 == 1;
}

std::size_t position(std::span<const Stream> streams, const Stream* stream) {
  return static_cast<std::size_t>(stream - streams.data());
}

}  // namespace

void do_all(std::span<const Stream> streams, bool backwards) {
  std::vector<std::size_t> done(streams.size());
  const auto advance = [&](std::size_t k) {
    if (done[k] == streams[k].entries.size()) return false;
    const auto& entry = streams[k].entries[done[k]];
    if (const auto* wait = std::get_if<Stream::Wait>(&entry)) {
      if (done[position(streams, wait->on)] < wait->entries) return false;
    } else {
      std::get<Stream::Action>(entry)(backwards);
    }
    ++done[k];
    return true;
  };
  const auto advance_any = [&] {
    for (std::size_t k = 0; k < streams.size(); ++k) {
      if (advance(backwards ? streams.size() - 1 - k : k)) return true;
    }
    return false;
  };
  while (advance_any()) {
  }
}

void expect_joined(std::span<const Stream> streams) {
  // The last position of each stream that precedes the end of the first stream.
  std::vector<std::size_t> reached(streams.size(), 0), visited(streams.size(), 0);
  reached[0] = streams[0].entries.size();
  for (bool again = true; again;) {
    again = false;
    for (std::size_t k = 0; k < streams.size(); ++k) {
      for (; visited[k] < reached[k]; ++visited[k]) {
        const auto* wait = std::get_if<Stream::Wait>(&streams[k].entries[visited[k]]);
        if (wait == nullptr) continue;
        std::size_t& on = reached[position(streams, wait->on)];
        again |= wait->entries > on;
        on = std::max(on, wait->entries);
      }
    }
  }
  for (std::size_t k = 0; k < streams.size(); ++k) {
    if (reached[k] < streams[k].entries.size()) {
      throw CallError(BACKGAUGE_INTERNAL, "side queue " + std::to_string(k) + " is not waited for");
    }
  }
}

Event::Event() : state_(std::make_unique<EventState>()) {}
Event::~Event() = default;

void Queue::multiply(const Product& product, const Matrices& matrices) {
  check(product);
  stream_.add([=](bool) { host_multiply(product, matrices); });
}

void Queue::multiply(const Product& product, const IndirectMatrices& matrices) {
  check(product);
  if (!can_be_indirect(product)) throw CallError(BACKGAUGE_INTERNAL, "a product that cannot be indirect");
  stream_.add([=](bool) { host_multiply(product, {*matrices.a, *matrices.b, *matrices.result}); });
}

void Queue::zero(void* to, std::int64_t bytes) {
  if (bytes > 0) stream_.add([=](bool) { std::memset(to, 0, static_cast<std::size_t>(bytes)); });
}

void Queue::copy(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0) stream_.add([=](bool) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
}

void Queue::wait_for(Queue& other) {
  if (&other.stream_ != &stream_) {
    stream_.entries.emplace_back(Stream::Wait{&other.stream_, other.stream_.entries.size()});
  }
}

// The calls of other threads do their work at the same time. If a work ends early, by an exception, its promise is
// broken, which ends the waiting too.
void Queue::record(Event& event) {
  const auto promise = std::make_shared<std::promise<void>>();
  event.state_->done = promise->get_future().share();
  stream_.add([promise](bool) { promise->set_value(); });
}

void Queue::wait_for(const Event& event) {
  const std::shared_future<void> done = event.state_->done;
  if (done.valid()) stream_.add([done](bool) { done.wait(); });
}

void Queue::keep(std::shared_ptr<const void> object) {
  stream_.add([object = std::move(object)](bool) {});
}

void Queue::replay(const Graph& graph) {
  const GraphState* state = graph.state_.get();
  stream_.add([state](bool backwards) { do_all(state->streams, backwards); });
}

bool can_be_indirect(const Product&) { return true; }

Work::Work(void*, void*, int sides) : state_(std::make_unique<WorkState>()), main_(state_->streams[0]) {
  for (int k = 0; k < sides; ++k) {
    sides_[k] = std::make_unique<Queue>(state_->streams[static_cast<std::size_t>(k) + 1]);
  }
  ++works;
}

Work::Work(Recording, void* scratch, int sides) : Work(nullptr, scratch, sides) {}

Work::~Work() { --works; }

Queue& Work::side(int index) { return *sides_[index]; }

bool Work::is_recorded() const { return false; }

void Work::finish() {
  expect_joined(state_->streams);
  do_all(state_->streams, next_is_backwards());
  for (Stream& stream : state_->streams) stream.entries.clear();
}

Graph::Graph(void* scratch, int sides, const std::function<void(Work&)>& body) {
  expect_no_work("a recording");
  Work work(Work::Recording{}, scratch, sides);
  body(work);
  expect_joined(work.state_->streams);
  state_ = std::make_unique<GraphState>();
  state_->streams = work.state_->streams;
  // Waits refer to positions in the streams of the work.
  for (Stream& stream : state_->streams) {
    for (auto& entry : stream.entries) {
      if (auto* wait = std::get_if<Stream::Wait>(&entry)) {
        wait->on = &state_->streams[position(work.state_->streams, wait->on)];
      }
    }
  }
}

Graph::~Graph() = default;

Memory::Memory(std::int64_t bytes) {
  expect_no_work("an allocation");
  constexpr std::size_t kAlignment = 256;
  const std::size_t size = (static_cast<std::size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  data_ = std::aligned_alloc(kAlignment, size);
  if (data_ == nullptr) throw std::bad_alloc();
  std::memset(data_, kPoison, size);
}

Memory::~Memory() { std::free(data_); }

}  // namespace backgauge::cuda
