# SPDX-License-Identifier: Apache-2.0
"""Reads one rank's summary, an untrusted file.

A task is a pure function of its file: it may run anywhere, again, and in any order.
"""

from __future__ import annotations

import functools
import os
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy

from lanescope._library import Error, load

REPORT = 0x4C4E5346  # "LNSF", the mark of a report of a job
SUMMARY = ".lanescope-summary"
TRACES = (".sqlite", ".sqlite.gz", ".json", ".json.gz")
NONE = -(1 << 63)  # an unknown number
MOST_ROWS = 4_000_000
MOST_TEXT = 4096
MOST_SECONDS = 120

COMMUNICATION = ("exposed_communication", "waiting_for_ranks")
# A rank's own time, in the compared groups; the remainder is launching.
OWN = {
    "compute": ("compute", "memset"),
    "copies": ("exposed_ptop", "exposed_htod", "exposed_dtoh", "exposed_dtod", "exposed_other_copy"),
    "loading": ("data_loading_idle",),
}

TABLES = ("", "_HEALTH", "_WORKERS", "_STEPS", "_PARTS", "_PLACES", "_COMMUNICATORS", "_COLLECTIVES", "_KERNELS", "_COUNTERS")


# By table: its query, and the kind of each column: i number, t text, r real number.
QUERIES = {
    "workers": ("""
        SELECT w.worker, coalesce(w.rank, {none}), w.pid, w.gpuId, coalesce(w.gpuName, ''), w.endedAbnormally,
            coalesce(p.host, ''), coalesce(p.bootId, ''), coalesce(p.localRank, {none}), coalesce(p.worldSize, {none}),
            coalesce(p.gpuUuid, ''), coalesce(p.startNs, 0), coalesce(p.endNs, 0),
            coalesce(p.clockErrorNs, {none}), coalesce(p.clockMostErrorNs, {none})
        FROM LANESCOPE_STORED_WORKERS w LEFT JOIN LANESCOPE_STORED_PLACES p ON p.worker = w.worker
        ORDER BY w.worker""",
        {"worker": "i", "rank": "i", "pid": "i", "gpu": "i", "gpu_name": "t", "ended_abnormally": "i", "host": "t", "boot": "t",
         "local_rank": "i", "world_size": "i", "gpu_uuid": "t", "start_ns": "i", "end_ns": "i",
         "clock_error_ns": "i", "clock_most_error_ns": "i"}),
    "steps": ("SELECT worker, number, startNs, wallNs FROM LANESCOPE_STORED_STEPS ORDER BY worker, rowid",
              {"worker": "i", "step": "i", "start_ns": "i", "wall_ns": "i"}),
    "parts": ("SELECT worker, step, part, ns FROM LANESCOPE_STORED_PARTS", {"worker": "i", "step": "i", "part": "t", "ns": "i"}),
    "communicators": ("""
        SELECT worker, communicator, coalesce(name, ''), coalesce(rank, {none}), coalesce(ranks, {none}), calls
        FROM LANESCOPE_STORED_COMMUNICATORS ORDER BY worker, communicator""",
        {"worker": "i", "communicator": "i", "name": "t", "position": "i", "size": "i", "calls": "i"}),
    "collectives": ("""
        SELECT worker, communicator, operation, place, number, isNumbered, coalesce(bytes, {none}), coalesce(step, {none}), callNs,
            coalesce(gpuNs, {none}), coalesce(gpuEndNs, {none}), sharedBy
        FROM LANESCOPE_STORED_COLLECTIVES ORDER BY rowid""",
        {"worker": "i", "communicator": "i", "operation": "t", "place": "i", "number": "i", "is_numbered": "i", "bytes": "i",
         "step": "i", "call_ns": "i", "gpu_ns": "i", "gpu_end_ns": "i", "shared_by": "i"}),
    "kernels": ("""
        SELECT worker, name, SUM(count), SUM(totalNs), MAX(mostNs) FROM LANESCOPE_STORED_KERNELS
        GROUP BY worker, name ORDER BY worker, name""",
        {"worker": "i", "name": "t", "count": "i", "total_ns": "i", "most_ns": "i"}),
    "counters": ("""
        SELECT key, coalesce(gpuId, {none}), coalesce(gpuUuid, ''), coalesce(link, {none}), coalesce(device, ''), mean, least, greatest
        FROM LANESCOPE_STORED_COUNTERS ORDER BY key, gpuId, link, device""",
        {"key": "t", "gpu": "i", "gpu_uuid": "t", "link": "i", "device": "t", "mean": "r", "least": "r", "greatest": "r"}),
    "health": ("SELECT severity, code, coalesce(count, {none}), sentence FROM LANESCOPE_STORED_HEALTH ORDER BY rowid",
               {"severity": "i", "code": "t", "count": "i", "sentence": "t"}),
}
PARTS = {**{part: "communication_ns" for part in COMMUNICATION},
         **{part: f"{name}_ns" for name, parts in OWN.items() for part in parts}}
# The final columns of a `Summary`: the parts are with their steps.
COLUMNS = {name: columns for name, (_, columns) in QUERIES.items() if name != "parts"}
COLUMNS["steps"] = {**COLUMNS["steps"], **dict.fromkeys(PARTS.values(), "i")}
TYPES = {"i": numpy.int64, "r": numpy.float64, "t": object}
FACTS = ("startUtcNs", "producer", "commandLine", "stepPattern", "cuda", "driver", "isTruncated")


class Summary(NamedTuple):
    """The content of a file: `tables[name][column]` is an array; texts are objects."""

    source: str
    facts: dict
    tables: dict


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


