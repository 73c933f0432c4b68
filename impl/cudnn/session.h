// SPDX-License-Identifier: Apache-2.0
// Handles, networks and graphs, which outlive a call because they are slow to make. All of a session is used by one
// call at a time, and on one stream: two calls share nothing on the host, nor the memory that cuDNN keeps with a handle
// on the device.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "impl/cudnn/network.h"

namespace backgauge::cudnn {

class Session {
 public:
  Session() = default;
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // To be called once it is alone with the stream.
  void bind(cudaStream_t stream);

  cudaStream_t stream() const { return stream_; }
  cudnnHandle_t handle() const { return handle_; }

  // The network of a shape, whose dropout states are memory of the session. Valid until the next call of network() or
  // forget(). May wait for the device, so that it is not for what is being captured.
  Network& network(const NetworkShape& shape);

  // Enqueues what `enqueue` does on stream(), as a graph: made by capturing it, and kept for calls with the same key. A
  // key holds everything that the work depends on: above all addresses. Enqueues directly while the caller captures
  // stream(), and on the default stream, which cannot be captured.
  struct GraphKey {
    NetworkShape shape;
    std::vector<const void*> addresses;

    auto operator<=>(const GraphKey&) const = default;
  };
  void replay(const GraphKey& key, const std::function<void()>& enqueue);

  bool is_captured() const;

  // Waits for the device, and destroys networks and graphs.
  void forget();

 private:
  void forget_graphs();

  Handle handle_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<DeviceMemory> states_;
  std::map<NetworkShape, std::unique_ptr<Network>> networks_;
  std::map<GraphKey, cudaGraphExec_t> graphs_;
};

// A session for one call. It goes back to the others afterwards, unless the call was captured: then the caller's graph
// uses its memory whenever it is launched, and nobody else ever does.
class Lease {
 public:
  explicit Lease(cudaStream_t stream);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Session& operator*() const { return *session_; }
  Session* operator->() const { return session_.get(); }

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace backgauge::cudnn
