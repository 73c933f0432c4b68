/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes and offsets of backgauge.h as one language sees them: BACKGAUGE_LAYOUT initialises an array of size_t. The list
 * has the last field of every struct, so that a field of another size anywhere before it shows.
 */
#ifndef BACKGAUGE_HEADER_LAYOUT_H_
#define BACKGAUGE_HEADER_LAYOUT_H_

#include "reference/contract/backgauge.h"

#define BACKGAUGE_LAYOUT                                                                                    \
  {                                                                                                         \
    sizeof(backgauge_tensor), offsetof(backgauge_tensor, reserved), sizeof(backgauge_attributes),           \
        offsetof(backgauge_attributes, reserved), sizeof(backgauge_call), offsetof(backgauge_call, stream), \
        sizeof(backgauge_plan), offsetof(backgauge_plan, reserve_space_length), sizeof(backgauge_message),  \
        sizeof(backgauge_claim), offsetof(backgauge_claim, reserved), sizeof(backgauge_op_claims),          \
        offsetof(backgauge_op_claims, claims), sizeof(backgauge_implementation),                            \
        offsetof(backgauge_implementation, dropout_mask), sizeof(backgauge_host), sizeof(backgauge_op)      \
  }

#endif /* BACKGAUGE_HEADER_LAYOUT_H_ */
