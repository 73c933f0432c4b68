# SPDX-License-Identifier: Apache-2.0
"""Help, and everything that can be wrong with a command line: exit code 2, or 3 for an implementation."""

import re
import unittest

from command import C_PLUGINS, CELL, PLUGINS, VERSION, CommandTest

BLOCK = "block_lstm_grad_v2 t5b3i4h2 peep=1 dt=f32 data=strat:0x1"
CUDNN = "cudnn_rnn_backprop t3b3i5h4 mode=gru dt=f64 data=strat:0x1"

# case line, the word that the message names
BROKEN_LINES = [
    ("", "empty"),
    ("lstm_block_cell", "lstm_block_cell:"),
    ("cudnn_rnn t3b3i5h4 dt=f32 data=strat:0x1", "cudnn_rnn:"),
    ("lstm_block_cell_grad", "dims"),
    ("lstm_block_cell_grad b3i5h7", "dt: missing"),
    ("lstm_block_cell_grad b3i5h7 dt=f32", "data: missing"),
    ("lstm_block_cell_grad t2b3i5h7 dt=f32 data=strat:0x1", "t2b3i5h7"),
    ("block_lstm_grad_v2 b3i5h7 dt=f32 data=strat:0x1", "b3i5h7"),
    ("lstm_block_cell_grad b3i5h0 dt=f32 data=strat:0x1", "b3i5h0"),
    ("lstm_block_cell_grad b3i5h-7 dt=f32 data=strat:0x1", "b3i5h-7"),
    ("lstm_block_cell_grad b3i5h99999999999 dt=f32 data=strat:0x1", "b3i5h99999999999"),
    ("cudnn_rnn_backprop t0b3i5h4 dt=f32 data=strat:0x1", "t0b3i5h4"),
    (CELL + " peep=1", "given twice"),
    (CELL.replace("peep=1", "peep=2"), "peep=2"),
    (CELL.replace("peep=1", "peep"), "peep=<value>"),
    (CELL + " clip=nan", "clip=nan"),
    (CELL + " order=ifco", "order=ifco"),
    (BLOCK + " order=icfo", "order=icfo"),
    (CELL + " seq=1", "seq=1"),
    (BLOCK + " seq=6", "seq=6"),
    (BLOCK + " seq=-1", "seq=-1"),
    (CELL + " mode=lstm", "mode=lstm"),
    (CUDNN + " dir=both", "dir=both"),
    (CUDNN + " layers=0", "layers=0"),
    (CUDNN + " drop=1.5", "drop=1.5"),
    (CUDNN + " in=skip", "in=skip"),
    (CUDNN.replace("mode=gru", "mode=rnn"), "mode=rnn"),
    (CELL.replace("dt=f32", "dt=f64"), "dt=f64"),
    (CELL.replace("dt=f32", "dt=bf16"), "dt=bf16"),
    (CELL.replace("data=strat:0x9e37", "data=strat"), "data=strat"),
    (CELL.replace("data=strat:0x9e37", "data=random:0x1"), "data=random:0x1"),
    (CELL.replace("data=strat:0x9e37", "data=golden:../x"), "data=golden:../x"),
    (CELL + " chk=zzzz", "chk=zzzz"),
    (CELL + " color=red", "color=red"),
    ("x" * 5000, "5000 characters"),
]

