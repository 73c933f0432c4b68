// SPDX-License-Identifier: Apache-2.0
// backgauge-gpu-trial <what> --impl=PATH[,PATH...] [--rounds=N] SHAPE...: plug-ins for device memory on shapes that are
// too large to be judged, by a program that needs nothing but CUDA. One line of JSON for each pair.
//   time      hot and cold times by events, rounds interleaved; how far the outputs differ from the first plug-in's
//   repeat    20 runs alone and 20 beside a competing stream: are they equal bit for bit?
//   capture   is a run captured into a graph, and is the graph, replayed, the run?
// Exit code 3 where there is no device, 1 where a pair failed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <numeric>

#include "perf/gpu/device_call.h"

namespace backgauge::gpu {
namespace {

constexpr std::size_t kEvicting = std::size_t{256} << 20;  // twice the largest L2 so far
constexpr double kSampleSeconds = 2e-3;                    // long against the half microsecond that an event resolves
constexpr int kRepeats = 20;

struct Options {
  std::string what;
  std::vector<std::string> paths;
  std::vector<Shape> shapes;
  int rounds = 30;
};

struct Pair {
  std::string path;
  const backgauge_implementation* table;
  std::unique_ptr<DeviceCall> call;
  std::vector<double> hot, cold, enqueue;  // seconds of a call
  double first_call = 0;
  int calls = 1;
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out;
}

double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Clock {
 public:
  explicit Clock(cudaStream_t stream) : stream_(stream) {
    check(cudaEventCreate(&from_), "cudaEventCreate");
    check(cudaEventCreate(&to_), "cudaEventCreate");
  }
  ~Clock() {
    cudaEventDestroy(from_);
    cudaEventDestroy(to_);
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // Seconds on the device, from the first piece of work to the last.
  double time(const std::function<void()>& work) const {
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    check(cudaEventRecord(from_, stream_), "cudaEventRecord");
    work();
    check(cudaEventRecord(to_, stream_), "cudaEventRecord");
    check(cudaEventSynchronize(to_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, from_, to_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) / 1e3;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t from_ = nullptr, to_ = nullptr;
};

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::string times_text(const char* name, const std::vector<double>& seconds) {
  char text[160];
  std::snprintf(text, sizeof text, ", \"%s_us\": {\"median\": %.3f, \"p10\": %.3f, \"p90\": %.3f, \"n\": %zu}", name,
                quantile(seconds, 0.5) * 1e6, quantile(seconds, 0.1) * 1e6, quantile(seconds, 0.9) * 1e6,
                seconds.size());
  return text;
}

// Largest difference over largest value.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double error = 0, size = 0;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    const double distance = std::fabs(a[k] - b[k]);
    error = std::isnan(distance) ? INFINITY : std::max(error, distance);
    size = std::max(size, std::fabs(b[k]));
  }
  return size == 0 ? error : error / size;
}

class Trials {
 public:
  explicit Trials(const Options& options) : options_(options) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    for (const std::string& path : options.paths) tables_.push_back({path, &open_plugin(path), nullptr, {}, {}, {}});
  }

  int run() {
    for (const Shape& shape : options_.shapes) {
      std::vector<Pair> pairs = pairs_of(shape);
      if (options_.what == "time") {
        time(shape, pairs);
      } else {
        for (Pair& pair : pairs) attempt(shape, pair, [&] { say(shape, pair, trial(pair)); });
      }
      std::fflush(stdout);
    }
    return failed_ ? 1 : 0;
  }

 private:
  void say(const Shape& shape, const Pair& pair, const std::string& more) const {
    std::printf("{\"what\": \"%s\", \"shape\": \"%s\", \"implementation\": \"%s\", \"version\": \"%s\"%s}\n",
                options_.what.c_str(), shape.text().c_str(), pair.table->name, escaped(pair.table->version).c_str(),
                more.c_str());
  }

  // Pairs end one by one: what one cannot do is said in its line.
  bool attempt(const Shape& shape, const Pair& pair, const std::function<void()>& body) {
    try {
      body();
      return true;
    } catch (const std::exception& error) {
      say(shape, pair, ", \"error\": \"" + escaped(error.what()) + "\"");
      failed_ = true;
      return false;
    }
  }

  std::vector<Pair> pairs_of(const Shape& shape) {
    std::vector<Pair> out;
    for (const Pair& opened : tables_) {
      if (!claims(*opened.table, shape)) continue;
      Pair pair{opened.path, opened.table, nullptr, {}, {}, {}};
      const bool made = attempt(shape, pair, [&] {
        pair.call = std::make_unique<DeviceCall>(*pair.table, shape, stream_);
        const double start = host_seconds();
        pair.call->run();
        check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
        pair.first_call = host_seconds() - start;
      });
      if (made) out.push_back(std::move(pair));
    }
    return out;
  }

  void time(const Shape& shape, std::vector<Pair>& pairs) {
    std::erase_if(pairs, [&](Pair& pair) { return !attempt(shape, pair, [&] { choose_calls(pair); }); });
    for (int round = 0; round < options_.rounds; ++round) {
      std::erase_if(pairs, [&](Pair& pair) { return !attempt(shape, pair, [&] { sample(pair); }); });
      std::ranges::reverse(pairs);  // A B, then B A: what drifts meets all alike
    }
    if (options_.rounds % 2 == 1) std::ranges::reverse(pairs);
    std::vector<double> first;
    for (Pair& pair : pairs) {
      attempt(shape, pair, [&] {
        pair.call->restore();
        pair.call->poison_outputs();
        pair.call->run();
        const std::vector<double> values = pair.call->output_values();
        if (first.empty()) first = values;
        const double microsecond = 1e-6;
        char text[320];
        std::snprintf(
            text, sizeof text,
            ", \"flops\": %.6g, \"bytes\": %.6g, \"first_call_us\": %.1f, \"difference\": %.3g, \"gbps\": %.1f, "
            "\"tflops\": %.2f, \"step_us\": %.3f",
            shape.flops(), shape.bytes(), pair.first_call / microsecond, difference(values, first),
            shape.bytes() / quantile(pair.hot, 0.5) / 1e9, shape.flops() / quantile(pair.hot, 0.5) / 1e12,
            quantile(pair.hot, 0.5) / microsecond / static_cast<double>(shape.T));
        say(shape, pair,
            times_text("hot", pair.hot) + times_text("cold", pair.cold) + times_text("enqueue", pair.enqueue) + text);
      });
    }
  }

  // As many calls in a sample as it takes to be long.
  void choose_calls(Pair& pair) const {
    if (pair.call->restores()) return;
    const Clock clock(stream_);
    const double seconds = clock.time([&] { pair.call->run(); });
    pair.calls = static_cast<int>(std::clamp(kSampleSeconds / std::max(seconds, 1e-7), 1.0, 1000.0));
  }

  void sample(Pair& pair) {
    const Clock clock(stream_);
    pair.call->restore();
    double enqueue = 0;
    pair.hot.push_back(clock.time([&] {
      const double start = host_seconds();
      for (int call = 0; call < pair.calls; ++call) pair.call->run();
      enqueue = host_seconds() - start;
    }) / pair.calls);
    pair.enqueue.push_back(enqueue / pair.calls);
    pair.call->restore();
    check(cudaMemsetAsync(evicting_.data(), 0, evicting_.bytes(), stream_), "cudaMemsetAsync");
    pair.cold.push_back(clock.time([&] { pair.call->run(); }));
  }

  std::string trial(Pair& pair) { return options_.what == "repeat" ? repeat(pair) : capture(pair); }

  std::vector<std::byte> once(Pair& pair) {
    pair.call->restore();
    pair.call->poison_outputs();
    pair.call->run();
    return pair.call->output_bytes();
  }

  std::string repeat(Pair& pair) {
    const std::vector<std::byte> first = once(pair);
    int alone = 0, beside = 0;
    for (int run = 0; run < kRepeats; ++run) alone += once(pair) == first ? 0 : 1;
    for (int run = 0; run < kRepeats; ++run) {
      check(cudaMemsetAsync(evicting_.data(), run, evicting_.bytes(), other_), "cudaMemsetAsync");
      beside += once(pair) == first ? 0 : 1;
    }
    check(cudaStreamSynchronize(other_), "cudaStreamSynchronize");
    return ", \"runs\": " + std::to_string(kRepeats) + ", \"different_alone\": " + std::to_string(alone) +
           ", \"different_beside_another_stream\": " + std::to_string(beside);
  }

  std::string capture(Pair& pair) {
    const std::vector<std::byte> direct = once(pair);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    try {
      pair.call->restore();
      pair.call->poison_outputs();
      pair.call->run();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      throw;
    }
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    std::size_t nodes = 0;
    check(cudaGraphGetNodes(graph, nullptr, &nodes), "cudaGraphGetNodes");
    int different = 0;
    constexpr int kReplays = 3;
    for (int replay = 0; replay < kReplays; ++replay) {
      check(cudaGraphLaunch(executable, stream_), "cudaGraphLaunch");
      different += pair.call->output_bytes() == direct ? 0 : 1;
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    return ", \"nodes\": " + std::to_string(nodes) + ", \"replays\": " + std::to_string(kReplays) +
           ", \"different\": " + std::to_string(different);
  }

  const Options& options_;
  cudaStream_t stream_ = nullptr, other_ = nullptr;
  DeviceMemory evicting_{kEvicting};
  std::vector<Pair> tables_;
  bool failed_ = false;
};

Options parse(int count, char** arguments) {
  Options options;
  if (count > 1) options.what = arguments[1];
  if (options.what != "time" && options.what != "repeat" && options.what != "capture") {
    throw std::runtime_error("expected time, repeat or capture, then --impl=PATH[,PATH...] SHAPE...");
  }
  for (int k = 2; k < count; ++k) {
    const std::string argument = arguments[k];
    if (argument.starts_with("--impl=")) {
      for (std::size_t begin = 7; begin <= argument.size();) {
        const std::size_t end = std::min(argument.find(',', begin), argument.size());
        options.paths.push_back(argument.substr(begin, end - begin));
        begin = end + 1;
      }
    } else if (argument.starts_with("--rounds=")) {
      options.rounds = std::max(3, std::atoi(argument.c_str() + 9));
    } else {
      options.shapes.push_back(parse_shape(argument));
    }
  }
  if (options.paths.empty() || options.shapes.empty()) throw std::runtime_error("expected --impl=PATH and a shape");
  return options;
}

}  // namespace
}  // namespace backgauge::gpu

int main(int count, char** arguments) {
  try {
    const backgauge::gpu::Options options = backgauge::gpu::parse(count, arguments);
    int devices = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0) {
      std::fprintf(stderr, "backgauge-gpu-trial: no CUDA device: %s\n", cudaGetErrorString(error));
      return 3;
    }
    return backgauge::gpu::Trials(options).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backgauge-gpu-trial: %s\n", error.what());
    return 2;
  }
}
