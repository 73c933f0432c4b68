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
    def test_plain_as_a_foreign_plugin_passes(self):  # the other ops: stage install of ci/test
        done = self.expect(0, "verify", f"--impl={PLAIN}", "--tier=smoke", "--strict", "--ops=lstm_block_cell_grad,block_lstm_grad_v2")
        self.assertRegex(done.stdout, r"summary: \d{3,} passed, 0 failed, 0 mistrusted, 0 skipped, 0 broken")
        for op in ("lstm_block_cell_grad", "block_lstm_grad_v2"):
            self.assertRegex(done.stdout, rf"\n  {op} +bitwise +claimed bitwise, 4 cases, 804 runs\n")  # 800, and 4 in another process

    def test_plugin_in_c_passes_what_it_claims(self):
        implementation = C_PLUGINS / "plugin_in_c.so"
        done = self.expect(0, "verify", f"--impl={implementation}", "--tier=smoke", "--ops=lstm_block_cell_grad", f"--out={self.folder}")
        records = [json.loads(line) for line in (self.folder / "records.jsonl").read_text().splitlines()]
        for record in records:
            half = " dt=f16 " in record["id"]
            if half:
                self.assertEqual((record["status"], record["reason"]), ("SKIPPED", "dtype f16 is not claimed"))
            elif record["status"] != "PASSED":
                self.assertEqual(record["status"], "SKIPPED", record)
                self.assertIn(" data=inf:", record["id"])
                self.assertRegex(record["reason"], "^all elements may have any value: ")
        skipped = sum(record["status"] == "SKIPPED" for record in records)
        unclaimed = sum(record.get("reason") == "dtype f16 is not claimed" for record in records)
        self.assertGreater(unclaimed, 50)
        self.assertLess(skipped - unclaimed, 20)  # infinities that decide every element of a small case
        self.assertIn(f"{len(records) - skipped} passed, 0 failed, 0 mistrusted, {skipped} skipped", done.stdout)
        self.assertIn(f"skipped {unclaimed}: dtype f16 is not claimed", done.stdout)

    def test_nothing_judged_is_no_success(self):
        arguments = ["verify", f"--impl={C_PLUGINS / 'plugin_in_c.so'}", "--tier=smoke", "--ops=BlockLSTMGradV2"]
        for strict in ([], ["--strict"]):
            done = self.expect(5, *arguments, *strict)
            self.assertRegex(done.stdout, r"\nskipped \d+: BlockLSTMGradV2 is not claimed\n")
            self.assertIn("nothing was judged", done.stdout)
        block = "block_lstm_grad_v2 t2b1i1h1 dt=f32 data=strat:0x1"
        self.expect(5, "repro", block, arguments[1])
        # A shard may have nothing to judge where the whole run has.
        for k in (1, 2):
            self.expect(0, *arguments, f"--shard={k}/2", f"--out={self.folder / str(k)}")
        self.expect(5, "merge", self.folder / "1", self.folder / "2", f"--out={self.folder / 'all'}")

    def test_what_is_not_claimed_has_no_row(self):
        done = self.expect(0, "verify", f"--impl={C_PLUGINS / 'plugin_in_c.so'}", "--tier=smoke")
        rows = [line.split()[:2] for line in done.stdout.splitlines() if re.match(r"\w+ +f(16|32|64) ", line)]
        self.assertEqual(rows, [["lstm_block_cell_grad", "f32"]])
        for op in ("BlockLSTMGradV2", "CudnnRNNBackprop"):
            self.assertEqual(len(re.findall(rf"\nskipped \d+: {op} is not claimed\n", done.stdout)), 1)
        self.assertRegex(done.stdout, r"\d+ only in skipped cases, 0 in no case; for example, no judged case has \S+=\S+ with \S+=\S+")


