// SPDX-License-Identifier: Apache-2.0
#include "ci/conform/package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "ci/conform/certificate.h"
#include "ci/conform/sha256.h"
#include "ci/options/command_error.h"
#include "ci/version.h"
#include "perf/machine/machine.h"
#include "properties/case/files/json_text.h"
#include "properties/case/files/npy.h"

namespace backgauge::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char *kDescription = "conformance.json", *kRecordsFile = "records.jsonl", *kWaivers = "waivers.toml",
                     *kLists = "mustpass/";
constexpr const char* kConformanceSchema = "backgauge.conformance/1";

bool has_checksum(const std::string& file) { return file != kSums && file != kSignature; }

std::string sums_of(const PackageFiles& files) {
  std::string out;
  for (const auto& [file, text] : files) {
    if (has_checksum(file)) out += checksum_line(sha256(text), file);
  }
  return out;
}

// Which files are not those of SHA256SUMS.
std::vector<std::string> edited(const PackageFiles& files) {
  std::vector<std::string> out;
  const auto sums = files.find(kSums);
  if (sums == files.end()) return {fmt::format("{}: missing", kSums)};
  std::map<std::string, std::string> listed;
  std::istringstream stream(sums->second);
  for (std::string line; std::getline(stream, line);) {
    if (line.size() > 66) listed[line.substr(66)] = line.substr(0, 64);
  }
  for (const auto& [file, digest] : listed) {
    const auto found = files.find(file);
    if (found == files.end()) {
      out.push_back(fmt::format("{}: listed in {}, and missing", file, kSums));
    } else if (sha256(found->second) != digest) {
      out.push_back(fmt::format("{}: SHA-256 {}, in {} {}", file, sha256(found->second), kSums, digest));
    }
  }
  for (const auto& [file, text] : files) {
    if (has_checksum(file) && !listed.contains(file)) out.push_back(fmt::format("{}: not listed in {}", file, kSums));
  }
  if (out.empty() && sums->second != sums_of(files)) out.push_back(fmt::format("{}: its form was changed", kSums));
  return out;
}

// Files of which nothing in the description or the checksums says that they belong to a package.
std::vector<std::string> unexpected(const PackageFiles& files, const std::vector<MustpassList>& lists) {
  std::set<std::string> known{kDescription, kRecordsFile, kWaivers, kSummary, kCertificate, kBadge, kSums, kSignature};
  for (const MustpassList& list : lists) known.insert(kLists + list.file);
  std::vector<std::string> out;
  for (const auto& [file, text] : files) {
    if (!known.contains(file)) out.push_back(file + ": not a file of a package");
  }
  return out;
}

std::string records_text(const std::vector<Record>& records) {
  std::string out;
  for (const Record& record : records) out += to_json(record) + "\n";
  return out;
}

