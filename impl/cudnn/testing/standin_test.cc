// SPDX-License-Identifier: Apache-2.0
// What the stand-in refuses, sessions, and the choice of cudnn-best, without a device.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "impl/cudnn/passes.h"
#include "impl/cudnn/plans.h"

namespace backgauge::cudnn {

const bool kTakesTheFastest = true;

namespace {

NetworkShape small_shape(std::int32_t mode = BACKGAUGE_LSTM, std::int32_t dtype = BACKGAUGE_FLOAT32) {
  return {.mode = mode,
          .dtype = dtype,
          .direction = BACKGAUGE_BIDIRECTIONAL,
          .skip = false,
          .algorithm = CUDNN_RNN_ALGO_STANDARD,
          .math = math_of(dtype, CUDNN_FMA_MATH),
          .dropout = 0.5f,
          .T = 3,
          .B = 2,
          .I = 4,
          .H = 5,
          .L = 2};
}

// A network on device memory, all inputs 0.25.
struct Net {
  explicit Net(const NetworkShape& given) : shape(given), sizes(checked_sizes(given)) {
    const auto bytes = [&](std::int64_t count) { return static_cast<std::size_t>(count) * shape.element_bytes(); };
    const std::int64_t states = shape.L * shape.directions() * shape.B * shape.H;
    for (const std::size_t size : {bytes(shape.T * shape.B * shape.I), bytes(states), bytes(states), sizes.weights,
                                   bytes(shape.T * shape.B * shape.directions() * shape.H)}) {
      in.push_back(std::make_unique<DeviceMemory>(size));
      out.push_back(std::make_unique<DeviceMemory>(size));
      const float quarter = 0.25f;
      for (std::size_t k = 0; k < size; k += sizeof quarter) {
        std::memcpy(static_cast<std::byte*>(in.back()->data()) + k, &quarter, sizeof quarter);
      }
    }
    dhy = std::make_unique<DeviceMemory>(bytes(states));
    dcy = std::make_unique<DeviceMemory>(bytes(states));
    dy = std::make_unique<DeviceMemory>(in[4]->bytes());
    for (const auto* memory : {dhy.get(), dcy.get()}) std::memset(memory->data(), 0, memory->bytes());
    std::memcpy(dy->data(), in[4]->data(), dy->bytes());
  }

  Buffers buffers() const {
    return {in[0]->data(), in[1]->data(), cell(*in[2]), in[3]->data(), workspace.data(), reserve.data()};
  }
  void* cell(const DeviceMemory& memory) const { return shape.mode == BACKGAUGE_LSTM ? memory.data() : nullptr; }
  void forward(Session& session) const {
    Network& network = session.network(shape);
    network.draw_masks_anew(1);
    enqueue_forward(network, sizes, buffers(), {out[4]->data(), out[1]->data(), cell(*out[2])});
  }
  void backward(Session& session) const { backward(session, session.network(shape)); }
  void backward(const Session& session, const Network& network) const {
    enqueue_backward(network, sizes, session.stream(), buffers(),
                     {out[4]->data(), dy->data(), dhy->data(), cell(*dcy), out[0]->data(), out[1]->data(),
                      cell(*out[2]), out[3]->data()});
  }
  std::vector<float> gradients() const {
    std::vector<float> all;
    for (const int k : {0, 1, 3}) {
      const auto* values = static_cast<const float*>(out[static_cast<std::size_t>(k)]->data());
      all.insert(all.end(), values, values + out[static_cast<std::size_t>(k)]->bytes() / sizeof(float));
    }
    return all;
  }

  NetworkShape shape;
  NetworkSizes sizes;
  std::vector<std::unique_ptr<DeviceMemory>> in, out;  // of x, h, c, weights and y
  std::unique_ptr<DeviceMemory> dhy, dcy, dy;
  DeviceMemory workspace{sizes.workspace}, reserve{sizes.reserve};
};

bool all_finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
}

// The message of the refusal, "" if there is none.
std::string refusal_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const CallError& error) {
    return error.what();
  }
  return "";
}

TEST(StandIn, RefusesStatesOfNoBytesAndTakesNoStates) {
  const Handle handle;
  const DropoutDescriptor dropout;
  const DeviceMemory somewhere(4096);
  EXPECT_EQ(cudnnSetDropoutDescriptor(dropout, handle, 0, nullptr, 0, 0), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnSetDropoutDescriptor(dropout, handle, 0, somewhere.data(), 0, 0), CUDNN_STATUS_BAD_PARAM);
}

