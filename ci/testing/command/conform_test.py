# SPDX-License-Identifier: Apache-2.0
"""backgauge conform: packages, certificates, and what finds them edited."""

import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

from command import C_PLUGINS, COMMAND, SANITIZED, CommandTest, run

PYTHON = os.environ["BACKGAUGE_TEST_PYTHON"]
SCOPE = ["--ops=LSTMBlockCellGrad", "--dtypes=f32"]
LIST = "lstm_block_cell_grad_f32.txt"
EDITS = 200
CERTIFICATE = ("certificate.html", "badge.svg")


def write_sums(package):
    """What a forger does who edits a file: sha256sum over all files again."""
    files = sorted(path for path in package.rglob("*") if path.is_file() and not path.name.startswith("SHA256SUMS"))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(package)}\n" for path in files]
    (package / "SHA256SUMS").write_text("".join(lines))


class Package(CommandTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.package = pathlib.Path(folder.name) / "package"
        cls.done = run("conform", "--impl=plain", *SCOPE, f"--out={cls.package}")
        cls.description = json.loads((cls.package / "conformance.json").read_text())

    def copy(self):
        shutil.rmtree(self.folder / "copy", ignore_errors=True)
        return pathlib.Path(shutil.copytree(self.package, self.folder / "copy"))

    def refused(self, package, word, *arguments):
        done = self.expect(1, "conform", f"--check={package}", *arguments)
        self.assertIn(": REFUSED, ", done.stdout)
        self.assertIn(word, done.stdout)
        self.assertNotIn("intact", done.stdout)

    def test_a_package_holds_the_proof(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""), self.done.stdout)
        self.assertRegex(self.done.stdout, r"lstm_block_cell_grad f32: (\d+) of \1 passed\n")
        self.assertIn("conforms to backgauge 1.0: LSTMBlockCellGrad f32\n", self.done.stdout)
        names = {str(path.relative_to(self.package)) for path in self.package.rglob("*") if path.is_file()}
        self.assertEqual(names, {"SHA256SUMS", "conformance.json", "records.jsonl", "summary.md", f"mustpass/{LIST}", *CERTIFICATE})
        said = self.description
        self.assertEqual((said["schema"], said["conforms"], said["mustpass"]["version"]), ("backgauge.conformance/1", True, "1.0"))
        self.assertEqual(said["backgauge"]["program"], hashlib.sha256(pathlib.Path(COMMAND).read_bytes()).hexdigest())
        lines = [line for line in (self.package / "mustpass" / LIST).read_text().splitlines() if not line.startswith("#")]
        records = [json.loads(line) for line in (self.package / "records.jsonl").read_text().splitlines()]
        self.assertEqual([record["id"] for record in records], [line.split("  #")[0] for line in lines])
        self.assertEqual({record["status"] for record in records}, {"PASSED"})

    def test_sha256sum_reads_the_checksums(self):
        done = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.package, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_check_and_sample(self):
        done = self.expect(0, "conform", f"--check={self.package}")
        self.assertIn("intact; plain", done.stdout)
        self.assertIn("not signed", done.stdout)
        done = self.expect(0, "conform", f"--check={self.package}", "--impl=plain", "--sample=20", "--sample-seed=7")
        self.assertIn("judged again: 20 of ", done.stdout)
        self.refused(self.package, "and the package is of plain", "--impl=cpu")

    def test_every_edited_byte_is_found(self):
        """Must be found wherever it is: a file is drawn by its size, then a byte, then another value."""
        draws = random.Random(19)
        package = self.copy()
        files = sorted(path for path in package.rglob("*") if path.is_file())
        sizes = [path.stat().st_size for path in files]
        # Each file at least twice: most bytes are those of the records.
        chosen = 2 * files + draws.choices(files, sizes, k=EDITS - 2 * len(files))
        self.assertEqual(len(chosen), EDITS)
        for path in chosen:
            before = path.read_bytes()
            place, bits = draws.randrange(len(before)), draws.randrange(1, 256)
            path.write_bytes(before[:place] + bytes([before[place] ^ bits]) + before[place + 1:])
            done = run("conform", f"--check={package}")
            self.assertEqual(done.returncode, 1, f"{path.name}: byte {place} ^ {bits}: {done.stdout}{done.stderr}")
            path.write_bytes(before)
        self.expect(0, "conform", f"--check={package}")

    def test_files_that_come_and_go_are_found(self):
        for name in ("more.txt", "mustpass/more.txt", "mustpass/block_lstm_grad_v2_f32.txt", "certificate.pdf"):
            package = self.copy()
            (package / name).write_text("")
            self.refused(package, f"{name}: not listed")
            write_sums(package)
            self.refused(package, f"{name}: not a file of a package")
        for name in ("records.jsonl", "badge.svg", f"mustpass/{LIST}", "SHA256SUMS", "conformance.json"):
            package = self.copy()
            (package / name).unlink()
            self.refused(package, f"{name}: ")

    def test_a_forger_must_invent_records(self):
        """With the checksums written again, what is left are the contradictions between the files."""
        def forged(word, name, change):
            package = self.copy()
            path = package / name
            text = path.read_text()
            self.assertNotEqual(change(text), text, name)
            path.write_text(change(text))
            write_sums(package)
            self.refused(package, word)

        forged("missing: ", "records.jsonl", lambda text: text.split("\n", 1)[1])
        forged("two records of", "records.jsonl", lambda text: text + text.split("\n", 1)[0] + "\n")
        forged('"conforms" is not', "records.jsonl", lambda text: text.replace('"status":"PASSED"', '"status":"FAILED"', 1))
        forged('"conforms" is not', "records.jsonl", lambda text: text.replace('"status":"PASSED"', '"status":"MISTRUSTED"', 1))
        forged('"conforms" is not', "records.jsonl", lambda text: text.replace('"bad":0', '"bad":3', 1))
        forged("another implementation", "records.jsonl", lambda text: text.replace('"name":"plain"', '"name":"mine"', 1))
        forged("not the list of mustpass 1.0", f"mustpass/{LIST}", lambda text: text.rsplit("\n", 2)[0] + "\n")
        forged("certificate.html: says something else", "certificate.html", lambda text: text.replace("plain", "mine"))
        forged('"waivers" is not', "conformance.json", lambda text: text.replace('"waivers": []', '"waivers": [{}]'))
        forged("states no terms", "conformance.json", lambda text: text.replace('"terms"', '"conditions"'))
        forged('"terms": text contradicts the others', "conformance.json", lambda text: text.replace('"accuracy_class": "A"', '"accuracy_class": "B"'))
        forged('"allowances" is not', "conformance.json", lambda text: text.replace('"allowances": ""', '"allowances": "nothing"'))
        forged('"scope" is not', "conformance.json", lambda text: text.replace('"scope": "LSTM', '"scope": "BlockLSTMGradV2 f32, LSTM'))
        forged('"digest" is not', "conformance.json", lambda text: text.replace('"digest": "', '"digest": "0'))
        forged('a duplicate key: "scope"', "conformance.json", lambda text: text.replace('"scope"', '"scope": "BlockLSTMGradV2 f32", "scope"'))
        forged("a duplicate key", "records.jsonl", lambda text: text.replace('"status":', '"status":"PASSED","status":', 1))
        forged("nested more than 64 deep", "conformance.json", lambda text: text.replace('"scope"', f'"x": {"[" * 200_000}{"]" * 200_000}, "scope"'))
        forged("nested more than 64 deep", "records.jsonl", lambda text: "[" * 2_000_000 + text)
        forged('expected "text" and "not_claimed"', "conformance.json", lambda text: re.sub(r'"not_claimed": \[.*?\],\s*', "", text, flags=re.DOTALL))
        forged("--mustpass=9.9", "conformance.json", lambda text: text.replace('"version": "1.0"', '"version": "9.9"'))

    def test_what_somebody_else_says_is_shown_without_escapes(self):
        package = self.copy()
        digests = []  # of the records, before and after
        for name in ("records.jsonl", "conformance.json", "summary.md", *CERTIFICATE):
            path = package / name
            text = path.read_text().replace("plain", "pl\\u001bn" if ".json" in name else "pl\x1bn")
            if name == "records.jsonl":
                digests = [hashlib.sha256(path.read_bytes()).hexdigest(), hashlib.sha256(text.encode()).hexdigest()]
            path.write_text(text.replace(*digests))
        write_sums(package)
        done = run("conform", f"--check={package}")
        self.assertNotIn("\x1b", done.stdout + done.stderr)
        self.assertIn("pl\\x1bn", done.stdout)

    def test_what_is_no_package_is_refused(self):
        self.expect_complaint(2, "no package", "conform", f"--check={self.folder}")
        self.expect_complaint(2, "absent", "conform", f"--check={self.folder / 'absent'}")
        self.expect_complaint(2, "expected a new folder", "conform", "--impl=plain", *SCOPE, f"--out={self.package}")

    def test_certificate_and_badge(self):
        page, badge = ((self.package / name).read_text() for name in CERTIFICATE)
        self.assertIn("conforms to backgauge 1.0</strong>LSTMBlockCellGrad f32", page)
        self.assertIn(self.description["mustpass"]["digest"], page)
        self.assertIn(hashlib.sha256((self.package / "records.jsonl").read_bytes()).hexdigest(), page)
        self.assertNotIn("{{", page + badge)
        root = xml.fromstring(badge)
        self.assertEqual(root.get("aria-label"), "backgauge 1.0: LSTMBlockCellGrad f32")


