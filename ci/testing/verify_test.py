# SPDX-License-Identifier: Apache-2.0
"""backgauge verify and repro: good plug-ins pass, each kind of bad one is caught and described."""

import json
import re
import resource
import signal
import unittest
import xml.etree.ElementTree as xml

from command import C_PLUGINS, CELL, PLAIN, PLUGINS, SANITIZED, CommandTest

# plug-in: what is said of it
MISBEHAVING = {
    "writes_past_output": r"wrote past the end of dicfo \(element (\d+) of \1\)",
    "leaves_output_unwritten": r"wcf_grad\[0\]: never written, want \S+; (\d+) of \1 elements wrong, \1 never written",
    "changes_an_input": r"changed the input h_grad \(element 0 of \d+\)",
}


class GoodPlugins(CommandTest):
    def test_plain_as_a_foreign_plugin_passes(self):
        done = self.expect(0, "verify", f"--impl={PLAIN}", "--tier=smoke", "--strict")
        self.assertRegex(done.stdout, r"summary: \d{3,} passed, 0 failed, 0 mistrusted, 0 skipped, 0 broken")
        for op in ("lstm_block_cell_grad", "block_lstm_grad_v2", "cudnn_rnn_backprop"):
            self.assertRegex(done.stdout, rf"\n  {op} +bitwise +claimed bitwise, 4 cases, 480 runs\n")

    def test_plugin_in_c_passes_what_it_claims(self):
        implementation = C_PLUGINS / "plugin_in_c.so"
        done = self.expect(0, "verify", f"--impl={implementation}", "--ops=lstm_block_cell_grad", f"--out={self.folder}")
        records = [json.loads(line) for line in (self.folder / "records.jsonl").read_text().splitlines()]
        for record in records:
            half = " dt=f16 " in record["id"]
            self.assertEqual(record["status"], "SKIPPED" if half else "PASSED", record)
            if half:
                self.assertEqual(record["reason"], "dtype f16 is not claimed")
        skipped = sum(record["status"] == "SKIPPED" for record in records)
        self.assertGreater(skipped, 50)
        self.assertIn(f"{len(records) - skipped} passed, 0 failed, 0 mistrusted, {skipped} skipped", done.stdout)
        self.assertIn(f"skipped {skipped}: dtype f16 is not claimed", done.stdout)

    def test_nothing_judged_is_no_success_under_strict(self):
        arguments = ["verify", f"--impl={C_PLUGINS / 'plugin_in_c.so'}", "--tier=smoke", "--ops=block_lstm_grad_v2"]
        self.expect(0, *arguments)
        self.expect(5, *arguments, "--strict")


class Misbehaving(CommandTest):
    def test_is_caught_and_described_everywhere(self):
        for plugin, description in MISBEHAVING.items():
            with self.subTest(plugin=plugin):
                out = self.folder / plugin
                implementation = PLUGINS / f"{plugin}.so"
                done = self.expect(1, "verify", f"--impl={implementation}", "--ops=lstm_block_cell_grad",
                                   "--tier=smoke", f"--out={out}")
                self.assertRegex(done.stdout, rf"FAILED lstm_block_cell_grad .*\n  (?:tensor )?{description}\n")
                records = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
                wrong = [record for record in records if record["status"] != "PASSED"]
                self.assertGreater(len(wrong), 100)
                for record in wrong:
                    self.assertEqual(record["status"], "FAILED")
                    self.assertRegex(record["reason"], description)
                suites = xml.parse(out / "junit.xml").getroot()
                failures = suites.findall(".//failure")
                self.assertEqual((len(failures), suites.get("failures")), (len(wrong), str(len(wrong))))
                for failure in failures:
                    self.assertRegex(failure.get("message"), description)
                self.check_printed_repro(done.stdout, implementation)

    def check_printed_repro(self, text, implementation):
        self.assertIn(f"--impl={implementation}\n", text)
        line = text.split("backgauge repro '")[1].split("'")[0]
        self.expect(1, "repro", line, f"--impl={implementation}")

    def test_fail_fast(self):
        arguments = ["verify", f"--impl={PLUGINS / 'changes_an_input.so'}", "--tier=smoke"]
        for option, failures in [("--fail-fast", 1), ("--fail-fast=3", 3)]:
            self.assertIn(f"summary: 0 passed, {failures} failed", self.expect(1, *arguments, option).stdout)

    def test_a_crash_names_the_case(self):
        implementation = C_PLUGINS / "crashing_plugin.so"
        for arguments in (["repro", CELL], ["verify", "--case", CELL]):
            done = self.expect(-signal.SIGABRT, *arguments, f"--impl={implementation}", "--isolate=off")
            self.assertIn(f"backgauge: SIGABRT while judging\n  {CELL}\n", done.stderr)


    def test_a_crash_costs_its_case_only(self):
        done = self.expect(1, "verify", f"--impl={C_PLUGINS / 'crashing_plugin.so'}", "--tier=smoke",
                           "--ops=lstm_block_cell_grad", f"--out={self.folder}")
        records = [json.loads(line) for line in (self.folder / "records.jsonl").read_text().splitlines()]
        broken = [record for record in records if record["status"] == "BROKEN"]
        self.assertGreater(len(broken), 20)
        for record in broken:
            call = ", in malformed call lstm_block_cell_grad " if "data=malformed" in record["id"] else ""
            self.assertTrue(record["reason"].startswith("crash: SIGABRT in run" + call), record["reason"])
            self.assertTrue(record["isolated"])
        self.assertIn(f"on {len(records)} cases", done.stdout)


