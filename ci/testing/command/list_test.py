# SPDX-License-Identifier: Apache-2.0
"""backgauge list: complete, readable by programs, and its case lines are accepted again."""

import json
import pathlib
import unittest

from command import C_PLUGINS, CommandTest

# inputs and outputs, as TensorFlow has them
TENSORS = {
    "lstm_block_cell_grad": ("x cs_prev h_prev w wci wcf wco b i cs f o ci co cs_grad h_grad",
                             "cs_prev_grad dicfo wci_grad wcf_grad wco_grad"),
    "block_lstm_grad_v2": ("seq_len_max x cs_prev h_prev w wci wcf wco b i cs f o ci co h cs_grad h_grad",
                           "x_grad cs_prev_grad h_prev_grad w_grad wci_grad wcf_grad wco_grad b_grad"),
    "cudnn_rnn_backprop": ("input input_h input_c params output output_h output_c output_backprop output_h_backprop "
                           "output_c_backprop reserve_space",
                           "input_backprop input_h_backprop input_c_backprop params_backprop"),
    "cudnn_rnn": ("input input_h input_c params", "output output_h output_c reserve_space"),
}


class Ops(CommandTest):
    def listed(self, *arguments):
        document = json.loads(self.expect(0, "list", "--format=json", *arguments).stdout)
        self.assertEqual(document["schema"], "backgauge.list/1")
        return document

    def test_json_has_every_tensor_and_implementation(self):
        document = self.listed()
        found = {op["op"]: tuple(" ".join(tensor["name"] for tensor in op[role]) for role in ("inputs", "outputs"))
                 for op in document["ops"]}
        self.assertEqual(found, TENSORS)
        self.assertEqual([implementation["name"] for implementation in document["implementations"]][:3],
                         ["plain", "cpu", "eigen"])
        for implementation in document["implementations"][:2]:
            claimed = [claim["op"] for claim in implementation["claims"]]
            self.assertEqual(claimed, ["lstm_block_cell_grad", "block_lstm_grad_v2", "cudnn_rnn_backprop"])

    def test_adapters_are_named_with_their_files(self):
        adapters = {each["name"]: pathlib.Path(each["file"]) for each in self.listed()["adapters"]}
        text = self.expect(0, "list").stdout
        self.assertLessEqual({"torch", "tensorflow", "tensorflow-function", "onednn-primitive"}, set(adapters))
        for name, file in adapters.items():
            self.assertEqual(file.name, f"adapter_{name}.py")
            self.assertTrue(file.exists(), file)
            self.assertIn(f"\n  {name}  {file}\n", text)

    def test_json_tells_what_matters_of_a_tensor(self):
        tensors = {(op["op"], tensor["name"]): tensor
                   for op in self.listed()["ops"] for tensor in op["inputs"] + op["outputs"]}
        block, cell, cudnn = "block_lstm_grad_v2", "lstm_block_cell_grad", "cudnn_rnn_backprop"
        self.assertEqual(tensors[block, "w"]["shape"], "[I + H, 4 * H]")
        self.assertEqual(tensors[block, "seq_len_max"]["dtype"], "i64")
        self.assertEqual(tensors[block, "b"]["read"], "none")
        self.assertEqual(tensors[block, "h"]["read"], "t < seq_len_max - 1")
        self.assertEqual(tensors[block, "cs"]["read"], "t < seq_len_max with peephole, t < seq_len_max - 1 without")
        self.assertEqual(tensors[block, "x_grad"]["nonzero"], "t < seq_len_max")
        self.assertEqual(tensors[cell, "wci_grad"]["nonzero"], "all with peephole, none without")
        self.assertEqual(tensors[cell, "cs_prev_grad"]["may_share_memory_with"], "cs_grad")
        self.assertEqual(tensors[cudnn, "input_c"]["modes"], "lstm")
        self.assertNotIn("modes", tensors[cudnn, "input_h"])

    def test_text_has_the_same(self):
        text = self.expect(0, "list").stdout
        for op, roles in TENSORS.items():
            self.assertIn(op, text)
            for name in " ".join(roles).split():
                self.assertRegex(text, rf"(?m)^    {name} +\[")
        self.assertIn("\n  plain ", text)
        self.assertIn("\n  cpu ", text)
        self.assertRegex(text, r"\n +\d\S* MiB of workspace for f32 t25b64i512h512; doubling a dimension multiplies it: T \d\.\d\d, B ")
        self.assertIn("no workspace for f32 b64i512h512\n", text)
        self.assertNotRegex(text, r"(?m) $")

    def test_ops_have_two_names(self):
        both = [self.listed(f"--ops={names}")["ops"]
                for names in ("BlockLSTMGradV2,lstm_block_cell_grad", "block_lstm_grad_v2,LSTMBlockCellGrad")]
        self.assertEqual([op["op"] for op in both[0]], ["lstm_block_cell_grad", "block_lstm_grad_v2"])
        self.assertEqual(*both)
        for name in ("CudnnRNN", "cudnn_rnn", "blocklstmgradv2"):
            self.expect_complaint(2, f'"{name}"', "list", f"--ops={name}")

    def test_every_property_is_explained(self):
        document, text = self.listed(), self.expect(0, "list").stdout
        names = [each["name"] for each in document["properties"]]
        self.assertLessEqual({"dtypes", "rnn_modes", "accuracy_class", "recomputes_co", "least_H", "dropout_has_state"}, set(names))
        for each in document["properties"]:
            self.assertIn(f"\n  {each['name']:<24}", text)
            self.assertTrue(each["documentation"] and each["ops"], each)
        options = self.expect(0, "judge", "--help").stdout
        for each in document["properties"]:
            option = f"--{each['name'].replace('_', '-')}"
            self.assertEqual(option in options, each["effect"] == "rounding", option)

    def test_every_claim_is_listed(self):
        [cpu] = self.listed("--impl=cpu")["implementations"]
        properties = {each["name"]: each for each in self.listed()["properties"]}
        text = self.expect(0, "list", "--impl=cpu").stdout
        for claim in cpu["claims"]:
            listed = set(claim) - {"op", "not_claimed", "text", "claims", "workspace"}
            self.assertEqual(listed, {name for name, each in properties.items()
                                      if claim["op"] in each["ops"] and each["kind"] not in ("number", "error")})
            for name in listed:
                self.assertIn(f" {name}=", text)
        self.assertLessEqual({"recomputes_co", "changes_reserve_space"}, set().union(*cpu["claims"]))

    def test_choosing(self):
        self.assertEqual([op["op"] for op in self.listed("--ops=cudnn_rnn_backprop")["ops"]],
                         ["cudnn_rnn_backprop", "cudnn_rnn"])
        [implementation] = self.listed(f"--impl={C_PLUGINS / 'plugin_in_c.so'}")["implementations"]
        [claim] = implementation["claims"]
        self.assertEqual((implementation["name"], claim["op"], claim["dtypes"]),
                         ("plugin_in_c", "lstm_block_cell_grad", ["f32"]))


