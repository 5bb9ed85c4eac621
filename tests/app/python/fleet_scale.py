# SPDX-License-Identifier: Apache-2.0
"""How long, and in what memory of all processes together, a report of many ranks is made; and by a cluster that loses a worker."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fleet_jobs
import lanescope
from lanescope.fleet import findings, joining, reading, running, writing

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
    is_first = f"- Rank {job.culprit} on node" in said.splitlines()[1]
    print(f"{seconds:.1f} s, at most {most / MIB:.0f} MiB in RAM of all processes together; the fault is first: {is_first}", flush=True)
    return seconds <= ASKED_SECONDS and most <= ASKED_BYTES and is_first


def _report(results, path):
    job = joining.join(results)
    writing.write(job, findings.find(job), str(path))
    return path.read_bytes(), job


def _kill_one(cluster, folder, killed):
    """Kills a worker of the cluster, with what it started, while it makes a summary."""
    time.sleep(random.Random(1).uniform(8, 12))
    worker = next(iter(cluster.workers.values()))
    pid = worker.process.pid if hasattr(worker, "process") else None
    pids = [each for each in tree_of(pid) if each != pid] if pid else []
    # The nanny stays and starts another; what dies is the process that works.
    for each in pids:
        try:
            os.kill(each, signal.SIGKILL)
            killed.append(each)
        except ProcessLookupError:
            pass


def measure_cluster(generator, traces, events, folder):
    """Has a Dask cluster of this machine sum up whole traces, once in peace and once with a worker killed meanwhile."""
    from distributed import LocalCluster
    folder.mkdir()
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(subprocess.run, [generator, str(folder / f"run.{rank:02}.sqlite"), "--events", str(events), "--seed", str(rank + 1)],
                            check=True, stdout=subprocess.DEVNULL) for rank in range(traces)]
        for each in made:
            each.result()
    paths = [path for path in reading.find(folder) if path.endswith(".sqlite")]
    size = sum(os.path.getsize(path) for path in paths)
    print(f"{len(paths)} traces of {size / len(paths) / 1e6:.0f} MB", flush=True)
    os.environ["LANESCOPE_PROGRAM"] = str(lanescope.program())
    reports = []
    for is_killed in (False, True):
        killed, start = [], time.monotonic()
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
            if is_killed:
                threading.Thread(target=_kill_one, args=(cluster, folder, killed)).start()
            results = running.in_cluster(paths, cluster.scheduler_address)
        broken = [each for each in results if isinstance(each, reading.Broken)]
        report, job = _report(results, folder / f"report{len(reports)}")
        reports.append(report)
        print(f"{'A worker killed' if is_killed else 'In peace'}: {time.monotonic() - start:.0f} s, {len(job.ranks)} ranks, {len(broken)} files not read, "
              f"{len(killed)} processes killed", flush=True)
        for each in broken:
            print(f"    {each.sentence}", flush=True)
    is_same = reports[0] == reports[1]
    print(f"The same bytes: {is_same}", flush=True)
    return is_same