class OneCase(CommandTest):
    def test_repro_of_a_passing_case(self):
        done = self.expect(0, "repro", CELL)
        self.assertRegex(done.stdout, rf"\A{re.escape(CELL)}\ncpu \d+ (scalar|avx2|avx512|amx|neon) PASSED\n")
        self.assertRegex(done.stdout, r"\n  dicfo +\[3, 28\] +worst error/allowed 0\.\d+ +resolution \S+\n")

    def test_repro_of_a_failing_case(self):
        done = self.expect(1, "repro", CELL, f"--impl={PLUGINS / 'leaves_output_unwritten.so'}")
        self.assertIn("FAILED\n  tensor wcf_grad[0]: never written, want ", done.stdout)
        self.assertRegex(done.stdout, r"\n  wcf_grad +\[7\] .*  7 of 7 wrong\n")

    def test_wrong_checksum_is_not_judged(self):
        for arguments in (["repro", CELL + " chk=0000"], ["verify", "--case", CELL + " chk=0000"]):
            done = self.expect_complaint(2, "chk=0000", *arguments)
            self.assertRegex(done.stderr, "chk=0000: the inputs made here have the checksum [0-9a-f]{4}\n")

    def test_case_repeated(self):
        other = "block_lstm_grad_v2 t5b3i4h2 peep=0 order=ifco seq=4 dt=f16 data=strat:0x1"
        self.expect(0, "verify", "--case", CELL, "--case", other, "--case", CELL, f"--out={self.folder}")
        ids = [json.loads(line)["id"] for line in (self.folder / "records.jsonl").read_text().splitlines()]
        self.assertEqual([line.split(" chk=")[0] for line in ids], [CELL, other, CELL])

    def test_sizes_that_nobody_has(self):
        for size in ("b100000i1h100000", "b2147483647i1h2147483647"):
            line = f"lstm_block_cell_grad {size} dt=f32 data=strat:0x1"
            for arguments in (["repro", line], ["verify", "--case", line],
                              ["oracle", "--case", line, "--dir", self.folder / "x"]):
                self.expect_complaint(2, "GiB of memory, ", *arguments)

    @unittest.skipIf(SANITIZED, "AddressSanitizer itself needs terabytes of addresses")
    def test_out_of_memory(self):
        half_gib = 1 << 29  # the inputs alone are 1.7 GiB
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (half_gib, half_gib))}
        line = "lstm_block_cell_grad b4000i1h4000 dt=f32 data=strat:0x1"
        for arguments in (["repro", line], ["verify", "--case", line]):
            self.expect_complaint(2, "GiB of memory, 512 MiB are available", *arguments, **limit)


class Malformed(CommandTest):
    def test_accepted(self):
        done = self.expect(1, "verify", "--impl=hostile:accepts_malformed_calls", "--tier=smoke",
                           "--ops=lstm_block_cell_grad")
        self.assertIn("data=malformed:0x1\n  malformed call lstm_block_cell_grad f16 peephole=0: x: dimension 0 = -1: "
                      "run accepted a call that must be refused", done.stdout)

    def test_no_such_call(self):
        self.expect_complaint(2, "has 0x", "repro", "lstm_block_cell_grad b1i1h1 dt=f32 data=malformed:0xffffff")
        done = self.expect(0, "repro", "lstm_block_cell_grad b1i1h1 dt=f32 data=malformed:0x2")
        self.assertIn("PASSED", done.stdout)


class Goldens(CommandTest):
    def test_without_goldens(self):
        nowhere = {"BACKGAUGE_GOLDENS": str(self.folder / "nowhere")}
        self.expect_complaint(6, f"BACKGAUGE_GOLDENS={self.folder / 'nowhere'}: no manifest.json there",
                              "verify", "--tier=smoke", environment=nowhere)
        self.expect(0, "verify", "--case", CELL, environment=nowhere)

    def test_broken_manifest(self):
        for text in ("", "{", "[]", '{"cases": [{}]}', '{"cases": 7}'):
            (self.folder / "manifest.json").write_text(text)
            with self.subTest(text=text):
                self.expect_complaint(6, "manifest.json", "verify", "--tier=smoke",
                                      environment={"BACKGAUGE_GOLDENS": str(self.folder)})

    def test_unknown_golden(self):
        self.expect_complaint(2, "data=golden:nobody: no golden of that name",
                              "repro", "lstm_block_cell_grad b1i1h1 dt=f32 data=golden:nobody")


if __name__ == "__main__":
    unittest.main()
