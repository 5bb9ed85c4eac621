# SPDX-License-Identifier: Apache-2.0
"""One clock for all machines of a job.

Who is last in a collective, and how long the others wait, needs none: a collective ends everywhere at nearly the same moment,
so the last to enter is who is in it for the shortest time. Only what is laid side by side on one axis of time does.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy

from lanescope.fleet.reading import NONE

MOST_SIGHTINGS = 200_000
MOST_SETTINGS = 1000


class Setting(NamedTuple):
    """That a machine's clock was set by `by_ns`, between two of its times of the day, and what to add from then on."""

    after_ns: int
    before_ns: int
    by_ns: int
    offset_ns: int
    drift_ppb: int
    origin_ns: int


class MachineClock(NamedTuple):
    """What to add to a machine's time of the day at `origin_ns`, until it is set, and how sure that is; `error_ns` is NONE if
    nobody knows."""

    offset_ns: int
    drift_ppb: int
    error_ns: int
    method: str
    origin_ns: int = 0
    settings: tuple = ()


# When each machine began and ended the collectives in which several of them took part, by its own time of the day. Where
# there are very many, every so manieth counts.
SIGHTINGS = """
    WITH shared AS (SELECT communicator, operation, number FROM groups JOIN calls USING (communicator, operation, number)
                    JOIN places USING (row) GROUP BY ALL HAVING count(DISTINCT machine) > 1),
         numbered AS (SELECT *, ROW_NUMBER() OVER (ORDER BY number, communicator, operation) - 1 AS moment, count(*) OVER () AS moments FROM shared)
    SELECT moment::UINTEGER AS moment, machine::UINTEGER AS machine, start_utc_ns + end_ns - ns AS begin_ns, start_utc_ns + end_ns AS end_ns
    FROM numbered JOIN calls USING (communicator, operation, number) JOIN places USING (row)
    WHERE moment % greatest(1, (moments * $1 // $2)::BIGINT) = 0 ORDER BY moment, row"""


def sightings(ranks: list, machines: list, database) -> dict:
    """Columns moment, machine, begin_ns, end_ns, of what several machines saw together."""
    database.register("given", {"row": numpy.array([rank.row for rank in ranks], dtype=numpy.int32),
                                "machine": numpy.array([machines.index(rank.machine) for rank in ranks], dtype=numpy.int32),
                                "start_utc_ns": numpy.array([rank.start_utc_ns for rank in ranks], dtype=numpy.int64)})
    database.execute("CREATE TEMP TABLE places AS SELECT * FROM given")
    database.unregister("given")
    return database.execute(SIGHTINGS, [len(machines), MOST_SIGHTINGS]).fetchnumpy()


def fit_by_merge():
    """The fit of the compiled library, as the program merges traces by; None if this library has none.

    It takes how many clocks there are and the columns of `sightings`, and gives for each clock offset, origin, drift and error
    against the first, by how many moments it was found and how often it was set; and the settings: clock, after, before, by how
    much, and offset, origin and drift from then on.
    """
    from lanescope._library import Error, load
    try:
        function = load("python", "lanescopeAbi", 4).lanescopeFitClocks
    except (OSError, Error, AttributeError, ImportError):
        return None
    function.restype = ctypes.c_bool

    def fit(count: int, columns: dict) -> numpy.ndarray:
        arrays = [numpy.ascontiguousarray(columns[name], dtype=kind) for name, kind in (
            ("moment", numpy.uint32), ("machine", numpy.uint32), ("begin_ns", numpy.int64), ("end_ns", numpy.int64))]
        made, settings = numpy.zeros((count, 6)), numpy.zeros((MOST_SETTINGS, 7))
        done = function(ctypes.c_uint32(count), ctypes.c_int64(len(arrays[0])), *(array.ctypes.data_as(ctypes.c_void_p) for array in arrays),
                        made.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(MOST_SETTINGS), settings.ctypes.data_as(ctypes.c_void_p))
        return (made, settings[:int(made[:, 5].sum())]) if done else (numpy.zeros((count, 6)), settings[:0])
    return fit


def _settings_of(settings, place: int) -> tuple:
    return tuple(Setting(round(after), round(before), round(by), round(offset), round(1e9 * drift), round(origin))
                 for at, after, before, by, offset, origin, drift in settings if at == place)


def between_machines(ranks: list, database, fit=None) -> dict:
    """The clock of each machine. `database` has the tables `calls` and `groups`. This is the only place that asks for it.

    Where machines share collectives and the compiled library can fit clocks by them, that counts; else each machine's own
    clock of the day, which is as exact as the network time that keeps it, with the kernel's own estimate as the error.
    """
    machines = sorted({rank.machine for rank in ranks})
    fit = fit or (fit_by_merge() if len(machines) > 1 else None)
    seen = sightings(ranks, machines, database) if fit else {"moment": ()}
    fitted, settings = fit(len(machines), seen) if len(seen["moment"]) else (None, ())
    found = {}
    for place, machine in enumerate(machines):
        if fitted is not None and fitted[place][4] > 0:
            offset, origin, drift, error = fitted[place][:4]
            found[machine] = MachineClock(round(offset), round(1e9 * drift), round(error), "collectives", round(origin),
                                          _settings_of(settings, place))
        else:
            errors = [rank.clock_error_ns for rank in ranks if rank.machine == machine]
            found[machine] = MachineClock(0, 0, max(errors, default=NONE), "clock of the day")
    return found
