# SPDX-License-Identifier: Apache-2.0
"""One clock for all machines of a job.

Who is last in a collective, and how long the others wait, needs none: a collective ends everywhere at nearly the same moment,
so the last to enter is who is in it for the shortest time. Only what is laid side by side on one axis of time does.
"""

from __future__ import annotations

from typing import NamedTuple

from lanescope.fleet.reading import NONE


class MachineClock(NamedTuple):
    """What to add to a machine's time of the day, and how sure that is; `error_ns` is NONE if nobody knows."""

    offset_ns: int
    drift_ppb: int
    error_ns: int
    method: str


def between_machines(ranks: list, database) -> dict:
    """The clock of each machine. `database` has the table `calls`, with `end_ns` of each rank's kernels on its own clock.

    This is the only place that asks for it. As it stands each machine's own clock of the day counts, which is as exact as the
    network time that keeps it; the kernel's own estimate of that is the error.
    """
    del database
    found: dict = {}
    for rank in ranks:
        known = found.get(rank.machine)
        error_ns = max(rank.clock_error_ns, known.error_ns if known else NONE)
        found[rank.machine] = MachineClock(0, 0, error_ns, "clock of the day")
    return dict(sorted(found.items()))
