// SPDX-License-Identifier: Apache-2.0
#include "impl/registry.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "impl/plain/plain.h"
#include "reference/contract/claims.h"
#include "reference/contract/validate.h"

namespace backgauge {

// Each is nullptr, with the reason in `error`, if it cannot be used on this machine.
#define BACKGAUGE_LINKED(name, group) const backgauge_implementation* name##_implementation(std::string& error);
#define BACKGAUGE_PLUGIN(name, group, absence)
#include "impl/implementations.inc"
#undef BACKGAUGE_LINKED
#undef BACKGAUGE_PLUGIN

// plain defines the entry of a plug-in instead, because it is the example to copy.
const backgauge_implementation* plain_implementation(std::string&) { return plain_entry(&host()); }

namespace {

bool is_path(std::string_view text) { return text.find('/') != std::string_view::npos || text.ends_with(".so"); }

bool is_word(const char* text) {
  return text != nullptr && *text != '\0' && std::string_view(text).find_first_of(" \t\r\n") == std::string_view::npos;
}

bool is_line(const char* text) {
  return text != nullptr && std::string_view(text).find_first_of("\r\n") == std::string_view::npos;
}

std::string abi_refusal(std::uint32_t abi) {
  std::string text = "abi: expected " + std::to_string(BACKGAUGE_ABI) + ", got " + std::to_string(abi) +
                     ": compile it again with the backgauge.h of this version";
  if (abi == 1) text += "; claims are a list of names and values now, as backgauge_claim in that header says";
  return text;
}

const backgauge_implementation* open_library(const std::string& path, std::string& error) {
  const auto fail = [&](const std::string& why) {
    error = path + ": " + why;
    return nullptr;
  };
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return fail("no such file");
  // Without a '/', dlopen would search the system's library folders.
  const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return fail("not a shared library that can be loaded: " + std::string(reason == nullptr ? "unknown" : reason));
  }
  const auto entry = reinterpret_cast<backgauge_entry_function>(dlsym(library, BACKGAUGE_ENTRY_NAME));
  const backgauge_implementation* table = entry == nullptr ? nullptr : entry(&host());
  std::string refusal = entry == nullptr ? "no symbol " BACKGAUGE_ENTRY_NAME : table_refusal(table);
  if (refusal.empty()) return table;
  const auto reason = reinterpret_cast<backgauge_refusal_function>(dlsym(library, BACKGAUGE_REFUSAL_NAME));
  if (entry != nullptr && table == nullptr && reason != nullptr && is_line(reason())) refusal = reason();
  dlclose(library);
  return fail(refusal);
}

// A plug-in of this project: the installed one, or else that of the build.
std::filesystem::path plugin_file(std::string_view built_path) {
  const std::filesystem::path built = built_path;
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / BACKGAUGE_PLUGIN_FOLDER / built.filename();
  return std::filesystem::exists(installed, none) ? installed : built;
}

enum class Group { kOurs, kForeign, kDevice };

struct BuiltIn {
  std::string_view name;
  Group group;
  const backgauge_implementation* (*open)(std::string& error);  // nullptr: a plug-in
  std::string_view absence;
};

#define BACKGAUGE_LINKED(name, group) {#name, Group::group, name##_implementation, ""},
#define BACKGAUGE_PLUGIN(name, group, absence) {name, Group::group, nullptr, absence},
constexpr BuiltIn kBuiltIn[] = {
#include "impl/implementations.inc"
};
#undef BACKGAUGE_LINKED
#undef BACKGAUGE_PLUGIN

struct PluginFile {
  std::string_view name, path;  // where the build has put it
};

constexpr PluginFile kPluginFiles[] = {
#include "plugin_files.inc"
};

// "": not in this build.
std::string_view built_file(const BuiltIn& plugin) {
  const auto found = std::ranges::find(kPluginFiles, plugin.name, &PluginFile::name);
  return found == std::end(kPluginFiles) ? "" : found->path;
}

bool is_here(const BuiltIn& built_in) { return built_in.open != nullptr || !built_file(built_in).empty(); }

const BuiltIn* find_built_in(std::string_view name) {
  const auto found = std::ranges::find(kBuiltIn, name, &BuiltIn::name);
  return found == std::end(kBuiltIn) ? nullptr : found;
}

std::vector<std::string> names_of(Group group) {
  std::vector<std::string> names;
  for (const BuiltIn& built_in : kBuiltIn) {
    if (built_in.group == group && is_here(built_in)) names.emplace_back(built_in.name);
  }
  return names;
}

}  // namespace

