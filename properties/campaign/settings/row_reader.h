// SPDX-License-Identifier: Apache-2.0
// The values set in a row, by the names of their settings.
#pragma once

#include <string_view>
#include <vector>

#include "properties/campaign/settings/settings.h"

namespace backgauge {

// The place of a setting. Throws std::logic_error for an unknown one.
std::size_t index_of(const std::vector<Setting>& settings, std::string_view setting);

class RowReader {
 public:
  RowReader(backgauge_op op, const Row& row) : settings_(settings_of(op)), row_(row) {}

  std::string_view value(std::string_view setting) const;  // "" if unset
  int position(std::string_view setting) const { return row_[index_of(settings_, setting)]; }
  bool is(std::string_view setting, std::string_view wanted) const { return value(setting) == wanted; }
  bool is_other(std::string_view setting, std::string_view wanted) const {
    return !value(setting).empty() && value(setting) != wanted;
  }

 private:
  const std::vector<Setting>& settings_;
  const Row& row_;
};

}  // namespace backgauge