# arguments, the word that the message names
BROKEN_ARGUMENTS = [
    (["bogus"], "bogus: not a subcommand\nSubcommands: verify, repro, "),
    (["verfy", "--impl=cpu"], "verfy: not a subcommand; did you mean verify?"),
    (["--bogus"], "--bogus: not an option of `backgauge`"),
    (["verify", "--bogus"], "--bogus: not an option of `backgauge verify`\nSee `backgauge verify --help`"),
    (["verify", "--implementation=cpu"], "; did you mean --impl?"),
    (["list", "--case"], "; did you mean --cases?"),
    (["repro"], "missing argument: case: the case line, in quotes"),
    (["merge"], "missing argument: parts: folders written by verify --out"),
    (["verify", "extra"], "extra: unexpected argument of `backgauge verify`"),
    (["verify", "--ops=lstm"], '"lstm"'),
    (["verify", "--ops=cudnn_rnn"], '"cudnn_rnn"'),
    (["verify", "--ops=lstm_block_cell_grad,"], '""'),
    (["verify", "--ops"], "--ops"),
    (["verify", "--tier=nightly"], "nightly"),
    (["verify", "--seed=-1"], "-1"),
    (["verify", "--seed=one"], "one"),
    (["verify", "--seed=99999999999999999999"], "99999999999999999999"),
    (["verify", "--jobs=0"], "--jobs"),
    (["verify", "--threads=1025"], "--threads"),
    (["verify", "--fail-fast=-2"], "-2"),
    (["verify", "--fail-fast=", "--case", CELL], "--fail-fast=: expected a value"),
    (["verify", "--timeout=", "--case", CELL], "--timeout=: expected a value"),
    (["repro", CELL, "--add-regression="], "--add-regression=: expected a value"),
    (["list", "--cases", "--tier="], "--tier=: expected a value"),
    (["verify", "--out=/dev/null/x", "--case", CELL], "/dev/null/x"),
    (["verify", "--shard=3"], "--shard=3"),
    (["verify", "--shard=0/3"], "--shard=0/3"),
    (["verify", "--shard=4/3"], "--shard=4/3"),
    (["verify", "--shard=1/3/5"], "--shard=1/3/5"),
    (["verify", "--shard=1/"], "--shard=1/"),
    (["verify", "--resume"], "--out"),
    (["verify", "--max-time=90"], "--max-time=90"),
    (["verify", "--max-time=0s"], "--max-time=0s"),
    (["verify", "--max-time=-1m"], "--max-time=-1m"),
    (["verify", "--max-time=s"], "--max-time=s"),
    (["verify", "--max-time=1.5h"], "--max-time=1.5h"),
    (["merge", "--out=/nowhere"], "parts"),
    (["merge", "/nowhere"], "--out"),
    (["merge", "/nowhere", "--out=/nowhere"], "/nowhere"),
    (["repro"], "case"),
    (["repro", CELL, CELL], CELL),
    (["list", "--format=xml"], "xml"),
    (["list", "--ops=x"], '"x"'),
    (["list", "--cases", "--tier=x"], "--tier=x"),
    (["list", "--cases", "--seed=-1"], "-1"),
    (["oracle"], "--case, --inputs"),
    (["oracle", "--case", CELL], "--dir"),
    (["oracle", "--case", CELL, "--dir=/dev/null/x"], "/dev/null/x"),
    (["oracle", "--case", CELL + " chk=0000", "--dir=/dev/null/x"], "chk=0000"),
    (["oracle", "--case", CELL, "--inputs=/nowhere", "--dir=/dev/null/x"], "--case, --inputs"),
    (["oracle", "--inputs=/nowhere"], "--dir"),
    (["oracle", "--inputs=/nowhere", "--dir=/dev/null/x"], "--op"),
    (["oracle", "--inputs=/nowhere", "--op=LSTM", "--dir=/dev/null/x"], "/nowhere"),
    (["judge"], "--dir, --cases"),
    (["judge", "--dir=/nowhere", "--cases=/nowhere"], "--dir, --cases"),
    (["judge", "--cases=/nowhere"], "--cases=/nowhere"),
    (["judge", "--cases=/proc/self/fd"], "has a case.json"),
    (["judge", "--cases=/nowhere", "--junit=/nowhere/x"], "--junit"),
    (["judge", "--dir=/nowhere"], "--outputs"),
    (["judge", "--dir=/nowhere", "--outputs=/nowhere"], "/nowhere"),
    (["judge", "--dir=/nowhere", "--outputs=/nowhere", "--accuracy-class=C"], "--accuracy-class=C"),
    (["judge", "--dir=/nowhere", "--outputs=/nowhere", "--accuracy-class=f16:B,f8:B"], "f16:WORD,bf16:WORD"),
    (["judge", "--dir=/nowhere", "--outputs=/nowhere", "--numerical-contract=fp8"], "--numerical-contract=fp8"),
]


# Invalid values of options that the help shows as INT, UINT, SIZE or FLOAT.
NO_NUMBERS = ("nan", "-nan", "inf", "-1", "1e999", "99999999999999999999999", "x", "1x")
NUMBER = re.compile(r"^ +(?:-\w,)?(--[a-z-]+) (?:U?INT|FLOAT)\b(?:.*Needs: (--[a-z-]+))?", re.MULTILINE)


class Numbers(CommandTest):
    def test_no_option_of_any_subcommand_accepts_them(self):
        seen = set()
        for subcommand in re.findall(r"^  (\w+) {2,}", self.expect(0, "--help").stdout, re.MULTILINE):
            for option, needed in NUMBER.findall(self.expect(0, subcommand, "--help").stdout):
                seen.add((subcommand, option))
                for text in NO_NUMBERS:
                    with self.subTest(subcommand=subcommand, option=option, text=text):
                        self.expect_complaint(2, option, subcommand, *filter(None, [needed]), f"{option}={text}")
        self.assertLessEqual({("verify", "--threads"), ("self", "--seeds"), ("bench", "--min-time"),
                              ("repro", "--memory-limit")}, seen)


