// SPDX-License-Identifier: Apache-2.0
#include "properties/case/stored/bundle.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "properties/case/files/json_integer.h"
#include "properties/case/files/json_text.h"
#include "properties/case/files/npz.h"
#include "properties/case/line/random.h"
#include "properties/case/line/shaped_problem.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kSchema = "backgauge.case/1";

std::string mask_name(std::size_t gap) { return "dropout_mask_" + std::to_string(gap); }

// The checksum of a whole file, 16 hexadecimal digits. It detects accidental changes, not forgery.
std::string file_checksum(std::string_view bytes) {
  char digits[16];
  const auto [end, problem] = std::to_chars(digits, digits + 16, fnv1a(bytes), 16);
  const std::string text(digits, end);
  return std::string(16 - text.size(), '0') + text;
}

ordered_json attributes_json(const Problem& problem) {
  const backgauge_attributes& a = problem.attributes;
  ordered_json attributes;
  for (const AttributeSpec& each : spec_of(problem.op).attributes()) {
    ordered_json& value = attributes[std::string(each.name)];
    if (each.is_flag()) {
      value = a.*each.choice == 1;
    } else if (each.choice != nullptr) {
      value = each.word(a.*each.choice);
    } else if (each.real != nullptr) {
      value = a.*each.real;
    } else {
      value = a.*each.integer;
    }
  }
  return attributes;
}

ordered_json dims_json(const Problem& problem) {
  const Extents& e = problem.extents;
  ordered_json dims;
  for (const SizeSpec& size : spec_of(problem.op).sizes()) dims[std::string(1, size.letter)] = e.*size.extent;
  if (dims.contains("L")) dims["D"] = e.D;
  return dims;
}

// What double precision loses of the values, exact in double.
std::vector<double> low_parts(const std::vector<long double>& values) {
  std::vector<double> low;
  for (const long double value : values) {
    const auto high = static_cast<double>(value);
    low.push_back(std::isfinite(high) ? static_cast<double>(value - static_cast<long double>(high)) : 0);
  }
  return low;
}

class Writer {
 public:
  Writer(const fs::path& directory, Present present) : directory_(directory), present_(present) {}

  // A tensor of the case, which a user may have put there.
  void add_given(const std::string& role, const std::string& name, const NpyArray& array) {
    const std::string file = name + ".npy", bytes = format_npy(array);
    std::string there, none;
    const bool is_there = present_ == Present::kKeep && fs::exists(directory_ / file);
    const bool is_same = is_there && read_file(directory_ / file, there, none) && there == bytes;
    const std::string place = is_there && !is_same ? "copies/" + file : file;
    if (!is_same) write(place, bytes);
    list(role, name, place, array, bytes);
  }

  void add(const std::string& role, const std::string& name, const std::string& file, const NpyArray& array) {
    const std::string bytes = format_npy(array);
    write(file, bytes);
    list(role, name, file, array, bytes);
  }

  void write(const std::string& file, std::string_view bytes) {
    const fs::path path = directory_ / file;
    fs::create_directories(path.parent_path());
    std::string error;
    if (!write_file(path, bytes, error)) throw std::runtime_error(error);
  }

  const ordered_json& tensors() const { return tensors_; }

 private:
  void list(const std::string& role, const std::string& name, const std::string& file, const NpyArray& array,
            std::string_view bytes) {
    tensors_.push_back({{"name", name},
                        {"role", role},
                        {"shape", array.shape},
                        {"dtype", npy_word(array.type)},
                        {"file", file},
                        {"fnv1a", file_checksum(bytes)}});
  }

  const fs::path& directory_;
  Present present_;
  ordered_json tensors_ = ordered_json::array();
};