TEST(StandIn, RefusesSpacesThatAreTooSmallAndHostMemory) {
  const Net net(small_shape());
  const Stream stream;
  const Lease lease(stream);
  const auto with = [&](const std::function<void(NetworkSizes&, Buffers&)>& damage) {
    NetworkSizes sizes = net.sizes;
    Buffers buffers = net.buffers();
    damage(sizes, buffers);
    return refusal_of([&] {
      enqueue_forward(lease->network(net.shape), sizes, buffers, {net.out[4]->data(), nullptr, nullptr});
    });
  };
  std::vector<std::byte> host(net.sizes.reserve + 256);
  EXPECT_EQ(with([](NetworkSizes&, Buffers&) {}), "");
  EXPECT_NE(with([](NetworkSizes& sizes, Buffers&) { --sizes.reserve; }).find("reserveSpaceSize"), std::string::npos);
  EXPECT_NE(with([](NetworkSizes& sizes, Buffers&) { --sizes.workspace; }).find("workSpaceSize"), std::string::npos);
  EXPECT_NE(with([](NetworkSizes& sizes, Buffers&) { --sizes.weights; }).find("weightSpaceSize"), std::string::npos);
  EXPECT_NE(with([&](NetworkSizes&, Buffers& b) { b.reserve = host.data(); }).find("reserveSpace"), std::string::npos);
  EXPECT_NE(
      with([](NetworkSizes&, Buffers& b) { b.x = static_cast<const std::byte*>(b.x) + 4; }).find("x is not aligned"),
      std::string::npos);
}

TEST(StandIn, SecondBackwardIsWrongUnlessReserveIsRestored) {
  const Net net(small_shape());
  const Stream stream;
  const Lease lease(stream);
  net.forward(*lease);
  std::vector<std::byte> made(net.sizes.reserve);
  std::memcpy(made.data(), net.reserve.data(), made.size());
  net.backward(*lease);
  const std::vector<float> first = net.gradients();
  EXPECT_TRUE(all_finite(first));
  net.backward(*lease);
  EXPECT_FALSE(all_finite(net.gradients()));
  std::memcpy(net.reserve.data(), made.data(), made.size());
  net.backward(*lease);
  EXPECT_EQ(net.gradients(), first);
}

TEST(StandIn, TakesTheReserveOfItsOwnNetworkAlone) {
  NetworkShape other = small_shape();
  other.algorithm = CUDNN_RNN_ALGO_PERSIST_STATIC;
  const Net net(small_shape()), another(other);
  const Stream stream;
  const Lease lease(stream);
  another.forward(*lease);
  std::memcpy(net.reserve.data(), another.reserve.data(), net.sizes.reserve);
  net.backward(*lease);
  EXPECT_FALSE(all_finite(net.gradients()));
}

TEST(StandIn, SeesOneHandleInTwoThreads) {
  setenv("FAKE_CUDNN_SLOW", "0", 1);
  const Net first(small_shape()), second(small_shape());
  const Stream stream;
  const Lease lease(stream);
  lease->network(first.shape);  // what the threads share is the handle
  std::string refusals[2];
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 2; ++k) {
      threads.emplace_back([&, k] {
        const Net& net = k == 0 ? first : second;
        const auto call = [&] {
          enqueue_forward(lease->network(net.shape), net.sizes, net.buffers(), {net.out[4]->data(), nullptr, nullptr});
        };
        for (int repeat = 0; repeat < 50 && refusals[k].empty(); ++repeat) refusals[k] = refusal_of(call);
      });
    }
  }
  unsetenv("FAKE_CUDNN_SLOW");
  EXPECT_NE((refusals[0] + refusals[1]).find("two threads"), std::string::npos);
}

TEST(StandIn, SeesOneHandleOnTwoStreams) {
  const Net net(small_shape());
  const Stream one, two;
  const Lease lease(one);
  net.forward(*lease);
  lease->bind(two);
  EXPECT_NE(refusal_of([&] { net.forward(*lease); }).find("two streams"), std::string::npos);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  EXPECT_EQ(refusal_of([&] { net.forward(*lease); }), "");
}

TEST(Sessions, AreOneCallsAloneAndStayWithTheirStream) {
  const Stream one, two;
  const Session* first = nullptr;
  {
    const Lease a(one), b(one), c(two);
    first = &*a;
    EXPECT_NE(&*a, &*b);
    EXPECT_NE(&*a, &*c);
    EXPECT_NE(&*b, &*c);
  }
  const Lease other(two), again(one), once_more(one);
  EXPECT_TRUE(&*again == first || &*once_more == first);
  EXPECT_NE(&*other, first);
}

