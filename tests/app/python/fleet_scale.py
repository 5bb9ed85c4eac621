# SPDX-License-Identifier: Apache-2.0
"""How long, and in what memory of all processes together, a report of many ranks is made."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import fleet_jobs
import lanescope

MIB = 1 << 20
ASKED_SECONDS, ASKED_BYTES = 60, 2 << 30


def tree_of(pid):
    """A process and all that it started."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parent = int(Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def resident(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def watched(words, environment):
    """Runs a command; its seconds, and the most memory that it and all that it started have in RAM at one time."""
    most, start = 0, time.monotonic()
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    done = threading.Event()

    def watch():
        nonlocal most
        while not done.wait(0.02):
            most = max(most, sum(map(resident, tree_of(process.pid))))
    watcher = threading.Thread(target=watch)
    watcher.start()
    said, failed = process.communicate()
    done.set()
    watcher.join()
    if process.returncode:
        raise RuntimeError(failed)
    return time.monotonic() - start, most, said


def measure_report(noise, schema, ranks, folder):
    """Has the program itself make a report of so many simulated summaries; False if it takes more than asked."""
    folder.mkdir()
    job = fleet_jobs.SimulatedJob(noise, 1, "slow_gpu", 0.1, hosts=ranks // 8, gpus=8, steps=1000)
    for summary in map(job.summary, range(ranks)):
        fleet_jobs.write_summary(summary, folder / Path(summary.source).name, schema)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{ranks} summaries of 1000 steps and 3000 collectives, {size / ranks / 1e3:.0f} kB each", flush=True)
    words = [str(lanescope.program()), "fleet", str(folder), "-o", f"{folder}.sqlite", "--html", f"{folder}.html", "--workers", "2", "--force"]
    seconds, most, said = watched(words, dict(os.environ, LANESCOPE_PYTHON=sys.executable))
    lines = said.splitlines()
    is_first = lines[0].startswith(f"{ranks} ranks on ") and lines[1].startswith(f"- Rank {job.culprit} on node")
    print(f"{seconds:.1f} s, at most {most / MIB:.0f} MiB in RAM of all processes together; the fault is first: {is_first}", flush=True)
    if not is_first:
        print(said, flush=True)
    return seconds <= ASKED_SECONDS and most <= ASKED_BYTES and is_first