std::string dumped(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

void require(PackageCheck& check, bool holds, const std::string& fault) {
  if (!holds) check.faults.push_back(fault);
}

const std::string& content_of(const PackageFiles& files, const std::string& name) {
  const auto found = files.find(name);
  if (found == files.end()) throw std::invalid_argument(name + ": missing");
  return found->second;
}

// The lists that the description names, as they are in this program's version of them.
std::vector<MustpassList> lists_of(const Json& description, const PackageFiles& files) {
  const std::string version = description.at("mustpass").at("version");
  std::vector<MustpassList> out;
  for (MustpassList& list : mustpass_lists(version)) {
    const auto named = std::ranges::any_of(
        description.at("lists"), [&](const Json& each) { return each.at("file").get<std::string>() == list.file; });
    if (!named) continue;
    if (content_of(files, kLists + list.file) != list.text) {
      throw std::invalid_argument(fmt::format("{}{}: not the list of mustpass {}", kLists, list.file, version));
    }
    out.push_back(std::move(list));
  }
  return out;
}

// Whether this program would write the same pages.
bool is_of_this_build(const Json& writer) {
  const std::string commit = this_build().commit;
  const bool same_sources = writer.at("version") == kVersion && writer.at("commit") == commit;
  return (same_sources && !commit.ends_with("-dirty")) || writer.at("program") == sha256_of_file("/proc/self/exe");
}

std::vector<std::string> pages_in(const PackageFiles& files) {
  std::vector<std::string> out;
  for (const char* name : {kSummary, kCertificate, kBadge}) {
    if (files.contains(name)) out.emplace_back(name);
  }
  return out;
}

// Certificate and badge exist if and only if every line passed, and say what the description says.
void check_presentation(PackageCheck& check, const PackageFiles& files) {
  const PackageFiles here = presentation_of(check.description);
  const bool same_build = is_of_this_build(check.description.at("backgauge"));
  for (const char* name : {kCertificate, kBadge}) {
    require(check, files.contains(name) == check.conformance.conforms(),
            fmt::format("{}: {}", name, files.contains(name) ? "there, although not every line passed" : "missing"));
  }
  require(check, files.contains(kSummary), fmt::format("{}: missing", kSummary));
  if (!same_build) {
    // Other templates: the words between the facts cannot be compared.
    for (const auto& [name, facts] : facts_of(check.description)) {
      const auto found = files.find(name);
      for (const std::string& fact : facts) {
        require(check, found == files.end() || found->second.find(fact) != std::string::npos,
                fmt::format("{}: does not say \"{}\", as {} does", name, fact, kDescription));
      }
    }
    check.remarks.push_back(
        fmt::format("{} were written by another build of backgauge, and could not be made again: rely on "
                    "what is printed here, and not on them",
                    fmt::join(pages_in(files), ", ")));
    return;
  }
  for (const auto& [name, text] : here) {
    const auto found = files.find(name);
    if (found != files.end() && found->second != text) {
      check.faults.push_back(name + ": says something else than " + kDescription);
    }
  }
}

// The terms cover every list that is conformed to, and the first line of the certificate says what they allow.
void check_terms(PackageCheck& check) {
  const Json& said = check.description;
  if (!said.contains("terms")) throw std::invalid_argument(fmt::format("{}: states no terms", kDescription));
  check.terms = parse_terms(said.at("terms"));
  for (const Json& each : said.at("terms")) {
    require(check, each.contains("text") && each.contains("not_claimed"),
            fmt::format("{}: \"terms\" of {}: expected \"text\" and \"not_claimed\"", kDescription,
                        each.at("op").get<std::string>()));
  }
  for (const ListResult& list : check.conformance.lists) {
    const bool covered = std::ranges::any_of(terms_about(check.terms, std::vector{list.op}), [&](const Claims& each) {
      return each.takes(enumerator_of(dtype_word, list.dtype));
    });
    require(check, covered || !list.conforms(),
            fmt::format("{}: \"terms\" do not cover {} {}", kDescription, list.op, list.dtype));
  }
  require(check, said.at("allowances") == allowances(check.terms, check.conformance),
          fmt::format("{}: \"allowances\" is not what the terms say", kDescription));
  require(check, said.at("scope") == scope_of(check.conformance),
          fmt::format("{}: \"scope\" is not what was judged", kDescription));
}

void check_contents(PackageCheck& check, const PackageFiles& files, const std::string& today) {
  check.description = parse_json<Json>(content_of(files, kDescription));
  const Json& said = check.description;
  if (said.at("schema") != kConformanceSchema)
    throw std::invalid_argument(fmt::format("expected schema {}", kConformanceSchema));
  check.lists = lists_of(said, files);
  const auto release =
      std::ranges::find(mustpass_releases(), said.at("mustpass").at("version"), &MustpassRelease::version);
  require(check, said.at("mustpass").at("digest") == release->digest,
          fmt::format("{}: \"digest\" is not that of mustpass {}", kDescription, release->version));
  const std::vector<std::string> more = unexpected(files, check.lists);
  check.faults.insert(check.faults.end(), more.begin(), more.end());
  Records records = parse_records(content_of(files, kRecordsFile));
  if (!records.error.empty() || records.torn)
    throw std::invalid_argument(fmt::format("{}: {}", kRecordsFile, records.error));
  check.records = std::move(records.records);
  check.conformance = conformance_of(check.lists, check.records);
  const Json found = to_json(check.conformance);
  for (const auto& [key, value] : found.items()) {
    require(check, said.at(key) == value, fmt::format("{}: \"{}\" is not what the records say", kDescription, key));
  }
  if (check.conformance.conforms() != said.at("conforms").get<bool>()) {
    check.faults.insert(check.faults.end(), check.conformance.obstacles.begin(), check.conformance.obstacles.end());
  }
  require(check, said.at("records") == sha256(files.at(kRecordsFile)),
          fmt::format("{}: of other records", kDescription));
  for (const Record& record : check.records) {
    if (record.impl_name == said.at("implementation").at("name") &&
        record.impl_version == said.at("implementation").at("version")) {
      continue;
    }
    check.faults.push_back(fmt::format("{}: a record of another implementation: {}", kRecordsFile, record.id));
    break;
  }
  for (const NamedWaiver& each : check.conformance.waivers) {
    require(check, each.waived.expires >= today,
            fmt::format("a waiver expired on {}: {}: {}", each.waived.expires, each.kind, each.waived.reason));
  }
  check_terms(check);
  check_presentation(check, files);
}

}  // namespace

