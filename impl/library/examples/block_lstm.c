/* SPDX-License-Identifier: Apache-2.0
 * BlockLSTMGradV2 by libbackgauge_cpu.so. Writes the outputs to stdout, as float32 one after the other.
 *   cc block_lstm.c $(pkg-config --cflags --libs backgauge-cpu)
 */
#include <backgauge_library.h>
#include <stdio.h>
#include <stdlib.h>

enum { T = 5, B = 3, I = 4, H = 6, INPUTS = 18, OUTPUTS = 8 };

static backgauge_tensor tensor(const char* name, int32_t rank, int64_t first, int64_t second, int64_t third) {
  backgauge_tensor made = {.name = name,
                           .shape = {first, second, third},
                           .rank = rank,
                           .dtype = BACKGAUGE_FLOAT32,
                           .memory_space = BACKGAUGE_HOST};
  made.data = calloc((size_t)backgauge_elements(&made), sizeof(float));
  return made;
}

static backgauge_tensor steps(const char* name) { return tensor(name, 3, T, B, H); }
static backgauge_tensor state(const char* name) { return tensor(name, 2, B, H, 0); }
static backgauge_tensor unit(const char* name) { return tensor(name, 1, H, 0, 0); }

static int complain(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  return 1;
}

int main(void) {
  const backgauge_implementation* cpu = backgauge_cpu();
  if (cpu == NULL) return complain("backgauge_cpu", backgauge_cpu_refusal());

  int64_t seq_len_max = T;
  const backgauge_tensor inputs[INPUTS] = {
      {.name = "seq_len_max", .data = &seq_len_max, .dtype = BACKGAUGE_INT64, .memory_space = BACKGAUGE_HOST},
      tensor("x", 3, T, B, I),
      state("cs_prev"),
      state("h_prev"),
      tensor("w", 2, I + H, 4 * H, 0),
      unit("wci"),
      unit("wcf"),
      unit("wco"),
      tensor("b", 1, 4 * H, 0, 0),
      steps("i"),
      steps("cs"),
      steps("f"),
      steps("o"),
      steps("ci"),
      steps("co"),
      steps("h"),
      steps("cs_grad"),
      steps("h_grad")};
  const backgauge_tensor outputs[OUTPUTS] = {tensor("x_grad", 3, T, B, I),
                                             state("cs_prev_grad"),
                                             state("h_prev_grad"),
                                             tensor("w_grad", 2, I + H, 4 * H, 0),
                                             unit("wci_grad"),
                                             unit("wcf_grad"),
                                             unit("wco_grad"),
                                             tensor("b_grad", 1, 4 * H, 0, 0)};
  /* Any values will do; these are exact in float32, and easy to make in every language. */
  for (int n = 1; n < INPUTS; ++n) {
    for (int64_t k = 0; k < backgauge_elements(&inputs[n]); ++k) {
      ((float*)inputs[n].data)[k] = (float)((k * 7 + n * 5) % 31 + 1) / 64;
    }
  }

  backgauge_call call = {.struct_size = sizeof call,
                         .op = BACKGAUGE_BLOCK_LSTM_GRAD_V2,
                         .dtype = BACKGAUGE_FLOAT32,
                         .memory_space = BACKGAUGE_HOST,
                         .attributes = {.use_peephole = 1},
                         .inputs = inputs,
                         .outputs = outputs,
                         .num_inputs = INPUTS,
                         .num_outputs = OUTPUTS,
                         .num_threads = 2};
  backgauge_plan plan = {.struct_size = sizeof plan};
  backgauge_message message = {""};
  if (cpu->prepare(&call, &plan, &message) != BACKGAUGE_OK) return complain("prepare", message.text);
  /* aligned_alloc wants whole multiples of the alignment. */
  const size_t alignment = plan.workspace_alignment > 8 ? plan.workspace_alignment : 8;
  call.workspace_bytes = (plan.workspace_bytes + alignment) / alignment * alignment;
  call.workspace = aligned_alloc(alignment, call.workspace_bytes);
  if (cpu->run(&call, &message) != BACKGAUGE_OK) return complain("run", message.text);

  for (int n = 0; n < OUTPUTS; ++n) {
    fwrite(outputs[n].data, sizeof(float), (size_t)backgauge_elements(&outputs[n]), stdout);
  }
  return 0;
}
