/* SPDX-License-Identifier: Apache-2.0
 *
 * The implementations of backgauge as libraries to link: libbackgauge_cpu.so, which is fast, and libbackgauge_plain.so,
 * which is readable. Plain C11 (and C++17). Each is also a plug-in: `backgauge verify --impl=path/libbackgauge_cpu.so`.
 *
 * A function of this header returns a table, whose functions backgauge.h describes. To compute a gradient:
 *   1. Describe the tensors (backgauge_tensor) in the order and with the names and shapes that `backgauge list` prints,
 *      row-major, of the dtype of the call. For BACKGAUGE_BLOCK_LSTM_GRAD_V2 these are:
 *      - inputs: seq_len_max [] of int64; x [T,B,I]; cs_prev, h_prev [B,H]; w [I+H,4H]; wci, wcf, wco [H]; b [4H];
 *        i, cs, f, o, ci, co, h, cs_grad, h_grad [T,B,H];
 *      - outputs: x_grad [T,B,I]; cs_prev_grad, h_prev_grad [B,H]; w_grad [I+H,4H]; wci_grad, wcf_grad, wco_grad [H];
 *        b_grad [4H].
 *   2. Fill a backgauge_call, with struct_size, num_threads >= 1 and memory_space BACKGAUGE_HOST.
 *   3. Ask `prepare` how many bytes of workspace the call needs, and with which alignment.
 *   4. `run`. Every element of every output is then written, and no pointer is kept.
 * The functions of a table return BACKGAUGE_OK; BACKGAUGE_INVALID_ARGUMENT for a call that breaks the contract, with a
 * message that names the tensor, what was expected and what it got, before anything is written; BACKGAUGE_UNSUPPORTED
 * for a legal call outside the claims of the table; or BACKGAUGE_OUT_OF_MEMORY. message may be NULL. They may be called
 * from several threads at once.
 */
#ifndef BACKGAUGE_LIBRARY_H_
#define BACKGAUGE_LIBRARY_H_

#include "backgauge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a plug-in asks of its host, for programs that open plug-ins themselves (backgauge_entry) or that want to
 * validate a call without making it. In both libraries. Never NULL; lives as long as the library is loaded. */
const backgauge_host* backgauge_library_host(void);

/* The table of libbackgauge_cpu.so; lives as long as the library is loaded. NULL if the variable BACKGAUGE_CPU names an
 * instruction set that is unknown, or that this machine lacks. */
const backgauge_implementation* backgauge_cpu(void);

/* One line that says why backgauge_cpu() returned NULL; empty if it did not. */
const char* backgauge_cpu_refusal(void);

/* The table of libbackgauge_plain.so; lives as long as the library is loaded. Never NULL. */
const backgauge_implementation* backgauge_plain(void);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* BACKGAUGE_LIBRARY_H_ */
