# SPDX-License-Identifier: Apache-2.0
"""Tests the results of ci/wheel as a user has them: in a new virtual environment, without a compiler, outside of the source tree.

    wheel_check.py build/wheels           all of it
    wheel_check.py WHEEL PYTHON           the checks of a wheel for this machine alone, with PYTHON: half a minute
"""
import os
import pathlib
import subprocess
import sys
import tempfile

LARGEST = 20e6  # bytes
CELL = "lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37"
KERNEL = pathlib.Path(__file__).parents[3] / "impl" / "numpy" / "lstm_block_cell_grad.py"
TESTS = pathlib.Path(__file__).parents[1] / "kernels" / "test_cell.py"
PACKAGE_TEST = pathlib.Path(__file__).parent / "package_test.py"
COMMAND_TESTS = pathlib.Path(__file__).resolve().parents[1] / "command"  # it uses a module of theirs


class Stranger:
    """A folder of one's own and a PATH without compilers."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {"PATH": f"{self.folder}/venv/bin", "HOME": folder, "LANG": "C.UTF-8",
                            **{name: value for name, value in os.environ.items() if name.startswith("PIP_")}}

    def run(self, *words, expected=0, **environment):
        """The output, with stderr."""
        done = subprocess.run([str(word) for word in words], cwd=self.folder, text=True, env={**self.environment, **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != expected:
            raise SystemExit(f"wheel_check: {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}")
        return done.stdout

    def expect(self, text, *words, **options):
        output = self.run(*words, **options)
        if text not in output:
            raise SystemExit(f"wheel_check: {' '.join(map(str, words))}: expected {text!r}\n{output}")


def check_binaries(folder, machine="X86-64"):
    """Programs, libraries and archives, all for this machine. They need no library but those of the C library: others may be
    missing elsewhere, or older."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.open("rb").read(4) in (b"\x7fELF", b"!<ar")]
    if not found:
        raise SystemExit(f"wheel_check: no programs and libraries in {folder}")
    for path in found:
        lines = subprocess.run(["readelf", "-hd", path], capture_output=True, text=True, check=True).stdout.splitlines()
        machines = {line.split()[-1] for line in lines if line.lstrip().startswith("Machine:")}
        if machines != {machine}:
            raise SystemExit(f"wheel_check: {path.name} is for {', '.join(sorted(machines)) or 'no machine'}, expected {machine}")
        needed = [line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line]
        allowed = ("libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "ld-linux", "libbackgauge_")
        if wrong := [name for name in needed if not name.startswith(allowed)]:
            raise SystemExit(f"wheel_check: {path.name} needs {', '.join(wrong)}")


def check_pytest(stranger):
    """Tests of a right and of a wrong kernel, and the functions of the package (kernels/test_cell.py)."""
    (stranger.folder / "test_cell.py").write_text(TESTS.read_text())
    output = stranger.run("venv/bin/python", "-m", "pytest", "-q", "-rf", "--tb=no", "test_cell.py", expected=1)
    failed = {line.split("::")[1].split("[")[0].split()[0] for line in output.splitlines() if line.startswith("FAILED ")}
    if failed != {"test_wrong"}:
        raise SystemExit(f"wheel_check: pytest: expected only test_wrong to fail\n{output}")


PIP = ("venv/bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install")


def package_of(stranger):
    folder, = (stranger.folder / "venv/lib").glob("python*/site-packages/backgauge")
    return folder


def check_install(stranger, wheel, python):
    stranger.run(python, "-m", "venv", "venv")
    stranger.run(*PIP, wheel)
    installed = stranger.run("venv/bin/python", "-m", "pip", "list", "--format=freeze").split()
    others = {line.split("==")[0].lower() for line in installed} - {"backgauge", "numpy", "pip", "setuptools"}
    if others:
        raise SystemExit(f"wheel_check: {wheel.name} brings {', '.join(others)} along")


def check_use(stranger):
    """The command, a kernel, the functions of the package and its plug-in of pytest."""
    stranger.run("venv/bin/python", "-c", "import backgauge, _backgauge")
    stranger.expect(" 0 failed, 0 mistrusted", "venv/bin/backgauge", "verify", "--tier=smoke", "--jobs=2")
    (stranger.folder / "kernel.py").write_text(KERNEL.read_text())
    stranger.expect("PASSED", "venv/bin/backgauge", "repro", CELL, "--impl=kernel.py")
    stranger.expect("PASSED", "venv/bin/backgauge", "repro", CELL, "--impl=cuda-on-host")
    stranger.expect("backgauge[reports]", "venv/bin/backgauge", "report", "run.json", "--out=page", expected=3)
    for option, file in (("--cmake-dir", "backgaugeConfig.cmake"), ("--include-dir", "backgauge.h")):
        place = pathlib.Path(stranger.run("venv/bin/python", "-m", "backgauge", option).strip())
        if not (place / file).is_file():
            raise SystemExit(f"wheel_check: {option}: {place} has no {file}")
    stranger.run(*PIP, "ml_dtypes", "pytest")
    check_pytest(stranger)


def check_size(wheel):
    if wheel.stat().st_size > LARGEST:
        raise SystemExit(f"wheel_check: {wheel.name} has {wheel.stat().st_size} bytes, at most {LARGEST:.0f} are allowed")


def check_wheel(wheel, python):
    check_size(wheel)
    with tempfile.TemporaryDirectory() as folder:
        stranger = Stranger(folder)
        check_install(stranger, wheel, python)
        check_binaries(package_of(stranger))
        check_use(stranger)
        stranger.expect("quick rnn-benchmarks", "venv/bin/backgauge", "bench", "--suite=none", "--impl=cpu", expected=2)
        # What other tests of the command need, this one does not.
        unused = {f"BACKGAUGE_TEST_{name}": "" for name in ("PLUGINS", "C_PLUGINS", "PLAIN", "VERSION", "SANITIZE")}
        stranger.run("venv/bin/python", PACKAGE_TEST, PYTHONPATH=str(COMMAND_TESTS), BACKGAUGE_COMMAND=f"{folder}/venv/bin/backgauge",
                     BACKGAUGE_TEST_GOLDENS=str(package_of(stranger) / "share/backgauge/goldens"), **unused)
        stranger.run(*PIP, f"{wheel}[reports]")
        stranger.run("venv/bin/backgauge", "bench", f"--case={CELL}", "--impl=cpu,plain", "--reps=2", "--out=run.json")
        stranger.run("venv/bin/backgauge", "report", "run.json", "--out=page")
        stranger.expect("cpu", "venv/bin/backgauge", "compare", "run.json", "--base-impl=plain", "--head-impl=cpu")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, works with {python}")


def check_own_wheel(wheel, python):
    with tempfile.TemporaryDirectory() as folder:
        stranger = Stranger(folder)
        check_install(stranger, wheel, python)
        check_use(stranger)
    print(f"{wheel.name}: works with {python}")


def check_tarball(tarball):
    with tempfile.TemporaryDirectory() as folder:
        stranger = Stranger(folder)
        stranger.run("/usr/bin/tar", "xf", tarball, PATH="/usr/bin:/bin")
        program, = stranger.folder.glob("backgauge-*/bin/backgauge")
        check_binaries(program.parents[1])
        stranger.expect(" 0 failed, 0 mistrusted", program, "verify", "--tier=smoke", "--jobs=2")
        stranger.expect("PASSED", program, "repro", CELL, f"--impl={program.parents[1]}/lib/libbackgauge_cpu.so")
        stranger.expect("pip install", program, "report", "run.json", "--out=page", expected=3)
    print(f"{tarball.name}: {tarball.stat().st_size / 1e6:.1f} MB, works")


def only(folder, pattern):
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"wheel_check: {folder}: expected one {pattern}, found {len(found)}")
    return found[0]


def main():
    if len(sys.argv) == 3:
        check_own_wheel(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).absolute())
        return
    folder = pathlib.Path(sys.argv[1]).resolve()
    check_tarball(only(folder, "backgauge-*.tar.gz"))
    check_wheel(only(folder, "*-cp311-cp311-manylinux*.whl"), "/usr/bin/python3")
    # ci/wheel says which newer Python it has built for, or why there is none.
    if (why := folder / "no-newer-python").exists():
        print(f"SKIPPED: the wheel for Python 3.12 and newer: {why.read_text().strip()}")
    else:
        check_wheel(only(folder, "*-cp312-abi3-manylinux*.whl"), (folder / "newer-python").read_text().strip())


if __name__ == "__main__":
    main()
