# SPDX-License-Identifier: Apache-2.0
"""One clock for all machines of a job.

The last rank of a collective, and the wait of the others, need no common clock: a collective ends everywhere at
nearly the same time, so the last rank to enter is the one with the shortest time in it. Only a common time axis
needs one.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy

from lanescope.fleet.reading import NONE

MOST_SIGHTINGS = 200_000
MOST_SETTINGS = 1000


class Setting(NamedTuple):
    """A change of a machine's clock by `by_ns`, between two of its times of day, and the correction from then on."""

    after_ns: int
    before_ns: int
    by_ns: int
    offset_ns: int
    drift_ppb: int
    origin_ns: int


class MachineClock(NamedTuple):
    """The correction of a machine's time of day at `origin_ns`, until the clock is changed, and its error; `error_ns`
    is NONE if unknown."""

    offset_ns: int
    drift_ppb: int
    error_ns: int
    method: str
    origin_ns: int = 0
    settings: tuple = ()


# The times at which each machine began and ended the collectives shared by several machines, by its own time of day. Of
# very many, only every n-th counts.
SIGHTINGS = """
    WITH shared AS (SELECT communicator, operation, number FROM groups JOIN calls USING (communicator, operation, number)
                    JOIN places USING (row) GROUP BY ALL HAVING count(DISTINCT machine) > 1),
         numbered AS (SELECT *, ROW_NUMBER() OVER (ORDER BY number, communicator, operation) - 1 AS moment, count(*) OVER () AS moments FROM shared)
    SELECT moment::UINTEGER AS moment, machine::UINTEGER AS machine, start_utc_ns + end_ns - ns AS begin_ns, start_utc_ns + end_ns AS end_ns
    FROM numbered JOIN calls USING (communicator, operation, number) JOIN places USING (row)
    WHERE moment % greatest(1, (moments * $1 // $2)::BIGINT) = 0 ORDER BY moment, row"""


def sightings(ranks: list, machines: list, database) -> dict:
    """Returns the columns moment, machine, begin_ns, end_ns of events that several machines took part in."""
    database.register("given", {"row": numpy.array([rank.row for rank in ranks], dtype=numpy.int32),
                                "machine": numpy.array([machines.index(rank.machine) for rank in ranks], dtype=numpy.int32),
                                "start_utc_ns": numpy.array([rank.start_utc_ns for rank in ranks], dtype=numpy.int64)})
    database.execute("CREATE TEMP TABLE places AS SELECT * FROM given")
    database.unregister("given")
    return database.execute(SIGHTINGS, [len(machines), MOST_SIGHTINGS]).fetchnumpy()


def fit_by_merge():
    """Fits the clocks by the compiled library, with the method of the program's merge. Returns None if this library has
    no fit.

    Takes the number of clocks and the columns of `sightings`. Returns, for each clock, offset, origin, drift and
    error against the first, the number of moments used and of clock changes; and the changes: clock, after, before,
    size, and offset, origin and drift from then on.
    """
    from lanescope._library import Error, load
    try:
        function = load("python", "lanescopeAbi", 6).lanescopeFitClocks
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
    """Returns the clock of each machine. `database` has the tables `calls` and `groups`. Only this function fits
    clocks.

    Uses collectives shared by machines if the compiled library can fit clocks by them. Otherwise uses each machine's
    own time of day, which is as exact as its network time, with the kernel's own estimate as the error.
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
