// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/record/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "properties/case/files/json_integer.h"
#include "properties/case/files/json_text.h"
#include "properties/judge/call/printable.h"
#include "properties/judge/compare/compare.h"

namespace backgauge {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "backgauge.record/1";

Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto& word = json.get_ref<const std::string&>();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw std::invalid_argument("\"" + word + "\" is not a number");
}

Json tensor_json(const TensorReport& tensor) {
  Json json;
  json["shape"] = tensor.shape;
  json["n"] = tensor.elements;
  json["judged"] = tensor.judged;
  json["bad"] = tensor.bad;
  json["nonfinite"] = tensor.nonfinite;
  json["unwritten"] = tensor.unwritten;
  if (tensor.added > 0) json["added"] = tensor.added;
  json["max_ratio"] = number(tensor.max_ratio);
  json["resolution"] = number(tensor.resolution);
  json["vacuous"] = tensor.vacuous;
  if (tensor.worst >= 0) {
    json["worst"] = index_of(tensor.shape, tensor.worst);
    json["got"] = number(tensor.got);
    json["want"] = number(tensor.want);
    json["allowed"] = number(tensor.allowed);
  }
  if (!tensor.where.empty()) json["where"] = tensor.where;
  return json;
}

std::int64_t flat_index(const Shape& shape, const std::vector<std::int64_t>& index) {
  const std::invalid_argument unfit("\"worst\" does not match \"shape\"");
  if (index.size() != shape.size() || !element_count(shape)) throw unfit;
  std::int64_t flat = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (index[k] < 0 || index[k] >= shape[k]) throw unfit;
    flat = flat * shape[k] + index[k];
  }
  return flat;
}

TensorReport tensor_report(const std::string& name, const Json& json) {
  TensorReport tensor;
  tensor.name = name;
  tensor.shape = integers_of<std::int64_t>(json.at("shape"));
  read_integer(json.at("n"), tensor.elements);
  read_integer(json.at("judged"), tensor.judged);
  read_integer(json.at("bad"), tensor.bad);
  read_integer(json.at("nonfinite"), tensor.nonfinite);
  read_integer(json.at("unwritten"), tensor.unwritten);
  if (json.contains("added")) read_integer(json.at("added"), tensor.added);
  tensor.max_ratio = number(json.at("max_ratio"));
  tensor.resolution = number(json.at("resolution"));
  json.at("vacuous").get_to(tensor.vacuous);
  if (json.contains("worst")) {
    tensor.worst = flat_index(tensor.shape, integers_of<std::int64_t>(json.at("worst")));
    tensor.got = number(json.at("got"));
    tensor.want = number(json.at("want"));
    tensor.allowed = number(json.at("allowed"));
  }
  tensor.where = json.value("where", "");
  return tensor;
}

Json plan_json(const Planned& plan) {
  Json json;
  if (!plan.tier.empty()) {
    json["tier"] = plan.tier;
    json["seed"] = plan.seed;
  }
  json["cases"] = plan.cases;
  json["digest"] = plan.digest;
  json["index"] = plan.index;
  return json;
}

Planned planned(const Json& json) {
  Planned plan;
  plan.tier = json.value("tier", "");
  if (json.contains("seed")) read_integer(json.at("seed"), plan.seed);
  read_integer(json.at("cases"), plan.cases);
  json.at("digest").get_to(plan.digest);
  read_integer(json.at("index"), plan.index);
  if (plan.index < 0 || plan.index >= plan.cases) throw std::invalid_argument("\"index\" is outside the plan");
  return plan;
}

Waived waived(const Json& json) {
  return {json.at("reason").get<std::string>(), json.at("url").get<std::string>(),
          json.at("expires").get<std::string>()};
}