class Cases(CommandTest):
    def test_lines_are_accepted_again_with_their_checksums(self):
        lines = self.expect(0, "list", "--cases", "--tier=smoke").stdout.splitlines()
        self.assertGreater(len(lines), 100)
        self.assertEqual(len(set(lines)), len(lines))
        arguments = [argument for line in lines for argument in ("--case", line)]
        self.expect(0, "verify", f"--out={self.folder}", *arguments)
        records = [json.loads(line) for line in (self.folder / "records.jsonl").read_text().splitlines()]
        self.assertEqual([record["id"] for record in records], lines)

    def test_seed_and_ops_choose(self):
        first = self.expect(0, "list", "--cases", "--tier=smoke", "--ops=lstm_block_cell_grad").stdout
        other = self.expect(0, "list", "--cases", "--tier=smoke", "--ops=lstm_block_cell_grad", "--seed=2").stdout
        self.assertNotEqual(first, other)
        for line in first.splitlines():
            self.assertTrue(line.startswith("lstm_block_cell_grad "), line)


class Suites(CommandTest):
    def test_every_list_of_workloads_is_there(self):
        suites = json.loads(self.expect(0, "list", "--suites", "--format=json").stdout)["suites"]
        rows = [[each["suite"], str(each["workloads"]), each["note"]] for each in suites]
        text = self.expect(0, "list", "--suites").stdout.splitlines()
        self.assertLessEqual(max(map(len, text)), 120)
        self.assertEqual([line.split()[0] for line in text if not line.startswith(" ")], ["suite", *(row[0] for row in rows)])
        shapes = pathlib.Path(__file__).resolve().parents[3] / "properties/cases"
        self.assertEqual([row[0] for row in rows],
                         sorted(file.stem.removeprefix("shapes_").replace("_", "-") for file in shapes.glob("shapes_*.txt")))
        nine = next(row for row in rows if row[0] == "nine")
        self.assertEqual(nine[1], "9")
        self.assertTrue(nine[2].startswith("Nine shapes for comparing BlockLSTMGradV2 with other libraries"), nine)
        self.assertTrue(all(row[2] and int(row[1]) > 0 for row in rows), rows)


if __name__ == "__main__":
    unittest.main()
