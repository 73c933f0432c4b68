// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/template.h"

#include <fmt/format.h>

#include <kainjow/mustache.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;
using kainjow::mustache::data;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

std::string markdown_escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '\n': out += ' '; break;
      case '`': out += '\''; break;
      case '|':
      case '\\':
      case '*':
      case '[':
      case ']': out += '\\'; [[fallthrough]];
      default: out += letter;
    }
  }
  return out;
}

data text_of(const Json& value, Escape escape) {
  if (value.is_boolean()) return data(value.get<bool>() ? data::type::bool_true : data::type::bool_false);
  if (value.is_number_float()) return data(fmt::format("{:g}", value.get<double>()));
  if (!value.is_string()) return data(value.dump());
  const auto& text = value.get_ref<const std::string&>();
  return data(escape == Escape::kMarkdown ? replaced(text, "```", "'''") : text);
}

data data_of(const Json& value, Escape escape) {
  if (value.is_object()) {
    data out(data::type::object);
    for (const auto& [key, member] : value.items()) {
      const bool filled =
          member.is_string() ? !member.get_ref<const std::string&>().empty() : member.is_array() && !member.empty();
      out.set(key, data_of(member, escape));
      out.set("has_" + key, data(filled ? data::type::bool_true : data::type::bool_false));
    }
    return out;
  }
  if (!value.is_array()) return text_of(value, escape);
  data out(data::type::list);
  for (const Json& element : value) out.push_back(data_of(element, escape));
  return out;
}

}  // namespace

std::string rendered(const std::string& text, const Json& values, Escape escape) {
  kainjow::mustache::mustache compiled(text);
  if (!compiled.is_valid()) throw std::logic_error("template: " + compiled.error_message());
  if (escape == Escape::kMarkdown) compiled.set_custom_escape(markdown_escaped);
  return compiled.render(data_of(values, escape));
}

}  // namespace backgauge::cli
