// SPDX-License-Identifier: Apache-2.0
// What is made of sizes alone and is expensive to make: oneDNN generates code for it. It holds no data of any call.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace backgauge::onednn {

// Value(key), made now or before. What it throws leaves nothing behind. Several threads may ask at once.
template <class Value, class Key>
std::shared_ptr<const Value> kept(const Key& key) {
  constexpr std::size_t kMost = 64;  // a suite of benchmarks has fewer shapes; a long campaign has thousands
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const Value>> values;
  const std::lock_guard lock(mutex);
  auto found = values.find(key);
  if (found == values.end()) {
    auto made = std::make_shared<const Value>(key);
    if (values.size() >= kMost) values.clear();
    found = values.emplace(key, std::move(made)).first;
  }
  return found->second;
}

}  // namespace backgauge::onednn
