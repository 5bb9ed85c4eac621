#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures of the comparison of many ranks: how often a fault is named, and how long a thousand ranks take.

usage: PYTHONPATH=STAGE measure_fleet.py [--jobs 1000] [--ranks 1024] [--only clean|faults|scale]

Prints, by fault and its size, how many of so many simulated jobs list it first and how many name somebody else at all,
and how many of as many jobs without a fault accuse anybody; then the time and memory of a report on so many ranks.
"""

import argparse
import os
import resource
import shutil
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
from lanescope.fleet import findings, joining, page, reading, running, writing

SHAPES = ((4, 8), (8, 4), (8, 8), (3, 8))


def judge(asked):
    """How a job is judged: whether the fault is first, and whether anything else is found."""
    noise, seed, fault, size = asked
    hosts, gpus = SHAPES[seed % len(SHAPES)]
    job = fleet_jobs.SimulatedJob(noise, seed, fault, size, hosts=hosts, gpus=gpus, steps=(30, 60, 120)[seed % 3])
    found = findings.find(joining.join(job.summaries(), threads=1))
    if not fault:
        return False, bool(found)
    return bool(found) and job.is_named(found[0]), any(not job.is_named(each) for each in found)


def measure_faults(noise, jobs, faults):
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for fault, size in faults:
            # Seeds that no other row has: clean jobs are others than those with faults.
            first = 1_000_000 * (1 + len(fault)) + int(1000 * size) * 10_000
            results = list(pool.map(judge, [(noise, first + seed, fault, size) for seed in range(jobs)], chunksize=8))
            named, others = sum(one for one, _ in results), sum(other for _, other in results)
            if fault:
                print(f"{fault:13} {size:6.0%}: first in {named} of {jobs}, something else named in {others}", flush=True)
            else:
                print(f"no fault            : somebody accused in {others} of {jobs}", flush=True)


def measure_scale(noise, schema, ranks):
    folder = Path(tempfile.mkdtemp())
    try:
        job = fleet_jobs.SimulatedJob(noise, 1, "slow_gpu", 0.03, hosts=ranks // 8, gpus=8, steps=1000)
        for summary in map(job.summary, range(ranks)):
            fleet_jobs.write_summary(summary, folder / Path(summary.source).name, schema)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{ranks} summaries of 1000 steps and 3000 collectives, {size / ranks / 1e3:.0f} kB each", flush=True)
        start = time.monotonic()
        results = running.in_processes(reading.find(folder), 2)
        read = time.monotonic()
        made = joining.join(results, threads=2)
        del results
        joined = time.monotonic()
        found = findings.find(made)
        judged = time.monotonic()
        writing.write(made, found, str(folder / "fleet.sqlite"))
        page.write_page(page.page(made, found, "measured"), str(folder / "fleet.html"))
        end = time.monotonic()
        own, children = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(f"read {read - start:.1f} s, joined {joined - read:.1f} s, judged {judged - joined:.1f} s, written {end - judged:.1f} s: {end - start:.1f} s; "
              f"at most {own:.0f} MiB here and {children:.0f} MiB in a process that reads; the fault is first: {job.is_named(found[0])}", flush=True)
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--only", choices=("clean", "faults", "scale"))
    asked = parser.parse_args()
    test_fleet.WithNoise.setUpClass()
    try:
        if asked.only in (None, "clean"):
            measure_faults(test_fleet.WithNoise.noise, asked.jobs, [("", 0.0)])
        if asked.only in (None, "faults"):
            measure_faults(test_fleet.WithNoise.noise, asked.jobs, [(fault, size) for fault, sizes in fleet_jobs.FAULTS.items() for size in sizes])
        if asked.only in (None, "scale"):
            measure_scale(test_fleet.WithNoise.noise, test_fleet.WithNoise.schema, asked.ranks)
    finally:
        test_fleet.WithNoise.tearDownClass()


if __name__ == "__main__":
    main()
