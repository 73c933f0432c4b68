/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract between backgauge and an implementation of LSTMBlockCellGrad, BlockLSTMGradV2 or CudnnRNNBackprop.
 * Plain C11 (and C++17), no dependency. A shared library that exports backgauge_entry() can be judged and timed.
 *
 * Rules for every function of an implementation:
 *   - it never prints, throws or exits, and after it returns it keeps no pointer that it was given;
 *   - it overwrites every element of every output, and writes nothing else except the workspace;
 *   - it refuses every call that backgauge_host.validate refuses, with BACKGAUGE_INVALID_ARGUMENT, before anything is
 *     written;
 *   - several threads may call it concurrently, with different calls.
 * Tensors are dense and row-major. `backgauge list` prints the names, shapes and legal values of all tensors, and which
 * elements are read.
 */
#ifndef BACKGAUGE_H_
#define BACKGAUGE_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header. A library whose table has another number is refused. Within one number
 *   - structs that have a struct_size, the size that the other side was compiled with, grow at their end;
 *   - claims grow by new names: a table that leaves a new one out claims its usual value, and a name that backgauge
 * does not know is refused;
 *   - new enumerators come last;
 *   - nothing else changes. */
#define BACKGAUGE_ABI 2u

/* Set of enumerators, as used in claims: BACKGAUGE_BIT(BACKGAUGE_FLOAT32) | ... */
#define BACKGAUGE_BIT(enumerator) (1u << (enumerator))

enum { BACKGAUGE_MAX_RANK = 8, BACKGAUGE_MESSAGE_BYTES = 512 };

typedef enum backgauge_op {
  BACKGAUGE_LSTM_BLOCK_CELL_GRAD = 1, /* LSTM cell backward, one step, gates i,c,f,o */
  BACKGAUGE_BLOCK_LSTM_GRAD_V2 = 2,   /* LSTM backward over a sequence, gates i,f,c,o */
  BACKGAUGE_CUDNN_RNN_BACKPROP = 3,   /* stacked RNN backward, flat params */
  BACKGAUGE_CUDNN_RNN = 4             /* its training forward: computes output, output_h, output_c and reserve_space */
} backgauge_op;

typedef enum backgauge_dtype {
  BACKGAUGE_HALF = 1,    /* IEEE binary16, stored as uint16_t */
  BACKGAUGE_FLOAT32 = 2, /* IEEE binary32 */
  BACKGAUGE_FLOAT64 = 3, /* IEEE binary64 */
  BACKGAUGE_INT64 = 4,   /* seq_len_max only */
  BACKGAUGE_BFLOAT16 = 5 /* the upper half of an IEEE binary32, stored as uint16_t; CudnnRNN* only */
} backgauge_dtype;

typedef enum backgauge_memory_space {
  BACKGAUGE_HOST = 1,
  BACKGAUGE_CUDA = 2 /* device memory of the current CUDA device; seq_len_max stays in host memory */
} backgauge_memory_space;

typedef enum backgauge_rnn_mode {
  BACKGAUGE_RNN_RELU = 1,
  BACKGAUGE_RNN_TANH = 2,
  BACKGAUGE_LSTM = 3,
  BACKGAUGE_GRU = 4
} backgauge_rnn_mode;

typedef enum backgauge_input_mode {
  BACKGAUGE_LINEAR_INPUT = 1,
  BACKGAUGE_SKIP_INPUT = 2,
  BACKGAUGE_AUTO_SELECT = 3 /* skip_input if and only if I == H */
} backgauge_input_mode;

typedef enum backgauge_direction { BACKGAUGE_UNIDIRECTIONAL = 1, BACKGAUGE_BIDIRECTIONAL = 2 } backgauge_direction;

typedef enum backgauge_status {
  BACKGAUGE_OK = 0,
  BACKGAUGE_INVALID_ARGUMENT = 1, /* the contract refuses the call; no output was written */
  BACKGAUGE_UNSUPPORTED = 2,      /* legal, but outside what the implementation claims; no output was written */
  BACKGAUGE_OUT_OF_MEMORY = 3,
  BACKGAUGE_DEVICE_ERROR = 4, /* the device or its library reported an error */
  BACKGAUGE_INTERNAL = 5
} backgauge_status;

