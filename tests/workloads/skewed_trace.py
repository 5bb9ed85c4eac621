# SPDX-License-Identifier: Apache-2.0
"""A trace as a machine would have recorded it whose clock is off: by an offset, by a drift, set in the middle of the run.

    python3 skewed_trace.py IN.sqlite OUT.sqlite [--offset-ns N] [--drift-ppm X] [--step-ns N --step-at SHARE] [--host NAME]

What the trace tells of moments is told as that clock would have told it, by every table of the file. What was computed from
them (summaries, an index) is left out, as `lanescope` makes it anew. It shares no code with what brings clocks together.
"""

import argparse
import pathlib
import shutil
import sqlite3

# Columns that are moments of the session, whatever the table; of clocks that are kept beside them only the system's.
MOMENTS = {"start", "end", "timestamp", "startNs", "endNs", "startTime", "stopTime", "enqueueStart", "enqueueEnd", "launchStart",
           "launchEnd", "readStart", "readEnd"}
SINCE_1970 = {"utcEpochNs", "realtimeNs"}
# Names that end or begin as moments do and are none.
NO_MOMENTS = {"systemClockNs", "monotonicNs", "cuptiNs", "intervalNs", "cpuNs", "delayNs", "duration", "isEnd", "endGlobalTid",
              "endedNormally", "timestampType"}


class Clock:
    """By how much a clock is ahead of the one that recorded, at a moment of the session in ns."""

    def __init__(self, offset_ns=0, drift_ppm=0.0, step_ns=0, step_at_ns=None):
        self.offset_ns, self.drift, self.step_ns, self.step_at_ns = offset_ns, drift_ppm * 1e-6, step_ns, step_at_ns

    def ahead(self, at_ns):
        stepped = self.step_ns if self.step_at_ns is not None and at_ns >= self.step_at_ns else 0
        return self.offset_ns + self.drift * at_ns + stepped

    def moved(self, at_ns):
        """A moment of the session, whose beginning is shifted by the offset already."""
        return None if at_ns is None else round(at_ns + self.ahead(at_ns) - self.offset_ns)


def _columns(database, table):
    return [name for _, name, kind, *_ in database.execute(f'PRAGMA table_info("{table}")') if kind == "INTEGER"]


def _check(table, columns):
    for name in columns:
        looks = name.endswith("Ns") or "start" in name.lower() or name.lower().endswith("end") or "time" in name.lower()
        if looks and name not in MOMENTS | SINCE_1970 | NO_MOMENTS and not table.startswith("ENUM_"):
            raise ValueError(f"{table}.{name} may be a moment, and nothing says how it is shifted")


def skew(source, target, clock, host=None):
    """Writes `target`; raises ValueError for a column that may be a moment and is not known here."""
    shutil.copyfile(source, target)
    database = sqlite3.connect(target)
    database.create_function("moved", 1, clock.moved, deterministic=True)
    tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        if table.startswith("LANESCOPE_STORED"):
            database.execute(f'DELETE FROM "{table}"')
            continue
        columns = _columns(database, table)
        _check(table, columns)
        sets = [f'"{name}" = moved("{name}")' for name in columns if name in MOMENTS]
        sets += [f'"{name}" = "{name}" + {clock.offset_ns}' for name in columns if name in SINCE_1970]
        if sets and not table.startswith("ENUM_"):
            database.execute(f'UPDATE "{table}" SET {", ".join(sets)}')
    if host:
        for table in {"META_DATA_CAPTURE", "LANESCOPE_PROPERTIES"} & set(tables):
            database.execute(f"UPDATE {table} SET value = ? WHERE name = 'host'", (host,))
        database.execute("UPDATE LANESCOPE_PROPERTIES SET value = ? WHERE name = 'bootId'", (f"boot of {host}",))
    database.commit()
    database.execute("VACUUM")
    database.close()


def length_ns(path):
    """From the beginning of the session to its last event."""
    database = sqlite3.connect(f"{pathlib.Path(path).absolute().as_uri()}?mode=ro", uri=True)
    (length,) = database.execute("SELECT max(endNs) FROM LANESCOPE_PROCESSES").fetchone()
    database.close()
    return length or 0


def main():
    parser = argparse.ArgumentParser(description="Writes a trace as a clock that is off would have told it.")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("--offset-ns", type=int, default=0)
    parser.add_argument("--drift-ppm", type=float, default=0.0)
    parser.add_argument("--step-ns", type=int, default=0, help="by which the clock was set")
    parser.add_argument("--step-at", type=float, default=0.5, help="where in the run, as a share of it")
    parser.add_argument("--host", help="the machine that it is said to be of")
    options = parser.parse_args()
    at_ns = round(length_ns(options.source) * options.step_at) if options.step_ns else None
    skew(options.source, options.target, Clock(options.offset_ns, options.drift_ppm, options.step_ns, at_ns), options.host)


if __name__ == "__main__":
    main()
