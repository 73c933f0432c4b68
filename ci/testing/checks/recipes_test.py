# SPDX-License-Identifier: Apache-2.0
"""The recipes for other people's CI: valid for their services, and what their scripts do in a repository of a user.

The tests imitate those rules of the services that the recipes use: which steps run, in which shell, with which variables. A
rule that is not known here is an error."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from ruamel.yaml import YAML

COMMAND = os.environ["BACKGAUGE_COMMAND"]
SOURCES = pathlib.Path(__file__).resolve().parents[3]
RECIPES = SOURCES / "ci/recipes"
TOOLS = pathlib.Path(sys.executable).parent
EVERYTHING = os.environ.get("BACKGAUGE_TEST_RECIPES") == "all"
ONLY_BY_NAME = "the scripts of other services that differ little: BACKGAUGE_TEST_RECIPES=all runs them too"

# The implementation: the example in C. A known error: the slope of the tanh of the new cell state is left out
# (properties/cases/museum.txt has it of several libraries). The slow-down is a tenth of the processor time that the loop has taken, so
# that it is the same share on every machine.
PLUGIN = (SOURCES / "ci/testing/plugins/plugin_in_c.c").read_text()
RIGHT = "(1 - co[k] * co[k]) * h_grad[k] * o[k]"
LOOP = "  for (int64_t j = 0; j < H; ++j) {\n"
END = "    wci_grad[j] = sum_i, wcf_grad[j] = sum_f, wco_grad[j] = sum_o;\n  }\n"
CLOCK = """#define _POSIX_C_SOURCE 199309L
#include <time.h>
static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
"""
LENIENT = '[verify]\nrequired = false\n[time]\nmin_effect = "99%"\nmean_effect = "99%"\n[instructions]\ndecides = "never"\n'
CHANGES = {
    "harmless": PLUGIN.replace("The shortest plug-in", "A short plug-in"),
    "wrong": PLUGIN.replace(RIGHT, "h_grad[k] * o[k]"),
    "slower": CLOCK + PLUGIN.replace(LOOP, "  const long long begin = now();\n" + LOOP).replace(END, END + """
  for (const long long taken = now() - begin; now() - begin < taken + taken / 10;) {}
