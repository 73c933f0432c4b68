# SPDX-License-Identifier: Apache-2.0
"""params_layout: the sizes of reference/semantics.md 4.3, every element in exactly one block."""

import unittest

from backgauge import InputError, params_layout


def slices(blocks):
    return [at for block in blocks for at, _ in (block.W, block.R, block.bW, block.bR)]


class Layout(unittest.TestCase):
    def test_sizes(self):
        for mode, I, H, L, size in (("lstm", 200, 200, 4, 1286400), ("gru", 200, 200, 4, 964800), ("rnn_tanh", 200, 200, 4, 321600),
                                    ("rnn_relu", 4, 8, 2, 256)):
            with self.subTest(mode=mode):
                self.assertEqual(max(at.stop for at in slices(params_layout(mode, I, H, L, 1))), size)

    def test_every_element_is_in_one_block(self):
        for input_mode, I in (("linear_input", 5), ("linear_input", 0), ("skip_input", 3), ("auto_select", 3), ("auto_select", 4)):
            with self.subTest(input_mode=input_mode, I=I):
                blocks = params_layout("gru", I, 3, 2, 2, input_mode)
                ends = sorted((at.start, at.stop) for at in slices(blocks) if at.stop > at.start)
                self.assertEqual(ends[0][0], 0)
                self.assertTrue(all(before[1] == after[0] for before, after in zip(ends, ends[1:])))

    def test_matrices_come_before_biases_and_layers_in_order(self):
        blocks = params_layout("lstm", 2, 3, 2, 2)
        self.assertEqual([block.W[1] for block in blocks], [(12, 2), (12, 2), (12, 6), (12, 6)])
        self.assertTrue(all(block.W[0].stop == block.R[0].start for block in blocks))
        self.assertEqual(blocks[3].R[0].stop, blocks[0].bW[0].start)
        self.assertEqual([block.bW[0].start for block in blocks], sorted(block.bW[0].start for block in blocks))

    def test_layer_0_of_skip_input_has_no_W(self):
        for input_mode, I, width in (("skip_input", 3, 0), ("auto_select", 3, 0), ("auto_select", 2, 2), ("linear_input", 3, 3)):
            self.assertEqual(params_layout("rnn_relu", I, 3, 1, 1, input_mode)[0].W[1], (3, width), (input_mode, I))

    def test_unknown_words(self):
        with self.assertRaisesRegex(InputError, "rnn_mode: expected one of rnn_relu, rnn_tanh, lstm, gru, got LSTM"):
            params_layout("LSTM", 2, 3, 1, 1)
        with self.assertRaisesRegex(InputError, "input_mode: expected linear_input, skip_input or auto_select, got skip"):
            params_layout("lstm", 2, 3, 1, 1, "skip")


if __name__ == "__main__":
    unittest.main()
