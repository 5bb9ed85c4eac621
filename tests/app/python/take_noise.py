#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes from recordings of real GPUs what steps, ranks and collectives differ by, for simulated jobs.

usage: PYTHONPATH=STAGE take_noise.py SUMMARY... > recorded_noise.json

SUMMARY is what `lanescope summarize` makes; runs of one program are called alike up to the first dot. What is taken
is each step's parts as shares of the usual step of its worker, without communication, and of the collectives of one size
how much the shortest rank of each differs from the usual.
"""

import json
import sys
from pathlib import Path

import numpy

from lanescope.fleet import reading
from lanescope.fleet.reading import NONE

PARTS = ("compute", "copies", "loading", "launching")
FEWEST_STEPS, MOST_STEPS = 8, 120
STARTING = 20  # Until then a GPU comes to its usual clocks, at the same time in all ranks.
FEWEST_CALLS = 5


def rounded(values):
    return [float(f"{value:.5g}") for value in values]


def series_of(steps, own):
    """The parts of each step as shares of what a step usually takes without communication."""
    values = {name: steps[f"{name}_ns"][own].astype(float) for name in PARTS[:3]}
    alone = (steps["wall_ns"] - steps["communication_ns"])[own].astype(float)
    values["launching"] = alone - sum(values.values())
    usual = numpy.median(alone)
    return usual, {name: rounded((values[name] / usual)[:MOST_STEPS]) for name in PARTS}


def moving_of(calls):
    """Of those of one size how much the shortest of all ranks differs from the usual."""
    known = (calls["gpu_ns"] != NONE) & (calls["shared_by"] == 1)
    alike = {}
    for place in numpy.flatnonzero(known):
        key = (calls["communicator"][place], calls["operation"][place], calls["bytes"][place])
        alike.setdefault(key, {}).setdefault(calls["number"][place], []).append(calls["gpu_end_ns"][place] - calls["gpu_ns"][place])
    for groups in alike.values():
        least = numpy.array([min(each) for each in groups.values()], dtype=float)
        if len(least) >= FEWEST_CALLS and numpy.median(least) > 0:
            yield rounded(least / numpy.median(least))


def main(paths):
    workers, moving = [], []
    for path in paths:
        summary = reading.read(path)
        if isinstance(summary, reading.Broken):
            sys.exit(summary.sentence)
        steps, table = summary.tables["steps"], summary.tables["workers"]
        run = Path(path).name[:-len(reading.SUMMARY)]
        for worker in sorted(set(steps["worker"])):
            own = steps["worker"] == worker
            if own.sum() < FEWEST_STEPS:
                continue
            if own.sum() > 2 * STARTING:
                own[numpy.flatnonzero(own)[:STARTING]] = False
            usual, series = series_of(steps, own)
            workers.append({"run": run, "program": run.split(".")[0], "worker": int(worker),
                            "gpu": table["gpu_name"][table["worker"] == worker][0],
                            "compute_ns": float(numpy.median(steps["compute_ns"][own])), "step_ns": float(usual), **series})
        moving += moving_of(summary.tables["collectives"])
    print('{"workers": [')
    print(",\n".join(json.dumps(each) for each in workers))
    print('], "moving": [')
    print(",\n".join(json.dumps(each) for each in moving))
    print("]}")


if __name__ == "__main__":
    main(sys.argv[1:])
