// SPDX-License-Identifier: Apache-2.0
#include "properties/case/stored/golden.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "properties/case/files/data_files.h"
#include "properties/case/files/json_integer.h"
#include "properties/case/files/json_text.h"
#include "properties/case/files/npz.h"
#include "properties/case/line/case_attributes.h"
#include "properties/case/line/shaped_problem.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kManifest = "manifest.json";

// The value of an attribute, as TensorFlow writes it.
double value_of(const AttributeSpec& attribute, const json& value) {
  if (attribute.is_flag()) return value.get<bool>() ? 1 : 0;
  if (attribute.choice == nullptr) return value.get<double>();
  const std::int32_t found = enumerator_of(attribute.tensorflow_word, value.get<std::string>());
  if (found == 0) throw std::runtime_error("unknown word \"" + value.get<std::string>() + "\"");
  return found;
}

backgauge_dtype dtype_at(const std::string& word) {
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if (npy_word(npy_type(dtype)) == word) return dtype;
  }
  throw std::runtime_error("unknown dtype \"" + word + "\"");
}

backgauge_op op_of(const std::string& tensorflow) {
  for (const OpSpec& spec : op_specs()) {
    if (spec.tensorflow == tensorflow) return spec.op;
  }
  throw std::runtime_error("unknown op \"" + tensorflow + "\"");
}

Case case_of(const json& entry) {
  Case c;
  c.op = op_of(entry.at("op"));
  c.dtype = dtype_at(entry.at("dtype"));
  c.data = DataProfile::kGolden;
  c.golden = entry.at("name");
  const json &dims = entry.at("dims"), &attributes = entry.at("attributes");
  const OpSpec& op = spec_of(c.op);
  for (const SizeSpec& size : op.sizes()) read_integer(dims.at(std::string(1, size.letter)), c.*case_member(size));
  for (const CaseAttribute& attribute : case_attributes(op.traits)) {
    attribute.set(c, value_of(*attribute.spec, attributes.at(attribute.spec->name)));
  }
  const json& forward = entry.at("forward");
  if (op.has(Role::kSaved) && !forward.is_null()) c.cell_clip = forward.at("attributes").at("cell_clip");
  return c;
}

// The README says of each group what its producer computes. TensorFlow's CPU kernels round every half operation
// (semantics.md 1.4), and so does PyTorch on a CPU in bfloat16. cuDNN on a device: semantics.md 5.5.
Declared declared_of(const Golden& golden) {
  if (golden.group != "device") return {.accuracy_class = BACKGAUGE_CLASS_B};
  const bool approximates = golden.case_line.dtype == BACKGAUGE_FLOAT32;
  return {.accuracy_class = BACKGAUGE_CLASS_S,
          .relu_slope_at_zero = true,
          .masks_per_direction = true,
          .tanh_absolute = approximates ? 0x1p-17 : 0};
}

Golden golden_of(const json& entry) {
  Golden golden;
  golden.name = entry.at("name");
  golden.file = entry.at("file");
  golden.regime = entry.at("regime");
  golden.producer = entry.at("producer");
  golden.group = entry.at("group");
  golden.from_forward = !entry.at("forward").is_null();
  golden.case_line = case_of(entry);
  golden.attributes = attributes_of(golden.case_line);
  golden.declared = declared_of(golden);
  for (const AttributeSpec& attribute : spec_of(golden.case_line.op).attributes()) {
    if (attribute.integer == nullptr) continue;
    read_integer(entry.at("attributes").at(attribute.name), golden.attributes.*attribute.integer);
  }
  return golden;
}

class GoldenReader {
 public:
  GoldenReader(const Golden& golden, std::map<std::string, NpyArray>& arrays) : golden_(golden), arrays_(arrays) {}

  void run(GoldenData& data) {
    const Case& c = golden_.case_line;
    Problem& problem = data.problem;
    problem = shaped_problem(c);
    problem.attributes = golden_.attributes;
    data.declared = golden_.declared;
    for (Tensor& tensor : problem.inputs) {
      tensor = take(tensor.name, tensor.shape, dtype_of(problem, tensor));
    }
    const OpSpec& spec = *find_op(c.op);
    for (const TensorSpec& input : spec.inputs) {
      if (input.role == Role::kForward && input.present(problem.extents)) {
        data.forward.push_back(take(std::string(input.name), input.shape(problem.extents), c.dtype));
      }
    }
    for (const TensorSpec& output : spec.outputs) {
      if (output.present(problem.extents)) {
        data.outputs.push_back(take(std::string(output.name), output.shape(problem.extents), c.dtype));
      }
    }
    if (c.dropout > 0 && c.dropout < 1) take_masks(problem);
    data.facts.consistent_saved = golden_.from_forward;
    constexpr std::array<std::string_view, 3> kStructured = {"dyadic", "limits", "saturated"};
    data.facts.structured = std::ranges::find(kStructured, golden_.regime) != kStructured.end();
  }