class ClassB(CommandTest):
    """eigen rounds every result to half."""
    SCOPE = ["--impl=eigen", "--ops=LSTMBlockCellGrad"]

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.package = pathlib.Path(folder.name) / "package"
        cls.done = run("conform", *cls.SCOPE, "--dtypes=f16", f"--out={cls.package}")

    def test_the_first_line_says_so(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""), self.done.stdout)
        self.assertIn("conforms to backgauge 1.0 with accuracy class B: LSTMBlockCellGrad f16\n", self.done.stdout)
        page, badge = ((self.package / name).read_text() for name in CERTIFICATE)
        self.assertIn("<strong>conforms to backgauge 1.0 with accuracy class B</strong>LSTMBlockCellGrad f16", page)
        self.assertIn("conforms to backgauge 1.0 with accuracy class B</title>", page)
        self.assertEqual(xml.fromstring(badge).get("aria-label"), "backgauge 1.0: LSTMBlockCellGrad f16, accuracy class B")
        self.assertTrue((self.package / "summary.md").read_text().splitlines()[0].endswith(" conforms to backgauge 1.0 with accuracy class B"))

    def test_every_file_states_the_terms(self):
        words = "accuracy class B in f16; numerical contract fp32_strict; determinism bitwise"
        for name in ("certificate.html", "summary.md", "conformance.json"):
            self.assertIn(words, (self.package / name).read_text(), name)
        checked = self.expect(0, "conform", f"--check={self.package}", "--impl=eigen", "--sample=2").stdout
        for text in (self.done.stdout, checked):
            self.assertIn(f"terms of lstm_block_cell_grad: {words}\n", text)

    def test_a_class_that_does_not_matter_is_not_named(self):
        self.assertIn("conforms to backgauge 1.0: LSTMBlockCellGrad f32\n", self.expect(0, "conform", *self.SCOPE, "--dtypes=f32").stdout)

    def test_another_class_is_refused(self):
        """Changed by hand wherever it stands, and the checksums written again."""
        package = pathlib.Path(shutil.copytree(self.package, self.folder / "copy"))
        path = package / "conformance.json"
        said = json.loads(path.read_text())
        [terms] = said["terms"]
        terms |= {"accuracy_class": "A", "text": terms["text"].replace("class B", "class A")}
        said |= {"allowances": "", "backgauge": said["backgauge"] | {"program": "0" * 64, "commit": "another"}}
        path.write_text(json.dumps(said))
        write_sums(package)
        # Pages of another build are not made again, but they must say the same.
        done = self.expect(1, "conform", f"--check={package}")
        for page in ("certificate.html", "summary.md", "badge.svg"):
            self.assertIn(f'{page}: does not say "', done.stdout)
            text = (package / page).read_text()
            (package / page).write_text(text.replace(" with accuracy class B", "").replace(", accuracy class B", "").replace("class B", "class A"))
        write_sums(package)
        done = self.expect(0, "conform", f"--check={package}")
        self.assertIn("intact", done.stdout)
        self.assertIn("summary.md, certificate.html, badge.svg were written by another build of backgauge", done.stdout)
        done = self.expect(1, "conform", f"--check={package}", "--impl=eigen")
        self.assertIn("other terms than those of the package: accuracy_class of lstm_block_cell_grad A, here B\n", done.stdout)