PackageFiles package_of(const PackageParts& parts) {
  const Conformance conformance = conformance_of(parts.lists, parts.records);
  PackageFiles files;
  files[kRecordsFile] = records_text(parts.records);
  for (const MustpassList& list : parts.lists) files[kLists + list.file] = list.text;
  if (!parts.waivers.empty()) files[kWaivers] = parts.waivers;
  Json description{{"schema", kConformanceSchema}};
  description.update(parts.description);
  const auto release = std::ranges::find(mustpass_releases(), parts.mustpass, &MustpassRelease::version);
  description["mustpass"] = {{"version", parts.mustpass}, {"digest", release->digest}};
  description["scope"] = scope_of(conformance);
  description["allowances"] = allowances(parts.terms, conformance);
  description["terms"] = to_json(terms_about(parts.terms, conformance));
  description["records"] = sha256(files[kRecordsFile]);
  description.update(to_json(conformance));
  files[kDescription] = dumped(description);
  for (const auto& [name, text] : presentation_of(description)) files[name] = text;
  files[kSums] = sums_of(files);
  return files;
}

void require_new_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const bool empty = !error && fs::is_empty(folder, error);
  if (empty && !error) return;
  throw CommandError{kUsage, fmt::format("{}: {}", folder.string(),
                                         error ? error.message() : "expected a new folder, or an empty one")};
}

void write_package(const fs::path& folder, const PackageFiles& files) {
  std::error_code error;
  for (const auto& [name, text] : files) {
    const fs::path path = folder / name;
    fs::create_directories(path.parent_path(), error);
    if (std::string why; !write_file(path, text, why)) throw CommandError{kSelfCheck, why};
  }
}

PackageFiles read_package(const fs::path& folder) {
  const auto refuse = [&](const std::string& why) {
    throw CommandError{kUsage, fmt::format("--check={}: {}", folder.string(), why)};
  };
  PackageFiles files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    if (!entry.is_regular_file() || entry.is_symlink()) refuse(name + ": not a plain file");
    std::string why;
    if (!read_file(entry.path(), files[name], why)) refuse(why);
  }
  if (error) refuse(error.message());
  if (!files.contains(kSums) && !files.contains(kDescription)) {
    refuse(fmt::format("no package of `backgauge conform`: it has neither {} nor {}", kSums, kDescription));
  }
  return files;
}

PackageCheck check_package(const PackageFiles& files, const std::string& today) {
  PackageCheck check;
  check.faults = edited(files);
  try {
    check_contents(check, files, today);
  } catch (const std::exception& error) {
    check.faults.push_back(error.what());
  } catch (const CommandError& error) {  // of the version of the lists
    check.faults.push_back(error.text);
  }
  return check;
}

}  // namespace backgauge::cli
