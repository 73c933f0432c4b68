# SPDX-License-Identifier: Apache-2.0
"""Tests the results of ci/wheel --arm64 under an emulator: the tarball, and the wheel for Python 3.11 with Debian's Python. Of the wheel
for newer Pythons, which Debian 12 does not have, it checks only the files.

    arm64_wheel_check.py build/wheels-arm64 build/arm64-root      with a Python that has pip
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from wheel_check import CELL, KERNEL, check_binaries, check_size, only

# A processor of the first version of the architecture, without SVE or atomic operations: a wheel must run on it.
OLDEST = "cortex-a57"
PROGRAM = '''
import backgauge, kernel
case = next(iter(backgauge.cases("LSTMBlockCellGrad", tier="smoke", dtypes=["f32"])))
want, allowed = backgauge.oracle("LSTMBlockCellGrad", case.inputs, **case.attributes)
read = ("cs_prev", "wci", "wcf", "wco", "i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad")
outputs = dict(zip(want, kernel.cell(*(case.inputs[name] for name in read), **case.attributes), strict=True))
backgauge.assert_conforms("LSTMBlockCellGrad", case.inputs, outputs, **case.attributes)
outputs["dicfo"] = outputs["dicfo"] * 1.001
try:
    backgauge.assert_conforms("LSTMBlockCellGrad", case.inputs, outputs, **case.attributes)
except AssertionError as error:
    print("caught:", str(error).splitlines()[0])
'''


def run(*words, **options):
    """The output, with stderr."""
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        raise SystemExit(f"arm64_wheel_check: {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(text, *words, **options):
    output = run(*words, **options)
    if text not in output:
        raise SystemExit(f"arm64_wheel_check: {' '.join(map(str, words))}: expected {text!r}\n{output}")
    return output


def check_tarball(tarball, emulator):
    with tempfile.TemporaryDirectory() as folder:
        run("tar", "xf", tarball, "-C", folder)
        check_binaries(pathlib.Path(folder), "AArch64")
        program, = pathlib.Path(folder).glob("backgauge-*/bin/backgauge")
        output = expect(" 0 failed, 0 mistrusted", *emulator, "-cpu", OLDEST, program, "verify", "--impl=cpu", "--tier=smoke",
                        "--ops=LSTMBlockCellGrad", cwd=folder)
    print(f"{tarball.name}: {tarball.stat().st_size / 1e6:.1f} MB; {OLDEST}: {output.splitlines()[-1]}")


def check_files(wheel):
    check_size(wheel)
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "zipfile", "-e", wheel, folder)
        check_binaries(pathlib.Path(folder), "AArch64")


def install(wheel, folder):
    """As pip does on a machine for aarch64 with the glibc that the name of the wheel states; NumPy for it too."""
    newest = int(wheel.name.split("manylinux_2_")[1].split("_")[0])
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in range(17, newest + 1)]
    run(sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install", f"--target={folder}", "--only-binary=:all:",
        "--python-version=3.11", "--implementation=cp", "--abi=cp311", *platforms, wheel)


def check_wheel(wheel, emulator, root):
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder, "site")
        install(wheel, site)
        program = site / "backgauge/bin/backgauge"
        version = run(*emulator, program, "--version", cwd=folder).splitlines()[0]
        expect("PASSED", *emulator, program, "repro", CELL, "--impl=cpu", cwd=folder)
        pathlib.Path(folder, "kernel.py").write_text(KERNEL.read_text())
        environment = {**os.environ, "PYTHONPATH": f"{site}:{folder}", "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        output = expect("caught:", *emulator, root / "usr/bin/python3.11", "-c", PROGRAM, cwd=folder, env=environment)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; {version}; a kernel in Debian's Python 3.11 conforms, a wrong one is "
          f"{output.strip()}")


def main():
    folder, root = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    emulator = ("qemu-aarch64-static", "-L", root)
    for wheel in folder.glob("*.whl"):
        check_files(wheel)
    check_tarball(only(folder, "backgauge-*-linux-aarch64-*.tar.gz"), emulator)
    check_wheel(only(folder, "*-cp311-cp311-manylinux*_aarch64.whl"), emulator, root)
    if (why := folder / "no-newer-python").exists():
        print(f"SKIPPED: the wheel for Python 3.12 and newer: {why.read_text().strip()}")
    else:
        newer = only(folder, "*-cp312-abi3-manylinux*_aarch64.whl")
        print(f"SKIPPED: {newer.name}: {newer.stat().st_size / 1e6:.1f} MB; nothing of it was run: Debian 12 has no such Python for aarch64")


if __name__ == "__main__":
    main()