class Contract(CommandTest):
    @unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
    def test_every_file_for_people_names_a_looser_contract(self):
        kernel = self.folder / "kernel.py"
        numpy = pathlib.Path(__file__).resolve().parents[3] / "impl" / "numpy" / "lstm_block_cell_grad.py"
        text, count = re.subn(r'@backgauge\.implements\("LSTMBlockCellGrad"', '@backgauge.implements("LSTMBlockCellGrad", numerical_contract="bf16_acc32"',
                              numpy.read_text())
        self.assertEqual(count, 1)
        kernel.write_text(text)
        package = self.folder / "package"
        done = self.expect(0, "conform", f"--impl={kernel}", f"--python={PYTHON}", "--dtypes=f32", f"--out={package}")
        words = "numerical contract bf16_acc32"
        self.assertIn(f"conforms to backgauge 1.0 with {words}: LSTMBlockCellGrad f32\n", done.stdout)
        for name in (*CERTIFICATE, "summary.md", "conformance.json"):
            self.assertIn(words, (package / name).read_text(), name)


class Signed(CommandTest):
    @unittest.skipUnless(shutil.which("ssh-keygen"), "no ssh-keygen")
    def test_signatures(self):
        package, key = self.folder / "package", self.folder / "key"
        self.expect(0, "conform", "--impl=plain", *SCOPE, f"--out={package}")
        for name in ("key", "other"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        signers = self.folder / "signers"
        signers.write_text(f"me@example.org {(self.folder / 'key.pub').read_text()}")
        check = ["conform", f"--check={package}"]
        known = [*check, f"--signers={signers}", "--signer=me@example.org"]
        self.assertIn("SHA256SUMS.sig: missing", self.expect(1, *known).stdout)
        subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "backgauge", "-f", key, package / "SHA256SUMS"], check=True, capture_output=True)
        self.assertIn("signed by me@example.org", self.expect(0, *known).stdout)
        self.assertIn("signed; --signers checks the identity", self.expect(0, *check).stdout)
        self.expect(1, *check, f"--signers={signers}", "--signer=you@example.org")
        signature = package / "SHA256SUMS.sig"
        before, draws = signature.read_bytes(), random.Random(3)
        for _ in range(40):
            place, bits = draws.randrange(len(before)), draws.randrange(1, 256)
            signature.write_bytes(before[:place] + bytes([before[place] ^ bits]) + before[place + 1:])
            self.assertEqual(run(*check).returncode, 1, (place, bits))
        signature.unlink()
        subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "backgauge", "-f", self.folder / "other", package / "SHA256SUMS"],
                       check=True, capture_output=True)
        self.assertIn("ssh-keygen refuses", self.expect(1, *known).stdout)
        signature.write_bytes(before)
        (package / "summary.md").write_text("forged")
        write_sums(package)
        self.assertIn("ssh-keygen refuses", self.expect(1, *check).stdout)
        self.expect_complaint(2, "--signer", *check, f"--signers={signers}")


