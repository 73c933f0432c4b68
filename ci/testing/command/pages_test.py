# SPDX-License-Identifier: Apache-2.0
"""The page and the Markdown summary that verify --out and merge write, and their data."""

import html.parser
import json
import pathlib
import tempfile
import unittest

from command import C_PLUGINS, CELL, CommandTest, run

WRONG = ["verify", "--impl=saboteur:A21.block", "--ops=BlockLSTMGradV2", "--tier=smoke", "--fail-fast=40", "--jobs=2"]
EMPTY_TAGS = ("meta", "br", "link", "img")
PAGES = ("summary.json", "index.html", "summary.md")


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in EMPTY_TAGS:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data

    def classes(self):
        return [attributes.get("class", "") for _, attributes in self.found]


class Failed(CommandTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = pathlib.Path(folder.name)
        cls.done = run(*WRONG, f"--out={cls.out}")
        cls.data = json.loads((cls.out / "summary.json").read_text())
        cls.page, cls.markdown = ((cls.out / name).read_text() for name in PAGES[1:])
        cls.elements = Elements(cls.page)

    def test_the_verdict_comes_first(self):
        self.assertEqual(self.done.returncode, 1)
        self.assertEqual((self.data["verdict"]["word"], self.data["verdict"]["exit_code"]), ("FAILED", 1))
        words = self.elements.text.split()
        self.assertEqual(words[:2], ["FAILED:", "A21.block"])  # the title
        self.assertIn("verdict bad", self.elements.classes())
        self.assertTrue(self.markdown.startswith("## ❌ FAILED: A21.block 1\n"), self.markdown[:80])
        for text in (self.elements.text, self.markdown):
            self.assertRegex(text, r"\d+ of \d+ cases failed, in \d+ kinds?; the most common: block_lstm_grad_v2 ")

    def test_kinds_have_example_hint_and_reproducer(self):
        first = self.data["kinds"][0]
        self.assertIn(" data=plain:", first["example"], "not shrunk")
        self.assertIn("dcs' lacks f", first["hint"])
        for text in (self.elements.text, self.markdown):
            for part in (first["example"], first["hint"], first["repro"]):
                self.assertIn(part, text)
        self.assertEqual(first["repro"], f"backgauge repro '{first['example']}' --impl='saboteur:A21.block'")
        self.assertIn(first["shrunk_from"], self.page)

    def test_counts_agree_with_the_records(self):
        records = [json.loads(line) for line in (self.out / "records.jsonl").read_text().splitlines()]
        counts = self.data["counts"]
        for word in ("passed", "failed", "mistrusted", "skipped", "broken"):
            self.assertEqual(counts[word], sum(record["status"] == word.upper() for record in records), word)
        self.assertEqual(counts["planned"], counts["not_run"] + len(records))
        cells = [row[kind] for row in self.data["overview"] for kind in ("golden", "generated", "malformed")]
        self.assertEqual(sum(cell["failed"] for cell in cells), counts["failed"])
        self.assertEqual(sum(cell["passed"] for cell in cells), counts["passed"])
        (profiles,) = self.data["profiles"]
        cells = [cell for row in profiles["rows"] for cell in row["cells"]]
        self.assertEqual(sum(cell["failed"] for cell in cells), counts["failed"])
        (features,) = self.data["features"]
        rows = {row["name"]: dict(zip(features["columns"], row["cells"])) for row in features["rows"]}
        self.assertEqual(sum(rows["f32 peephole on"][f"T {count}"]["failed"] for count in ("1", "2", "3..")),
                         sum(record["status"] == "FAILED" and " peep=1 " in record["id"] and " dt=f32 " in record["id"]
                             and "data=golden" not in record["id"] for record in records))

    def test_the_page_is_whole_and_offline(self):
        self.assertEqual(self.elements.open, [])
        for tag, attributes in self.elements.found:
            self.assertNotIn(tag, ("script", "link", "iframe"))
            self.assertFalse(str(attributes.get("src", "")).startswith("http"))
        self.assertNotIn("{{", self.page + self.markdown)
        self.assertIn("failed", self.elements.classes())

    def test_an_earlier_page_does_not_outlive_its_run(self):
        self.expect(0, "verify", "--case", CELL, f"--out={self.folder}")
        self.assertIn("PASSED", (self.folder / "summary.md").read_text())
        (self.folder / "summary.md").write_text("PASSED")
        self.expect(0, "verify", "--case", CELL, f"--out={self.folder}")
        self.assertNotEqual((self.folder / "summary.md").read_text(), "PASSED")


class Terms(CommandTest):
    """What was claimed stands beside the verdict, in each file of a run. eigen claims the accuracy class B."""
    HALF, FLOAT = (f"lstm_block_cell_grad b3i5h7 peep=1 dt={dtype} data=strat:0x9e37" for dtype in ("f16", "f32"))
    WORDS = "accuracy class B in f16; numerical contract fp32_strict; determinism bitwise"

    def assert_stated(self, folder, printed, words):
        for name in ("run.json", "junit.xml", *PAGES):
            self.assertIn(words, (folder / name).read_text(), name)
        self.assertIn(f"\nterms of lstm_block_cell_grad: {words}", printed)

    def test_every_file_of_a_run_states_them(self):
        out = self.folder / "out"
        done = self.expect(0, "verify", "--impl=eigen", f"--case={self.HALF}", f"--out={out}")
        self.assert_stated(out, done.stdout, self.WORDS)
        [terms] = json.loads((out / "summary.json").read_text())["terms"]
        self.assertEqual((terms["op"], terms["accuracy_class"], terms["recomputes_co"]), ("lstm_block_cell_grad", "B", False))
        [plain] = json.loads(self.expect(0, "list", "--format=json", "--impl=eigen").stdout)["implementations"]
        self.assertLessEqual(terms.items(), plain["claims"][0].items())

    def test_of_merged_parts(self):
        parts = [self.folder / "1", self.folder / "2"]
        for k, part in enumerate(parts, 1):
            self.expect(0, "verify", "--impl=eigen", f"--case={self.HALF}", f"--case={self.FLOAT}", f"--shard={k}/2", f"--out={part}")
        done = self.expect(0, "merge", *parts, f"--out={self.folder / 'out'}")
        self.assert_stated(self.folder / "out", done.stdout, self.WORDS)
        done = self.expect(0, "merge", *(part / "records.jsonl" for part in parts), f"--out={self.folder / 'out'}")
        unknown = "the terms of these verdicts are not known: no part has a run.json"
        self.assertIn(unknown, done.stdout)
        for name in PAGES:
            self.assertIn(unknown, (self.folder / "out" / name).read_text(), name)

    def test_what_is_not_claimed(self):
        out = self.folder / "out"
        done = self.expect(5, "verify", f"--impl={C_PLUGINS / 'plugin_in_c.so'}", f"--case={self.HALF}", f"--out={out}")
        self.assert_stated(out, done.stdout, "numerical contract fp32_strict; determinism bitwise; not claimed: f16")


class Verdicts(CommandTest):
    def word(self, code, *arguments):
        self.expect(code, *arguments, f"--out={self.folder / 'out'}")
        data = json.loads((self.folder / "out" / "summary.json").read_text())
        self.assertEqual(data["verdict"]["exit_code"], code)
        page, markdown = ((self.folder / "out" / name).read_text() for name in PAGES[1:])
        self.assertIn(f"<strong>{data['verdict']['word']}</strong>", page)
        self.assertIn(f" {data['verdict']['word']}: ", markdown.splitlines()[0])
        return data

    def test_of_other_runs(self):
        self.assertEqual(self.word(0, "verify", "--case", CELL)["verdict"]["word"], "PASSED")
        data = self.word(5, "verify", "--case", CELL, "--impl=saboteur:A21.block")
        self.assertEqual((data["verdict"]["word"], len(data["skipped"])), ("INCONCLUSIVE", 1))
        data = self.word(0, "verify", "--tier=full", "--ops=LSTMBlockCellGrad", "--max-time=1s", "--impl=plain")
        self.assertEqual(data["verdict"]["word"], "INCOMPLETE")
        self.assertGreater(data["counts"]["not_run"], 0)
        self.assertRegex(data["verdict"]["text"], r"; \d+ not run")

    def test_a_shard_has_not_passed(self):
        lines = ["--case=block_lstm_grad_v2 t2b3i2h4 peep=1 dt=f32 data=strat:0x1", "--case=" + CELL]
        data = self.word(0, "verify", "--impl=plain", *lines, "--shard=1/2")
        self.assertEqual(data["verdict"]["word"], "INCOMPLETE")
        self.assertIn("1 case passed; this is shard 1/2 of the run", data["verdict"]["text"])

    def test_the_day_stands_above_the_numbers(self):
        data = self.word(0, "verify", "--case", CELL)
        page = (self.folder / "out" / "index.html").read_text()
        self.assertLess(page.index(f"judged {data['run']['finished']} by backgauge"), page.index("<main>"))

    def test_a_tier_has_coverage_and_determinism(self):
        data = self.word(0, "verify", "--tier=smoke", "--ops=LSTMBlockCellGrad", "--impl=plain")
        self.assertRegex(data["coverage"][0]["text"], r"^(\d+) of \1 pairs of settings$")
        self.assertEqual(data["determinism"][0]["measured"], "bitwise")
        self.assertIn("concurrent calls: ", data["behaviour"])
        self.assertEqual({row["state"] for each in data["features"] for line in each["rows"] for row in line["cells"]}, {"passed"})

    def test_a_failed_check_is_a_kind(self):
        data = self.word(1, "verify", "--impl=saboteur:I8.cell", "--tier=smoke", "--ops=LSTMBlockCellGrad", "--no-shrink")
        self.assertTrue([kind for kind in data["kinds"] if kind["example"].startswith("check: ") or kind["cases"] > 0])

    def test_of_merged_parts(self):
        lines = ["--case=block_lstm_grad_v2 t2b3i2h4 peep=1 dt=f32 data=strat:0x1", "--case=" + CELL]
        for k in (1, 2):
            run("verify", "--impl=saboteur:A21.block", *lines, f"--shard={k}/2", f"--out={self.folder / str(k)}")
        data = self.word(1, "merge", self.folder / "1", self.folder / "2")
        self.assertEqual((data["verdict"]["word"], data["counts"]["planned"]), ("FAILED", 2))

    def test_names_cannot_become_markup(self):
        text = "<b>x</b> | ```"
        waivers = self.folder / "waivers.toml"
        waivers.write_text(f"[[waiver]]\ncase = '*'\nimpl = '*'\nreason = '{text}'\nurl = 'u'\nexpires = 2099-01-01\n")
        self.word(5, "verify", "--impl=saboteur:A21.block", "--case=block_lstm_grad_v2 t2b3i2h4 peep=1 dt=f32 data=strat:0x1",
                  "--no-shrink", f"--waivers={waivers}")
        page, markdown = ((self.folder / "out" / name).read_text() for name in PAGES[1:])
        self.assertIn("&lt;b&gt;x&lt;/b&gt;", page)
        self.assertNotIn("<b>x", page + markdown)
        self.assertNotRegex(markdown, r"[^`]```[^`]")
        self.assertEqual(Elements(page).open, [])


if __name__ == "__main__":
    unittest.main()