 private:
  Tensor take(const std::string& name, const Shape& shape, backgauge_dtype dtype) {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) throw std::runtime_error("tensor " + name + " is missing");
    const NpyType type = npy_type(dtype);
    if (found->second.shape != shape || !(found->second.type == type || is_stored_as_float(found->second, dtype))) {
      throw std::runtime_error("tensor " + name + ": expected " + std::string(npy_word(type)) + " " + to_string(shape) +
                               ", got " + std::string(npy_word(found->second.type)) + " " +
                               to_string(found->second.shape));
    }
    return {name, shape, std::move(found->second.values)};
  }

  // NumPy has no bfloat16, so its numbers may be stored as float32.
  static bool is_stored_as_float(const NpyArray& array, backgauge_dtype dtype) {
    const auto is_narrow = [](double value) { return round_to(BACKGAUGE_BFLOAT16, value) == value; };
    return dtype == BACKGAUGE_BFLOAT16 && array.type == npy_type(BACKGAUGE_FLOAT32) &&
           std::ranges::all_of(array.values, is_narrow);
  }

  void take_masks(Problem& problem) {
    for (std::int64_t gap = 0; gap + 1 < problem.extents.L; ++gap) {
      const std::string name = "dropout_mask_" + std::to_string(gap);
      const bool one = arrays_.contains(name);
      for (const std::string& each : one ? std::vector{name} : std::vector{name + "_forward", name + "_reverse"}) {
        const Tensor mask = take(each, mask_shape(problem.extents), problem.dtype);
        std::vector<std::uint8_t>& keep = problem.keep.emplace_back();
        for (const double value : mask.values) keep.push_back(value != 0);
      }
    }
  }

  const Golden& golden_;
  std::map<std::string, NpyArray>& arrays_;
};

// As list_goldens(), but reads a manifest again only if it has changed: a tier looks up hundreds of goldens by name.
std::vector<Golden> known_goldens(const fs::path& directory, std::string& error) {
  static std::mutex mutex;
  static std::map<fs::path, std::pair<fs::file_time_type, std::vector<Golden>>> known;
  std::error_code unreadable;
  const fs::file_time_type written = fs::last_write_time(directory / kManifest, unreadable);
  const std::scoped_lock lock(mutex);
  if (const auto found = known.find(directory); found != known.end() && found->second.first == written) {
    return found->second.second;
  }
  std::vector<Golden> goldens = list_goldens(directory, error);
  if (error.empty() && !unreadable) known[directory] = {written, goldens};
  return goldens;
}

}  // namespace

fs::path golden_directory(std::string& error) {
  if (const char* chosen = std::getenv("BACKGAUGE_GOLDENS"); chosen != nullptr && *chosen != '\0') {
    if (fs::exists(fs::path(chosen) / kManifest)) return chosen;
    error = std::string("BACKGAUGE_GOLDENS=") + chosen + ": no manifest.json there";
    return {};
  }
  const std::vector<fs::path> places = data_places("goldens", "properties/cases/goldens");
  for (const fs::path& place : places) {
    if (fs::exists(place / kManifest)) return place;
  }
  error =
      "goldens: no manifest.json in " + places_text(places) + "; set BACKGAUGE_GOLDENS to the folder that contains it";
  return {};
}

std::vector<Golden> list_goldens(const fs::path& directory, std::string& error) {
  std::string text;
  if (!read_file(directory / kManifest, text, error)) return {};
  std::vector<Golden> goldens;
  try {
    const json manifest = parse_json<json>(text);
    for (const json& entry : manifest.at("cases")) goldens.push_back(golden_of(entry));
  } catch (const std::exception& problem) {
    error = (directory / kManifest).string() + ": case " + std::to_string(goldens.size()) + ": " + problem.what();
    return {};
  }
  return goldens;
}

bool read_golden(const fs::path& directory, const Golden& golden, GoldenData& data, std::string& error) {
  data = {};
  std::map<std::string, NpyArray> arrays;
  if (!read_npz(directory / golden.file, arrays, error)) return false;
  try {
    GoldenReader(golden, arrays).run(data);
  } catch (const std::exception& problem) {
    error = (directory / golden.file).string() + ": " + problem.what();
    return false;
  }
  return true;
}

bool find_golden(const Case& c, GoldenData& data, std::string& error) {
  const fs::path directory = golden_directory(error);
  if (directory.empty()) return false;
  const std::vector<Golden> goldens = known_goldens(directory, error);
  if (!error.empty()) return false;
  const auto golden = std::ranges::find(goldens, c.golden, &Golden::name);
  if (golden == goldens.end()) {
    error = "data=golden:" + c.golden + ": no golden of that name in " + directory.string();
    return false;
  }
  Case wanted = c;
  wanted.checksum.reset();
  wanted.seed = golden->case_line.seed;
  if (wanted != golden->case_line) {
    error = "data=golden:" + c.golden + ": the golden is " + to_string(golden->case_line);
    return false;
  }
  return read_golden(directory, *golden, data, error);
}

}  // namespace backgauge