"""),
}
assert all(PLUGIN.count(each) == 1 for each in ("The shortest plug-in", RIGHT, LOOP, END))
MAKEFILE = f"libmine.so: mine.c\n\tcc -std=c11 -O2 -shared -fPIC -I {SOURCES}/reference/contract mine.c -o libmine.so\n"
IGNORED = "*.so\n/base/\n/backgauge-gate/\n/all/\n/part-*/\n/history/\n/.backgauge/\nrun.*\nchanges.md\n"
WORDS = {"harmless": "PASSED", "wrong": "FAILED", "slower": "SLOWER"}


def read(path):
    return YAML(typ="safe").load((RECIPES / path).read_text())


def git(folder, *arguments):
    done = subprocess.run(["git", "-c", "user.name=somebody", "-c", "user.email=somebody@localhost", *arguments], cwd=folder,
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Valid(unittest.TestCase):
    def expect(self, tool, *arguments):
        if not (TOOLS / tool).exists():
            self.skipTest(f"{tool} is not installed (ci/install-deps --python)")
        done = subprocess.run([TOOLS / tool, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_github(self):
        workflows = sorted(path for path in (RECIPES / "github").glob("*.yml") if path.name != "action.yml")
        self.assertEqual([path.stem for path in workflows], ["gate", "history", "nightly"])
        self.expect("check-jsonschema", "--builtin-schema=vendor.github-workflows", *workflows)
        self.expect("check-jsonschema", "--builtin-schema=vendor.github-actions", RECIPES / "github/action.yml")
        self.expect("actionlint", *workflows)

    def test_gitlab(self):
        self.expect("check-jsonschema", "--builtin-schema=vendor.gitlab-ci", RECIPES / "gitlab/backgauge.gitlab-ci.yml")


class Service(unittest.TestCase):
    """A repository whose main branch is right, a clone of it for the service, and a package index with one package."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        cls.package = cls.root / "backgauge-0-py3-none-any.whl"
        with zipfile.ZipFile(cls.package, "w") as wheel:
            script = zipfile.ZipInfo("backgauge-0.data/scripts/backgauge")
            script.external_attr = 0o100755 << 16  # a regular file that may be executed
            wheel.writestr(script, f'#!/bin/sh\nexec "{COMMAND}" "$@"\n')
            wheel.writestr("backgauge-0.dist-info/METADATA", "Metadata-Version: 2.1\nName: backgauge\nVersion: 0\n")
            wheel.writestr("backgauge-0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr("backgauge-0.dist-info/RECORD", "")
        # `python3 -m venv FOLDER` takes three seconds, so all jobs share one environment.
        shared = cls.root / "shared"
        subprocess.run([sys.executable, "-m", "venv", shared], check=True)
        python = cls.root / "bin/python3"
        python.parent.mkdir()
        python.write_text(f"""#!/bin/sh
[ "$1 $2" != "-m venv" ] || exec ln -sfn "{shared}" "$3"
exec "{sys.executable}" "$@"
""")
        python.chmod(0o755)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.root)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.origin = self.folder / "origin"
        self.origin.mkdir()
        git(self.origin, "init", "-q", "-b", "main")
        files = {"mine.c": PLUGIN, "Makefile": MAKEFILE, ".gitignore": IGNORED, "backgauge.toml": '[verify]\ntier = "smoke"\n'}
        for name, text in files.items():
            (self.origin / name).write_text(text)
        git(self.origin, "add", ".")
        git(self.origin, "commit", "-q", "-m", "start")
        self.base = git(self.origin, "rev-parse", "HEAD")

    def change(self, name):
        """A branch with one change, and with a policy that would let it pass; the id of its commit."""
        git(self.origin, "checkout", "-q", "-b", name)
        (self.origin / "backgauge.toml").write_text(LENIENT)
        (self.origin / "mine.c").write_text(CHANGES[name])
        git(self.origin, "commit", "-q", "-a", "-m", name)
        head = git(self.origin, "rev-parse", "HEAD")
        git(self.origin, "checkout", "-q", "--detach")
        return head

    def shell(self, words, script, folder, variables):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("BACKGAUGE_", "CI_", "GITHUB_"))}
        # The interpreter of the tests has the libraries of the package.
        environment |= {"BACKGAUGE_PYTHON": sys.executable, "BACKGAUGE_OPS": "LSTMBlockCellGrad",
                        "PATH": f"{self.root}/bin:{environment['PATH']}"}
        return subprocess.run([*words, script], cwd=folder, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL,
                              env={**environment, **variables})

    def expect(self, change, status, summary, shown):
        self.assertEqual(status == 0, change == "harmless", shown)
        self.assertTrue(summary.exists(), shown)
        self.assertIn(WORDS[change], summary.read_text().splitlines()[0], shown)