void write_all(const fs::path& directory, const Case& c, const Filled& filled, const std::vector<Wanted>& wanted,
               const std::string& maker, Present present) {
  const Problem& problem = filled.problem;
  Writer writer(directory, present);
  for (const Tensor& tensor : problem.inputs) {
    if (element_count(tensor.shape) != static_cast<std::int64_t>(tensor.values.size())) {
      throw std::runtime_error(tensor.name + " " + to_string(tensor.shape) +
                               " has no values beyond those that are read");
    }
    writer.add_given("input", tensor.name, {npy_type(dtype_of(problem, tensor)), tensor.shape, tensor.values});
  }
  for (std::size_t gap = 0; gap < problem.keep.size(); ++gap) {
    const std::vector<std::uint8_t>& keep = problem.keep[gap];
    if (keep.empty()) continue;
    writer.add_given("dropout_mask", mask_name(gap),
                     {NpyType::kUint8, mask_shape(problem.extents), {keep.begin(), keep.end()}});
  }
  for (const Wanted& output : wanted) {
    const std::string file = output.name + ".npy";
    writer.add("want", output.name, "want/" + file,
               {NpyType::kFloat64, output.shape, {output.value.begin(), output.value.end()}});
    writer.add("allowed", output.name, "allowed/" + file, {NpyType::kFloat64, output.shape, output.allowed});
    if (problem.dtype != BACKGAUGE_FLOAT64) continue;  // the bounds of the others are far wider than a double is exact
    writer.add("want_low", output.name, "want_low/" + file, {NpyType::kFloat64, output.shape, low_parts(output.value)});
  }

  Case line = c;
  line.checksum = filled.checksum;
  const OpSpec& spec = *find_op(problem.op);
  ordered_json document = {{"schema", kSchema},
                           {"case", to_string(line)},
                           {"op", spec.word},
                           {"tensorflow", spec.tensorflow},
                           {"dtype", npy_word(npy_type(problem.dtype))},
                           {"dims", dims_json(problem)},
                           {"attributes", attributes_json(problem)},
                           {"facts",
                            {{"structured", filled.facts.structured},
                             {"consistent_saved", filled.facts.consistent_saved},
                             {"nonfinite", filled.facts.nonfinite},
                             {"training", filled.facts.training}}},
                           {"tensors", writer.tensors()}};
  if (!maker.empty() && !wanted.empty()) {
    document["maker"] = maker;
    document["digest"] = file_checksum(document.dump());
  }
  writer.write("case.json", document.dump(1) + "\n");
}

// The array of one file of a bundle. Throws if it does not match case.json and the contract.
NpyArray read_listed(const fs::path& directory, const ordered_json& entry, NpyType type, const Shape& shape) {
  const fs::path path = directory / entry.at("file").get<std::string>();
  const std::string file = path.string();
  std::string bytes, error;
  if (!read_file(path, bytes, error)) throw std::runtime_error(error);
  if (file_checksum(bytes) != entry.at("fnv1a")) throw std::runtime_error(file + ": changed since it was written");
  NpyArray array;
  if (!parse_npy(bytes, array, error)) throw std::runtime_error(file + ": " + error);
  if (array.type != type || array.shape != shape) {
    throw std::runtime_error(file + ": expected " + std::string(npy_word(type)) + " " + to_string(shape) + ", got " +
                             std::string(npy_word(array.type)) + " " + to_string(array.shape));
  }
  return array;
}

// "[json.exception.out_of_range.403] key 'op' not found" -> "key 'op' not found"
std::string without_tag(std::string_view text) {
  const std::size_t end = text.find("] ");
  return std::string(end == text.npos ? text : text.substr(end + 2));
}

const ordered_json* find_entry(const ordered_json& tensors, std::string_view role, const std::string& name) {
  for (const ordered_json& entry : tensors) {
    if (entry.at("role") == role && entry.at("name") == name) return &entry;
  }
  return nullptr;
}

// The expected outputs. Throws if they were changed.
std::vector<Wanted> read_answer(const fs::path& directory, const ordered_json& document) {
  ordered_json signed_part = document;
  signed_part.erase("digest");
  if (document.at("digest") != file_checksum(signed_part.dump())) throw std::runtime_error("case.json was changed");
  const ordered_json& tensors = document.at("tensors");
  std::vector<Wanted> answer;
  for (const ordered_json& entry : tensors) {
    if (entry.at("role") != "want") continue;
    Wanted output{entry.at("name").get<std::string>(), integers_of<std::int64_t>(entry.at("shape")), {}, {}};
    const auto read = [&](const ordered_json& listed) {
      return read_listed(directory, listed, NpyType::kFloat64, output.shape).values;
    };
    const std::vector<double> high = read(entry);
    output.value.assign(high.begin(), high.end());
    const ordered_json* allowed = find_entry(tensors, "allowed", output.name);
    if (allowed == nullptr) throw std::runtime_error("allowed/" + output.name + " is missing");
    output.allowed = read(*allowed);
    if (const ordered_json* low = find_entry(tensors, "want_low", output.name)) {
      const std::vector<double> parts = read(*low);
      for (std::size_t k = 0; k < parts.size(); ++k) output.value[k] += static_cast<long double>(parts[k]);
    }
    answer.push_back(std::move(output));
  }
  return answer;
}

