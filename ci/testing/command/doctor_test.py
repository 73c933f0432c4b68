# SPDX-License-Identifier: Apache-2.0
"""backgauge doctor: what works on this machine."""

import json
import os
import pathlib
import unittest

from command import VERSION, CommandTest


class Doctor(CommandTest):
    def named(self, section, **options):
        return {each["name"]: each for each in json.loads(self.expect(0, "doctor", "--json", **options).stdout)[section]}

    def test_what_is_built_in_works(self):
        found = self.named("implementations")
        for name in ("plain", "cpu", "eigen", "cuda-on-host"):
            self.assertTrue(found[name]["works"], found[name])
        for each in found.values():
            self.assertTrue(each["works"] or each["reason"], each)

    def test_files_are_where_it_says(self):
        for each in self.named("data").values():
            self.assertTrue(pathlib.Path(each["value"]).exists(), each)

    def test_what_is_missing_has_a_reason(self):
        gone = {"BACKGAUGE_GOLDENS": "/nowhere", "BACKGAUGE_PYTHON": "/bin/false"}
        self.assertIn("/nowhere", self.named("data", environment=gone)["golden vectors"]["reason"])
        for each in self.named("python", environment=gone).values():
            self.assertIn("/bin/false", each["reason"])

    @unittest.skipUnless(os.environ["BACKGAUGE_TEST_PYTHON"],
                         "backgauge was built without the module _backgauge: ci/install-deps --python")
    def test_an_adapter_works_if_its_interpreter_has_its_framework(self):
        home = pathlib.Path(self.folder)
        for name, module in (("here", "numpy"), ("absent", "no_such_framework")):
            (home / name).mkdir()
            (home / name / f"adapter_{name}.py").write_text(
                f"import backgauge\nimport {module}\n\n\n@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'])\n"
                "def cell(cs):\n    return {}\n")
        environment = {"BACKGAUGE_ADAPTERS": str(home), "BACKGAUGE_PYTHON": os.environ["BACKGAUGE_TEST_PYTHON"]}
        found = self.named("adapters", environment=environment)
        self.assertTrue(found["here"]["works"], found["here"])
        self.assertFalse(found["absent"]["works"], found["absent"])
        self.assertIn("No module named 'no_such_framework'", found["absent"]["reason"])

    def test_the_text_has_the_same(self):
        shown = self.expect(0, "doctor").stdout
        self.assertTrue(shown.startswith(f"backgauge {VERSION}, commit "), shown)
        self.assertRegex(shown, r"\n  yes cpu +\S")
        self.assertRegex(shown, r"\n  (yes|no ) report, compare +\S")


if __name__ == "__main__":
    unittest.main()
