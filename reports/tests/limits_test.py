# SPDX-License-Identifier: Apache-2.0
"""Files of others that are legal, and too large, too deep or not writable again."""

import json
import pathlib
import tempfile
import time
import unittest

from backgauge import reading
from backgauge.errors import CommandError


class LimitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "file"

    def refused(self, text, word):
        with self.assertRaises(ValueError) as caught:
            reading.parse_object(text)
        self.assertIn(word, str(caught.exception))

    def refused_as_toml(self, text, word):
        self.file.write_text(text)
        begin = time.monotonic()
        with self.assertRaises(CommandError) as caught:
            reading.read_toml(self.file)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertRegex(str(caught.exception), rf"^{self.file}: [^\n]*{word}[^\n]*$")

    def test_json_of_limited_depth(self):
        for depth in (65, 500, 100_000):
            self.refused('{"a":' * depth + "1" + "}" * depth, "nested more than 64 deep")
            self.refused('{"a": ' + "[" * depth, "nested more than 64 deep")
        self.assertEqual(len(reading.parse_object('{"a": ' + "[" * 63 + "]" * 63 + ', "b": "' + "[" * 99 + '\\"]"}')), 2)

    def test_json_with_many_brackets_that_is_not_deep(self):
        value = {"rows": [{"a": [1, 2]} for _ in range(100)]}
        self.assertEqual(reading.parse_object(json.dumps(value)), value)

    def test_text_that_no_file_or_database_can_hold(self):
        for text in ('{"a": "\\ud800"}', '{"\\udfff": 1}', '{"a": [{"b": "x\\u0000"}]}'):
            self.refused(text, "expected text of Unicode characters without NUL")
        self.assertEqual(reading.parse_object('{"a": "\\ud83d\\ude00 \\\\u0000"}')["a"], "\U0001f600 \\u0000")

    def test_files_of_limited_size(self):
        self.file.write_text("12345")
        self.assertEqual(reading.read_text(self.file, 5), "12345")
        with self.assertRaisesRegex(CommandError, "expected at most 4 bytes, got more"):
            reading.read_text(self.file, 4)
        with self.assertRaisesRegex(CommandError, "/dev/zero: expected at most 1000 bytes, got more"):
            reading.read_text("/dev/zero", 1000)

    def test_toml_that_takes_minutes_or_the_stack(self):
        self.refused_as_toml("a." * 32_000 + "b = 1", "a key of more than 64 parts")
        self.refused_as_toml('"a b" . ' * 8_000 + "b = 1", "a key of more than 64 parts")
        self.refused_as_toml("a = " + "[" * 60_000, "nested too deeply")
        self.refused_as_toml("a = '" + "x" * 60_000, "not TOML")
        self.refused_as_toml("a = " + "9" * 5_000, "not TOML")
        self.refused_as_toml("# " + "x" * reading.LONGEST_TOML, "expected at most 65536 bytes")
        self.file.write_text("# " + ". " * 100 + "\n[time]\nalpha = 0.01\n")
        self.assertEqual(reading.read_toml(self.file), {"time": {"alpha": 0.01}})


if __name__ == "__main__":
    unittest.main()