void read_all(const fs::path& directory, Bundle& bundle, const std::string& maker) {
  const std::string file = (directory / "case.json").string();
  std::string text, error;
  if (!read_file(file, text, error)) throw std::runtime_error(error);
  const ordered_json document = parse_json<ordered_json>(text);
  if (document.at("schema") != kSchema) {
    throw std::runtime_error(file + ": schema is " + document.at("schema").dump() + ", expected " + kSchema);
  }
  const std::optional<Case> parsed = parse_case(document.at("case").get<std::string>(), error);
  if (!parsed) throw std::runtime_error(file + ": " + error);
  bundle.case_line = *parsed;

  Problem& problem = bundle.problem;
  problem = shaped_problem(*parsed);
  const ordered_json& tensors = document.at("tensors");
  for (Tensor& tensor : problem.inputs) {
    const ordered_json* entry = find_entry(tensors, "input", tensor.name);
    if (entry == nullptr) throw std::runtime_error(file + ": input " + tensor.name + " is missing");
    tensor.values = read_listed(directory, *entry, npy_type(dtype_of(problem, tensor)), tensor.shape).values;
  }
  while (const ordered_json* entry = find_entry(tensors, "dropout_mask", mask_name(problem.keep.size()))) {
    const NpyArray mask = read_listed(directory, *entry, NpyType::kUint8, mask_shape(problem.extents));
    const auto odd = std::ranges::find_if(mask.values, [](double kept) { return kept > 1; });
    if (odd != mask.values.end()) {
      throw std::runtime_error((directory / entry->at("file").get<std::string>()).string() + ": expected 0 or 1, got " +
                               std::to_string(static_cast<int>(*odd)));
    }
    problem.keep.emplace_back(mask.values.begin(), mask.values.end());
  }
  if (!problem.keep.empty() && !is_mask_count(problem.keep.size(), problem.extents)) {
    throw std::runtime_error(file + ": " + std::to_string(problem.keep.size()) + " dropout masks");
  }
  for (const AttributeSpec& attribute : spec_of(problem.op).attributes()) {  // a golden has its own seeds
    if (attribute.integer == nullptr) continue;
    read_integer(document.at("attributes").at(attribute.name), problem.attributes.*attribute.integer);
  }
  const ordered_json& facts = document.at("facts");
  bundle.facts.structured = facts.at("structured");
  bundle.facts.consistent_saved = facts.at("consistent_saved");
  bundle.facts.nonfinite = facts.at("nonfinite");
  bundle.facts.training = facts.value("training", false);  // older files have no such fact
  if (maker.empty() || document.value("maker", "") != maker) return;
  try {
    bundle.answer = read_answer(directory, document);
  } catch (const std::exception& problem_of_answer) {
    bundle.not_the_answer = problem_of_answer.what();
  }
}

}  // namespace

bool write_bundle(const fs::path& directory, const Case& c, const Filled& filled, const std::vector<Wanted>& wanted,
                  std::string& error, const std::string& maker, Present present) {
  try {
    write_all(directory, c, filled, wanted, maker, present);
    return true;
  } catch (const std::exception& problem) {
    error = problem.what();
    return false;
  }
}

bool read_bundle(const fs::path& directory, Bundle& bundle, std::string& error, const std::string& maker) {
  bundle = {};
  try {
    read_all(directory, bundle, maker);
    return true;
  } catch (const nlohmann::json::exception& problem) {
    error = (directory / "case.json").string() + ": " + without_tag(problem.what());
    return false;
  } catch (const std::exception& problem) {
    error = problem.what();
    return false;
  }
}

std::vector<OutputFile> read_outputs(const fs::path& path, std::string& error) {
  std::map<std::string, NpyArray> arrays;
  std::error_code problem;
  if (fs::is_directory(path, problem)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path, problem)) {
      if (entry.path().extension() != ".npy") continue;
      if (!read_npy(entry.path(), arrays[entry.path().stem().string()], error)) return {};
    }
    if (arrays.empty()) error = path.string() + ": no .npy files";
  } else if (read_npz(path, arrays, error) && arrays.empty()) {
    error = path.string() + ": no arrays";
  }
  if (!error.empty()) return {};
  std::vector<OutputFile> outputs;
  for (auto& [name, array] : arrays) {
    outputs.push_back({{name, std::move(array.shape), std::move(array.values)}, array.type});
  }
  return outputs;
}

}  // namespace backgauge
