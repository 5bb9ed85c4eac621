# SPDX-License-Identifier: Apache-2.0
"""Simulated jobs of many ranks with one fault each, or none; what their ranks and steps differ by is that of recorded ones.

It knows nothing of who looks for the fault: no number here is one of lanescope.fleet.
"""

import json
import sqlite3
from pathlib import Path

import numpy

from lanescope.fleet import reading
from lanescope.fleet.reading import NONE, Summary

FAULTS = {
    "slow_gpu": (0.005, 0.01, 0.02, 0.03, 0.05),  # longer kernels
    "late_loader": (0.05, 0.10, 0.20, 0.40),  # of a step, in a fifth of the steps
    "slow_rail": (0.05, 0.10, 0.20, 0.50),  # longer transfers between machines by one GPU of each
    "slow_nvlink": (0.05, 0.10, 0.20, 0.50),  # the same within one machine
    "missing_rank": (1,),
    "wrong_order": (1,),
}
MOST_JOINED = 32
RECORDED = Path(__file__).with_name("recorded_noise.json")


class Noise:
    """What recorded ranks, runs and steps differ by, and their collectives.

    The ranks of a job run one program, so those of a simulated one take after recordings of one: `programs` has its
    workers, each with what its steps take by part, as shares of the usual step. `factors` is by how much the usual kernels of
    a rank or run are longer than those of all runs of its program.
    """

    def __init__(self, path=RECORDED):
        given = json.loads(path.read_text())
        programs, kernels = {}, {}
        for worker in given["workers"]:
            parts = {name: numpy.array(worker[name]) for name in ("compute", "copies", "loading", "launching")}
            programs.setdefault(worker["program"], []).append((worker["step_ns"], parts))
            kernels.setdefault(worker["program"], []).append(worker["compute_ns"])
        self.programs = programs
        self.factors = numpy.concatenate([numpy.array(each) / numpy.mean(each) for each in kernels.values() if len(each) > 1])
        # Programs whose ranks wait for batches now and then, and long, though nothing is wrong with one of them.
        self.late_anyhow = {name for name, workers in programs.items() if numpy.std(workers[0][1]["loading"]) > 0.1}
        self.moving = numpy.concatenate([numpy.clip(each, 0.2, 20) for each in given["moving"]])

    def program(self, random, waits_for_gpu):
        """The name of a program, of those that wait for the GPU and not for their CPU if that is asked."""
        fitting = [name for name, workers in self.programs.items() if not waits_for_gpu or numpy.median(workers[0][1]["compute"]) > 0.5]
        return fitting[random.integers(len(fitting))]


def _recorded_again(random, donor, steps):
    """The parts of so many steps, in stretches as they were recorded."""
    length = len(donor["compute"])
    chosen, left = [], steps
    while left > 0:
        stretch = min(int(numpy.exp(random.uniform(numpy.log(3), numpy.log(length + 1)))), left)
        chosen.append((int(random.integers(length)) + numpy.arange(stretch)) % length)
        left -= stretch
    chosen = numpy.concatenate(chosen)
    return {name: values[chosen] for name, values in donor.items()}


def _steps_of(noise, random, ranks, steps, program):
    """The usual step, and by part what each rank's steps take, in ns.

    Each simulated step is several recorded ones, as where gradients are accumulated: steps of large jobs are longer than those
    that were recorded, and what makes a GPU slower for a moment lasts no longer there.
    """
    workers = noise.programs[program]
    recorded_ns = workers[0][0]
    several = int(numpy.clip(numpy.ceil(random.uniform(100e6, 900e6) / recorded_ns), 1, MOST_JOINED))
    made = {name: numpy.zeros((ranks, steps)) for name in workers[0][1]}
    for rank in range(ranks):
        _, donor = workers[random.integers(len(workers))]
        for name, values in _recorded_again(random, donor, steps * several).items():
            made[name][rank] = recorded_ns * values.reshape(steps, several).sum(axis=1)
        made["compute"][rank] *= noise.factors[random.integers(len(noise.factors))]
    return recorded_ns * several, made