class Misbehaving(CommandTest):
    def test_is_caught_and_described_everywhere(self):
        for plugin, description in MISBEHAVING.items():
            with self.subTest(plugin=plugin):
                out = self.folder / plugin
                implementation = PLUGINS / f"{plugin}.so"
                done = self.expect(1, "verify", f"--impl={implementation}", "--ops=lstm_block_cell_grad",
                                   "--tier=smoke", f"--out={out}")
                self.assertRegex(done.stdout,
                                 rf"\nlstm_block_cell_grad .*: \d+ failures, shrunk in .*\n  (?:tensor )?{description}\n")
                records = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
                wrong = [record for record in records if record["status"] != "PASSED"]
                self.assertGreater(len(wrong), 100)
                # Malformed calls aside: what these plug-ins put around the call does not look whether there is a tensor.
                for record in [record for record in wrong if "data=malformed" not in record["id"]]:
                    self.assertEqual(record["status"], "FAILED")
                    self.assertRegex(record["reason"], description)
                suites = xml.parse(out / "junit.xml").getroot()
                tests = [test for test in suites.iter("testcase") if test.find("failure") is not None]
                self.assertEqual(str(len(tests)), suites.get("failures"))
                self.assertEqual(sum(int(test.find("failure").get("message").split(" of ")[0]) for test in tests),
                                 len(wrong))
                for test in [test for test in tests if "malformed" not in test.get("name")]:
                    self.assertRegex(test.find("failure").text, description)
                self.check_printed_repro(done.stdout, implementation)

    def check_printed_repro(self, text, implementation):
        self.assertIn(f"--impl={implementation}\n", text)
        line = text.split("backgauge repro '")[1].split("'")[0]
        self.expect(1, "repro", line, f"--impl={implementation}")

    def test_fail_fast(self):
        cases = [f"--case={CELL.replace('0x9e37', hex(seed))}" for seed in range(1, 9)]
        arguments = ["verify", f"--impl={PLUGINS / 'changes_an_input.so'}", *cases]
        for option, failures in [("--fail-fast", 1), ("--fail-fast=3", 3)]:
            self.assertIn(f"summary: 0 passed, {failures} failed", self.expect(1, *arguments, option).stdout)

    def test_masks_of_a_generator_with_state_need_its_claim(self):
        line = "cudnn_rnn_backprop t5b3i4h5 mode=lstm dir=bi layers=2 in=linear drop=0.5 dt=f32 data=strat:0x1"
        arguments = ["--no-shrink", "--case", line]
        claimed = self.expect(0, "verify", "--impl=hostile:seed_state_claimed", *arguments).stdout
        self.assertIn("1 case judged with the mask of each call: masks depend on earlier calls, as claimed\n", claimed)
        self.assertIn("the mask differs in a second forward with the same seed and seed2",
                      self.expect(1, "verify", "--impl=hostile:seed_state", *arguments).stdout)
        self.assertIn(" dropout_has_state=1\n", self.expect(0, "list", "--impl=hostile:seed_state_claimed").stdout)

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
            where = "concurrent calls" if record["id"].startswith("check: ") else "run" + call
            self.assertTrue(record["reason"].startswith("crash: SIGABRT in " + where), record["reason"])
            self.assertTrue(record["isolated"])
        cases = [record for record in records if not record["id"].startswith("check: ")]
        self.assertIn(f"), {len(cases)} cases", done.stdout)