class Help(CommandTest):
    def test_every_subcommand_explains_itself(self):
        subcommands = ["verify", "merge", "repro", "list", "oracle", "judge"]
        overview = self.expect(0, "--help").stdout
        for subcommand in subcommands:
            self.assertIn(subcommand, overview)
            help_text = self.expect(0, subcommand, "--help").stdout
            self.assertIn("Usage:", help_text)
            self.assertEqual(self.expect(0, subcommand, "-h").stdout, help_text)

    def test_defaults_are_in_the_help(self):
        help_text = self.expect(0, "verify", "--help").stdout
        for default in ("=cpu", "=ci", "=1"):
            self.assertIn(default, help_text)

    def test_a_bare_option_is_not_shown_as_the_default(self):
        help_text = self.expect(0, "verify", "--help").stdout
        self.assertIn("--fail-fast UINT  ", help_text)
        self.assertIn("default: never stop", help_text)

    def test_what_prints_verdicts_explains_them_and_the_exit_codes(self):
        for subcommand in ("verify", "repro", "merge", "bench", "self"):
            help_text = self.expect(0, subcommand, "--help").stdout
            self.assertIn("Exit codes: 0 ", help_text, subcommand)
        for subcommand in ("verify", "repro", "merge", "judge"):
            self.assertIn("MISTRUSTED: the allowed error", self.expect(0, subcommand, "--help").stdout, subcommand)

    def test_all_contracts_are_in_the_help(self):
        for subcommand in ("judge", "list"):
            help_text = self.expect(0, subcommand, "--help").stdout
            for contract in ("fp32_strict", "fp32_9xbf16", "fp32_6xbf16", "fp32_3xtf32", "fp32_3xbf16", "fp32_tf32", "fp16_acc32", "bf16_acc32"):
                self.assertIn(contract, help_text)

    def test_version(self):
        self.assertRegex(self.expect(0, "--version").stdout,
                         rf"\Abackgauge {re.escape(VERSION)}\ncommit \w+(-dirty)?, (gcc|clang) [0-9].*\nwith plain, cpu, .*\n\Z")

    def test_nothing_to_do(self):
        done = self.expect_complaint(2, "expected a subcommand")
        self.assertIn("verify", done.stderr)


class WrongUsage(CommandTest):
    def test_arguments(self):
        for arguments, word in BROKEN_ARGUMENTS:
            with self.subTest(arguments=arguments):
                self.expect_complaint(2, word, *arguments)

    def test_case_lines(self):
        for line, word in BROKEN_LINES:
            for arguments in (["repro", line], ["verify", "--case", line],
                              ["oracle", "--case", line, "--dir", self.folder / "x"]):
                with self.subTest(arguments=arguments[0], line=line):
                    self.expect_complaint(2, word, *arguments)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_settings_from_the_environment(self):
        for name, value in [("TIER", "x"), ("OPS", "x"), ("SEED", "x"), ("JOBS", "0"), ("THREADS", "0")]:
            with self.subTest(name=name):
                self.expect_complaint(2, value, "verify", environment={"BACKGAUGE_" + name: value})
        self.expect_complaint(3, "nobody", "repro", CELL, environment={"BACKGAUGE_IMPL": "nobody"})
        with self.subTest("a flag wins over the environment"):
            self.expect(0, "repro", CELL, "--impl=plain", environment={"BACKGAUGE_IMPL": "nobody"})


class Unloadable(CommandTest):
    def test_every_way_not_to_be_an_implementation(self):
        text = self.folder / "text.so"
        text.write_text("no library\n" * 1000)
        empty = self.folder / "empty.so"
        empty.touch()
        for implementation, word in [
                ("nobody", "plain cpu eigen"),
                ("libabsent.so", "no such file"),
                (self.folder / "absent.so", "no such file"),
                (self.folder, "not a shared library"),
                (text, "not a shared library"),
                (empty, "not a shared library"),
                (PLUGINS / "no_entry.so", "no symbol backgauge_entry"),
                (PLUGINS / "null_table.so", "returned NULL"),
                (PLUGINS / "wrong_abi.so", "abi: expected 2, got 3: compile it again"),
                (PLUGINS / "wrong_table.so", "run: expected a function"),
        ]:
            for arguments in (["verify", "--tier=smoke"], ["repro", CELL], ["list"]):
                with self.subTest(implementation=str(implementation), subcommand=arguments[0]):
                    done = self.expect_complaint(3, word, *arguments, f"--impl={implementation}")
                    self.assertIn(str(implementation), done.stderr)

    def test_path_without_a_slash_is_of_this_folder(self):
        self.expect(0, "repro", CELL, "--impl=plugin_in_c.so", cwd=C_PLUGINS)


if __name__ == "__main__":
    unittest.main()
