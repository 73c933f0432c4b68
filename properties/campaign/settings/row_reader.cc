// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/row_reader.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace backgauge {

std::size_t index_of(const std::vector<Setting>& settings, std::string_view setting) {
  const auto found = std::ranges::find(settings, setting, &Setting::name);
  if (found == settings.end()) throw std::logic_error("no setting " + std::string(setting));
  return static_cast<std::size_t>(found - settings.begin());
}

std::string_view RowReader::value(std::string_view setting) const {
  const std::size_t at = index_of(settings_, setting);
  return row_[at] == kUnset ? std::string_view() : settings_[at].values[static_cast<std::size_t>(row_[at])];
}

}  // namespace backgauge
