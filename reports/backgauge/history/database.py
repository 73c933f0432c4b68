# SPDX-License-Identifier: Apache-2.0
"""A history in the tables of PostgreSQL (or SQLite). README.md in this folder documents them.

The column `text` has the file as a folder would hold it, and it alone is read back: a copy to a database and from it loses nothing,
not even keys that this version does not know. All other columns are made from it, for SQL.
"""

import contextlib

import numpy as np

from ..errors import CommandError
from .machine import class_of
from .needs import library
from .point import CPU, WALL, Point

VERSION = 1
_LOCK = 0x6261636B67617567  # "backgaug": the lock of the process that makes the tables, so that two do not make them

_TREND = """
select t.position, r.measured, r.commit_time, r.commit_id, r.branch, r.cpu_model, r.isa, r.machine_id, r.threads, r.cache_mode,
       t.workload, t.implementation, t.version, t.verdict, t.seconds, t.cpu_seconds, t.fma_gflops, t.rounds, t.disturbed, r.file
from backgauge_run r join backgauge_timing t on t.file = r.file
"""


class Database:
    def __init__(self, address, option):
        """`address`: postgresql://… or sqlite:///…, as SQLAlchemy writes them."""
        self.sql = library("sqlalchemy", "--database")
        self.where = f"{option}={_without_password(self.sql, address, option)}"
        url = self.sql.make_url(address)
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        if url.drivername.partition("+")[0] not in ("postgresql", "sqlite"):
            raise CommandError(f"{self.where}: expected postgresql://USER@HOST/NAME or sqlite:///FILE")
        if url.drivername == "postgresql+psycopg":
            library("psycopg", "--database")
        self.is_postgresql = url.drivername.startswith("postgresql")
        # SQLite waits for another writer this long; adding a run takes less than a second.
        self.engine = self.sql.create_engine(url, poolclass=self.sql.pool.NullPool,
                                             connect_args={} if self.is_postgresql else {"timeout": 30})
        self.run, self.timing, self.version = _tables(self.sql)

    def add(self, file):
        insert = library(f"sqlalchemy.dialects.{'postgresql' if self.is_postgresql else 'sqlite'}", "--database").insert
        with self._explained(), self.engine.begin() as connection:
            self._prepare(connection)
            added = insert(self.run).values(_run_row(file)).on_conflict_do_nothing().returning(self.run.c.file)
            is_new = connection.execute(added).first() is not None
            rows = _timing_rows(file)
            if is_new and rows:
                connection.execute(insert(self.timing), rows)
        return f"{self.where}: {file.name}", is_new

    def files(self):
        with self._explained(), self.engine.begin() as connection:
            self._prepare(connection)
            found = connection.execute(self.sql.select(self.run.c.file, self.run.c.text)).all()
        for name, text in found:
            yield f"{self.where}: {name}", name, text.encode()

    def _prepare(self, connection):
        """Makes the tables where there are none. Raises CommandError if a newer backgauge made them."""
        if self.is_postgresql:
            connection.execute(self.sql.text(f"select pg_advisory_xact_lock({_LOCK})"))
        else:
            connection.exec_driver_sql("begin immediate")
        if not self.sql.inspect(connection).has_table(self.version.name):
            self.version.metadata.create_all(connection)
            connection.execute(self.sql.insert(self.version), {"version": VERSION})
            connection.execute(self.sql.text(f"create view backgauge_trend as {_TREND}"))
        version = connection.execute(self.sql.select(self.version.c.version)).scalar_one()
        if version != VERSION:
            raise CommandError(f"{self.where}: its tables have version {version}, this backgauge knows version {VERSION}")

    @contextlib.contextmanager
    def _explained(self):
        """Errors of the database as one line."""
        try:
            yield
        except self.sql.exc.SQLAlchemyError as error:
            text = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
            raise CommandError(f"{self.where}: {text.splitlines()[0]}") from error


def _without_password(sql, address, option):
    try:
        return sql.make_url(address).render_as_string(hide_password=True)
    except (sql.exc.ArgumentError, ValueError) as error:
        raise CommandError(f"{option}: expected postgresql://USER@HOST/NAME or sqlite:///FILE") from error


def _tables(sql):
    """(runs, timings, version of these tables)."""
    metadata = sql.MetaData()
    time = sql.DateTime(timezone=True)
    run = sql.Table(
        "backgauge_run", metadata,
        sql.Column("file", sql.Text, primary_key=True), sql.Column("text", sql.Text, nullable=False),
        sql.Column("branch", sql.Text, nullable=False), sql.Column("measured", time, nullable=False),
        sql.Column("commit_id", sql.Text, nullable=False), sql.Column("commit_time", time, nullable=False),
        sql.Column("parents", sql.Text, nullable=False),
        *(sql.Column(name, sql.Text, nullable=False) for name in ("cpu_model", "isa", "machine_id", "threads", "cache_mode")),
        sql.Index("backgauge_run_by_commit", "branch", "commit_time"))
    timing = sql.Table(
        "backgauge_timing", metadata,
        sql.Column("file", sql.Text, sql.ForeignKey(run.c.file, ondelete="cascade"), primary_key=True),
        sql.Column("position", sql.Integer, primary_key=True),
        *(sql.Column(name, sql.Text, nullable=False) for name in ("workload", "implementation", "suite", "version", "verdict", "reason")),
        sql.Column("error_over_bound", sql.Double),
        *(sql.Column(name, sql.Double) for name in ("seconds", "cpu_seconds", "fma_gflops")),
        sql.Column("rounds", sql.Integer, nullable=False), sql.Column("disturbed", sql.Integer, nullable=False),
        sql.Index("backgauge_timing_by_workload", "workload", "implementation"))
    version = sql.Table("backgauge_version", metadata, sql.Column("version", sql.Integer, primary_key=True))
    return run, timing, version


def _run_row(file):
    entry = file.entry
    machine = class_of(entry.context)
    return {"file": file.name, "text": file.text.decode(), "branch": entry.branch, "measured": entry.measured,
            "commit_id": entry.commit.id, "commit_time": entry.commit.time, "parents": " ".join(entry.commit.parents),
            "cpu_model": machine.cpu_model, "isa": machine.isa, "machine_id": str(entry.context.get("machine_id", "")),
            "threads": str(entry.context.get("threads", "1")), "cache_mode": str(entry.context.get("cache_mode", ""))}


def _timing_rows(file):
    """One for each implementation and workload: medians over rounds as `history show` prints them."""
    rows = []
    for position, timing in enumerate(file.entry.timings):
        point = Point(file.entry, timing, 0)
        rows.append({"file": file.name, "position": position, "workload": timing.workload, "implementation": timing.implementation,
                     "suite": timing.suite, "version": timing.version, "verdict": timing.verdict, "reason": timing.reason,
                     "error_over_bound": _median([timing.error_over_bound]),
                     "seconds": _median(point.times(WALL)), "cpu_seconds": _median(point.times(CPU)),
                     "fma_gflops": _median(point.probes(WALL)), "rounds": len(timing.seconds), "disturbed": point.disturbed})
    return rows


def _median(values):
    """null where there is none."""
    median = float(np.median(values)) if len(values) else float("nan")
    return median if np.isfinite(median) else None
