# SPDX-License-Identifier: Apache-2.0
"""backgauge oracle: numpy reads every file, and an evaluation of the equations in numpy agrees with want/."""

import json
import unittest

import equations
import numpy
from command import CELL, CommandTest

CUDNN = "cudnn_rnn_backprop t4b3i5h4 mode={} dir=bi layers=3 in=linear drop=0.5 dt={} data=strat:0x3c51"
LSTM_CASES = [
    CELL,
    CELL.replace("peep=1", "peep=0"),
    CELL.replace("f32", "f16"),
    "lstm_block_cell_grad b0i2h3 peep=1 dt=f32 data=strat:0x5",
    "lstm_block_cell_grad b33i1h17 peep=1 clip=0.5 dt=f32 data=large:0x6",
    "block_lstm_grad_v2 t5b3i17h4 peep=1 clip=0.5 dt=f32 data=strat:0x1f2e",
    "block_lstm_grad_v2 t5b3i17h4 peep=1 seq=3 dt=f16 data=strat:0x1f2e",
    "block_lstm_grad_v2 t6b2i3h5 peep=0 seq=4 dt=f32 data=strat:0x2",
    "block_lstm_grad_v2 t3b2i3h5 peep=1 seq=0 dt=f32 data=strat:0x3",
    "block_lstm_grad_v2 t1b2i0h5 peep=1 dt=f32 data=saturated:0x4",
]
CUDNN_CASES = [CUDNN.format("lstm", "f64"), CUDNN.format("gru", "f32"), CUDNN.format("tanh", "f16"),
               "cudnn_rnn_backprop t2b3i4h4 mode=relu in=skip dt=f32 data=strat:0x7"]


class Oracle(CommandTest):
    def oracle(self, line, name="case"):
        """The folder of the case, its case.json, and {role: {name: array}}."""
        folder = self.folder / name
        done = self.expect(0, "oracle", "--case", line, "--dir", folder)
        document = json.loads((folder / "case.json").read_text())
        arrays = {}
        for entry in document["tensors"]:
            array = numpy.load(folder / entry["file"], allow_pickle=False)
            self.assertEqual((list(array.shape), array.dtype.name), (entry["shape"], entry["dtype"]), entry)
            arrays.setdefault(entry["role"], {})[entry["name"]] = array
        self.assertIn(f"{len(arrays['input'])} inputs, {len(arrays['want'])} outputs", done.stdout)
        return folder, document, arrays

    def test_every_file_is_listed(self):
        for k, line in enumerate(LSTM_CASES + CUDNN_CASES):
            with self.subTest(line=line):
                folder, document, arrays = self.oracle(line, str(k))
                self.assertEqual(document["schema"], "backgauge.case/1")
                self.assertIn(line.split(" data=")[1], document["case"])
                self.assertEqual({str(path.relative_to(folder)) for path in folder.rglob("*.npy")},
                                 {entry["file"] for entry in document["tensors"]})
                self.assertEqual({name: array.shape for name, array in arrays["want"].items()},
                                 {name: array.shape for name, array in arrays["allowed"].items()})
                for allowed in arrays["allowed"].values():
                    self.assertTrue((allowed >= 0).all())

    def test_dropout_masks_are_given(self):
        _, document, arrays = self.oracle(CUDNN.format("gru", "f64"))
        dims = document["dims"]
        self.assertEqual(sorted(arrays["dropout_mask"]), ["dropout_mask_0", "dropout_mask_1"])
        for mask in arrays["dropout_mask"].values():
            self.assertEqual((mask.shape, mask.dtype), ((dims["T"], dims["B"], dims["D"] * dims["H"]), numpy.uint8))
            self.assertEqual(set(mask.ravel()), {0, 1})

    def test_agrees_with_numpy(self):
        # Both round in double or better; 1e-12 is thousands of roundings at the largest element.
        for k, line in enumerate(LSTM_CASES):
            with self.subTest(line=line):
                _, document, arrays = self.oracle(line, str(k))
                inputs = {name: array.astype(numpy.float64) for name, array in arrays["input"].items()}
                got = equations.OPS[document["op"]](inputs, document["attributes"]["use_peephole"])
                self.assertEqual(sorted(got), sorted(arrays["want"]))
                for name, want in arrays["want"].items():
                    self.assertEqual(got[name].shape, want.shape)
                    if want.size > 0:
                        numpy.testing.assert_allclose(got[name], want, rtol=0, atol=1e-12 * abs(want).max(),
                                                      err_msg=name)

    def test_written_again_over_itself(self):
        folder, first, _ = self.oracle(CELL)
        _, second, _ = self.oracle(CELL)
        self.assertEqual(first, second)
        self.expect(0, "judge", "--dir", folder, "--outputs", self.rounded(folder, first))

    def test_profile_writes_nothing(self):
        done = self.expect(0, "oracle", "--case", CELL, "--profile")
        rows = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([row[0] for row in rows[-5:]], ["value", "bound", "variance", "noise", "oracle"])
        for row in rows[-5:]:
            self.assertEqual(len(row), 8, row)
            self.assertGreater(float(row[-1]), 1, row)  # MB

    def rounded(self, folder, document):
        outputs = self.folder / "outputs"
        outputs.mkdir()
        for path in (folder / "want").iterdir():
            numpy.save(outputs / path.name, numpy.load(path).astype(document["dtype"]))
        return outputs


if __name__ == "__main__":
    unittest.main()
