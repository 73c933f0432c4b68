// SPDX-License-Identifier: Apache-2.0
// The table: checks calls, selects the type of the computation, and turns C++ exceptions into a status.
#include "impl/plain/plain.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "impl/plain/ops.h"
#include "impl/plain/rnn_net.h"
#include "impl/plain/tensors.h"

namespace backgauge::plain {
namespace {

std::atomic<const backgauge_host*> the_host;

backgauge_status fail(backgauge_message* message, backgauge_status status, const std::string& text) {
  if (message != nullptr) {
    const std::size_t size = std::min(text.size(), sizeof message->text - 1);
    std::memcpy(message->text, text.data(), size);
    message->text[size] = '\0';
  }
  return status;
}

// Runs `body`, which returns a status, and turns its exceptions into one.
template <class Body>
backgauge_status guarded(backgauge_message* message, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(message, BACKGAUGE_OUT_OF_MEMORY, "plain: no memory for the copies of the tensors");
  } catch (const std::length_error&) {
    return fail(message, BACKGAUGE_OUT_OF_MEMORY, "plain: tensors too large to be copied");
  } catch (const std::exception& e) {
    return fail(message, BACKGAUGE_INTERNAL, e.what());
  }
}

bool is_cudnn(std::int32_t op) { return op == BACKGAUGE_CUDNN_RNN || op == BACKGAUGE_CUDNN_RNN_BACKPROP; }

// Checks the contract, then the memory space, since a table supports only one. The length of reserve_space is computed
// from a call that is known to be legal otherwise.
backgauge_status check(const backgauge_call* call, backgauge_message* message) {
  const backgauge_host& host = *the_host.load();
  constexpr std::int64_t kAnyLength = -1;
  backgauge_status status = host.validate(call, kAnyLength, message);
  if (status == BACKGAUGE_OK && is_cudnn(call->op)) {
    std::string error;
    const auto net = rnn_net(*call, error);
    if (!net) return fail(message, BACKGAUGE_INVALID_ARGUMENT, error);
    status = host.validate(call, net->reserve_length(call->dtype), message);
  }
  if (status != BACKGAUGE_OK) return status;
  if (call->memory_space != BACKGAUGE_HOST) return fail(message, BACKGAUGE_UNSUPPORTED, "plain: host memory only");
  return BACKGAUGE_OK;
}

backgauge_status prepare(const backgauge_call* call, backgauge_plan* plan, backgauge_message* message) {
  return guarded(message, [&] {
    if (call == nullptr || call->struct_size < sizeof *call || plan == nullptr) {
      return fail(message, BACKGAUGE_INVALID_ARGUMENT, "prepare: expected a call and a plan");
    }
    plan->workspace_alignment = 1;
    plan->workspace_bytes = 0;
    plan->reserve_space_length = 0;
    if (!is_cudnn(call->op)) return BACKGAUGE_OK;
    std::string error;
    const auto net = rnn_net(*call, error);
    if (!net) return fail(message, BACKGAUGE_INVALID_ARGUMENT, error);
    plan->reserve_space_length = net->reserve_length(call->dtype);
    return BACKGAUGE_OK;
  });
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  return guarded(message, [&] {
    const backgauge_status status = check(call, message);
    if (status != BACKGAUGE_OK) return status;
    const bool wide = call->dtype == BACKGAUGE_FLOAT64;
    switch (call->op) {
      case BACKGAUGE_LSTM_BLOCK_CELL_GRAD: lstm_block_cell_grad<float>(*call); return BACKGAUGE_OK;
      case BACKGAUGE_BLOCK_LSTM_GRAD_V2: block_lstm_grad_v2<float>(*call); return BACKGAUGE_OK;
      case BACKGAUGE_CUDNN_RNN_BACKPROP:
        wide ? cudnn_rnn_backprop<double>(*call) : cudnn_rnn_backprop<float>(*call);
        return BACKGAUGE_OK;
      default: return fail(message, BACKGAUGE_INVALID_ARGUMENT, "op: expected a gradient");
    }
  });
}

backgauge_status forward(const backgauge_call* call, backgauge_message* message) {
  return guarded(message, [&] {
    const backgauge_status status = check(call, message);
    if (status != BACKGAUGE_OK) return status;
    if (call->op != BACKGAUGE_CUDNN_RNN) {
      return fail(message, BACKGAUGE_INVALID_ARGUMENT, "op: expected BACKGAUGE_CUDNN_RNN");
    }
    call->dtype == BACKGAUGE_FLOAT64 ? cudnn_rnn<double>(*call) : cudnn_rnn<float>(*call);
    return BACKGAUGE_OK;
  });
}

template <class Real>
void copy_mask(const RnnNet& net, const backgauge_tensor& reserve_space, std::int64_t mask, std::uint8_t* keep) {
  const Trace<Real> trace = Trace<Real>::load(net, reserve_space);
  const std::int64_t elements = net.T * net.B * net.D * net.H;
  if (trace.keep.empty()) {
    std::fill_n(keep, elements, std::uint8_t{1});
  } else {
    std::copy_n(trace.keep.begin() + mask * elements, elements, keep);
  }
}

backgauge_status dropout_mask(const backgauge_call* call, std::int32_t mask, std::uint8_t* keep,
                              backgauge_message* message) {
  return guarded(message, [&] {
    const backgauge_status status = check(call, message);
    if (status != BACKGAUGE_OK) return status;
    std::string error;
    const auto net = call->op == BACKGAUGE_CUDNN_RNN_BACKPROP ? rnn_net(*call, error) : std::nullopt;
    const bool nowhere = net && keep == nullptr && net->T * net->B * net->D * net->H > 0;
    const std::int64_t masks = net ? (net->L - 1) * net->D : 0;
    if (!net || nowhere || mask < 0 || mask >= masks) {
      return fail(message, BACKGAUGE_INVALID_ARGUMENT,
                  "dropout_mask: expected a mask in 0.." + std::to_string(masks - 1) +
                      " of CudnnRNNBackprop, and memory for it");
    }
    const backgauge_tensor& reserve_space = input(*call, "reserve_space");
    call->dtype == BACKGAUGE_FLOAT64 ? copy_mask<double>(*net, reserve_space, mask, keep)
                                     : copy_mask<float>(*net, reserve_space, mask, keep);
    return BACKGAUGE_OK;
  });
}

constexpr int kLstmDtypes = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
constexpr int kRnnDtypes = kLstmDtypes | BACKGAUGE_BIT(BACKGAUGE_FLOAT64) | BACKGAUGE_BIT(BACKGAUGE_BFLOAT16);

constexpr backgauge_claim kLstmClaims[] = {
    {"dtypes", kLstmDtypes, 0, 0},
    {"use_peephole", BACKGAUGE_BIT(0) | BACKGAUGE_BIT(1), 0, 0},
    {"accuracy_class", BACKGAUGE_CLASS_A, 0, 0},
    {"numerical_contract", BACKGAUGE_FP32_STRICT, 0, 0},
    {"determinism", BACKGAUGE_BITWISE, 0, 0},
};
constexpr backgauge_claim kRnnClaims[] = {
    {"dtypes", kRnnDtypes, 0, 0},
    {"rnn_modes",
     BACKGAUGE_BIT(BACKGAUGE_RNN_RELU) | BACKGAUGE_BIT(BACKGAUGE_RNN_TANH) | BACKGAUGE_BIT(BACKGAUGE_LSTM) |
         BACKGAUGE_BIT(BACKGAUGE_GRU),
     0, 0},
    {"input_modes",
     BACKGAUGE_BIT(BACKGAUGE_LINEAR_INPUT) | BACKGAUGE_BIT(BACKGAUGE_SKIP_INPUT) | BACKGAUGE_BIT(BACKGAUGE_AUTO_SELECT),
     0, 0},
    {"directions", BACKGAUGE_BIT(BACKGAUGE_UNIDIRECTIONAL) | BACKGAUGE_BIT(BACKGAUGE_BIDIRECTIONAL), 0, 0},
    {"accuracy_class", BACKGAUGE_CLASS_A, 0, 0},
    {"numerical_contract", BACKGAUGE_FP32_STRICT, 0, 0},
    {"determinism", BACKGAUGE_BITWISE, 0, 0},
    {"relu_slope_at_zero", 1, 0, 0},
    {"masks_per_direction", 1, 0, 0},
};
constexpr backgauge_op_claims kClaims[] = {
    {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, std::size(kLstmClaims), kLstmClaims},
    {BACKGAUGE_BLOCK_LSTM_GRAD_V2, std::size(kLstmClaims), kLstmClaims},
    {BACKGAUGE_CUDNN_RNN_BACKPROP, std::size(kRnnClaims), kRnnClaims},
};

constexpr backgauge_implementation kImplementation = {
    BACKGAUGE_ABI,
    sizeof(backgauge_implementation),
    "plain",
    "1",
    "readable loops on one thread",
    BACKGAUGE_HOST,
    std::size(kClaims),
    kClaims,
    prepare,
    run,
    forward,
    dropout_mask,
};

}  // namespace
}  // namespace backgauge::plain

const backgauge_implementation* backgauge::plain_entry(const backgauge_host* host) {
  const backgauge_host* none = nullptr;
  plain::the_host.compare_exchange_strong(none, host);
  return &plain::kImplementation;
}