def _column(values: list, kind: str) -> numpy.ndarray:
    if kind == "t":
        if not all(isinstance(value, str) and len(value) <= MOST_TEXT for value in values):
            raise ValueError("a text is none")
        column = numpy.empty(len(values), dtype=object)
        column[:] = values
        return column
    # NumPy finds the common type of all; a text or None changes it.
    column = numpy.array(values) if values else numpy.empty(0, dtype=TYPES[kind])
    if column.dtype.kind not in ("i" if kind == "i" else "if"):
        raise ValueError("a number is none")
    return column.astype(TYPES[kind], copy=False)


def _table(database: sqlite3.Connection, query: str, columns: dict) -> dict:
    rows = database.execute(query.replace("{none}", str(NONE))).fetchmany(MOST_ROWS + 1)
    if len(rows) > MOST_ROWS:
        raise ValueError("a table has too many rows")
    cells = list(zip(*rows)) if rows else [()] * len(columns)
    return {name: _column(cells[place], kind) for place, (name, kind) in enumerate(columns.items())}


@functools.lru_cache(maxsize=None)
def stored_version() -> int:
    """Returns the version of the summaries that the compiled library writes and reads."""
    return load("python", "lanescopeAbi", 5).lanescopeStoredVersion()


def _check(database: sqlite3.Connection) -> None:
    tables = {name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    missing = [name for name in TABLES if "LANESCOPE_STORED" + name not in tables]
    if missing:
        raise ValueError("not a summary of a rank")
    version = database.execute("SELECT value FROM LANESCOPE_STORED WHERE name = 'version'").fetchone()
    if version != (stored_version(),):
        raise ValueError(f"its version is {version[0] if version else 'unknown'} but this program reads "
                         f"{stored_version()}. Write it again with 'lanescope summarize'")


def _rows_of(steps: dict, workers: numpy.ndarray, places: numpy.ndarray) -> numpy.ndarray:
    """Returns the rows of steps that are given by their index among those of their worker."""
    first, end = (numpy.searchsorted(steps["worker"], workers, side) for side in ("left", "right"))
    if (places < 0).any() or (places >= end - first).any():
        raise ValueError("it refers to missing steps")
    return first + places


def _join(tables: dict) -> None:
    """Adds the parts of steps to them, and replaces indices of steps by their numbers."""
    steps, parts, calls = tables["steps"], tables.pop("parts"), tables["collectives"]
    rows = _rows_of(steps, parts["worker"], parts["step"])
    columns = numpy.array([PARTS.get(part, "") for part in parts["part"]], dtype=object)
    for name in dict.fromkeys(PARTS.values()):
        steps[name] = numpy.zeros(len(steps["worker"]), dtype=numpy.int64)
        numpy.add.at(steps[name], rows[columns == name], parts["ns"][columns == name])
    known = calls["step"] != NONE
    calls["step"][known] = steps["step"][_rows_of(steps, calls["worker"][known], calls["step"][known])]


def _check_steps(steps: dict) -> None:
    """Raises ValueError if a part of a step is negative, or if the parts exceed its wall time."""
    # As real numbers, which do not overflow.
    named = sum(steps[name].astype(float) for name in ("communication_ns", "compute_ns", "copies_ns", "loading_ns"))
    if (steps["wall_ns"] < 0).any() or any((steps[name] < 0).any() for name in PARTS.values()) or (named > steps["wall_ns"] * (1 + 1e-9)).any():
        raise ValueError("the parts of its steps exceed the steps")


def read_summary(path: str, source: str) -> Summary:
    """Reads a summary. Raises sqlite3.Error, ValueError, OverflowError or OSError for other files."""
    if not os.path.isfile(path):
        raise ValueError("it does not exist")
    deadline = time.monotonic() + MOST_SECONDS
    database = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cell_size_check = ON")
        database.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        _check(database)
        stored = dict(database.execute("SELECT name, value FROM LANESCOPE_STORED LIMIT 10000"))
        facts = {name: stored.get(name) for name in FACTS}
        facts["startUtcNs"] = facts["startUtcNs"] if isinstance(facts["startUtcNs"], int) else 0
        tables = {name: _table(database, *each) for name, each in QUERIES.items()}
        _join(tables)
        _check_steps(tables["steps"])
        return Summary(source, facts, tables)
    finally:
        database.close()


def _make_and_read(path: str) -> Summary:
    """Reads a trace without a summary through a temporary summary made by the program."""
    program = os.environ.get("LANESCOPE_PROGRAM", "lanescope")
    with tempfile.TemporaryDirectory(prefix="lanescope-fleet-") as folder:
        try:
            done = subprocess.run([program, "summarize", path, "-o", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, check=False)
        except OSError as error:
            raise ValueError(f"it has no summary, and {program} cannot start to write one: {error.strerror}") from error
        made = [name for name in os.listdir(folder) if name.endswith(SUMMARY)]
        if done.returncode != 0 or not made:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise ValueError(said[-1] if said else f"lanescope summarize ended with {done.returncode}")
        return read_summary(os.path.join(folder, made[0]), path)


def read(path: str):
    """The task: returns a `Summary`, or a `Broken` for another file. Does not raise for any file content."""
    try:
        return read_summary(path, path) if path.endswith(SUMMARY) else _make_and_read(path)
    except (Error, ImportError, sqlite3.Error, ValueError, OverflowError, OSError, UnicodeError) as error:
        return Broken(path, f"{os.path.basename(path)} cannot be read: {error}.".replace("..", "."))
