// SPDX-License-Identifier: Apache-2.0
// backgauge list: the ops, the implementations and what they claim, the cases of a tier.
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/options/declaration.h"
#include "ci/run/implementation/adapters.h"
#include "ci/run/implementation/candidate.h"
#include "ci/run/implementation/terms.h"
#include "ci/run/implementation/workspace_growth.h"
#include "ci/run/plan/redraw.h"
#include "ci/run/process/in_parallel.h"
#include "ci/run/process/progress.h"
#include "impl/registry.h"
#include "perf/workload/workloads.h"
#include "properties/campaign/measure/coverage.h"
#include "properties/campaign/measure/significance.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/judge/call/printable.h"
#include "properties/judge/compare/claims.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ListArguments {
  std::string ops, impl, tier = "ci", format = "text";
  std::uint64_t seed = 1;
  bool cases = false, as_planned = false, coverage = false, suites = false;
  DeclarationOptions declaration{};
};

std::vector<std::string> dtype_words(std::uint32_t set) {
  std::vector<std::string> out;
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if ((set & BACKGAUGE_BIT(dtype)) != 0) out.emplace_back(dtype_word(dtype));
  }
  return out;
}

// The leading rows that TensorSpec::rows counts, as text; evaluated with an S that no constant of the table equals.
std::string rows_text(const TensorSpec& tensor, bool peephole) {
  constexpr std::int64_t kSteps = 1000003;
  const std::int64_t rows = tensor.rows({.T = 2 * kSteps, .S = kSteps, .peephole = peephole, .lstm = true});
  if (rows == kAll) return "all";
  if (rows <= 0) return "none";
  if (rows == kSteps) return "t < seq_len_max";
  if (rows == kSteps - 1) return "t < seq_len_max - 1";
  return fmt::format("first {}", rows);
}

std::string rows_text(const TensorSpec& tensor) {
  const std::string with = rows_text(tensor, true), without = rows_text(tensor, false);
  return with == without ? with : fmt::format("{} with peephole, {} without", with, without);
}

// `rows`: the key of the rows that count; the others are not read, or exact zeros.
Json tensor_json(const TensorSpec& tensor, const char* rows) {
  Json out{{"name", tensor.name}, {"shape", fmt::format("[{}]", tensor.shape_text)}};
  if (tensor.is_int64) out["dtype"] = "i64";
  if (!tensor.present({.lstm = false})) out["modes"] = "lstm";
  out[rows] = rows_text(tensor);
  if (!tensor.alias.empty()) out["may_share_memory_with"] = tensor.alias;
  return out;
}

std::string values_text(const AttributeSpec& attribute) {
  if (attribute.integer != nullptr) return "int32";
  if (attribute.real != nullptr) return fmt::format("[{}, {}]", attribute.least, attribute.greatest);
  std::vector<std::int32_t> values = attribute.values;
  std::ranges::sort(values);
  std::vector<std::string_view> words;
  for (const std::int32_t value : values) words.push_back(attribute.word(value));
  return fmt::format("{}", fmt::join(words, ","));
}

Json attributes_json(const OpSpec& spec) {
  Json out = Json::object();
  for (const AttributeSpec& attribute : spec.attributes()) out[attribute.name] = values_text(attribute);
  return out;
}

Json op_json(const OpSpec& spec) {
  Json out{{"op", spec.word}, {"tensorflow", spec.tensorflow}};
  out["dtypes"] = dtype_words(spec.dtypes);
  out["attributes"] = attributes_json(spec);
  out["inputs"] = Json::array();
  out["outputs"] = Json::array();
  for (const TensorSpec& tensor : spec.inputs) out["inputs"].push_back(tensor_json(tensor, "read"));
  for (const TensorSpec& tensor : spec.outputs) out["outputs"].push_back(tensor_json(tensor, "nonzero"));
  return out;
}

