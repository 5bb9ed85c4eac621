#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures of the comparison of many ranks: how often a fault is named, and how long and in what memory a thousand ranks take.

usage: PYTHONPATH=STAGE measure_fleet.py [--only clean|faults|scale] [--jobs 1000] [--results FILE] [--minutes N]

Prints for each fault and size the number of simulated jobs that list it first and of those that name another rank. Prints the
number of jobs without a fault that name a rank, and the time and memory of a report on a thousand ranks.
With --results each judged job is a line in FILE, and those that are there are not judged again; --minutes ends early.
Ends with 1 where a fault of the size that is asked is listed first in less than 99 of 100 jobs, or more than one of 1000
jobs without a fault accuses anybody.
"""

import argparse
import csv
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

try:
    import test_fleet
except SystemExit:
    sys.exit(77)

import fleet_jobs
import fleet_scale
from lanescope.fleet import findings, joining

SHAPES = ((4, 8), (8, 4), (8, 8), (3, 8))
STEPS = (30, 60, 120)
# From which size on a fault must be found.
ASKED = {"slow_gpu": 0.03, "late_loader": 0.4, "slow_rail": 0.2, "slow_nvlink": 0.2, "missing_rank": 1, "wrong_order": 1}
MOST_COSTS = 30  # jobs that are played again without their fault
FIELDS = ("fault", "size", "seed", "steps", "program", "is_first", "is_other")


def judge(asked):
    """A line of the results: whether the fault is first, and whether anything else is found."""
    noise, seed, fault, size = asked
    hosts, gpus = SHAPES[seed % len(SHAPES)]
    job = fleet_jobs.SimulatedJob(noise, seed, fault, size, hosts=hosts, gpus=gpus, steps=STEPS[seed % len(STEPS)])
    found = findings.find(joining.join(job.summaries(), threads=1))
    is_first = bool(fault and found) and job.is_named(found[0])
    is_other = any(not fault or not job.is_named(each) for each in found)
    return dict(zip(FIELDS, (fault, size, seed, job.steps, job.program, int(is_first), int(is_other))))


def cost(asked):
    """By what share the fault makes a job longer: where all ranks stall anyhow, one that is late more often costs nothing."""
    noise, seed, fault, size = asked
    hosts, gpus = SHAPES[seed % len(SHAPES)]
    with_it, without = (fleet_jobs.SimulatedJob(noise, seed, fault, each, hosts=hosts, gpus=gpus, steps=STEPS[seed % len(STEPS)]).walls.sum()
                        for each in (size, 0.0))
    return with_it / without - 1


class Results:
    """What was judged, by fault and size; in a file if there is one."""

    def __init__(self, path):
        self.rows, self.file = {}, None
        if path:
            if os.path.exists(path):
                with open(path, newline="", encoding="utf-8") as file:
                    for row in csv.DictReader(file):
                        self._keep({**row, "size": float(row["size"]), **{name: int(row[name]) for name in ("seed", "steps", "is_first", "is_other")}})
            is_new = not self.rows
            self.file = open(path, "a", newline="", encoding="utf-8")
            self.writer = csv.DictWriter(self.file, FIELDS)
            if is_new:
                self.writer.writeheader()

    def _keep(self, row):
        self.rows.setdefault((row["fault"], row["size"]), {})[row["seed"]] = row

    def add(self, row):
        self._keep(row)
        if self.file:
            self.writer.writerow(row)
            self.file.flush()

    def of(self, fault, size):
        return self.rows.get((fault, size), {})


def faults_of(sizes):
    all_of_them = [(fault, size) for fault, sizes_of in fleet_jobs.FAULTS.items() for size in sizes_of]
    return [(fault, size) for fault, size in all_of_them if sizes == "all" or (sizes == "asked") == (size == ASKED[fault])]


def share(rows):
    return f"{sum(row['is_first'] for row in rows)} of {len(rows)}"


def say(noise, fault, size, rows):
    """Prints a line of the table; False if it is not as asked.

    Where all ranks wait long for batches some wait longer by chance.
    """
    others = sum(row["is_other"] for row in rows)
    if not fault:
        print(f"no fault            : somebody accused in {others} of {len(rows)}", flush=True)
        return others <= max(1, len(rows) // 1000)
    by_steps = ", ".join(f"{steps}: {share([row for row in rows if row['steps'] == steps])}" for steps in STEPS)
    print(f"{fault:13} {size:6.1%}: first in {share(rows)} (by steps {by_steps}), something else named in {others}", flush=True)
    missed = {}
    for row in rows:
        of_program = missed.setdefault(row["program"], [0, 0])
        of_program[row["is_first"]] += 1
    named = [f"{program} {no} of {no + yes}" for program, (no, yes) in sorted(missed.items(), key=lambda each: -each[1][0]) if no]
    if named and size >= ASKED[fault]:
        print(f"    not first in jobs like {', '.join(named[:6])}", flush=True)
        for is_first, what in ((0, "those"), (1, "others")):
            of_them = [row for row in rows if row["is_first"] == is_first][:MOST_COSTS]
            costs = sorted(cost((noise, row["seed"], fault, size)) for row in of_them)
            if costs:
                print(f"    {what} take {costs[len(costs) // 2]:.2%} longer for it (the median of {len(costs)})", flush=True)
    if fault in ("late_loader", "slow_rail", "slow_nvlink"):
        rows = [row for row in rows if row["program"] not in noise.late_anyhow]
        print(f"    of jobs whose loaders are not late in all ranks anyhow: first in {share(rows)}", flush=True)
    return size < ASKED[fault] or sum(row["is_first"] for row in rows) >= 0.99 * len(rows)


def measure_faults(noise, jobs, faults, results, end, workers):
    is_good = True
    with ProcessPoolExecutor(workers) as pool:
        for fault, size in faults:
            # Seeds that no other row has: clean jobs are others than those with faults.
            first = 1_000_000 * (1 + len(fault)) + int(1000 * size) * 10_000
            known = results.of(fault, size)
            left = [(noise, seed, fault, size) for seed in range(first, first + jobs) if seed not in known]
            while left and time.monotonic() < end:
                for row in pool.map(judge, left[:64], chunksize=4):
                    results.add(row)
                del left[:64]
            rows = list(results.of(fault, size).values())
            if rows:
                is_good &= say(noise, fault, size, rows)
    return is_good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--only", choices=("clean", "faults", "scale"))
    parser.add_argument("--sizes", choices=("all", "asked", "others"), default="all", help="of the faults")
    parser.add_argument("--results", default="")
    parser.add_argument("--minutes", type=float, default=1e6)
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    noise, results, is_good = fleet_jobs.Noise(), Results(asked.results), True
    if asked.only in (None, "clean"):
        is_good &= measure_faults(noise, asked.jobs, [("", 0.0)], results, end, asked.workers)
    if asked.only in (None, "faults"):
        is_good &= measure_faults(noise, asked.jobs, faults_of(asked.sizes), results, end, asked.workers)
    if asked.only in (None, "scale"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            is_good &= fleet_scale.measure_report(noise, test_fleet.schema_of(folder), asked.ranks, folder / "job")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