/* Which values an implementation rounds to the dtype of a half or bfloat16 call (ignored for the other dtypes). */
typedef enum backgauge_accuracy_class {
  BACKGAUGE_CLASS_A = 1,       /* computed in float; each output element is rounded once */
  BACKGAUGE_CLASS_A_PRIME = 2, /* computed in float; values carried from step to step are rounded too */
  BACKGAUGE_CLASS_S = 3,       /* the same, and what one pass or layer hands to the next: what the forward saves (gates,
                                  cell states, h, dropped h) and the gradients of gates and of what a layer reads */
  BACKGAUGE_CLASS_B = 4        /* the result of every scalar operation is rounded, sums included */
} backgauge_accuracy_class;

/* How matrix products are computed, the most accurate first. Operands and sums are float, but of float64 calls. */
typedef enum backgauge_numerical_contract {
  BACKGAUGE_FP32_STRICT = 1, /* operands and sums in the dtype (float for half and bfloat16) or better */
  BACKGAUGE_FP32_9XBF16 = 2, /* each operand split into three parts of 8 significant bits (bfloat16), all nine products
                                of parts */
  BACKGAUGE_FP32_6XBF16 = 3, /* the same with the six largest of the nine */
  BACKGAUGE_FP32_3XTF32 = 4, /* two parts of 11 significant bits, three of the four products of parts */
  BACKGAUGE_FP32_3XBF16 = 5, /* two parts of 8 significant bits, three of the four products of parts */
  BACKGAUGE_FP32_TF32 = 6,   /* operands rounded to 11 significant bits */
  BACKGAUGE_FP16_ACC32 = 7,  /* half operands */
  BACKGAUGE_BF16_ACC32 = 8   /* operands rounded to 8 significant bits (bfloat16) */
} backgauge_numerical_contract;

typedef enum backgauge_determinism {
  BACKGAUGE_BITWISE = 1,                  /* same call, same bits, whatever the number of threads */
  BACKGAUGE_BITWISE_PER_THREAD_COUNT = 2, /* same call and same num_threads, same bits */
  BACKGAUGE_NOT_DETERMINISTIC = 3
} backgauge_determinism;

/* One tensor. The caller owns name and data. data is NULL only if the tensor has no element, and always in prepare,
 * except for seq_len_max. It is aligned to the element size only. */
typedef struct backgauge_tensor {
  const char* name;                  /* TensorFlow's name, letter for letter */
  void* data;                        /* inputs are never written */
  int64_t shape[BACKGAUGE_MAX_RANK]; /* in elements; entries from rank on are ignored */
  int32_t rank;
  int32_t dtype;        /* backgauge_dtype */
  int32_t memory_space; /* backgauge_memory_space */
  int32_t reserved;     /* 0 */
} backgauge_tensor;

/* Attributes of all ops; an op ignores those that it does not have. */
typedef struct backgauge_attributes {
  int32_t use_peephole; /* 0 or 1: LSTMBlockCellGrad, BlockLSTMGradV2 */
  int32_t rnn_mode;     /* CudnnRNN*: backgauge_rnn_mode */
  int32_t input_mode;   /* CudnnRNN*: backgauge_input_mode */
  int32_t direction;    /* CudnnRNN*: backgauge_direction */
  int64_t seed;         /* CudnnRNN*: together with seed2, the key of the dropout mask; both within int32 */
  int64_t seed2;
  float dropout;    /* CudnnRNN*: probability in [0, 1] that an element between two layers is dropped */
  int32_t reserved; /* 0 */
} backgauge_attributes;

/* One call. Tensors are in the order of the op's table; input_c, output_c and their gradients are absent unless
 * rnn_mode is BACKGAUGE_LSTM. */
typedef struct backgauge_call {
  uint32_t struct_size; /* sizeof(backgauge_call) */
  int32_t op;           /* backgauge_op */
  int32_t dtype;        /* backgauge_dtype of every tensor but seq_len_max */
  int32_t memory_space; /* backgauge_memory_space of every tensor but seq_len_max, and of the workspace */
  backgauge_attributes attributes;
  const backgauge_tensor* inputs;
  const backgauge_tensor* outputs;
  int32_t num_inputs;
  int32_t num_outputs;
  void* workspace;          /* contents undefined before and after; at least as large as prepare asked for */
  uint64_t workspace_bytes; /* in bytes */
  int32_t num_threads;      /* how many threads it may use, including the caller's; >= 1 */
  int32_t reserved;         /* 0 */
  void* stream;             /* CUDA: the cudaStream_t on which all work is ordered; host: NULL */
} backgauge_call;