// `callable`: its functions are in this process.
Json implementation_json(const backgauge_implementation& implementation, bool callable) {
  Json out{{"name", printable(implementation.name, kShownOfName)},
           {"version", printable(implementation.version, kShownOfName)},
           {"description", printable(implementation.description, kShownOfMessage)},
           {"memory", implementation.memory_space == BACKGAUGE_HOST ? "host" : "cuda"}};
  out["claims"] = Json::array();
  for (const Claims& claims : terms_of(implementation)) {
    Json claim = to_json(claims);
    claim["claims"] = claims_text(claims);
    if (callable) {
      const WorkspaceNeed need = workspace_need(implementation, claims);
      Json twice = Json::object();
      for (const auto& [name, bytes] : need.with_twice) twice[std::string(1, name)] = bytes;
      claim["workspace"] = {
          {"of", need.of}, {"bytes", need.bytes}, {"bytes_with_twice", twice}, {"text", text_of(need)}};
    }
    out["claims"].push_back(std::move(claim));
  }
  return out;
}

std::string joined(const Json& words) {
  return fmt::format("{}", fmt::join(words.get<std::vector<std::string>>(), ","));
}

std::string tensor_text(const Json& tensor) {
  std::string out = fmt::format("{:<18} {}", tensor["name"].get<std::string>(), tensor["shape"].get<std::string>());
  std::string notes;
  for (const auto& [key, value] : tensor.items()) {
    if (key == "name" || key == "shape" || value == "all") continue;
    notes += fmt::format("{}{}: {}", notes.empty() ? "" : "; ", key, value.get<std::string>());
  }
  return notes.empty() ? out : fmt::format("{:<36} {}", out, notes);
}

// Words in lines of at most `width` characters, those after the first indented.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > 0 && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string property_text(const Json& property) {
  constexpr std::size_t kIndent = 26, kWidth = 96;
  std::string text = property["documentation"].get<std::string>();
  if (property["kind"] == "word") text = fmt::format("{}: {}", joined(property["values"]), text);
  return fmt::format("  {:<24}{}\n", property["name"].get<std::string>(), wrapped(text, kWidth, kIndent));
}

void print_text(const Json& ops, const Json& properties, const Json& implementations, const Json& unavailable,
                const Json& adapters) {
  for (const Json& op : ops) {
    fmt::print("{}  ({}; {})\n  attributes ", op["op"].get<std::string>(), op["tensorflow"].get<std::string>(),
               joined(op["dtypes"]));
    for (const auto& [name, values] : op["attributes"].items()) fmt::print(" {}={}", name, values.get<std::string>());
    fmt::print("\n");
    for (const char* role : {"inputs", "outputs"}) {
      fmt::print("  {}\n", role);
      for (const Json& tensor : op[role]) fmt::print("    {}\n", tensor_text(tensor));
    }
    fmt::print("\n");
  }
  fmt::print("properties that an implementation claims, for all calls of an op or for those of one dtype\n");
  for (const Json& property : properties) fmt::print("{}", property_text(property));
  fmt::print("\nimplementations\n");
  for (const Json& implementation : implementations) {
    fmt::print("  {} {}  ({}) {}\n", implementation["name"].get<std::string>(),
               implementation["version"].get<std::string>(), implementation["memory"].get<std::string>(),
               implementation["description"].get<std::string>());
    for (const Json& claim : implementation["claims"]) {
      fmt::print("    {:<22} {}", claim["op"].get<std::string>(), claim["claims"].get<std::string>());
      if (claim.contains("workspace")) fmt::print("\n{:27}{}", "", claim["workspace"]["text"].get<std::string>());
      fmt::print("\n");
    }
  }
  for (const Json& absent : unavailable) {
    fmt::print("  {}  (not available on this machine: {})\n", absent["name"].get<std::string>(),
               absent["reason"].get<std::string>());
  }
  if (!adapters.empty()) fmt::print("adapters  (see backgauge doctor)\n");
  for (const Json& adapter : adapters) {
    fmt::print("  {}  {}\n", adapter["name"].get<std::string>(), adapter["file"].get<std::string>());
  }
}

