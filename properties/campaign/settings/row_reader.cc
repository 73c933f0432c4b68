// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/row_reader.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace backgauge {

std::string_view RowReader::value(std::string_view setting) const {
  const std::size_t at = index(setting);
  return row_[at] == kUnset ? std::string_view() : settings_[at].values[static_cast<std::size_t>(row_[at])];
}

std::size_t RowReader::index(std::string_view setting) const {
  const auto found = std::ranges::find(settings_, setting, &Setting::name);
  if (found == settings_.end()) throw std::logic_error("no setting " + std::string(setting));
  return static_cast<std::size_t>(found - settings_.begin());
}

}  // namespace backgauge