class NoCertificate(CommandTest):
    def conform(self, code, *arguments):
        package = self.folder / f"package{len(list(self.folder.iterdir()))}"
        done = self.expect(code, "conform", *arguments, f"--out={package}")
        checked = run("conform", f"--check={package}")
        self.assertEqual(checked.returncode, code, checked.stdout)
        there = [(package / name).exists() for name in CERTIFICATE]
        self.assertEqual(there, 2 * [code == 0])
        return done.stdout, package

    def waiver(self, impl, expires):
        path = self.folder / "waivers.toml"
        path.write_text(f"[[waiver]]\ncase = '*'\nimpl = '{impl}'\nreason = 'we know'\nurl = 'https://example.org/7'\nexpires = {expires}\n")
        return f"--waivers={path}"

    def test_a_failed_line(self):
        text, package = self.conform(1, "--impl=saboteur:A2.cell", *SCOPE)
        self.assertIn("does not conform to backgauge 1.0", text)
        self.assertRegex(text, r"FAILED: lstm_block_cell_grad .* value")
        self.assertIn("❌", (package / "summary.md").read_text())

    def test_a_line_that_is_not_claimed(self):
        text, _ = self.conform(5, f"--impl={C_PLUGINS / 'plugin_in_c.so'}", "--ops=LSTMBlockCellGrad", "--dtypes=f16")
        self.assertIn("SKIPPED: ", text)
        done = self.expect(0, "conform", f"--impl={C_PLUGINS / 'plugin_in_c.so'}")  # what it claims
        self.assertIn("conforms to backgauge 1.0: LSTMBlockCellGrad f32\n", done.stdout)

    def test_waivers_are_named(self):
        text, package = self.conform(0, "--impl=saboteur:A2.cell", *SCOPE, self.waiver("A2.cell", "2099-12-31"))
        self.assertIn("conforms, with waivers to backgauge 1.0", text)
        for name in (*CERTIFICATE, "summary.md", "conformance.json"):
            self.assertIn("waive", (package / name).read_text(), name)
        self.assertIn("we know (https://example.org/7), until 2099-12-31", (package / "certificate.html").read_text())
        self.assertTrue((package / "waivers.toml").exists())
        # Hidden from the description, and the checksums written again.
        path = package / "conformance.json"
        said = json.loads(path.read_text())
        path.write_text(json.dumps(said | {"waivers": []}))
        write_sums(package)
        self.assertIn('"waivers" is not what the records say', self.expect(1, "conform", f"--check={package}").stdout)

    def test_an_expired_waiver_waives_nothing(self):
        text, _ = self.conform(1, "--impl=saboteur:A2.cell", *SCOPE, self.waiver("A2.cell", "2020-12-31"))
        self.assertIn("the waiver expired on 2020-12-31", text)

    @unittest.skipIf(SANITIZED, "a sanitizer must be loaded first")
    def test_a_certificate_ends_with_its_waivers(self):
        _, package = self.conform(0, "--impl=saboteur:A2.cell", *SCOPE, self.waiver("A2.cell", "2099-12-31"))
        later = {"LD_PRELOAD": str(C_PLUGINS / "fake_time.so"), "BACKGAUGE_TEST_NOW": "4102444800"}  # 2100-01-01
        self.assertIn("a waiver expired on 2099-12-31", self.expect(1, "conform", f"--check={package}", environment=later).stdout)

    def test_wrong_usage(self):
        self.expect_complaint(2, "--impl: expected", "conform", f"--out={self.folder / 'x'}")
        self.expect_complaint(2, "--mustpass=0.9: expected 1.0", "conform", "--impl=plain", "--mustpass=0.9")
        self.expect_complaint(2, "--dtypes=f8: expected some of", "conform", "--impl=plain", "--dtypes=f8")
        self.expect_complaint(2, "expected one of them", "conform", "--impl=plain", "--out=a", "--check=b")
        self.expect_complaint(2, "claims none", "conform", "--impl=saboteur:A2.cell", "--ops=BlockLSTMGradV2")


if __name__ == "__main__":
    unittest.main()
