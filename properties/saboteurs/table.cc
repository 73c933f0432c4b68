// SPDX-License-Identifier: Apache-2.0
// Makes an implementation of each variant. A C table has no field for data, so each variant has its own functions.
#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "properties/saboteurs/float_control.h"
#include "properties/saboteurs/ops.h"
#include "reference/contract/claims.h"
#include "reference/contract/validate.h"

namespace backgauge::saboteurs {
namespace {

// More than the number of variants; make_all() checks it.
constexpr std::size_t kMostVariants = 1024;

State& state_of(std::size_t n) {
  static const auto states = std::make_unique<std::array<State, kMostVariants>>();
  return (*states)[n];
}

// Turns on the processor's flushing of subnormal numbers for the lifetime of an object.
class FlushSubnormals {
 public:
  // forget: the flags stay set afterwards, as a fault.
  FlushSubnormals(bool on, bool forget) : before_(float_control()), restore_(!forget) {
    if (on || forget) set_float_control(before_ | kFlushSubnormals);
  }
  ~FlushSubnormals() {
    if (restore_) set_float_control(before_);
  }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  std::uint64_t before_;
  bool restore_;
};

backgauge_status fail(backgauge_message* message, backgauge_status status, const std::string& text) {
  if (message != nullptr) {
    const std::size_t size = std::min(text.size(), sizeof message->text - 1);
    std::memcpy(message->text, text.data(), size);
    message->text[size] = '\0';
  }
  return status;
}

// Checks the call and calls `body` with its extents. Exceptions of `body` become a status.
template <class Body>
backgauge_status guarded(std::size_t n, const backgauge_call* call, backgauge_message* message, Body body) noexcept {
  const Variant& variant = variants()[n];
  try {
    if (call == nullptr || call->struct_size < sizeof *call) {
      return fail(message, BACKGAUGE_INVALID_ARGUMENT, "expected a call");
    }
    std::int64_t length = 0;
    if (const Validation shapes = validate_shapes(*call); shapes.ok()) {
      length = reserve_length(variant, shapes.extents, call->dtype);
    }
    const Validation validation = validate(*call, length);
    if (!validation.ok()) {
      if (takes_malformed(variant, *call)) return BACKGAUGE_OK;
      if (variant.fault == Fault::kK16) write_early(*call);
      return fail(message, BACKGAUGE_INVALID_ARGUMENT, validation.refusal);
    }
    if (variant.fault == Fault::kK4 && validation.extents.B == 0) {
      return fail(message, BACKGAUGE_INVALID_ARGUMENT, "B: expected at least 1, got 0");
    }
    const FlushSubnormals flush(variant.style.flush_subnormals, variant.fault == Fault::kI17);
    body(Context{variant, state_of(n), *call, validation.extents});
    return BACKGAUGE_OK;
  } catch (const std::bad_alloc&) {
    return fail(message, BACKGAUGE_OUT_OF_MEMORY, "no memory for the copies of the tensors");
  } catch (const std::exception& error) {
    return fail(message, BACKGAUGE_INTERNAL, error.what());
  }
}

// The type of the computation: double for float64, and for the style that rounds once.
template <class Body>
void with_real(const Context& context, Body body) {
  if (context.call.dtype == BACKGAUGE_FLOAT64 || context.variant.style.wide) {
    body(double{});
  } else {
    body(float{});
  }
}

backgauge_status prepare_variant(std::size_t n, const backgauge_call* call, backgauge_plan* plan,
                                 backgauge_message* message) {
  if (call == nullptr || call->struct_size < sizeof *call || plan == nullptr) {
    return fail(message, BACKGAUGE_INVALID_ARGUMENT, "prepare: expected a call and a plan");
  }
  plan->workspace_alignment = 1;
  plan->workspace_bytes = 0;
  plan->reserve_space_length = 0;
  const Validation shapes = validate_shapes(*call);
  if (!shapes.ok()) {
    if (takes_malformed(variants()[n], *call)) return BACKGAUGE_OK;
    return fail(message, BACKGAUGE_INVALID_ARGUMENT, shapes.refusal);
  }
  plan->reserve_space_length = reserve_length(variants()[n], shapes.extents, call->dtype);
  plan->workspace_bytes = workspace_bytes(variants()[n], shapes.extents);
  return BACKGAUGE_OK;
}

backgauge_status run_variant(std::size_t n, const backgauge_call* call, backgauge_message* message) {
  return guarded(n, call, message, [](const Context& context) {
    with_real(context, [&](auto real) {
      using Real = decltype(real);
      switch (context.call.op) {
        case BACKGAUGE_LSTM_BLOCK_CELL_GRAD: return lstm_block_cell_grad<Real>(context);
        case BACKGAUGE_BLOCK_LSTM_GRAD_V2: return block_lstm_grad_v2<Real>(context);
        case BACKGAUGE_CUDNN_RNN_BACKPROP: return cudnn_rnn_backprop<Real>(context);
        default: throw std::invalid_argument("op: expected a gradient");
      }
    });
  });
}

backgauge_status forward_variant(std::size_t n, const backgauge_call* call, backgauge_message* message) {
  return guarded(n, call, message, [](const Context& context) {
    if (!find_op(context.call.op)->traits.gradient) throw std::invalid_argument("op: expected a forward");
    with_real(context, [&](auto real) { cudnn_rnn<decltype(real)>(context); });
  });
}

backgauge_status reveal_variant(std::size_t n, const backgauge_call* call, std::int32_t gap, std::uint8_t* keep,
                                backgauge_message* message) {
  return guarded(n, call, message, [&](const Context& context) { dropout_mask(context, gap, keep); });
}

// The functions of variant N; they differ only in the number.
template <auto function, std::size_t N, class... Arguments>
backgauge_status of_variant(Arguments... arguments) {
  return function(N, arguments...);
}

struct Functions {
  decltype(backgauge_implementation::prepare) prepare;
  decltype(backgauge_implementation::run) run;
  decltype(backgauge_implementation::forward) forward;
  decltype(backgauge_implementation::dropout_mask) dropout_mask;
};

template <std::size_t... N>
constexpr std::array<Functions, sizeof...(N)> functions_of(std::index_sequence<N...>) {
  return {{{of_variant<prepare_variant, N>, of_variant<run_variant, N>, of_variant<forward_variant, N>,
            of_variant<reveal_variant, N>}...}};
}
constexpr std::array<Functions, kMostVariants> kFunctions = functions_of(std::make_index_sequence<kMostVariants>());

Claims claims_of(const Variant& variant, backgauge_op op) {
  Claims claims(op);
  // An accuracy class only concerns half and bfloat16, and a numerical contract only float32.
  const Declared& declared = variant.style.declared;
  if (declared.accuracy_class != BACKGAUGE_CLASS_A) {
    claims.dtypes = find_op(op)->dtypes & (BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_BFLOAT16));
  }
  if (declared.numerical_contract != BACKGAUGE_FP32_STRICT) claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
  claims.declare(declared);
  if (variant.style.threads > 0) claims.determinism = BACKGAUGE_BITWISE_PER_THREAD_COUNT;
  return claims;
}

struct Made {
  ClaimArrays claims;
  backgauge_implementation table;
};

std::vector<Made> make_all() {
  if (variants().size() > kMostVariants) throw std::logic_error("more variants than kMostVariants");
  std::vector<Made> made;
  for (std::size_t n = 0; n < variants().size(); ++n) {
    const Variant& variant = variants()[n];
    std::vector<Claims> claims;
    for (const OpSpec& spec : op_specs()) {
      if (spec.traits.gradient || (variant.kind != Kind::kCorrect && spec.op != variant.op)) continue;
      claims.push_back(claims_of(variant, spec.op));
    }
    Made one{ClaimArrays(claims), {}};
    one.table = {.abi = BACKGAUGE_ABI,
                 .struct_size = sizeof(backgauge_implementation),
                 .name = variant.id.c_str(),
                 .version = "1",
                 .description = variant.what.c_str(),
                 .memory_space = BACKGAUGE_HOST,
                 .num_claims = one.claims.size(),
                 .claims = one.claims.data(),
                 .prepare = kFunctions[n].prepare,
                 .run = kFunctions[n].run,
                 .forward = kFunctions[n].forward,
                 .dropout_mask = kFunctions[n].dropout_mask};
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace

const backgauge_implementation& implementation(std::size_t variant) {
  static const std::vector<Made> made = make_all();
  return made.at(variant).table;
}

const backgauge_implementation* find_implementation(const std::string& id) {
  for (std::size_t n = 0; n < variants().size(); ++n) {
    if (variants()[n].id == id) return &implementation(n);
  }
  return nullptr;
}

}  // namespace backgauge::saboteurs