class FailingRun(CommandTest):
    """The output of a run in which hundreds of cases fail for one reason."""

    # The carried gradient lacks a factor: it is wrong in all steps but the last.
    FAULTY = "--impl=saboteur:A21.block"
    HINT = "hint: all outputs match those of a known error: dcs' lacks f (saboteur:A21.block)\n"

    def test_fits_on_a_screen_and_leads_with_the_reason(self):
        known = "all outputs match those of a known error: dcs' lacks f (saboteur:A21.cell)"
        arguments = ["verify", "--impl=saboteur:A21.cell", "--tier=smoke", "--ops=LSTMBlockCellGrad"]
        done = self.expect(1, *arguments, f"--out={self.folder}")
        lines = done.stdout.splitlines()
        self.assertLessEqual(len(lines), 45, done.stdout)
        self.assertRegex(lines[2], r"^lstm_block_cell_grad \w+ value: \d+ failures, shrunk in \d+ runs, \d+\.\d s$")
        self.assertIn(f"hint: {known}\n", done.stdout)
        self.assertTrue(lines[-1].startswith("summary: "), lines[-1])
        counts = [int(count) for count in re.findall(r"(?m): (\d+) failures?, shrunk", done.stdout)]
        self.assertEqual(counts, sorted(counts, reverse=True))
        records = [json.loads(line) for line in (self.folder / "records.jsonl").read_text().splitlines()]
        failed = [record for record in records if record["status"] == "FAILED"]
        self.assertGreater(len(failed), 50)
        self.assertNotIn(failed[-1]["id"], done.stdout)
        for text in ((self.folder / name).read_text() for name in ("records.jsonl", "shrunk.jsonl", "junit.xml")):
            self.assertIn(known, text)
        verbose = self.expect(1, *arguments, "-v", "--no-shrink").stdout
        for record in records:
            self.assertIn(f" {record['status']} {record['id']}\n", verbose)
        self.assertIn("\njudged cases per setting\n", verbose)

    def test_many_kinds_of_failure_fit_too(self):
        # By name: of a whole tier the determinism of a slow implementation would be measured, too, which takes a minute.
        planned = self.expect(0, "list", "--cases", "--as-planned", "--tier=smoke", "--ops=cudnn_rnn_backprop").stdout.splitlines()
        done = self.expect(1, "verify", "--impl=saboteur:J3.rnn", *(f"--case={line}" for line in planned[:400]), "--no-shrink")
        self.assertLessEqual(len(done.stdout.splitlines()), 45, done.stdout)
        self.assertEqual(done.stdout.count("  repro: "), 4)
        self.assertRegex(done.stdout, r"\n\d+ more kinds? of failure, \d+ cases?: cudnn_rnn_backprop ")

    def test_repro_has_the_hint(self):
        line = "block_lstm_grad_v2 t4b3i5h7 peep=1 order=ifco seq=3 dt=f32 data=strat:0x9e37"
        self.assertIn(self.HINT, self.expect(1, "repro", line, self.FAULTY).stdout)

    def test_a_large_case_has_the_hint_of_its_shrunk_case(self):
        line = "block_lstm_grad_v2 t4b16i24h32 peep=0 order=ifco seq=4 dt=f32 data=strat:0x9e37"
        self.assertNotIn("hint: ", self.expect(1, "repro", line, self.FAULTY).stdout)
        self.assertIn(self.HINT, self.expect(1, "verify", "--case", line, self.FAULTY).stdout)

    def test_repro_shows_the_numbers(self):
        line = "block_lstm_grad_v2 t3b2i2h3 peep=0 order=ifco seq=3 dt=f32 data=strat:0x9e37"
        text = self.expect(1, "repro", line, self.FAULTY, "--show").stdout
        shown = text.split(", the first wrong element\n")[1]
        self.assertRegex(shown, r"^ +want +allowed +got\n")
        [(place, want, allowed, got)] = re.findall(r"(?m)^> (\[\S+\]) +(\S+) +(\S+) +(\S+)$", shown)
        self.assertGreater(abs(float(want) - float(got)), float(allowed))
        for name in ("cs_prev", "w", "i", "f", "cs_grad"):
            self.assertRegex(shown, rf"(?m)^  {name}\[[\d,]+\](?: on)?(?: \S+)+$")
        self.assertIn("\n  wci is never read in this case\n", shown)
        passing = self.expect(0, "repro", line, "--impl=plain", "--show").stdout
        self.assertIn(", the element closest to its limit\n", passing)


class OneCase(CommandTest):
    def test_repro_of_a_passing_case(self):
        done = self.expect(0, "repro", CELL)
        self.assertRegex(done.stdout, rf"\A{re.escape(CELL)}\ncpu \(version \d+ (scalar|avx2|avx512|amx|neon)\): PASSED\n")
        self.assertRegex(done.stdout, r"\n  dicfo +\[3, 28\] +worst error/allowed 0\.\d+ +resolution \S+\n")

    def test_repro_of_a_failing_case(self):
        done = self.expect(1, "repro", CELL, f"--impl={PLUGINS / 'leaves_output_unwritten.so'}")
        self.assertIn("FAILED\n  tensor wcf_grad[0]: never written, want ", done.stdout)
        self.assertRegex(done.stdout, r"\n  wcf_grad +\[7\] +worst error/allowed - +resolution ")
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
        self.assertIn("  malformed call lstm_block_cell_grad f16 peephole=0: x: dimension 0 = -1: "
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