Tier chosen_tier(const ListArguments& options) {
  const std::optional<Tier> tier = parse_tier(options.tier);
  if (!tier) throw CommandError{kUsage, fmt::format("--tier={}: expected {}", options.tier, kTierWords)};
  return *tier;
}

int list_coverage(const ListArguments& options) {
  const std::vector<backgauge_op> ops = parse_ops(options.ops);
  const std::vector<Case> cases = plan({.tier = chosen_tier(options), .seed = options.seed, .ops = ops});
  for (const backgauge_op op : ops) {
    const OpSpec& spec = *find_op(op);
    const PairCoverage pairs = pair_coverage(op, cases);
    fmt::print("{:<21} {} of {} pairs of settings{}\n", spec.word, pairs.covered, pairs.legal,
               pairs.missing.empty() ? "" : ", not " + pairs.missing);
    for (const int strength : {2, 3}) {
      const PairCoverage sizes = size_coverage(op, cases, strength);
      fmt::print("  {} of {} {} of conditions on sizes{}\n", sizes.covered, sizes.legal,
                 strength == 2 ? "pairs" : "triples",
                 sizes.missing.empty() ? "" : fmt::format(", not \"{}\"", sizes.missing));
    }
    for (const backgauge_dtype dtype : kFloatDtypes) {
      if ((spec.dtypes & BACKGAUGE_BIT(dtype)) == 0) continue;
      const TermCoverage terms = term_coverage(op, dtype, cases);
      const auto all = std::ranges::count_if(cases, [&](const Case& c) { return c.op == op && c.dtype == dtype; });
      fmt::print("  {}  {} cases; {} of {} terms of the equations are visible in {} or more of the first {} cases",
                 dtype_word(dtype), all, terms.shown(), terms.terms.size(), kEnoughCases, terms.evaluated);
      if (const TermCoverage::Term* weakest = terms.weakest()) {
        fmt::print("; least visible: {}, in {}", weakest->name, weakest->cases);
      }
      fmt::print("\n");
    }
  }
  return kGood;
}

// The lines that verify judges, in its order. The oracle must evaluate them to decide which are redrawn.
int list_cases(const ListArguments& options) {
  const Claims claims = options.declaration.claims();
  const std::vector<Case> cases =
      plan({.tier = chosen_tier(options), .seed = options.seed, .ops = parse_ops(options.ops)});
  std::vector<std::string> lines(cases.size());
  std::atomic<std::size_t> done{0};
  Progress progress(cases.size());
  in_parallel(cases.size(), one_job_per_core(), [&](std::size_t k, std::size_t) {
    lines[k] = to_string(
        judged_in_place_of(cases[k], declared(claims, cases[k].dtype), options.as_planned ? 0 : kMostRedraws));
    progress.show_phase("choosing conclusive inputs", ++done, cases.size());
  });
  progress.clear();
  for (const std::string& line : lines) fmt::print("{}\n", line);
  return kGood;
}

// The lists of workloads of bench.
int list_suites(const std::string& format) {
  constexpr std::size_t kIndent = 32, kWidth = 88;
  std::string error;
  const std::filesystem::path folder = shapes_folder(error);
  if (folder.empty()) throw CommandError{kUsage, error};
  Json suites = Json::array();
  for (const std::string& name : suite_names(folder)) {
    const std::vector<Workload> workloads = suite(folder, name, error);
    if (!error.empty()) throw CommandError{kUsage, error};
    suites.push_back({{"suite", name}, {"workloads", workloads.size()}, {"note", suite_note(folder, name)}});
  }
  if (format == "json") {
    fmt::print("{}\n", Json{{"schema", "backgauge.suites/1"}, {"suites", suites}}.dump(2));
    return kGood;
  }
  fmt::print("{:<20}{:>10}  what it is; backgauge bench --suite=NAME times it\n", "suite", "workloads");
  for (const Json& each : suites) {
    fmt::print("{:<20}{:>10}  {}\n", each["suite"].get<std::string>(), each["workloads"].get<std::size_t>(),
               wrapped(each["note"].get<std::string>(), kWidth, kIndent));
  }
  return kGood;
}

