// SPDX-License-Identifier: Apache-2.0
#include "impl/registry.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "impl/plain/plain.h"
#include "reference/contract/op_spec.h"
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

// Whether a set is not empty and contains only enumerators in first .. last.
bool is_set(std::uint32_t set, int first, int last) {
  const std::uint32_t all = (BACKGAUGE_BIT(last) - BACKGAUGE_BIT(first)) | BACKGAUGE_BIT(last);
  return set != 0 && (set & ~all) == 0;
}

bool is_between(std::int32_t value, int first, int last) { return value >= first && value <= last; }

// The field that is wrong in one claim and what was expected, or "".
std::string claim_refusal(const backgauge_op_claims& c) {
  const OpSpec* op = find_op(c.op);
  if (op == nullptr || op->op == BACKGAUGE_CUDNN_RNN) return "op " + std::to_string(c.op) + ", expected a gradient op";
  if (c.dtypes == 0 || (c.dtypes & ~op->dtypes) != 0) return "dtypes, expected some of those of the op";
  if (!op->traits.is_stacked && !is_set(c.use_peephole, 0, 1)) return "use_peephole, expected a set of 0 and 1";
  if (op->traits.is_stacked) {
    if (!is_set(c.rnn_modes, BACKGAUGE_RNN_RELU, BACKGAUGE_GRU))
      return "rnn_modes, expected a set of backgauge_rnn_mode";
    if (!is_set(c.input_modes, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_AUTO_SELECT)) {
      return "input_modes, expected a set of backgauge_input_mode";
    }
    if (!is_set(c.directions, BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL)) {
      return "directions, expected a set of backgauge_direction";
    }
  }
  const bool half = (c.dtypes & BACKGAUGE_BIT(BACKGAUGE_HALF)) != 0;
  const bool bfloat16 = (c.dtypes & BACKGAUGE_BIT(BACKGAUGE_BFLOAT16)) != 0 && c.bfloat16_class == 0;
  if ((half || bfloat16) && !is_between(c.half_class, BACKGAUGE_CLASS_A, BACKGAUGE_CLASS_B)) {
    return "half_class, expected one of backgauge_accuracy_class";
  }
  if (!is_between(c.numerical_contract, BACKGAUGE_FP32_STRICT, BACKGAUGE_FP32_3XTF32)) {
    return "numerical_contract, expected one of backgauge_numerical_contract";
  }
  if (!is_between(c.determinism, BACKGAUGE_BITWISE, BACKGAUGE_NOT_DETERMINISTIC)) {
    return "determinism, expected one of backgauge_determinism";
  }
  if (!is_between(c.recomputes_co, 0, 2)) return "recomputes_co, expected 0, 1 or 2";
  if (!is_between(c.changes_reserve_space, 0, 1)) return "changes_reserve_space, expected 0 or 1";
  if (!is_between(c.half_contract, 0, BACKGAUGE_FP32_3XTF32)) {
    return "half_contract, expected 0 or one of backgauge_numerical_contract";
  }
  if (!is_between(c.bfloat16_class, 0, BACKGAUGE_CLASS_B)) {
    return "bfloat16_class, expected 0 or one of backgauge_accuracy_class";
  }
  if (!is_between(c.bfloat16_contract, 0, BACKGAUGE_FP32_3XTF32)) {
    return "bfloat16_contract, expected 0 or one of backgauge_numerical_contract";
  }
  if (!is_between(c.no_dropout, 0, 1)) return "no_dropout, expected 0 or 1";
  if (!is_between(c.dropout_has_state, 0, 1)) return "dropout_has_state, expected 0 or 1";
  return "";
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
  if (table->abi != BACKGAUGE_ABI) return expected("abi", BACKGAUGE_ABI, table->abi);
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
    const std::string refusal = claim_refusal(claims);
    if (!refusal.empty()) return "claims[" + std::to_string(k) + "]: " + refusal;
    const bool twice = std::any_of(table->claims, table->claims + k,
                                   [&](const backgauge_op_claims& other) { return other.op == claims.op; });
    if (twice) return "claims[" + std::to_string(k) + "]: op " + std::to_string(claims.op) + " a second time";
    if (claims.op == BACKGAUGE_CUDNN_RNN_BACKPROP && (table->forward == nullptr || table->prepare == nullptr)) {
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
