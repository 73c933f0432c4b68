# SPDX-License-Identifier: Apache-2.0
"""A history in tables: the same runs as in a folder, added once, copied without loss. A PostgreSQL server is started for it."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import sqlalchemy
from backgauge.history import store
from backgauge.history.database import Database
from backgauge.history.folder import Folder
from history_runs import LINES, HistoryCase, commit_id

RECORDED = pathlib.Path(__file__).parent / "recorded"


def server_programs():
    """The folder of pg_ctl; Debian has one for each version, not on the PATH."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: float(path.parts[-3]))
    on_path = shutil.which("pg_ctl")
    return found[-1].parent if found else pathlib.Path(on_path).resolve().parent if on_path else None


PROGRAMS = server_programs()


class TablesTest:
    """What holds for every database; `self.address` is an empty one."""

    def options(self):
        return f"--database={self.address}"


    def fill(self, count=4):
        for k in range(count):
            self.add(k, failed={("cpu", LINES[1]): ("FAILED", "wrong")} if k == 2 else {})
        shutil.copytree(RECORDED / "history-1", self.history, dirs_exist_ok=True)
        return self.expect(0, "copy", self.history, self.address)

    def test_the_commands_say_the_same_as_of_a_folder(self):
        self.assertIn("5 runs, 5 of them new", self.fill())
        for words in (["list"], ["list", "--format=json"], ["show", "B16"], ["check", "--branch=main", "--format=json"]):
            self.assertEqual(self.expect(0, *words, self.options()), self.expect(0, *words, f"--history={self.history}"), words)

    def test_a_copy_to_it_and_back_loses_nothing(self):
        self.fill()
        self.assertIn("5 runs, 0 of them new", self.expect(0, "copy", self.history, self.address))
        self.expect(0, "copy", self.address, self.folder / "back")
        before, after = ({path.name: path.read_bytes() for path in folder.rglob("*.jsonl")} for folder in (self.history, self.folder / "back"))
        self.assertEqual(before, after)

    def test_two_runners_at_once(self):
        """Both find no tables; both add a run of their own and one that is the same."""
        for k in range(3):
            self.add(k)
        files = store.read_files(Folder(self.history, "here"))

        def runner(mine):
            database = Database(self.address, "--database")
            return [database.add(files[k])[1] for k in mine]

        with concurrent.futures.ThreadPoolExecutor() as pool:
            one, other = pool.map(runner, [(0, 1), (0, 2)])
        self.assertEqual((one[0] + other[0], one[1], other[1]), (1, True, True))
        self.assertEqual(len(store.read(Database(self.address, "--database"))), 3)

    def test_the_view_has_a_row_for_each_time(self):
        self.fill()
        with Database(self.address, "").engine.connect() as connection:
            rows = connection.execute(sqlalchemy.text("select * from backgauge_trend order by commit_time, position")).mappings().all()
        folder = store.read(Folder(self.history, "here"))
        self.assertEqual(len(rows), sum(len(entry.timings) for entry in folder))
        failed, = [row for row in rows if row["verdict"] == "FAILED"]
        self.assertEqual((failed["seconds"], failed["commit_id"], failed["rounds"]), (None, commit_id(2), 0))
        timing = next(entry for entry in folder if entry.commit.id == commit_id(0)).timings[0]
        self.assertEqual(rows[0]["seconds"], sorted(timing.seconds)[5])

    def test_an_empty_one_and_a_newer_one(self):
        self.assertIn("contains no runs", self.expect(2, "list", self.options()))
        with Database(self.address, "").engine.begin() as connection:
            connection.execute(sqlalchemy.text("update backgauge_version set version = 2"))
        self.assertIn("its tables have version 2, this backgauge knows version 1", self.expect(2, "list", self.options()))

    def test_changed_contents_are_an_error(self):
        self.fill(1)
        with Database(self.address, "").engine.begin() as connection:
            connection.execute(sqlalchemy.text("update backgauge_run set text = replace(text, 'cpu', 'gpu')"))
        self.assertIn("not those that were added", self.expect(2, "list", self.options()))


class SqliteTest(TablesTest, HistoryCase):
    def setUp(self):
        super().setUp()
        self.address = f"sqlite:///{self.folder}/history.db"


@unittest.skipUnless(PROGRAMS, "no pg_ctl of PostgreSQL (Debian's package postgresql)")
class PostgresqlTest(TablesTest, HistoryCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="pg")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.socket = folder
        user = []
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, "postgres")
            user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]

        def run(program, *words):
            done = subprocess.run([*user, PROGRAMS / program, *words], cwd=folder, capture_output=True, text=True, timeout=120,
                                  stdin=subprocess.DEVNULL, check=False)
            assert done.returncode == 0, done.stdout + done.stderr

        run("initdb", "-D", f"{folder}/data", "-U", "tester", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        # Only a socket in this folder: it takes no port, and other users have no access.
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-D", f"{folder}/data", "-w", "-l", f"{folder}/log", "-o", settings, "start")
        cls.addClassCleanup(run, "pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "stop")
        cls.databases = 0

    def setUp(self):
        super().setUp()
        PostgresqlTest.databases += 1
        name = f"test{self.databases}"
        subprocess.run([PROGRAMS / "createdb", "-h", self.socket, "-U", "tester", name], check=True, capture_output=True)
        self.address = f"postgresql://tester@/{name}?host={self.socket}"

    def test_errors_are_one_line_and_hide_the_password(self):
        for address in ("postgresql://tester:secret@/absent?host=" + self.socket, "postgresql://tester:secret@/x?host=/nowhere"):
            text = self.expect(2, "list", f"--database={address}")
            self.assertNotIn("secret", text)
            self.assertNotIn("\n", text)


class AddressTest(HistoryCase):
    def test_other_databases_are_refused(self):
        for address in ("mysql://host/name", "postgresql://"):
            self.assertIn("--database", self.expect(2, "list", f"--database={address}"))
        self.assertIn("expected one of them", self.expect(2, "list", "--database=sqlite:///x", "--history=y"))


if __name__ == "__main__":
    unittest.main()
