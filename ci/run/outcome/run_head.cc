// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/run_head.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "ci/options/command_error.h"
#include "ci/run/implementation/adapters.h"
#include "ci/version.h"
#include "impl/registry.h"
#include "properties/case/files/json_integer.h"
#include "properties/case/files/json_text.h"
#include "properties/case/files/npy.h"
#include "properties/case/line/philox.h"
#include "properties/judge/call/printable.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRunSchema = "backgauge.run/1";

std::string differ(const char* what, const std::string& there, const std::string& here) {
  return there == here ? "" : fmt::format("{} {}, here {}", what, there, here);
}

std::string first_of(std::initializer_list<std::string> differences) {
  for (const std::string& text : differences) {
    if (!text.empty()) return text;
  }
  return "";
}

std::string digest_of_implementation(const std::string& given) {
  if (const auto adapter = find_adapter(given)) return digest_of_file(adapter->file);
  return is_built_in(given) ? "" : digest_of_file(given);
}

}  // namespace

std::string digest_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return fmt::format("{:016x}", fnv1a(bytes.data(), bytes.size(), kFnvBasis));
}

RunHead head_of_this_run(const backgauge_implementation& implementation, const std::string& given, int threads,
                         const std::string& shard, const Planned& plan) {
  return {.version = kVersion,
          .command = digest_of_file("/proc/self/exe"),
          .impl_name = printable(implementation.name, kShownOfName),
          .impl_version = printable(implementation.version, kShownOfName),
          .library = digest_of_implementation(given),
          .terms = terms_of(implementation),
          .threads = threads,
          .shard = shard,
          .plan = plan};
}

std::string to_json(const RunHead& head) {
  Json json;
  json["schema"] = kRunSchema;
  json["version"] = head.version;
  json["command"] = head.command;
  json["impl"] = {{"name", head.impl_name}, {"version", head.impl_version}};
  if (!head.library.empty()) json["impl"]["library"] = head.library;
  json["terms"] = to_json(head.terms);
  json["threads"] = head.threads;
  json["shard"] = head.shard;
  json["plan"] = {
      {"tier", head.plan.tier}, {"seed", head.plan.seed}, {"cases", head.plan.cases}, {"digest", head.plan.digest}};
  return json.dump();
}

std::optional<RunHead> read_head(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "run.json";
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return std::nullopt;
  std::string text, error;
  if (!read_file(path, text, error)) throw CommandError{kUsage, error};
  try {
    const Json json = parse_json<Json>(text);
    if (json.at("schema") != kRunSchema) throw std::invalid_argument(fmt::format("expected schema {}", kRunSchema));
    RunHead head;
    json.at("version").get_to(head.version);
    json.at("command").get_to(head.command);
    json.at("impl").at("name").get_to(head.impl_name);
    json.at("impl").at("version").get_to(head.impl_version);
    head.library = json.at("impl").value("library", "");
    head.terms = parse_terms(json.at("terms"));
    read_integer(json.at("threads"), head.threads);
    json.at("shard").get_to(head.shard);
    json.at("plan").at("tier").get_to(head.plan.tier);
    read_integer(json.at("plan").at("seed"), head.plan.seed);
    read_integer(json.at("plan").at("cases"), head.plan.cases);
    json.at("plan").at("digest").get_to(head.plan.digest);
    return head;
  } catch (const std::exception& problem) {
    throw CommandError{kUsage, fmt::format("{}: {}", path.string(), problem.what())};
  }
}

std::string difference_of_parts(const RunHead& there, const RunHead& here) {
  return first_of(
      {differ("backgauge", there.version, here.version), differ("implementation", there.impl_name, here.impl_name),
       differ("version of the implementation", there.impl_version, here.impl_version),
       differ("file of the implementation", there.library, here.library), difference(there.terms, here.terms),
       differ("threads", std::to_string(there.threads), std::to_string(here.threads)),
       differ("tier", there.plan.tier, here.plan.tier),
       differ("seed", std::to_string(there.plan.seed), std::to_string(here.plan.seed)),
       differ("number of cases", std::to_string(there.plan.cases), std::to_string(here.plan.cases)),
       differ("digest of the cases", there.plan.digest, here.plan.digest)});
}

std::string difference(const RunHead& there, const RunHead& here) {
  return first_of({differ("shard", there.shard, here.shard), difference_of_parts(there, here),
                   differ("build of backgauge", there.command, here.command)});
}

}  // namespace backgauge::cli