class SimulatedJob:
    """`hosts` machines of `gpus` GPUs each: tensor parallel within a machine, data parallel across by GPUs of one number."""

    def __init__(self, noise, seed, fault="", size=0.0, hosts=4, gpus=8, steps=40):
        random = numpy.random.default_rng(seed)
        self.fault, self.size, self.hosts, self.gpus, self.steps = fault, size, hosts, gpus, steps
        self.ranks = hosts * gpus
        self.culprit = int(random.integers(self.ranks))
        # Where the GPU waits for its CPU anyhow, kernels that take longer cost nothing.
        self.program = noise.program(random, waits_for_gpu=fault == "slow_gpu")
        self.step_ns, taken = _steps_of(noise, random, self.ranks, steps, self.program)
        self.compute, self.copies, self.loading, self.idle = (taken[name] for name in ("compute", "copies", "loading", "launching"))
        if fault == "slow_gpu":
            self.compute[self.culprit] *= 1 + size
        if fault == "late_loader":
            late = random.random(steps) < 0.2
            late[random.integers(steps, size=3)] = True
            self.loading[self.culprit, late] += size * self.step_ns * random.uniform(0.7, 1.3, int(late.sum()))
        self._run(noise, random)

    def members(self, kind, index):
        return [index * self.gpus + gpu for gpu in range(self.gpus)] if kind == "tensor" else [host * self.gpus + index for host in range(self.hosts)]

    def _run(self, noise, random):
        """Plays the steps: a collective ends everywhere when the last has come and the data has moved."""
        now, self.walls, self.waiting = numpy.zeros(self.ranks), [], []
        self.calls = [[] for _ in range(self.ranks)]
        starts, usual = [], {"tensor": 0.02 * self.step_ns, "data": 0.06 * self.step_ns}
        for step in range(self.steps):
            start, talking = now.copy(), numpy.zeros(self.ranks)
            for place, (kind, size) in enumerate((("tensor", 1 << 24), ("tensor", 1 << 25), ("data", 1 << 28))):
                now = now + self.compute[:, step] / 3
                if place == 0:
                    now = now + self.idle[:, step] + self.loading[:, step] + self.copies[:, step]
                for index in range(self.hosts if kind == "tensor" else self.gpus):
                    members = self.members(kind, index)
                    factor = 1 + self.size if (self.fault, kind, index) in (
                        ("slow_rail", "data", self.culprit % self.gpus), ("slow_nvlink", "tensor", self.culprit // self.gpus)) else 1
                    moving = usual[kind] * (place + 1 if kind == "tensor" else 1) * factor * noise.moving[random.integers(len(noise.moving))]
                    end = now[members].max() + moving + random.exponential(4e3, len(members))
                    communicator = (1 if kind == "tensor" else 2) * 1000 + index
                    for rank, begins, ends in zip(members, now[members].tolist(), end.tolist()):
                        self.calls[rank].append((communicator, size, step, int(begins), int(ends)))
                    talking[members] += end - now[members]
                    now[members] = end
            starts.append(start)
            self.walls.append(now - start)
            self.waiting.append(talking)
        self.starts, self.walls, self.waiting = map(numpy.array, (starts, self.walls, self.waiting))

    def summaries(self):
        """As `reading.read` gives them; the culprit's is not among them where it is missing."""
        return [self.summary(rank) for rank in range(self.ranks) if not (self.fault == "missing_rank" and rank == self.culprit)]

    def _calls_of(self, rank):
        places, numbers = {}, {}
        rows = [[communicator, "AllReduce", 0, 0, 1, size, step, begins - 20_000, begins, ends, 1]
                for communicator, size, step, begins, ends in self.calls[rank]]
        if self.fault == "wrong_order" and rank == self.culprit:
            own = [place for place, row in enumerate(rows) if row[0] < 2000]
            first = own[len(own) // 4 * 2]
            rows[first][5], rows[first + 1][5] = rows[first + 1][5], rows[first][5]
        for row in rows:
            row[2] = places[row[0]] = places.get(row[0], -1) + 1
            row[3] = numbers[row[0], row[1]] = numbers.get((row[0], row[1]), -1) + 1
        return rows

    def summary(self, rank):
        host = rank // self.gpus
        calls = self._calls_of(rank)
        columns = list(zip(*calls))
        texts = {"operation"}
        names = [name for name in reading.COLUMNS["collectives"] if name != "worker"]
        collectives = {"worker": numpy.zeros(len(calls), dtype=numpy.int64)}
        for name, column in zip(names, columns):
            collectives[name] = numpy.array(column, dtype=object if name in texts else numpy.int64)
        whole = {"start_ns": self.starts[:, rank], "wall_ns": self.walls[:, rank], "communication_ns": self.waiting[:, rank],
                 "compute_ns": self.compute[rank], "copies_ns": self.copies[rank], "loading_ns": self.loading[rank]}
        steps = {"worker": numpy.zeros(self.steps, dtype=numpy.int64), "step": numpy.arange(self.steps)}
        steps.update({name: values.astype(numpy.int64) for name, values in whole.items()})
        own = {"worker": 0, "rank": rank, "pid": 1000 + rank, "gpu": rank % self.gpus, "gpu_name": "Simulated GPU", "ended_abnormally": 0,
               "host": f"node{host:03}", "boot": f"boot{host:03}", "local_rank": rank % self.gpus, "world_size": self.ranks,
               "gpu_uuid": f"GPU-{rank:05}", "start_ns": 0, "end_ns": int(self.walls[:, rank].sum()), "clock_error_ns": 50_000,
               "clock_most_error_ns": 400_000, "mfu": 0.4 + rank / 1000}
        in_groups = {"worker": [0, 0], "communicator": [1000 + host, 2000 + rank % self.gpus], "name": ["tensor", "data"],
                     "position": [rank % self.gpus, host], "size": [self.gpus, self.hosts],
                     "calls": [sum(row[0] < 2000 for row in calls), sum(row[0] >= 2000 for row in calls)]}
        tables = {"workers": {name: [own[name]] for name in reading.COLUMNS["workers"]}, "steps": steps, "communicators": in_groups,
                  "collectives": collectives,
                  "kernels": {"worker": [0], "name": ["gemm"], "count": [10 * self.steps], "total_ns": [int(self.compute[rank].sum())],
                              "most_ns": [int(self.compute[rank].max() / 5)]}}
        made = {}
        for name, kinds in reading.COLUMNS.items():
            given = tables.get(name, {column: [] for column in kinds})
            made[name] = {column: _array(given[column], kind) for column, kind in kinds.items()}
        facts = {"startUtcNs": 1_800_000_000_000_000_000, "producer": "simulated", "stepPattern": "step #"}
        return Summary(f"simulated/rank{rank:05}.lanescope-summary", {name: facts.get(name) for name in reading.FACTS}, made)

    def is_named(self, finding):
        """Whether a finding is what was injected."""
        culprit, host = self.culprit, f"node{self.culprit // self.gpus:03}"
        wanted = {"slow_gpu": ("rank", "compute"), "late_loader": ("rank", "loading"), "slow_rail": ("link", "rail"), "slow_nvlink": ("link", "machine"),
                  "missing_rank": ("missing", "ranks"), "wrong_order": ("order", "collectives")}[self.fault]
        if (finding.kind, finding.what) != wanted:
            return False
        if self.fault == "slow_rail":
            return finding.facts["name"] == str(culprit % self.gpus)
        if self.fault == "slow_nvlink":
            return finding.facts["name"] == host
        return finding.ranks == [culprit]


def _array(values, kind):
    made = numpy.empty(len(values), dtype=reading.TYPES[kind])
    made[:] = values
    return made


def write_summary(summary, path, schema):
    """As a file, with the tables that `schema` makes. Parts are written by the names that a step has."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = OFF")
    database.executescript(schema)
    database.execute("BEGIN")
    tables = summary.tables
    database.executemany("INSERT INTO LANESCOPE_STORED VALUES (?, ?)", [
        ("version", reading.stored_version()), ("startUtcNs", summary.facts["startUtcNs"]), ("stepPattern", summary.facts["stepPattern"])])

    def rows(name, *columns):
        table = tables[name]
        cells = [[None if value == NONE else value for value in table[column].tolist()] for column in columns]
        return list(zip(*cells))
    # What must be there and is of no rank's comparison is 0.
    known = {"worker": "0", "processName": "'python'", **dict.fromkeys(("pid", "rank", "gpuId", "gpuName", "endedAbnormally"), "?")}
    needed = [name for _, name, _, must, *_ in database.execute("PRAGMA table_info(LANESCOPE_STORED_WORKERS)") if must and name not in known]
    columns = {**known, **dict.fromkeys(needed, "0")}
    insert = f"INSERT INTO LANESCOPE_STORED_WORKERS ({', '.join(columns)}) VALUES ({', '.join(columns.values())})"
    for row in rows("workers", "pid", "rank", "gpu", "gpu_name", "ended_abnormally"):
        database.execute(insert, row)
    for row in rows("workers", "host", "boot", "local_rank", "world_size", "gpu_uuid", "start_ns", "end_ns", "clock_error_ns", "clock_most_error_ns"):
        database.execute("INSERT INTO LANESCOPE_STORED_PLACES VALUES (0,?,?,?,?,?,?,?,?,?)", row)
    for (mfu,) in rows("workers", "mfu"):
        database.execute("INSERT INTO LANESCOPE_STORED_USES VALUES (0,'bf16',1000000,0,'gpm',?,12,400,4800,10,0,0,0,0,0,0,0,?)",
                         (round(1e6 * mfu), mfu))
    database.executemany("INSERT INTO LANESCOPE_STORED_STEPS VALUES (0,?,'',?,?,NULL,NULL)", rows("steps", "step", "start_ns", "wall_ns"))
    for place, row in enumerate(rows("steps", "wall_ns", "communication_ns", "compute_ns", "copies_ns", "loading_ns")):
        wall, communication, compute, copies, loading = row
        parts = {"exposed_communication": communication, "compute": compute, "exposed_htod": copies, "data_loading_idle": loading,
                 "launch_bound_idle": wall - communication - compute - copies - loading}
        database.executemany("INSERT INTO LANESCOPE_STORED_PARTS VALUES (0,?,?,?)", [(place, part, ns) for part, ns in parts.items()])
    database.executemany("INSERT INTO LANESCOPE_STORED_COMMUNICATORS VALUES (0,?,?,?,?,?)",
                         rows("communicators", "communicator", "name", "position", "size", "calls"))
    database.executemany("INSERT INTO LANESCOPE_STORED_COLLECTIVES VALUES (0,?,?,?,?,?,?,?,?,?,?,?,?)", [
        (*row[:7], row[7], row[7] + 10_000, *row[8:]) for row in rows(
            "collectives", "communicator", "operation", "place", "number", "is_numbered", "bytes", "step", "call_ns", "gpu_ns", "gpu_end_ns", "shared_by")])
    database.executemany("INSERT INTO LANESCOPE_STORED_KERNELS VALUES (0,?,0,1,?,?,?)", rows("kernels", "name", "count", "total_ns", "most_ns"))
    database.execute("COMMIT")
    database.close()
