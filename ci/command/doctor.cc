// SPDX-License-Identifier: Apache-2.0
// backgauge doctor: what this installation consists of, what works on this machine, and why the rest does not.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/adapters.h"
#include "ci/run/implementation/candidate.h"
#include "ci/run/implementation/python.h"
#include "impl/registry.h"
#include "perf/machine/machine.h"
#include "properties/case/line/regressions.h"
#include "properties/case/stored/golden.h"
#include "properties/judge/call/printable.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

// One thing that works (`value` says where or which) or does not (`reason`).
Json working(const std::string& name, const std::string& value) {
  return {{"name", name}, {"works", true}, {"value", value}};
}
Json missing(const std::string& name, const std::string& reason) {
  return {{"name", name}, {"works", false}, {"reason", printable(reason, kShownOfReason)}};
}

template <class Find>
Json found(const std::string& name, Find find) {
  try {
    return working(name, find());
  } catch (const CommandError& error) {
    return missing(name, error.text);
  }
}

Json opened(const std::string& name) {
  return found(name, [&] { return printable(Candidate(name).table().version, kShownOfName); });
}

Json implementations() {
  Json out = Json::array();
  for (const std::string& name : all_names()) out.push_back(opened(name));
  return out;
}

Json python() {
  return {found("implementations in Python", [] { return python_worker("").program; }), found("report, compare", [] {
            return find_python({"numpy", "scipy", "matplotlib", "jinja2"});
          })};
}

Json data_file(const std::string& name, std::filesystem::path (*place)(std::string& error)) {
  std::string error;
  const std::string path = place(error).string();
  return path.empty() ? missing(name, error) : working(name, path);
}

Json working_adapters() {
  Json out = Json::array();
  for (const Adapter& adapter : adapters()) out.push_back(opened(adapter.name));
  return out;
}

Json findings() {
  const Build build = this_build();
  const Machine machine = this_machine();
  return {{"schema", "backgauge.doctor/1"},
          {"version", build.version},
          {"commit", build.commit},
          {"compiler", build.compiler},
          {"build", build.type},
          {"cpu", machine.cpu_model},
          {"instructions", machine.isa},
          {"cores", machine.cores},
          {"implementations", implementations()},
          {"python", python()},
          {"data", {data_file("golden vectors", golden_directory), data_file("regressions", regressions_file)}},
          {"adapters", working_adapters()}};
}

int doctor(bool as_json) {
  const Json all = findings();
  if (as_json) {
    fmt::print("{}\n", all.dump(2));
    return kGood;
  }
  const auto text = [&](const char* key) { return all[key].get<std::string>(); };
  fmt::print("backgauge {}, commit {}\n{}, {} build\n{}, {}, {}\n", text("version"), text("commit"), text("compiler"),
             text("build"), text("cpu"), text("instructions"), counted(all["cores"].get<std::size_t>(), "core"));
  for (const char* section : {"implementations", "python", "data", "adapters"}) {
    fmt::print("\n{}\n", section);
    for (const Json& each : all[section]) {
      const bool works = each["works"].get<bool>();
      fmt::print("  {} {:<26} {}\n", works ? "yes" : "no ", each["name"].get<std::string>(),
                 each[works ? "value" : "reason"].get<std::string>());
    }
  }
  return kGood;
}

}  // namespace

void add_doctor(CommandLine& line) {
  auto as_json = std::make_shared<bool>(false);
  Subcommand command =
      line.subcommand("doctor", "show what is installed, what works on this machine, and why the rest does not");
  command.flag("--json", *as_json, "print JSON");
  command.action([as_json] { return doctor(*as_json); });
}

}  // namespace backgauge::cli