int run(const ListArguments& options) {
  if (options.suites) return list_suites(options.format);
  if (options.cases) return list_cases(options);
  if (options.coverage) return list_coverage(options);
  Json ops = Json::array(), implementations = Json::array();
  const std::vector<backgauge_op> chosen = parse_ops(options.ops);
  for (const OpSpec& spec : op_specs()) {
    const bool gradient_chosen = std::find(chosen.begin(), chosen.end(), spec.op) != chosen.end();
    const auto& gradient = spec.traits.gradient;
    const bool chosen_as_forward = gradient && std::find(chosen.begin(), chosen.end(), *gradient) != chosen.end();
    if (gradient_chosen || chosen_as_forward) ops.push_back(op_json(spec));
  }
  std::vector<std::string> names = registry_names();
  std::ranges::copy(foreign_names(), std::back_inserter(names));
  if (!options.impl.empty()) names = {options.impl};
  // Shared libraries are opened in a separate process here too.
  for (const std::string& name : names) {
    const Candidate candidate(name);
    implementations.push_back(implementation_json(candidate.table(), !candidate.isolated()));
  }
  Json unavailable = Json::array();
  for (const std::string& name : options.impl.empty() ? device_names() : std::vector<std::string>{}) {
    try {
      implementations.push_back(implementation_json(Candidate(name).table(), false));
    } catch (const CommandError& error) {
      unavailable.push_back({{"name", name}, {"reason", error.text}});
    }
  }
  Json found = Json::array();
  for (const Adapter& adapter : options.impl.empty() ? adapters() : std::vector<Adapter>{}) {
    found.push_back({{"name", adapter.name}, {"file", adapter.file}});
  }
  if (options.format == "json") {
    fmt::print("{}\n", Json{{"schema", "backgauge.list/1"},
                            {"ops", ops},
                            {"properties", properties_json()},
                            {"implementations", implementations},
                            {"unavailable", unavailable},
                            {"adapters", found}}
                           .dump(2));
  } else {
    print_text(ops, properties_json(), implementations, unavailable, found);
  }
  return kGood;
}

}  // namespace

void add_list(CommandLine& line) {
  auto options = std::make_shared<ListArguments>();
  Subcommand command =
      line.subcommand("list", "list ops with their tensors, implementations with their claims, or cases");
  command.option("--ops", options->ops, "comma-separated ops (default: all)").envname("BACKGAUGE_OPS");
  command.option("--impl", options->impl,
                 "only this implementation: a name, or the path of a shared library or of a Python file");
  command.flag("--cases", options->cases, "print the case lines that verify judges, with checksums of their inputs");
  command.flag("--as-planned", options->as_planned,
               "with --cases: print the planned lines, without redrawing inconclusive cases (fast)");
  add_declaration_options(command, options->declaration);
  command.flag("--suites", options->suites,
               "print the lists of workloads of bench, and the number of workloads in each");
  command.flag("--coverage", options->coverage, "print how much the cases of a tier cover");
  command.option("--tier", options->tier, std::string(kTierWords)).value_name(kTierSet).envname("BACKGAUGE_TIER");
  command.option("--seed", options->seed, "seed of the random choices in the tier")
      .check(whole_number())
      .envname("BACKGAUGE_SEED");
  command.option("--format", options->format, "text or json").check(one_of({"text", "json"}));
  command.footer(kCaseLineHelp);
  command.action([options] { return run(*options); });
}

}  // namespace backgauge::cli