/* What a call needs, as returned by prepare. The caller sets struct_size and zeroes the rest. */
typedef struct backgauge_plan {
  uint32_t struct_size;         /* sizeof(backgauge_plan) */
  uint32_t workspace_alignment; /* bytes, a power of two up to 2^21; 0 means 1 */
  uint64_t workspace_bytes;     /* bytes */
  int64_t reserve_space_length; /* CudnnRNN*: elements of the call's dtype */
} backgauge_plan;

/* Why a call did not succeed: one NUL-terminated line. A refusal names the tensor, what was expected, what it got. */
typedef struct backgauge_message {
  char text[BACKGAUGE_MESSAGE_BYTES];
} backgauge_message;

/* One property that an implementation has. `backgauge list` prints all properties: their names, values and meaning. */
typedef struct backgauge_claim {
  const char* property; /* its name: "accuracy_class" */
  double value;         /* an enumerator, a set of BACKGAUGE_BIT(enumerator), 0 or 1, or a number; exact up to 2^53 */
  int32_t dtype;    /* backgauge_dtype of the calls that have it; 0: all calls whose dtype has no claim of its own */
  int32_t reserved; /* 0 */
} backgauge_claim;

/* The claims of an implementation about one op. Legal calls outside the claims are not made (the case is SKIPPED);
 * legal calls inside them must succeed. */
typedef struct backgauge_op_claims {
  int32_t op; /* backgauge_op */
  int32_t num_claims;
  const backgauge_claim* claims;
} backgauge_op_claims;

/* The table of one implementation. It and everything it points to live as long as the library is loaded. */
typedef struct backgauge_implementation {
  uint32_t abi;         /* BACKGAUGE_ABI */
  uint32_t struct_size; /* sizeof(backgauge_implementation) */
  const char* name;     /* one word */
  const char* version;
  const char* description; /* one line */
  int32_t memory_space;    /* backgauge_memory_space of the calls it takes */
  int32_t num_claims;
  const backgauge_op_claims* claims;

  /* Returns what a legal call needs. Its tensors have shapes, but no data except where backgauge_tensor says so; the
   * shape of reserve_space is ignored. May be NULL: then neither workspace nor reserve_space is needed. */
  backgauge_status (*prepare)(const backgauge_call* call, backgauge_plan* plan, backgauge_message* message);

  /* Computes the outputs of a gradient op. */
  backgauge_status (*run)(const backgauge_call* call, backgauge_message* message);

  /* Computes the outputs of BACKGAUGE_CUDNN_RNN. NULL if BACKGAUGE_CUDNN_RNN_BACKPROP is not claimed. */
  backgauge_status (*forward)(const backgauge_call* call, backgauge_message* message);

  /* Reads the dropout mask out of reserve_space. The call is a BACKGAUGE_CUDNN_RNN_BACKPROP call with its inputs; `gap`
   * in 0..L-2 is the connection of layers gap and gap+1; where masks_per_direction is claimed, it is D times that
   * number, plus the direction of layer gap+1 that reads through the mask. keep[T,B,D*H] (host memory) becomes 1 where
   * the element is kept and scaled by 1/(1-dropout), and 0 where it is dropped; keep may be NULL if it has no element.
   * The function may be NULL, or return BACKGAUGE_UNSUPPORTED (then keep is ignored): cases with 0 < dropout < 1 are
   * then judged by the adjoint identity between forward and gradient. The forward must use the same mask in every call
   * with the same seeds, dropout, dtype and extents, whatever the values of its tensors, and a different one for a
   * different seed or seed2 (with a negative seed2, seed may have no effect). An implementation that claims
   * dropout_has_state need not, but must make its masks available here. */
  backgauge_status (*dropout_mask)(const backgauge_call* call, int32_t gap, uint8_t* keep, backgauge_message* message);
} backgauge_implementation;

