# SPDX-License-Identifier: Apache-2.0
"""Reads one rank's summary, an untrusted file.

A task is a pure function of its file: it may run anywhere, again, and in any order. SQLite only reads rows of plain
tables, which are no larger than the file. It computes, sorts and stores nothing, so no file makes it use more.
"""

from __future__ import annotations

import functools
import os
import re
import sqlite3
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy

from lanescope._library import load
from lanescope._places import program

REPORT = 0x4C4E5346  # "LNSF", the mark of a report of a job
SUMMARY = ".lanescope-summary"
TRACES = (".sqlite", ".sqlite.gz", ".json", ".json.gz")
NONE = -(1 << 63)  # an unknown number
MOST_FILE_BYTES = 256 << 20
MOST_BYTES = 256 << 20  # of all columns of a summary
ROW_BYTES = 400  # of a row that a job keeps as an object
MOST_TEXT = 4096
MOST_SENTENCE = 400
MOST_SECONDS = 120
MOST_NS = 10**18  # 31 years, as in the program
MOST_TOTAL_NS = 1 << 53  # of collectives: 104 days
BATCH = 512  # rows

COMMUNICATION = ("exposed_communication", "waiting_for_ranks")
# A rank's own time, in the compared groups; the remainder is launching.
OWN = {
    "compute": ("compute", "memset"),
    "copies": ("exposed_ptop", "exposed_htod", "exposed_dtoh", "exposed_dtod", "exposed_other_copy"),
    "loading": ("data_loading_idle",),
}


class Column(NamedTuple):
    """A column of a table: the bounds of a number, and the replacement of an unknown value, if that is allowed."""

    source: str
    kind: str  # i integer, r real number, t text
    least: int = 0
    most: int = 0
    unknown: int | float | str | None = None


def _count(source: str, unknown: int | None = None, least: int = 0, most: int = (1 << 31) - 1) -> Column:
    return Column(source, "i", least, most, unknown)


def _time(source: str, unknown: int | None = None) -> Column:
    return Column(source, "i", -MOST_NS, MOST_NS, unknown)


def _text(source: str, unknown: str | None = None) -> Column:
    return Column(source, "t", unknown=unknown)


def _rate(source: str) -> Column:
    return Column(source, "i", 0, 1 << 62, 0)


_WORKER = {"worker": _count("worker")}
_IDENTITY = {"communicator": Column("communicator", "i", NONE, (1 << 63) - 1)}
# By part of a summary: its table, the most rows, and its columns.
TABLES = {
    "workers": ("_WORKERS", 4096, {
        **_WORKER, "rank": _count("rank", NONE), "pid": _count("pid"), "gpu": _count("gpuId", least=-1), "gpu_name": _text("gpuName", ""),
        "ended_abnormally": _count("endedAbnormally")}),
    "places": ("_PLACES", 4096, {
        **_WORKER, "host": _text("host", ""), "boot": _text("bootId", ""), "local_rank": _count("localRank", NONE, least=-1),
        "world_size": _count("worldSize", NONE, least=-1), "gpu_uuid": _text("gpuUuid", ""), "start_ns": _time("startNs", 0), "end_ns": _time("endNs", 0),
        "clock_error_ns": _time("clockErrorNs", NONE), "clock_most_error_ns": _time("clockMostErrorNs", NONE)}),
    "uses": ("_USES", 4096, {**_WORKER, "mfu": Column("mfu", "r", unknown=-1.0)}),
    "steps": ("_STEPS", 4_000_000, {**_WORKER, "step": _count("number"), "start_ns": _time("startNs"), "wall_ns": _time("wallNs")}),
    "parts": ("_PARTS", 10_000_000, {**_WORKER, "step": _count("step"), "part": _text("part"), "ns": _time("ns")}),
    "communicators": ("_COMMUNICATORS", 10_000, {
        **_WORKER, **_IDENTITY, "name": _text("name", ""), "position": _count("rank", NONE, least=-1), "size": _count("ranks", NONE, least=-1),
        "calls": _count("calls")}),
    "collectives": ("_COLLECTIVES", 4_000_000, {
        **_WORKER, **_IDENTITY, "operation": _text("operation"), "place": _count("place"), "number": _count("number"),
        "is_numbered": _count("isNumbered"), "bytes": _count("bytes", NONE, most=1 << 60), "step": _count("step", NONE), "call_ns": _time("callNs"),
        "gpu_ns": _time("gpuNs", NONE), "gpu_end_ns": _time("gpuEndNs", NONE), "shared_by": _count("sharedBy")}),
    "kernels": ("_KERNELS", 100_000, {
        **_WORKER, "name": _text("name"), "count": _count("count", most=1 << 53), "total_ns": _time("totalNs"), "most_ns": _time("mostNs")}),
    "counters": ("_COUNTERS", 100_000, {
        "key": _text("key"), "gpu": _count("gpuId", NONE, least=-1), "gpu_uuid": _text("gpuUuid", ""), "link": _count("link", NONE, least=-1),
        "device": _text("device", ""), "mean": Column("mean", "r"), "least": Column("least", "r"), "greatest": Column("greatest", "r")}),
    "health": ("_HEALTH", 10_000, {
        "severity": _count("severity"), "code": _text("code"), "count": _count("count", NONE, most=1 << 62), "sentence": _text("sentence")}),
}
PARTS = {**{part: "communication_ns" for part in COMMUNICATION},
         **{part: f"{name}_ns" for name, parts in OWN.items() for part in parts}}