class GitHub(Service):
    def run_job(self, job, context, uses, variables=()):
        """Runs the steps of a job in order; its exit code and what it printed."""
        values, status, printed = {**context}, 0, []
        for number, step in enumerate(job["steps"]):
            when = step.get("if", "success()")
            self.assertIn(when, ("success()", "always()"))
            if status and when == "success()":
                continue
            fill = lambda text: self.filled(str(text), values)
            own = {key: fill(text) for key, text in step.get("env", {}).items()}
            if "uses" in step:
                given = {key: fill(text) for key, text in step.get("with", {}).items()}
                code, text = uses(step["uses"].split("@")[0], given)
            else:
                self.assertIn(step.get("shell", "bash"), ("bash",))
                output = self.folder / f"output{number}"
                output.write_text("")
                done = self.shell(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"], fill(step["run"]), self.workspace,
                                  {**dict(variables), **own, "RUNNER_TEMP": str(self.temporary), "GITHUB_OUTPUT": str(output),
                                   "GITHUB_STEP_SUMMARY": str(self.folder / "summary")})
                code, text = done.returncode, done.stdout + done.stderr
                for line in output.read_text().splitlines():
                    name, _, value = line.partition("=")
                    values[f"steps.{step['id']}.outputs.{name}"] = value
            printed.append(f"--- {step.get('name', step.get('uses'))}: {code}\n{text}")
            status = status or code
        return status, "\n".join(printed)

    def filled(self, text, values):
        def value(match):
            self.assertIn(match[1], values, text)
            return values[match[1]]
        return re.sub(r"\$\{\{ *(.+?) *\}\}", value, text)

    def checkout(self, given):
        to = self.workspace / given.get("path", ".")
        git(self.folder, "clone", "-q", str(self.origin), str(to))
        git(to, "checkout", "-q", *(["--detach", given["ref"]] if "ref" in given else ["-B", "main", self.head]))
        return 0, ""

    def setUp(self):
        super().setUp()
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        self.kept = self.folder / "kept"
        self.head = self.base

    def keep(self, given):
        name = self.kept / given["name"]
        if (self.workspace / given["path"]).exists():
            shutil.copytree(self.workspace / given["path"], name)
        elif given.get("if-no-files-found") != "ignore":
            return 1, f"{given['path']} is not there"
        return 0, ""

    def uses(self, action, given):
        if action == "actions/checkout":
            return self.checkout(given)
        if action == "actions/upload-artifact":
            return self.keep(given)
        if action == "actions/download-artifact":
            shutil.copytree(self.kept, self.workspace / given["path"])
            return 0, ""
        if action == "actions/cache":
            return 0, ""
        self.assertEqual(action, "OWNER/backgauge/ci/recipes/github")
        own = read("github/action.yml")
        self.assertLessEqual(set(given), set(own["inputs"]))
        inputs = {f"inputs.{name}": given.get(name, one.get("default", "")) for name, one in own["inputs"].items()}
        inputs["inputs.requirement"] = str(self.package)
        return self.run_job({"steps": own["runs"]["steps"]}, {**inputs, "runner.os": "Linux", "runner.arch": "X64"}, self.uses)

    def gate(self, change):
        self.head = self.change(change)
        workflow = read("github/gate.yml")
        context = {f"env.{key}": text for key, text in workflow["env"].items()}
        context["github.event.pull_request.base.sha"] = self.base
        status, shown = self.run_job(workflow["jobs"]["gate"], context, self.uses, workflow["env"])
        self.expect(change, status, self.folder / "summary", shown)
        level = "notice" if change == "harmless" else "error"
        self.assertRegex(shown, rf"(?m)^::{level} title=backgauge::.*{WORDS[change]}")
        self.assertTrue((self.kept / "backgauge-gate/gate.json").exists())

    def test_gate_is_green(self):
        self.gate("harmless")

    def test_gate_is_red_for_a_known_error(self):
        self.gate("wrong")

    def test_gate_is_red_for_a_slow_down(self):
        self.gate("slower")

    def test_nightly(self):
        workflow = read("github/nightly.yml")
        variables = {**{key: str(text) for key, text in workflow["env"].items()}, "TIER": "smoke", "REQUIREMENT": str(self.package)}
        job = workflow["jobs"]["verify"]
        shards = job["strategy"]["matrix"]["shard"]
        self.assertEqual(shards, list(range(1, int(variables["SHARDS"]) + 1)))
        self.head = self.change("wrong")
        for shard in shards:
            shutil.rmtree(self.workspace, ignore_errors=True)
            self.workspace.mkdir()
            status, shown = self.run_job(job, {"matrix.shard": str(shard)}, self.uses, variables)
            self.assertEqual(status, 0, shown)
        shutil.rmtree(self.workspace)
        self.workspace.mkdir()
        status, shown = self.run_job(workflow["jobs"]["result"], {}, self.uses, variables)
        self.assertEqual(status, 1, shown)
        self.assertIn("FAILED", (self.folder / "summary").read_text().splitlines()[0])
        self.assertTrue((self.kept / "backgauge-nightly/junit.xml").exists())

    def test_history(self):
        workflow = read("github/history.yml")
        variables = {**workflow["env"], "REQUIREMENT": str(self.package), "BACKGAUGE_REPS": "3"}
        for week in (1, 2):
            shutil.rmtree(self.workspace, ignore_errors=True)
            self.workspace.mkdir()
            status, shown = self.run_job(workflow["jobs"]["history"], {}, self.uses, variables)
            self.assertEqual(status, 0, shown)
            names = git(self.origin, "ls-tree", "-r", "--name-only", workflow["env"]["HISTORY"]).splitlines()
            self.assertEqual(len([name for name in names if name.endswith(".jsonl")]), week, names)
            self.assertEqual(len(names), week, names)


