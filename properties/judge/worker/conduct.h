// SPDX-License-Identifier: Apache-2.0
// Collects what the confined processes of one implementation have done besides computing, over all jobs.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "properties/judge/worker/worker_process.h"

namespace backgauge {

class Conduct {
 public:
  void add(const WorkerProcess& process) {
    const std::lock_guard lock(mutex_);
    refused_.merge(process.refused());
    libraries_.merge(process.libraries());
  }

  std::set<std::string> refused() const { return copy_of(refused_); }      // system calls
  std::set<std::string> libraries() const { return copy_of(libraries_); }  // that it has loaded

 private:
  std::set<std::string> copy_of(const std::set<std::string>& names) const {
    const std::lock_guard lock(mutex_);
    return names;
  }

  mutable std::mutex mutex_;
  std::set<std::string> refused_, libraries_;
};

}  // namespace backgauge