# The final columns of a `Summary`: the places are with their workers, the parts with their steps.
COLUMNS = {name: {column: each.kind for column, each in columns.items()} for name, (_, _, columns) in TABLES.items()
           if name not in ("places", "parts", "uses")}
COLUMNS["workers"].update({column: each.kind for column, each in TABLES["places"][2].items()})
COLUMNS["workers"]["mfu"] = "r"
COLUMNS["steps"].update(dict.fromkeys(PARTS.values(), "i"))
TYPES = {"i": numpy.int64, "r": numpy.float64, "t": object}
FACTS = ("startUtcNs", "stepPattern")


class Summary(NamedTuple):
    """The content of a file: `tables[name][column]` is an array; texts are objects."""

    source: str
    facts: dict
    tables: dict

    @property
    def memory(self) -> int:
        """Returns about the bytes that the summary and its part of a job need."""
        columns = [column for table in self.tables.values() for column in table.values()]
        texts = {text for column in columns if column.dtype == object for text in column.tolist()}
        rows = sum(len(next(iter(self.tables[name].values()))) for name in ("communicators", "counters", "health", "kernels"))
        return sum(column.nbytes for column in columns) + sum(4 * len(text) + 100 for text in texts) + ROW_BYTES * rows


class Broken(NamedTuple):
    """An unreadable file, and the reason."""

    source: str
    sentence: str


def _is_report(path: str) -> bool:
    """Returns True if a file is a report of a job instead of a part of it."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(72)[68:] == REPORT.to_bytes(4, "big")
    except OSError:
        return False


def find(folder) -> list[str]:
    """Returns the files of a job in a folder and those below it, by name; a trace with a summary next to it is replaced
    by the summary. Skips reports."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            ending = next((ending for ending in (SUMMARY, *TRACES) if name.endswith(ending)), None)
            if ending is None or name.startswith("."):
                continue
            stem = os.path.join(place, name[:-len(ending)])
            if ending == SUMMARY or (stem not in found and not _is_report(os.path.join(place, name))):
                found[stem] = os.path.join(place, name)
    return sorted(found.values())