Record from_json(const Json& json) {
  const auto schema = json.at("schema").get<std::string>();
  if (schema != kSchema) throw std::invalid_argument(fmt::format("expected schema {}, got {}", kSchema, schema));
  Record record;
  json.at("id").get_to(record.id);
  json.at("op").get_to(record.op);
  json.at("impl").at("name").get_to(record.impl_name);
  json.at("impl").at("version").get_to(record.impl_version);
  const auto word = json.at("status").get<std::string>();
  const std::optional<Status> status = parse_status(word);
  if (!status) throw std::invalid_argument("unknown status " + word);
  record.verdict.status = *status;
  record.verdict.reason = json.value("reason", "");
  record.verdict.note = json.value("note", "");
  record.verdict.hint = json.value("hint", "");
  record.verdict.passes_as = json.value("passes_as", "");
  record.isolated = json.value("isolated", false);
  record.flaky = json.value("flaky", false);
  record.shrunk_from = json.value("shrunk_from", "");
  for (const auto& [name, tensor] : json.at("tensors").items()) {
    record.verdict.tensors.push_back(tensor_report(name, tensor));
  }
  record.ms = number(json.at("ms"));
  if (json.contains("plan")) record.plan = planned(json.at("plan"));
  if (json.contains("redraws")) read_integer(json.at("redraws"), record.redraws);
  if (json.contains("waived")) record.waived = waived(json.at("waived"));
  return record;
}

}  // namespace

std::string Record::repro() const {
  const std::string& impl = impl_given.empty() ? impl_name : impl_given;
  return fmt::format("backgauge repro '{}' --impl={}", id, impl);
}

std::string_view shown_word(const Record& record) {
  return record.waived ? "WAIVED" : verdict_word(record.verdict.status);
}

std::string to_json(const Record& record) {
  Json json;
  json["schema"] = kSchema;
  json["id"] = record.id;
  json["op"] = record.op;
  json["impl"] = {{"name", printable(record.impl_name, kShownOfName)},
                  {"version", printable(record.impl_version, kShownOfName)}};
  json["status"] = verdict_word(record.verdict.status);
  const auto add_text = [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = printable(text, kShownOfReason, Newlines::kKept);
  };
  add_text("reason", record.verdict.reason);
  add_text("kind", failure_of(record.verdict));
  add_text("note", record.verdict.note);
  add_text("hint", record.verdict.hint);
  add_text("passes_as", record.verdict.passes_as);
  if (record.isolated) json["isolated"] = true;
  if (record.flaky) json["flaky"] = true;
  if (!record.shrunk_from.empty()) json["shrunk_from"] = record.shrunk_from;
  json["tensors"] = Json::object();
  for (const TensorReport& tensor : record.verdict.tensors) json["tensors"][tensor.name] = tensor_json(tensor);
  json["ms"] = number(record.ms);
  if (record.plan) json["plan"] = plan_json(*record.plan);
  if (record.redraws > 0) json["redraws"] = record.redraws;
  if (record.waived) {
    json["waived"] = {
        {"reason", record.waived->reason}, {"url", record.waived->url}, {"expires", record.waived->expires}};
  }
  // All untrusted text has been made printable. If a byte was missed, the record must still be written.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Record> parse_record(std::string_view line, std::string& error) {
  try {
    return from_json(parse_json<Json>(line));
  } catch (const std::exception& problem) {
    error = problem.what();
    return std::nullopt;
  }
}

RecordWriter::RecordWriter(const std::string& path)
    : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), path);
}

RecordWriter::~RecordWriter() { close(file_); }

void RecordWriter::append(const Record& record) {
  const std::string line = to_json(record) + "\n";
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t more = write(file_, line.data() + written, line.size() - written);
    if (more < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "writing a record");
    if (more > 0) written += static_cast<std::size_t>(more);
  }
}

Records parse_records(std::string_view text) {
  Records result;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      result.torn = true;
      break;
    }
    std::string error;
    std::optional<Record> record = parse_record(text.substr(0, end), error);
    if (!record) {
      result.error = fmt::format("line {}: {}", line, error);
      break;
    }
    result.records.push_back(std::move(*record));
    text.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace backgauge
