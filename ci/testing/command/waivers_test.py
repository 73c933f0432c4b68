# SPDX-License-Identifier: Apache-2.0
"""--waivers: known failures are WAIVED until a date, and never passed."""

import datetime
import json
import unittest
import xml.etree.ElementTree as xml

from command import C_PLUGINS, SANITIZED, CommandTest

WRONG = "--impl=saboteur:A21.block"
LINES = [f"--case=block_lstm_grad_v2 t2b3i2h4 peep=1 dt={dtype} data=strat:0x1" for dtype in ("f32", "f16")]
FINE = "--case=block_lstm_grad_v2 t1b1i1h1 dt=f32 data=malformed:0x3"  # refused, as it must be
TODAY = datetime.datetime.now(datetime.UTC).date()


def day(offset):
    return (TODAY + datetime.timedelta(days=offset)).isoformat()


def waiver(case="*", expires=day(30), impl="A21.block", reason="reported upstream"):
    return f"[[waiver]]\ncase = '{case}'\nimpl = '{impl}'\nreason = '{reason}'\nurl = 'https://example.org/7'\nexpires = {expires}\n"


class Waivers(CommandTest):
    def file(self, *waivers):
        path = self.folder / "waivers.toml"
        path.write_text("\n".join(waivers))
        return f"--waivers={path}"

    def verify(self, code, *waivers, **options):
        given = [self.file(*waivers)] if waivers else []
        return self.expect(code, "verify", WRONG, *LINES, FINE, "--no-shrink", f"--out={self.folder / 'out'}", *given, **options).stdout

    def statuses(self):
        records = [json.loads(line) for line in (self.folder / "out" / "records.jsonl").read_text().splitlines()]
        return [(record["status"], "waived" in record) for record in records]

    def test_a_known_failure_is_waived(self):
        self.assertIn("1 passed, 2 failed, 0 mistrusted", self.verify(1))
        text = self.verify(0, waiver())
        self.assertIn("1 passed, 0 failed, 2 waived, 0 mistrusted", text)
        self.assertIn(f"WAIVED 2 failures until {day(30)}: block_lstm_grad_v2 ", text)
        self.assertIn("reported upstream (https://example.org/7)", text)
        self.assertEqual(self.statuses(), [("FAILED", True), ("FAILED", True), ("PASSED", False)])
        root = xml.parse(self.folder / "out" / "junit.xml").getroot()
        self.assertEqual([root.get(key) for key in ("failures", "errors", "skipped")], ["0", "0", "1"])

    def test_what_it_does_not_cover_fails(self):
        text = self.verify(1, waiver(case="* dt=f32 *"))
        self.assertIn("1 passed, 1 failed, 1 waived", text)
        self.assertIn("1 passed, 2 failed, 0 mistrusted", self.verify(1, waiver(impl="other")))

    def test_an_expired_one_fails(self):
        self.verify(0, waiver(expires=day(1)))
        text = self.verify(1, waiver(expires=day(-1)))
        self.assertIn("1 passed, 2 failed, 0 mistrusted", text)
        self.assertIn(f"waivers.toml:1: the waiver expired on {day(-1)}; 2 failures covered by it: reported upstream", text)

    @unittest.skipIf(SANITIZED, "a sanitizer must be loaded first")
    def test_time_passes(self):
        for now, code in (("2027-03-31T23:59:59", 0), ("2027-04-01T00:00:00", 1)):
            seconds = datetime.datetime.fromisoformat(now + "+00:00").timestamp()
            environment = {"LD_PRELOAD": str(C_PLUGINS / "fake_time.so"), "BACKGAUGE_TEST_NOW": str(int(seconds))}
            self.verify(code, waiver(expires="2027-03-31"), environment=environment)

    def test_an_unused_one_is_reported(self):
        done = self.expect(0, "verify", "--impl=plain", "--tier=smoke", "--ops=LSTMBlockCellGrad", self.file(waiver()))
        self.assertIn("waivers.toml:1: the waiver is not used", done.stdout)

    def test_checks_can_be_waived(self):
        arguments = ["verify", "--impl=saboteur:I8.cell", "--tier=smoke", "--ops=LSTMBlockCellGrad", "--no-shrink"]
        failed = [line for line in self.expect(1, *arguments).stdout.splitlines() if line.startswith("summary:")]
        self.assertEqual(len(failed), 1)
        text = self.expect(0, *arguments, self.file(waiver(impl="I8.cell"))).stdout
        self.assertIn("WAIVED", text)

    def test_merge_takes_its_own(self):
        for k in (1, 2):
            self.expect(0, "verify", WRONG, *LINES, FINE, f"--shard={k}/2", "--no-shrink", f"--out={self.folder / str(k)}", self.file(waiver()))
        parts = [self.folder / "1", self.folder / "2", f"--out={self.folder / 'all'}"]
        self.assertIn("2 failed", self.expect(1, "merge", *parts).stdout)
        self.assertIn("0 failed, 2 waived", self.expect(0, "merge", *parts, self.file(waiver())).stdout)

    def test_nothing_but_waived_is_no_success(self):
        done = self.expect(5, "verify", WRONG, *LINES, "--no-shrink", self.file(waiver()))
        self.assertIn("nothing passed", done.stdout)

    def test_a_wrong_file_is_refused(self):
        for text, word in ((waiver() + "x = 1\n", "x: not a key of a waiver"), ("[waiver", "waivers.toml:1: "),
                           (waiver(expires="'soon'"), "expires: expected a date")):
            self.expect_complaint(2, word, "verify", WRONG, *LINES, self.file(text))
        self.expect_complaint(2, "absent.toml", "verify", WRONG, *LINES, "--waivers=absent.toml")


if __name__ == "__main__":
    unittest.main()