class GitLab(Service):
    def job(self, name, **variables):
        file = read("gitlab/backgauge.gitlab-ci.yml")
        self.job_of_file = job = {**file[file[name]["extends"]], **file[name]}
        lines = [*job["before_script"], *job["script"]]
        environment = {**file["variables"], **file[file[name]["extends"]].get("variables", {}), **variables,
                       "BACKGAUGE_REQUIREMENT": str(self.package), "BACKGAUGE_TIER": "smoke", "BACKGAUGE_REPS": "3"}
        done = self.shell(["bash", "-eo", "pipefail", "-c"], "\n".join(lines), self.project, environment)
        return done.returncode, done.stdout + done.stderr

    def setUp(self):
        super().setUp()
        self.project = self.folder / "project"

    def gate(self, change):
        head = self.change(change)
        git(self.folder, "clone", "-q", str(self.origin), str(self.project))
        git(self.project, "checkout", "-q", head)
        status, shown = self.job("backgauge gate", CI_MERGE_REQUEST_DIFF_BASE_SHA=self.base)
        self.expect(change, status, self.project / "backgauge-gate/summary.md", shown)
        self.assertTrue(list(self.project.glob(self.job_of_file["artifacts"]["reports"]["junit"])))

    @unittest.skipUnless(EVERYTHING, ONLY_BY_NAME)
    def test_gate_is_green(self):
        self.gate("harmless")

    def test_gate_is_red_for_a_known_error(self):
        self.gate("wrong")

    @unittest.skipUnless(EVERYTHING, ONLY_BY_NAME)
    def test_gate_is_red_for_a_slow_down(self):
        self.gate("slower")

    @unittest.skipUnless(EVERYTHING, ONLY_BY_NAME)
    def test_nightly_and_history(self):
        git(self.folder, "clone", "-q", str(self.origin), str(self.project))
        number = read("gitlab/backgauge.gitlab-ci.yml")["backgauge nightly"]["parallel"]
        for index in range(1, number + 1):
            status, shown = self.job("backgauge nightly", CI_NODE_INDEX=str(index), CI_NODE_TOTAL=str(number))
            self.assertEqual(status, 0, shown)
        status, shown = self.job("backgauge nightly result")
        self.assertEqual(status, 0, shown)
        status, shown = self.job("backgauge history", CI_COMMIT_SHA=self.base, CI_COMMIT_BRANCH="main")
        self.assertEqual(status, 0, shown)
        self.assertEqual(len(list((self.project / "history").rglob("*.jsonl"))), 1)


class Jenkins(Service):
    def run_stages(self, names, **variables):
        text = (RECIPES / "jenkins/Jenkinsfile").read_text()
        block = re.search(r"environment \{(.*?)\n  \}", text, re.DOTALL)[1]
        environment = dict(re.findall(r"(\w+) = '([^']*)'", block))
        environment |= {"REQUIREMENT": str(self.package), "TIER": "smoke", "HISTORY": str(self.folder / "history"), "BACKGAUGE_REPS": "3"}
        stages = dict(re.findall(r"stage\('(\w+)'\) \{(.*?)\n    \}", text, re.DOTALL))
        printed = []
        for name in names:
            scripts = [one or other for one, other in re.findall(r"sh '''(.*?)'''|sh '([^']+)'", stages[name], re.DOTALL)]
            self.assertTrue(scripts, name)
            for script in scripts:
                done = self.shell(["sh", "-xe", "-c"], script, self.project, {**environment, **variables})
                printed.append(done.stdout + done.stderr)
                if done.returncode:
                    return done.returncode, "\n".join(printed)
        return 0, "\n".join(printed)

    def gate(self, change):
        self.project = self.folder / "project"
        head = self.change(change)
        git(self.folder, "clone", "-q", str(self.origin), str(self.project))
        git(self.project, "checkout", "-q", head)
        status, shown = self.run_stages(["Install", "Build", "Gate"], CHANGE_TARGET="main")
        self.expect(change, status, self.project / "backgauge-gate/summary.md", shown)

    @unittest.skipUnless(EVERYTHING, ONLY_BY_NAME)
    def test_gate_is_green(self):
        self.gate("harmless")

    @unittest.skipUnless(EVERYTHING, ONLY_BY_NAME)
    def test_gate_is_red_for_a_known_error(self):
        self.gate("wrong")

    @unittest.skipUnless(EVERYTHING, ONLY_BY_NAME)
    def test_gate_is_red_for_a_slow_down(self):
        self.gate("slower")

    def test_nightly_and_history(self):
        self.project = self.folder / "project"
        git(self.folder, "clone", "-q", str(self.origin), str(self.project))
        status, shown = self.run_stages(["Install", "Build", "Nightly", "History"], BRANCH_NAME="main")
        self.assertEqual(status, 0, shown)
        self.assertTrue((self.project / "all/junit.xml").exists())


if __name__ == "__main__":
    unittest.main()
