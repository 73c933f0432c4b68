// SPDX-License-Identifier: Apache-2.0
// Work of a stream as a CUDA graph that is launched later. Everything throws as runtime.h says.
#pragma once

#include <cstddef>
#include <functional>

#include "properties/device/device.h"

namespace backgauge::device {

class CapturedGraph {
 public:
  // Calls `work`, which puts work on the stream; none of it is done. What cannot be captured, such as waiting for the
  // stream, is an error.
  CapturedGraph(const Stream& stream, const std::function<void()>& work);
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  std::size_t nodes() const;
  void launch(const Stream& stream) const;

 private:
  void *graph_ = nullptr, *executable_ = nullptr;
};

}  // namespace backgauge::device
