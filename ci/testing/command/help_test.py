# SPDX-License-Identifier: Apache-2.0
"""backgauge help and backgauge completion: descriptions of the command line for people and shells."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from command import CommandTest


class Help(CommandTest):
    def subcommands(self):
        lines = self.expect(0, "--help").stdout.split("Subcommands:\n")[1].split("\n\n")[0].splitlines()
        names = [line.split()[0] for line in lines if re.match(r"  \w", line)]
        self.assertIn("verify", names)
        return names

    def options(self, subcommand):
        return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", self.expect(0, subcommand, "--help").stdout.split("Options:")[1]))

    def test_a_protocol_of_programs_is_not_listed(self):
        self.assertIn("requests are answered", self.expect(0, "batches", "--help").stdout)
        for listing in (["--help"], ["help", "--man"], ["completion", "bash"], ["completion", "fish"]):
            self.assertNotIn("batches", self.expect(0, *listing).stdout, listing)
        self.assertNotIn("batches", self.expect(2, "batch").stderr)
        self.assertIn("batches: not a subcommand", self.expect(2, "help", "batches").stderr)

    def test_help_prints_what_the_option_prints(self):
        self.assertEqual(self.expect(0, "help").stdout, self.expect(0, "--help").stdout)
        self.assertEqual(self.expect(0, "help", "verify").stdout, self.expect(0, "verify", "--help").stdout)
        self.assertIn("verfy: not a subcommand; did you mean verify?", self.expect(2, "help", "verfy").stderr)
        self.assertIn("--man: takes no subcommand", self.expect(2, "help", "verify", "--man").stderr)

    def test_the_last_lines_are_about_the_subcommand(self):
        self.assertNotIn("SUBCOMMAND --help", self.expect(0, "help", "oracle").stdout)
        self.assertIn("\n\nA case line, such as ", self.expect(0, "help", "oracle").stdout)
        self.assertNotIn("A case line", self.expect(0, "help", "doctor").stdout)
        self.assertTrue(self.expect(0, "help", "report").stdout.endswith("\n`backgauge report --help` shows the options. It needs Python.\n"))

    def test_the_manual_has_every_subcommand_and_option(self):
        page = self.expect(0, "help", "--man").stdout
        for name in self.subcommands():
            self.assertIn(f".SS backgauge {name}\n", page)
        plain = page.replace("\\-", "-")
        for option in self.options("verify") | self.options("bench"):
            self.assertIn(option, plain)
        groff = shutil.which("groff")
        if not groff:
            self.skipTest("groff is not installed, so the page is not formatted")
        done = subprocess.run([groff, "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("BACKGAUGE(1)", done.stdout)


class Completion(CommandTest):
    def complete(self, *words):
        """What bash offers for the last word."""
        script = self.expect(0, "completion", "bash").stdout
        program = (script + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _backgauge_words; '
                   'if [ ${#COMPREPLY[@]} -gt 0 ]; then printf "%s\\n" "${COMPREPLY[@]}"; fi')
        done = subprocess.run(["bash", "-uc", program, "bash", "backgauge", *words], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes_subcommands_options_and_words(self):
        self.assertEqual(self.complete("ver"), ["verify"])
        self.assertEqual(self.complete("help", "mus"), ["museum"])
        self.assertEqual(self.complete("verify", "--ti"), ["--timeout", "--tier"])
        self.assertEqual(self.complete("verify", "--tier", ""), ["smoke", "ci", "full"])
        self.assertEqual(self.complete("verify", "--tier", "=", "sm"), ["smoke"])
        self.assertEqual(self.complete("verify", "--tier", "="), ["smoke", "ci", "full"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("verify", "--impl", "eig"), ["eigen"])
        self.assertEqual(self.complete("verify", "--impl", "./lib"), [])  # bash completes file names
        self.assertEqual(self.complete("repro", "lstm"), [])

    def test_other_shells_accept_their_script(self):
        self.assertIn("expected bash or zsh or fish", self.expect(2, "completion", "tcsh").stderr)
        for shell in ("zsh", "fish"):
            with self.subTest(shell=shell):
                script = self.expect(0, "completion", shell).stdout
                if not shutil.which(shell):
                    self.skipTest(f"{shell} is not installed")
                with tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder) / "completion"
                    path.write_text(script)
                    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    if shell == "fish":
                        offered = subprocess.run([shell, "-c", f"source {path}; complete -C 'backgauge verify --tier '"],
                                                 capture_output=True, text=True)
                        self.assertEqual([line.split("\t")[0] for line in offered.stdout.splitlines()][:3], ["ci", "full", "smoke"])


if __name__ == "__main__":
    unittest.main()
