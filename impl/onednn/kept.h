// SPDX-License-Identifier: Apache-2.0
// Objects that depend only on sizes and are expensive to create, because oneDNN generates code. They hold no call's
// data.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace backgauge::onednn {

// Value(key), created now or earlier. If that throws, nothing is stored. May be called concurrently.
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
