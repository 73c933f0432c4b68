// SPDX-License-Identifier: Apache-2.0
// A plug-in whose answers come from a peer (perf/peers/protocol.py) in another process: a framework in Python, judged
// as if it were a shared library. BACKGAUGE_BRIDGE_SOCKET is a Unix socket at which frameworks_check.py has a peer for
// everyone who connects; BACKGAUGE_BRIDGE_FOLDER is where cases are written, as `backgauge oracle` writes them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/contract/backgauge.h"

namespace {

using Json = nlohmann::json;

const backgauge_host* the_host = nullptr;

const char* descr(std::int32_t dtype) {
  switch (dtype) {
    case BACKGAUGE_HALF: return "<f2";
    case BACKGAUGE_FLOAT32: return "<f4";
    case BACKGAUGE_FLOAT64: return "<f8";
    default: return "<i8";
  }
}

const char* word(std::int32_t dtype) {
  return dtype == BACKGAUGE_HALF ? "float16" : dtype == BACKGAUGE_FLOAT32 ? "float32" : "float64";
}

// What NumPy says of an array in the header of its file.
std::string npy_header(const backgauge_tensor& tensor) {
  std::string shape;
  for (std::int32_t k = 0; k < tensor.rank; ++k) shape += fmt::format("{}{}", k > 0 ? ", " : "", tensor.shape[k]);
  if (tensor.rank == 1) shape += ",";
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr(tensor.dtype), shape);
}

std::size_t bytes_of(const backgauge_tensor& tensor) {
  return static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype);
}

constexpr std::size_t kPreamble = 10;  // magic, version 1.0, length of the header in two bytes

void write_npy(const std::filesystem::path& path, const backgauge_tensor& tensor) {
  std::string header = npy_header(tensor);
  header.resize((kPreamble + header.size() + 64) / 64 * 64 - kPreamble, ' ');  // data begins at a multiple of 64
  header.back() = '\n';
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(header.size() & 0xff)).put(static_cast<char>(header.size() >> 8));
  out << header;
  out.write(static_cast<const char*>(tensor.data), static_cast<std::streamsize>(bytes_of(tensor)));
  if (!out.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

void read_npy(const std::filesystem::path& path, const backgauge_tensor& tensor) {
  std::ifstream in(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  const std::size_t bytes = bytes_of(tensor);
  const std::string header = npy_header(tensor);
  if (file.size() < kPreamble + header.size() + bytes || file.compare(kPreamble, header.size(), header) != 0) {
    throw std::runtime_error(fmt::format("{}: expected {}", path.string(), header));
  }
  if (bytes > 0) std::memcpy(tensor.data, file.data() + file.size() - bytes, bytes);
}

// One peer for this process, asked by one call at a time.
class Peer {
 public:
  Peer() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = variable("BACKGAUGE_BRIDGE_SOCKET");
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error(path + ": too long for a socket");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error(path + ": " + std::strerror(errno));
    }
    if (const Json greeting = answer(); greeting.contains("error")) throw std::runtime_error(greeting.dump());
    folder_ = std::filesystem::path(variable("BACKGAUGE_BRIDGE_FOLDER")) / std::to_string(getpid());
    std::filesystem::create_directories(folder_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void run(const backgauge_call& call) {
    write_case(call);
    ask({{"do", "load"}, {"case", ""}, {"folder", folder_.string()}});
    ask({{"do", "run"}});
    for (std::int32_t k = 0; k < call.num_outputs; ++k) {
      read_npy(folder_ / "out" / fmt::format("{}.npy", call.outputs[k].name), call.outputs[k]);
    }
  }

 private:
  static std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? throw std::runtime_error(std::string(name) + ": expected a path") : value;
  }

  void write_case(const backgauge_call& call) const {
    Json tensors = Json::array();
    for (std::int32_t k = 0; k < call.num_inputs; ++k) {
      const std::string file = fmt::format("{}.npy", call.inputs[k].name);
      write_npy(folder_ / file, call.inputs[k]);
      tensors.push_back({{"name", call.inputs[k].name}, {"role", "input"}, {"file", file}});
    }
    const backgauge_tensor& x = *backgauge_find(call.inputs, call.num_inputs, "x");
    const std::int64_t H = backgauge_find(call.inputs, call.num_inputs, "cs_prev")->shape[1];
    const bool cell = call.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD;
    const Json document = {{"case", ""},
                           {"op", cell ? "lstm_block_cell_grad" : "block_lstm_grad_v2"},
                           {"dtype", word(call.dtype)},
                           {"dims", {{"B", x.shape[x.rank - 2]}, {"I", x.shape[x.rank - 1]}, {"H", H}}},
                           {"attributes", {{"use_peephole", call.attributes.use_peephole == 1}}},
                           {"facts", Json::object()},
                           {"tensors", tensors}};
    if (!(std::ofstream(folder_ / "case.json") << document.dump())) {
      throw std::runtime_error(folder_.string() + ": cannot be written");
    }
  }

  void ask(const Json& request) {
    const std::string line = request.dump() + "\n";
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t more = send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) throw std::runtime_error("the peer is gone");
      sent += static_cast<std::size_t>(more);
    }
    if (const Json said = answer(); !said.value("ok", false)) throw std::runtime_error("the peer: " + said.dump());
  }

  Json answer() {
    std::string line;
    for (char c = 0; c != '\n'; line += c) {
      if (recv(socket_, &c, 1, 0) != 1) throw std::runtime_error("the peer is gone");
    }
    return Json::parse(line);
  }

  int socket_ = -1;
  std::filesystem::path folder_;
};

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  static std::mutex mutex;
  if (const backgauge_status status = the_host->validate(call, 0, message); status != BACKGAUGE_OK) return status;
  try {
    const std::lock_guard lock(mutex);
    static Peer peer;
    peer.run(*call);
    return BACKGAUGE_OK;
  } catch (const std::exception& error) {
    std::strncpy(message->text, error.what(), sizeof message->text - 1);
    message->text[sizeof message->text - 1] = '\0';
    return BACKGAUGE_INTERNAL;
  }
}

// TensorFlow's: its kernels for a CPU round every operation of half (reference/semantics.md 1.4).
constexpr backgauge_op_claims claims_of(backgauge_op op) {
  backgauge_op_claims claims{};
  claims.op = op;
  claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
  claims.use_peephole = BACKGAUGE_BIT(0) | BACKGAUGE_BIT(1);
  claims.half_class = BACKGAUGE_CLASS_B;
  claims.numerical_contract = BACKGAUGE_FP32_STRICT;
  claims.determinism = BACKGAUGE_BITWISE;  // the peer has one thread, whatever the call may use
  return claims;
}

constexpr backgauge_op_claims kClaims[] = {claims_of(BACKGAUGE_LSTM_BLOCK_CELL_GRAD),
                                           claims_of(BACKGAUGE_BLOCK_LSTM_GRAD_V2)};

constexpr backgauge_implementation kTable = {
    BACKGAUGE_ABI,
    sizeof(backgauge_implementation),
    "tensorflow-bridge",
    "1",
    "TensorFlow's raw ops in a process beside this one",
    BACKGAUGE_HOST,
    2,
    kClaims,
    nullptr,
    run,
    nullptr,
    nullptr,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  the_host = host;
  return host == nullptr || host->abi != BACKGAUGE_ABI ? nullptr : &kTable;
}