TEST(Sessions, OfAnyNumberOfStreamsAndThreadsNeverMeet) {
  std::vector<std::string> refusals(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& refusal : refusals) {
      threads.emplace_back([&refusal] {
        const Net net(small_shape());
        refusal = refusal_of([&] {
          // More than are kept, so that sessions go from stream to stream.
          std::vector<std::unique_ptr<Stream>> streams;
          for (int k = 0; k < 12; ++k) streams.push_back(std::make_unique<Stream>());
          for (int call = 0; call < 60; ++call) {
            const Lease lease(*streams[static_cast<std::size_t>(call * 5 % 12)]);
            net.forward(*lease);
            net.backward(*lease);
          }
        });
        if (refusal.empty() && !all_finite(net.gradients())) refusal = "not finite";
      });
    }
  }
  for (const std::string& refusal : refusals) EXPECT_EQ(refusal, "");
}

TEST(Sessions, BelongToTheGraphThatTheyWereCapturedIn) {
  const Net net(small_shape());
  const Stream stream;
  const Session* used = nullptr;
  { used = &*Lease(stream); }
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  {
    const Lease lease(stream);
    EXPECT_EQ(&*lease, used);
    net.forward(*lease);
  }
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  EXPECT_NE(&*Lease(stream), used);
  cudaGraphDestroy(graph);
}

TEST(Sessions, ReplayWhatWasCapturedForTheSameKeyAlone) {
  const Stream stream;
  const Lease lease(stream);
  const DeviceMemory a(64), b(64);
  int enqueued = 0;
  const auto set = [&](const DeviceMemory& to) {
    lease->replay({small_shape(), {to.data()}}, [&] {
      ++enqueued;
      check(cudaMemsetAsync(to.data(), 3, to.bytes(), stream), "cudaMemsetAsync");
    });
  };
  for (const DeviceMemory* memory : {&a, &b, &a, &b}) {
    std::memset(memory->data(), 0, memory->bytes());
    set(*memory);
    EXPECT_EQ(*static_cast<const char*>(memory->data()), 3);
  }
  EXPECT_EQ(enqueued, 2);
}

TEST(Sessions, ForgetWhatTheyHaveTooManyOf) {
  const Stream stream;
  const Lease lease(stream);
  const Net net(small_shape());
  std::vector<float> first;
  // 64 networks and 8 graphs are kept.
  for (int k = 0; k < 100; ++k) {
    NetworkShape other = small_shape();
    other.T = 4 + k;
    lease->network(other);
    net.forward(*lease);
    const Network& network = lease->network(net.shape);
    ASSERT_EQ(refusal_of([&] {
                lease->replay({net.shape, {reinterpret_cast<const void*>(static_cast<std::uintptr_t>(k))}},
                              [&] { net.backward(*lease, network); });
              }),
              "");
    if (k == 0) first = net.gradients();
    ASSERT_EQ(net.gradients(), first) << k;
  }
  EXPECT_TRUE(all_finite(first));
}

TEST(Plans, AreTheFastestThatTheShapeHas) {
  ASSERT_TRUE(settings().best());
  NetworkShape shape = small_shape();
  for (const auto& [slow, is_taken] :
       {std::pair{CUDNN_RNN_ALGO_STANDARD, false}, {CUDNN_RNN_ALGO_PERSIST_STATIC, false}}) {
    setenv("FAKE_CUDNN_SLOW", std::to_string(slow).c_str(), 1);
    ++shape.T;  // one that is not known yet
    EXPECT_EQ(plan_of(shape).shape.algorithm == slow, is_taken) << slow;
  }
  // Even if it is slow, where there is no other.
  setenv("FAKE_CUDNN_SLOW", "0", 1);
  EXPECT_EQ(plan_of(small_shape(BACKGAUGE_GRU, BACKGAUGE_FLOAT64)).shape.algorithm, CUDNN_RNN_ALGO_STANDARD);
  NetworkShape large = small_shape(BACKGAUGE_GRU);
  large.H = 1537;
  large.T = large.L = large.B = 1;
  EXPECT_EQ(plan_of(large).shape.algorithm, CUDNN_RNN_ALGO_STANDARD);
  unsetenv("FAKE_CUDNN_SLOW");
}

TEST(Plans, AreKept) {
  NetworkShape shape = small_shape();
  shape.T = 20;
  const Plan first = plan_of(shape);
  setenv("FAKE_CUDNN_SLOW", std::to_string(first.shape.algorithm).c_str(), 1);
  const Plan second = plan_of(shape);
  unsetenv("FAKE_CUDNN_SLOW");
  EXPECT_EQ(second.shape, first.shape);
  EXPECT_EQ(second.graph, first.graph);
}

TEST(Plans, SayWhyAShapeIsNotTaken) {
  NetworkShape shape = small_shape();
  shape.T = 65536;
  const std::string why = refusal_of([&] { plan_of(shape); });
  EXPECT_NE(why.find("cudnnSetRNNDataDescriptor: CUDNN_STATUS_NOT_SUPPORTED"), std::string::npos) << why;
}

}  // namespace
}  // namespace backgauge::cudnn
