# SPDX-License-Identifier: Apache-2.0
"""Runs the tasks: in processes of this machine, without any port, or on a Dask cluster.

Results are in the order of the files, independent of workers and retries.
"""

from __future__ import annotations

import collections
import itertools
import json
import multiprocessing
import os
import stat
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from lanescope.fleet import FleetError
from lanescope.fleet.reading import Broken, Summary, read

RETRIES = 2
MOST_FILE = 1 << 20
MOST_JOB_BYTES = 8 << 30


def _died(path: str) -> Broken:
    return Broken(path, f"{os.path.basename(path)} cannot be read: the reader process died {RETRIES + 1} times.")


def most_bytes() -> int:
    """Returns the memory for the summaries of a job: 8 GiB, or half of this machine's."""
    return min(MOST_JOB_BYTES, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)


class _Results(dict):
    """Results by file, until they need too much memory together."""

    def __init__(self, most: int):
        super().__init__()
        self._most = self._left = most

    @property
    def is_full(self) -> bool:
        return self._left < 0

    def add(self, path: str, result) -> None:
        if not self.is_full and isinstance(result, Summary):
            self._left -= result.memory
        self[path] = self.skipped(path) if self.is_full else result

    def skipped(self, path: str) -> Broken:
        return Broken(path, f"{os.path.basename(path)} is not in the report: the summaries need more than {self._most >> 20:,} MiB.")


def _round(task, paths: list, workers: int, results: _Results) -> None:
    """Adds the available results; a process that dies loses its task and the following ones."""
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        left, begun = iter(paths), collections.deque()

        def begin(count: int) -> None:
            for path in [] if results.is_full else itertools.islice(left, count):
                begun.append((path, pool.submit(task, path)))

        try:
            begin(2 * workers)  # Few, because finished ones wait in memory.
            while begun:
                path, future = begun.popleft()
                results.add(path, future.result())
                begin(1)
        except BrokenProcessPool:
            for path, future in begun:
                if future.done() and not future.exception():
                    results.add(path, future.result())


def in_processes(paths: list, workers: int = 0, task=read, most: int = 0) -> list:
    """Returns the results of all files, computed by processes of this machine. The last files of a job that needs more
    than `most` bytes (`most_bytes`) are reported instead."""
    count = max(1, min(workers or os.cpu_count() or 1, len(paths)))
    results = _Results(most or most_bytes())
    for attempt in range(RETRIES + 1):
        left = [path for path in paths if path not in results]
        if not left or results.is_full:
            break
        # The last attempt is separate for each file, so that a file that kills its process affects no other.
        for some in [left] if attempt < RETRIES else [[path] for path in left]:
            _round(task, some, count, results)
    rest = results.skipped if results.is_full else _died
    return [results.get(path) or rest(path) for path in paths]


def address_of(scheduler: str) -> str:
    """Returns the address of a scheduler, also from its own file, which only its user or root may write."""
    if "://" in scheduler:
        return scheduler
    try:
        file = os.open(scheduler, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(file, encoding="utf-8") as text:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_uid not in (os.geteuid(), 0) or status.st_mode & 0o022:
                raise FleetError(f"{scheduler}: other users may have written this scheduler file. Use one that belongs to you and that only "
                                 "you can write (chmod go-w).")
            return str(json.loads(text.read(MOST_FILE))["address"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FleetError(f"{scheduler}: not an address (for example tls://node0:8786) or scheduler file of Dask: {error}.") from error


def check_encryption(address: str, is_unsafe: bool) -> None:
    """Raises an error for a scheduler without TLS unless `is_unsafe`. Dask unpickles the answers of a scheduler, which runs
    code. Every user of this machine can listen at a local address."""
    if address.startswith(("tls://", "wss://")) or is_unsafe:
        return
    raise FleetError(f"{address}: a scheduler without TLS. Any program at this address can run code as you. Start the scheduler with "
                     "TLS (tls://, see security in Dask's documentation), or use --without-tls on a trusted network.")


def in_cluster(paths: list, scheduler: str, is_unsafe: bool = False, task=read, most: int = 0) -> list:
    """Returns the results of all files, computed by a Dask cluster whose workers see the same files. Only summaries are
    transferred, as far as they fit (`most_bytes`)."""
    address = address_of(scheduler)
    check_encryption(address, is_unsafe)
    try:
        from distributed import Client, Security
    except ImportError as error:
        raise FleetError(f"A scheduler needs Dask ({error}): pip install dask distributed.") from error
    try:
        security = None if is_unsafe else Security(require_encryption=True)
        client = Client(address, timeout="30s", set_as_default=False, security=security)
    except (OSError, RuntimeError, TimeoutError, ValueError, TypeError) as error:
        raise FleetError(f"No scheduler answers at {address}: {error}.") from error
    with client:
        futures = [client.submit(task, path, key=f"lanescope-summary-{path}", retries=RETRIES) for path in paths]
        results = _Results(most or most_bytes())
        for path, future in zip(paths, futures):
            if results.is_full:
                future.cancel()
                continue
            # The results of a worker that dies are computed again by another, as often as Dask allows.
            failure = future.exception()
            results.add(path, future.result() if failure is None else
                        Broken(path, f"{os.path.basename(path)} cannot be read: {type(failure).__name__} in the cluster."))
        return [results.get(path) or results.skipped(path) for path in paths]


SLURM = """# A Dask cluster in a Slurm allocation; for TLS see security in Dask's documentation (distributed.comm.tls in its configuration).
sbatch --ntasks=8 --cpus-per-task=2 --wrap '
  umask 077  # fleet refuses a scheduler file that others can write
  dask scheduler --protocol tls --scheduler-file scheduler.json &
  srun dask worker --protocol tls --scheduler-file scheduler.json --nthreads 1 --nworkers 2 &
  while [ ! -s scheduler.json ]; do sleep 1; done
  lanescope fleet FOLDER -o fleet.sqlite --scheduler scheduler.json
  scancel --signal=TERM $SLURM_JOB_ID'
"""

KUBERNETES = """# A Dask cluster with Dask's Kubernetes operator, which must be installed; the folder with the summaries is a volume of all pods.
python -c 'from dask_kubernetes.operator import KubeCluster; KubeCluster(name="lanescope", image="IMAGE-WITH-LANESCOPE", n_workers=8, shutdown_on_close=False)'
kubectl port-forward service/lanescope-scheduler 8786 &
lanescope fleet FOLDER -o fleet.sqlite --scheduler tcp://127.0.0.1:8786 --without-tls  # the port must be that of kubectl: other users can listen, too
"""