std::string table_refusal(const backgauge_implementation* table) {
  const auto expected = [](const std::string& what, std::uint64_t wanted, std::uint64_t got) {
    return what + ": expected " + std::to_string(wanted) + ", got " + std::to_string(got);
  };
  if (table == nullptr) return BACKGAUGE_ENTRY_NAME "() returned NULL";
  if (table->abi != BACKGAUGE_ABI) return abi_refusal(table->abi);
  if (table->struct_size < sizeof *table) {
    return expected("struct_size of the table", sizeof *table, table->struct_size);
  }
  if (!is_word(table->name)) return "name: expected one word";
  if (!is_line(table->version)) return "version: expected one line";
  if (!is_line(table->description)) return "description: expected one line";
  if (table->memory_space != BACKGAUGE_HOST && table->memory_space != BACKGAUGE_CUDA) {
    return "memory_space: expected one of backgauge_memory_space, got " + std::to_string(table->memory_space);
  }
  if (table->run == nullptr) return "run: expected a function, got NULL";
  if (table->num_claims < 1 || table->claims == nullptr) return "claims: expected at least one";
  for (std::int32_t k = 0; k < table->num_claims; ++k) {
    const backgauge_op_claims& claims = table->claims[k];
    std::string refusal;
    if (!read_claims(claims, refusal)) return "claims[" + std::to_string(k) + "]: " + refusal;
    const bool twice = std::any_of(table->claims, table->claims + k,
                                   [&](const backgauge_op_claims& other) { return other.op == claims.op; });
    if (twice) return "claims[" + std::to_string(k) + "]: op " + std::to_string(claims.op) + " a second time";
    if (find_op(claims.op)->traits.forward && (table->forward == nullptr || table->prepare == nullptr)) {
      return "forward, prepare: expected functions with CudnnRNNBackprop, got NULL";
    }
  }
  return "";
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const BuiltIn& built_in : kBuiltIn) names.emplace_back(built_in.name);
  return names;
}

std::vector<std::string> registry_names() { return names_of(Group::kOurs); }

std::vector<std::string> foreign_names() { return names_of(Group::kForeign); }

std::vector<std::string> device_names() { return names_of(Group::kDevice); }

bool is_built_in(std::string_view name) { return find_built_in(name) != nullptr; }

std::string file_of(std::string_view name_or_path) {
  const BuiltIn* built_in = find_built_in(name_or_path);
  if (built_in == nullptr) return is_path(name_or_path) ? std::string(name_or_path) : std::string();
  const std::string_view built = built_file(*built_in);
  return built.empty() ? std::string() : plugin_file(built).string();
}

const backgauge_implementation* open_implementation(std::string_view name_or_path, std::string& error) {
  error.clear();
  if (const BuiltIn* built_in = find_built_in(name_or_path)) {
    if (built_in->open != nullptr) return built_in->open(error);
    if (is_here(*built_in)) return open_library(plugin_file(built_file(*built_in)), error);
    error = std::string(name_or_path) + ": " + std::string(built_in->absence);
    return nullptr;
  }
  if (is_path(name_or_path)) return open_library(std::string(name_or_path), error);
  error = std::string(name_or_path) + ": not an implementation; expected the path of a shared library or one of";
  for (const BuiltIn& built_in : kBuiltIn) {
    if (is_here(built_in)) error += " " + std::string(built_in.name);
  }
  return nullptr;
}

}  // namespace backgauge