class _Reader:
    """Reads tables in batches, and stops as soon as they exceed the memory of a summary."""

    def __init__(self, database: sqlite3.Connection):
        self._database = database
        self._left = MOST_BYTES
        self._texts: dict = {}

    def _taken(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise ValueError(f"it needs more than {MOST_BYTES >> 20} MiB")

    def _text_column(self, cells: tuple, column: Column) -> numpy.ndarray:
        made = numpy.empty(len(cells), dtype=object)
        for place, cell in enumerate(cells):
            cell = column.unknown if cell is None else cell
            if not isinstance(cell, str) or len(cell) > MOST_TEXT:
                raise ValueError(f"{column.source} is not a text of at most {MOST_TEXT:,} characters")
            if cell not in self._texts:
                self._taken(4 * len(cell) + 100)
            made[place] = self._texts.setdefault(cell, cell)
        return made

    def _column(self, cells: tuple, column: Column) -> numpy.ndarray:
        if column.kind == "t":
            return self._text_column(cells, column)
        known = [cell for cell in cells if cell is not None] if column.unknown is not None else cells
        # NumPy finds the common type of all; a text or None changes it.
        values = numpy.array(known) if known else numpy.empty(0, dtype=TYPES[column.kind])
        if values.dtype.kind not in ("i" if column.kind == "i" else "if"):
            raise ValueError(f"{column.source} is not a number")
        if column.kind == "r" and not numpy.isfinite(values).all():
            raise ValueError(f"{column.source} is out of range")
        if column.kind == "i" and len(values) and (values.min() < column.least or values.max() > column.most):
            raise ValueError(f"{column.source} is out of range")
        if len(known) < len(cells):
            values = numpy.array([column.unknown if cell is None else cell for cell in cells])
        return values.astype(TYPES[column.kind], copy=False)

    def table(self, table: str, most: int, columns: dict) -> dict:
        """Returns the columns of a table in the order of its rows."""
        # A cell of another type becomes a blob, and a long text is cut, before Python has it.
        cells = ", ".join(f"CASE typeof({each.source}) WHEN 'null' THEN NULL " + {
            "t": f"WHEN 'text' THEN substr({each.source}, 1, {MOST_TEXT + 1})", "i": f"WHEN 'integer' THEN {each.source}",
            "r": f"WHEN 'real' THEN {each.source} WHEN 'integer' THEN {each.source}"}[each.kind] + " ELSE x'' END" for each in columns.values())
        cursor = self._database.execute(f"SELECT {cells} FROM LANESCOPE_STORED{table} NOT INDEXED")
        made: dict = {name: [numpy.empty(0, dtype=TYPES[each.kind])] for name, each in columns.items()}
        count = 0
        while rows := cursor.fetchmany(BATCH):
            count += len(rows)
            if count > most:
                raise ValueError(f"LANESCOPE_STORED{table} has more than {most:,} rows")
            self._taken(8 * len(rows) * len(columns))
            for (name, column), cells_of in zip(columns.items(), zip(*rows)):
                made[name].append(self._column(cells_of, column))
        return {name: numpy.concatenate(parts) for name, parts in made.items()}


@functools.lru_cache(maxsize=None)
def stored_version() -> int:
    """Returns the version of the summaries that the compiled library writes and reads."""
    return load("python", "lanescopeAbi", 6).lanescopeStoredVersion()


def _check(database: sqlite3.Connection) -> None:
    """Raises ValueError unless all tables exist and store all their columns: views, virtual tables and generated columns
    make any number of rows and bytes of a small file."""
    for table in ("", *(table for table, _, _ in TABLES.values())):
        name = f"LANESCOPE_STORED{table}"
        made = database.execute("SELECT substr(sql, 1, 200) FROM sqlite_master WHERE name = ? AND type = 'table' AND rootpage > 0", (name,)).fetchone()
        if made is None or not re.match(rf'CREATE TABLE ["`\[]?{name}["`\]]?\s*\(', str(made[0])):
            raise ValueError("not a summary of a rank")
        if any(column[-1] for column in database.execute(f"PRAGMA table_xinfo({name})")):
            raise ValueError(f"{name} has generated columns")
    version = database.execute("SELECT value FROM LANESCOPE_STORED WHERE name = 'version' AND typeof(value) = 'integer'").fetchone()
    if version != (stored_version(),):
        raise ValueError(f"its version is {version[0] if version else 'unknown'} but this program reads "
                         f"{stored_version()}. Write it again with 'lanescope summarize'")


def _facts(database: sqlite3.Connection) -> dict:
    facts = {name: None for name in FACTS}
    for name in facts:
        found = database.execute("SELECT CASE typeof(value) WHEN 'text' THEN substr(value, 1, ?) WHEN 'integer' THEN value END FROM LANESCOPE_STORED "
                                 "WHERE name = ?", (MOST_TEXT, name)).fetchone()
        facts[name] = found[0] if found else None
    start = facts["startUtcNs"]
    facts["startUtcNs"] = start if isinstance(start, int) and 0 <= start <= 1 << 62 else 0
    return facts


def _sorted(table: dict, *names: str) -> dict:
    """Returns a table by these columns; equal rows keep their order."""
    columns = [table[name] if table[name].dtype != object else numpy.unique(table[name], return_inverse=True)[1] for name in names]
    order = numpy.lexsort(columns[::-1])
    return {name: column[order] for name, column in table.items()}


def _add_places(workers: dict, places: dict) -> None:
    row_of = {worker: row for row, worker in reversed(list(enumerate(places["worker"].tolist())))}
    rows = [row_of.get(worker, -1) for worker in workers["worker"].tolist()]
    for name, column in TABLES["places"][2].items():
        if name != "worker":
            workers[name] = numpy.empty(len(rows), dtype=TYPES[column.kind])
            workers[name][:] = [column.unknown if row < 0 else places[name][row] for row in rows]


def _add_uses(workers: dict, uses: dict) -> None:
    shares = dict(zip(uses["worker"].tolist(), uses["mfu"].tolist()))
    workers["mfu"] = numpy.array([shares.get(worker, -1.0) for worker in workers["worker"].tolist()], dtype=float)


def _summed(kernels: dict) -> dict:
    """Returns the kernels with one row for each worker and name."""
    sums: dict = {}
    for worker, name, count, total_ns, most_ns in zip(*(column.tolist() for column in kernels.values())):
        each = sums.setdefault((worker, name), [0, 0, most_ns])
        each[:] = each[0] + count, each[1] + total_ns, max(each[2], most_ns)
    if any(count > 1 << 62 or abs(total_ns) > MOST_NS for count, total_ns, _ in sums.values()):
        raise ValueError("the sums of its kernels are out of range")
    rows = list(zip(*((*key, *each) for key, each in sorted(sums.items())))) or [()] * len(kernels)
    made = {name: numpy.empty(len(rows[0]), dtype=column.dtype) for name, column in kernels.items()}
    for column, cells in zip(made.values(), rows):
        column[:] = cells
    return made


def _rows_of(steps: dict, workers: numpy.ndarray, places: numpy.ndarray) -> numpy.ndarray:
    """Returns the rows of steps that are given by their index among those of their worker."""
    first, end = (numpy.searchsorted(steps["worker"], workers, side) for side in ("left", "right"))
    if (places < 0).any() or (places >= end - first).any():
        raise ValueError("it refers to missing steps")
    return first + places


def _join(tables: dict) -> None:
    """Adds the parts of steps to them, and replaces indices of steps by their numbers."""
    steps, parts, calls = tables["steps"], tables.pop("parts"), tables["collectives"]
    if numpy.abs(parts["ns"].astype(float)).sum() > MOST_NS:
        raise ValueError("the parts of its steps exceed the steps")
    rows = _rows_of(steps, parts["worker"], parts["step"])
    columns = numpy.array([PARTS.get(part, "") for part in parts["part"]], dtype=object)
    for name in dict.fromkeys(PARTS.values()):
        steps[name] = numpy.zeros(len(steps["worker"]), dtype=numpy.int64)
        numpy.add.at(steps[name], rows[columns == name], parts["ns"][columns == name])
    known = calls["step"] != NONE
    calls["step"][known] = steps["step"][_rows_of(steps, calls["worker"][known], calls["step"][known])]


def _check_times(steps: dict, calls: dict) -> None:
    """Raises ValueError if a part of a step is negative, if the parts exceed its wall time, or if a sum has too many digits."""
    # As real numbers, which do not overflow.
    named = sum(steps[name].astype(float) for name in ("communication_ns", "compute_ns", "copies_ns", "loading_ns"))
    if (steps["wall_ns"] < 0).any() or any((steps[name] < 0).any() for name in PARTS.values()) or (named > steps["wall_ns"] * (1 + 1e-9)).any():
        raise ValueError("the parts of its steps exceed the steps")
    known = (calls["gpu_ns"] != NONE) & (calls["gpu_end_ns"] != NONE)
    took = calls["gpu_end_ns"][known].astype(float) - calls["gpu_ns"][known]
    if steps["wall_ns"].astype(float).sum() > MOST_NS or took[took > 0].sum() > MOST_TOTAL_NS:
        raise ValueError("its steps or collectives are too long")


def read_summary(path: str, source: str) -> Summary:
    """Reads a summary. Raises an exception for other files."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a regular file")
    if not os.access(path, os.R_OK):  # New summaries are for their owner only.
        raise ValueError("permission denied; its owner can share it with chmod")
    if status.st_size > MOST_FILE_BYTES:
        raise ValueError(f"it has more than {MOST_FILE_BYTES >> 20} MiB")
    deadline = time.monotonic() + MOST_SECONDS
    database = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", "mmap_size = 0"):
            database.execute(f"PRAGMA {setting}")
        database.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        _check(database)
        facts, reader = _facts(database), _Reader(database)
        tables = {name: reader.table(*each) for name, each in TABLES.items()}
    finally:
        database.close()
    for name, by in (("workers", ("worker",)), ("steps", ("worker",)), ("communicators", ("worker", "communicator")),
                     ("counters", ("key", "gpu", "link", "device"))):
        tables[name] = _sorted(tables[name], *by)
    tables["kernels"] = _summed(tables["kernels"])
    _add_places(tables["workers"], tables.pop("places"))
    _add_uses(tables["workers"], tables.pop("uses"))
    _join(tables)
    _check_times(tables["steps"], tables["collectives"])
    return Summary(source, facts, tables)


def _make_and_read(path: str) -> Summary:
    """Reads a trace without a summary through a temporary summary made by the program."""
    with tempfile.TemporaryDirectory(prefix="lanescope-fleet-") as folder:
        done = subprocess.run([str(program()), "summarize", os.path.abspath(path), "-o", folder], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        made = [name for name in os.listdir(folder) if name.endswith(SUMMARY)]
        if done.returncode != 0 or not made:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise ValueError(said[-1] if said else f"lanescope summarize ended with {done.returncode}")
        return read_summary(os.path.join(folder, made[0]), path)


def broken(path: str, error: Exception) -> Broken:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
    return Broken(path, f"{os.path.basename(path)} cannot be read: {reason[:MOST_SENTENCE]}.".replace("..", "."))


def read(path: str):
    """The task: returns a `Summary`, or a `Broken` for another file. Does not raise for any file content."""
    try:
        return read_summary(path, path) if path.endswith(SUMMARY) else _make_and_read(path)
    except Exception as error:  # A file is untrusted, and one that fails must not keep others from the report.
        return broken(path, error)