/* The functions that backgauge provides. Lives as long as the library is loaded. */
typedef struct backgauge_host {
  uint32_t abi;         /* BACKGAUGE_ABI */
  uint32_t struct_size; /* sizeof(backgauge_host) */

  /* Accepts (BACKGAUGE_OK) or refuses (BACKGAUGE_INVALID_ARGUMENT, with a message) a call of any op, from its
   * descriptions and seq_len_max alone. reserve_space_length: the length that prepare returns for this call, or -1
   * to accept any length while it is not known yet. */
  backgauge_status (*validate)(const backgauge_call* call, int64_t reserve_space_length, backgauge_message* message);
} backgauge_host;

/* The only symbol that a library must export: extern "C" const backgauge_implementation* backgauge_entry(const
 * backgauge_host*). If it returns NULL, the library is refused. */
#define BACKGAUGE_ENTRY_NAME "backgauge_entry"
typedef const backgauge_implementation* (*backgauge_entry_function)(const backgauge_host* host);

/* Optional: extern "C" const char* backgauge_refusal(void). Called if backgauge_entry() returned NULL; returns one line
 * that says why, for example which device is missing. */
#define BACKGAUGE_REFUSAL_NAME "backgauge_refusal"
typedef const char* (*backgauge_refusal_function)(void);

/* ---- Helpers that need no library ---- */

/* The tensor with that name, or NULL. */
static inline const backgauge_tensor* backgauge_find(const backgauge_tensor* tensors, int32_t count, const char* name) {
  for (int32_t k = 0; k < count; ++k) {
    if (tensors[k].name != NULL && strcmp(tensors[k].name, name) == 0) return &tensors[k];
  }
  return NULL;
}

/* Elements of a tensor whose shape has been validated. */
static inline int64_t backgauge_elements(const backgauge_tensor* tensor) {
  int64_t count = 1;
  for (int32_t k = 0; k < tensor->rank; ++k) count *= tensor->shape[k];
  return count;
}

/* Bytes of one element; 0 for an unknown dtype. */
static inline size_t backgauge_dtype_bytes(int32_t dtype) {
  switch (dtype) {
    case BACKGAUGE_HALF:
    case BACKGAUGE_BFLOAT16: return 2;
    case BACKGAUGE_FLOAT32: return 4;
    case BACKGAUGE_FLOAT64:
    case BACKGAUGE_INT64: return 8;
    default: return 0;
  }
}

/* IEEE binary16 to binary32, exact; a NaN stays a NaN. */
static inline float backgauge_half_to_float(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t mantissa = half & 0x3ffu;
  uint32_t bits;
  if (exponent == 0x1fu) {
    bits = sign | 0x7f800000u | (mantissa << 13);
  } else if (exponent != 0) {
    bits = sign | ((exponent + 112u) << 23) | (mantissa << 13);
  } else if (mantissa == 0) {
    bits = sign;
  } else { /* subnormal: mantissa * 2^-24 */
    uint32_t shift = 0;
    while ((mantissa & 0x400u) == 0) {
      mantissa <<= 1;
      ++shift;
    }
    bits = sign | ((113u - shift) << 23) | ((mantissa & 0x3ffu) << 13);
  }
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* IEEE binary32 to binary16, to nearest, ties to even; overflow gives infinity, a NaN stays a NaN. */
static inline uint16_t backgauge_float_to_half(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* >= 65520, the tie above 65504 */
  if (magnitude >= 0x38800000u) {                                  /* normal: >= 2^-14 */
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return (uint16_t)(sign | ((rounded - 0x38000000u) >> 13));
  }
  if (magnitude <= 0x33000000u) return sign; /* <= 2^-25, the tie below the least subnormal */
  const uint32_t exponent = magnitude >> 23;
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t shift = 126u - exponent; /* 14..24: to units of 2^-24 */
  const uint32_t unit = mantissa >> shift;
  const uint32_t rest = mantissa & ((1u << shift) - 1u);
  const uint32_t tie = 1u << (shift - 1u);
  return (uint16_t)(sign | (unit + ((rest > tie || (rest == tie && (unit & 1u))) ? 1u : 0u)));
}

/* bfloat16 to binary32, exact; a NaN stays a NaN. */
static inline float backgauge_bfloat16_to_float(uint16_t bfloat16) {
  const uint32_t bits = (uint32_t)bfloat16 << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* IEEE binary32 to bfloat16, to nearest, ties to even; overflow gives infinity, a NaN stays a NaN. */
static inline uint16_t backgauge_float_to_bfloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u); /* quiet, so that it stays a NaN */
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* BACKGAUGE_H_ */
