# SPDX-License-Identifier: Apache-2.0
"""Joins the summaries of all ranks into one job: identifies the ranks and aligns simultaneous events."""

from __future__ import annotations

import collections
import csv
import io
import os
import tempfile
from dataclasses import dataclass, field

import duckdb
import numpy

from lanescope.fleet import FleetError, clock
from lanescope.fleet.reading import NONE, SUMMARY, Broken, Summary, broken

PARTS = ("compute", "copies", "loading", "launching")  # a rank's own time; the rest of a step is communication
# Operations that no rank ends before the last one has begun. Others have a root, or let some ranks finish first.
TOGETHER = ("AllReduce", "AllGather", "ReduceScatter", "AllToAll", "AlltoAll")
MESSAGES = ("Send", "Recv")
MOST_ROLES = 16 << 20  # characters of a list of roles
MEMORY = "1GB"
MOST_TEMPORARY = "8GB"
MOST_CELLS = 1 << 24  # of a matrix: 1,024 ranks with 16,384 steps or kernels
BATCH = 64  # summaries passed to DuckDB at once


@dataclass
class Rank:
    """One rank, in its last attempt. `row` is its index in every matrix."""

    row: int
    number: int
    source: str
    pid: int
    gpu: int
    gpu_name: str
    gpu_uuid: str
    host: str
    boot: str
    local_rank: int
    world_size: int
    start_utc_ns: int
    start_ns: int
    end_ns: int
    ended_abnormally: bool
    clock_error_ns: int
    mfu: float = -1  # share of the peak; negative if unknown
    machine: str = ""
    role: str = ""

    @property
    def trace(self) -> str:
        return self.source[:-len(SUMMARY)] + ".sqlite" if self.source.endswith(SUMMARY) else self.source


@dataclass
class Job:
    """The data of all findings. Times in nanoseconds; matrices are ranks by steps, NaN if unknown."""

    ranks: list
    broken: list
    notes: list
    steps: numpy.ndarray
    wall: numpy.ndarray
    parts: dict
    communication: numpy.ndarray
    starts: numpy.ndarray
    communicators: dict = field(default_factory=dict)  # by id: name, size, rows
    groups: dict = field(default_factory=dict)  # columns: collectives that all ranks of a communicator have
    waits: dict = field(default_factory=dict)  # columns by rank and communicator
    disorder: list = field(default_factory=list)
    kernels: dict = field(default_factory=dict)  # name -> (count, total_ns) by row
    counters: list = field(default_factory=list)  # (row, key, link, device, mean, least, greatest)
    health: list = field(default_factory=list)  # (row, severity, code, count, sentence)
    clocks: dict = field(default_factory=dict)  # by machine

    @property
    def step_ns(self) -> float:
        """Returns the median step."""
        return float(numpy.nanmedian(self.wall)) if self.wall.size else 0.0

    @property
    def busy_ns(self) -> float:
        """Returns the median of a rank's own time in a step, without waiting for the next batch."""
        busy = self.own - self.parts["loading"]
        return float(numpy.nanmedian(busy)) if busy.size else 0.0

    @property
    def own(self) -> numpy.ndarray:
        """Returns each rank's own time in each step."""
        return self.wall - self.communication


def _workers(summaries: list) -> list:
    """Returns (summary, worker, fields) of the worker with the most step time of each process."""
    found = []
    for summary in summaries:
        table, steps = summary.tables["workers"], summary.tables["steps"]
        walls = {int(worker): int(steps["wall_ns"][steps["worker"] == worker].sum()) for worker in table["worker"]}
        best = {}
        for place, worker in enumerate(table["worker"]):
            key = (int(table["rank"][place]), int(table["pid"][place]), table["host"][place])
            if key not in best or walls[int(worker)] > walls[int(table["worker"][best[key]])]:
                best[key] = place
        found += [(summary, int(table["worker"][place]), {name: column[place] for name, column in table.items()})
                  for place in best.values()]
    return found


def _rank_of(summary: Summary, fields: dict, number: int) -> Rank:
    return Rank(0, number, summary.source, int(fields["pid"]), int(fields["gpu"]), fields["gpu_name"], fields["gpu_uuid"], fields["host"],
                fields["boot"], int(fields["local_rank"]), int(fields["world_size"]), int(summary.facts["startUtcNs"]),
                int(fields["start_ns"]), int(fields["end_ns"]), bool(fields["ended_abnormally"]), int(fields["clock_error_ns"]),
                float(fields["mfu"]))


def _choose(summaries: list, notes: list) -> list:
    """Returns (rank, summary, worker) of the last attempt of each rank, by rank."""
    workers = _workers(summaries)
    if workers and all(int(fields["rank"]) == NONE for _, _, fields in workers):
        notes.append("No file has a rank; ranks are numbered by file name.")
        for number, (_, _, fields) in enumerate(workers):
            fields["rank"] = number
    chosen: dict = {}
    for summary, worker, fields in workers:
        if int(fields["rank"]) == NONE:
            notes.append(f"{os.path.basename(summary.source)}: PID {int(fields['pid'])} has no rank and was skipped.")
            continue
        rank = _rank_of(summary, fields, int(fields["rank"]))
        chosen.setdefault(rank.number, []).append((rank.start_utc_ns + rank.start_ns, rank.source, worker, rank, summary))
    repeated = sorted(number for number, attempts in chosen.items() if len(attempts) > 1)
    _check_one_job(chosen)
    if repeated:
        most = max(len(chosen[number]) for number in repeated)
        notes.append(f"{_numbers(repeated)} started up to {most} times (elastic restart?): only the last attempt counts.")
    last = [max(attempts, key=lambda attempt: attempt[:3]) for _, attempts in sorted(chosen.items())]
    return [(rank, summary, worker) for _, _, worker, rank, summary in last]


def _check_one_job(chosen: dict) -> None:
    """Fails if a rank ran different programs: these are several jobs, not attempts of one."""
    for number, attempts in sorted(chosen.items()):
        commands: dict = {}
        for attempt in attempts:
            program = _program_of(attempt[4].facts.get("commandLine") or "")
            if program:
                commands.setdefault(program, os.path.basename(attempt[1]))
        if len(commands) > 1:
            first, second = list(commands.values())[:2]
            raise FleetError(f"{_numbers([number])} is in files of different programs, such as {first} and {second}. "
                             "Name a folder with the files of one job, or two folders to compare two jobs.")


def _program_of(command: str) -> str:
    """Returns the program with its module and script, without folders and arguments, which differ between attempts."""
    words = command.split()
    program = os.path.basename(words[0]) if words else ""
    program = "python" if program.startswith("python") else program
    for place, word in enumerate(words[1:], 1):
        if word == "-m":
            program += " -m " + "".join(words[place + 1:place + 2])
        if word.endswith((".py", ".sh", ".jl", ".lua", ".pl", ".rb", ".js")):
            return f"{program} {os.path.basename(word)}"
    return program


def _numbers(numbers: list) -> str:
    """Returns, for example, "rank 7" or "ranks 0-3, 9 and 24 more"."""
    spans, numbers = [], sorted(set(numbers))
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in spans]
    more = "" if len(shown) <= 8 else f" and {sum(high - low + 1 for low, high in spans[8:])} more"
    return f"rank{'s' if len(numbers) > 1 else ''} {', '.join(shown[:8])}{more}"


def _name_machines(ranks: list, notes: list) -> None:
    """Names the machines, identified by their boot; a name alone may belong to many, or to a container."""
    keys: dict = {}
    for rank in ranks:
        keys.setdefault(rank.boot or rank.host, set()).add(rank.host)
    names: dict = {}
    for key, hosts in sorted(keys.items()):
        names.setdefault(min(hosts) or "unknown host", []).append(key)
    label = {}
    for name, own in names.items():
        for number, key in enumerate(own):
            label[key] = name if len(own) == 1 else f"{name} ({number + 1})"
        if len(own) > 1:
            notes.append(f"{len(own)} machines have the name {name}; they are distinguished by their boots and numbered.")
    for rank in ranks:
        rank.machine = label[rank.boot or rank.host]
    seen: dict = {}
    for rank in ranks:
        if rank.gpu_uuid and seen.setdefault(rank.gpu_uuid, rank) is not rank:
            notes.append(f"Ranks {seen[rank.gpu_uuid].number} and {rank.number} share the GPU {rank.gpu_uuid}.")


def _most_shared(values_of_ranks: list, what: str, notes: list) -> list:
    """Returns the values of all ranks in order, of very many those that most ranks have."""
    counts = collections.Counter(value for values in values_of_ranks for value in set(values))
    most = MOST_CELLS // len(values_of_ranks)
    if len(counts) <= most:
        return sorted(counts)
    notes.append(f"Only {most:,} of {len(counts):,} {what} are compared, those of most ranks.")
    return sorted(sorted(counts, key=lambda value: (-counts[value], value))[:most])


def _matrices(chosen: list, notes: list) -> tuple:
    numbers = _most_shared([summary.tables["steps"]["step"][summary.tables["steps"]["worker"] == worker].tolist() for _, summary, worker in chosen],
                           "steps", notes)
    place = {number: column for column, number in enumerate(numbers)}
    shape = (len(chosen), len(numbers))
    made = {name: numpy.full(shape, numpy.nan) for name in ("wall_ns", "communication_ns", "compute_ns", "copies_ns", "loading_ns", "start_ns")}
    for row, (_, summary, worker) in enumerate(chosen):
        steps = summary.tables["steps"]
        own = (steps["worker"] == worker) & numpy.isin(steps["step"], numbers)
        columns = [place[int(step)] for step in steps["step"][own]]
        for name, matrix in made.items():
            matrix[row, columns] = steps[name][own]
    own_ns = made["wall_ns"] - made["communication_ns"]
    parts = {name: made[f"{name}_ns"] for name in ("compute", "copies", "loading")}
    parts["launching"] = own_ns - parts["compute"] - parts["copies"] - parts["loading"]
    return numpy.array(numbers, dtype=numpy.int64), made["wall_ns"], parts, made["communication_ns"], made["start_ns"]


class _Codes(dict):
    """Consecutive numbers for texts."""

    def of(self, values: numpy.ndarray) -> numpy.ndarray:
        return numpy.array([self.setdefault(value, len(self)) for value in values], dtype=numpy.int32)


def _add_collectives(database, chosen: list, operations: _Codes) -> None:
    database.execute("CREATE TABLE calls (row INTEGER, communicator BIGINT, operation INTEGER, place INTEGER, number BIGINT, "
                     "is_numbered BOOLEAN, bytes BIGINT, step BIGINT, ns BIGINT, end_ns BIGINT, shared_by INTEGER)")
    for first in range(0, len(chosen), BATCH):
        columns: dict = {}
        for row, (_, summary, worker) in enumerate(chosen[first:first + BATCH], first):
            calls = summary.tables["collectives"]
            own = calls["worker"] == worker
            begin, end = calls["gpu_ns"][own], calls["gpu_end_ns"][own]
            known = (begin != NONE) & (end != NONE) & (end >= begin)
            made = {"row": numpy.full(int(own.sum()), row, dtype=numpy.int32), "communicator": calls["communicator"][own],
                    "operation": operations.of(calls["operation"][own]), "place": calls["place"][own], "number": calls["number"][own],
                    "is_numbered": calls["is_numbered"][own] != 0, "bytes": calls["bytes"][own], "step": calls["step"][own],
                    "ns": numpy.where(known, end - begin, NONE), "end_ns": numpy.where(known, end, NONE),
                    "shared_by": calls["shared_by"][own]}
            for name, column in made.items():
                columns.setdefault(name, []).append(column)
        batch = {name: numpy.concatenate(parts) for name, parts in columns.items()}
        database.register("batch", batch)
        database.execute(f"INSERT INTO calls SELECT row, communicator, operation, place, number, is_numbered, bytes, step, "
                         f"NULLIF(ns, {NONE}), NULLIF(end_ns, {NONE}), shared_by FROM batch")
        database.unregister("batch")


def _communicators(database, chosen: list) -> dict:
    found: dict = {}
    for row, (_, summary, worker) in enumerate(chosen):
        table = summary.tables["communicators"]
        for place in numpy.flatnonzero(table["worker"] == worker):
            each = found.setdefault(int(table["communicator"][place]), {"name": "", "size": 0, "rows": {}, "calls": {}})
            each["name"] = each["name"] or table["name"][place]
            if table["size"][place] != NONE:
                each["size"] = max(each["size"], int(table["size"][place]))
            each["rows"][row] = int(table["position"][place])
            each["calls"][row] = int(table["calls"][place])
    for each in found.values():
        each["size"] = max(each["size"], len(each["rows"]))
    database.register("sizes", {"communicator": numpy.array(list(found), dtype=numpy.int64),
                                "size": numpy.array([each["size"] for each in found.values()], dtype=numpy.int32)})
    database.execute("CREATE TABLE communicators AS SELECT * FROM sizes")
    database.unregister("sizes")
    return found


# Calls without a number from NCCL are matched by order, which is safe only if all ranks made the same number of the
# same calls.
GROUPS = """
    CREATE TABLE groups AS
    WITH counted AS (SELECT communicator, operation, row, count(*) AS calls, bool_and(is_numbered) AS is_numbered FROM calls GROUP BY ALL),
         sure AS (SELECT communicator, operation FROM counted GROUP BY ALL HAVING bool_and(is_numbered) OR min(calls) = max(calls))
    SELECT communicator, operation, number, min(bytes) AS bytes, min(step) AS step, count(*)::INTEGER AS ranks, min(ns) AS moving_ns,
        sum(ns)::BIGINT - count(*) * min(ns) AS waited_ns, min(row(ns, row)) AS last
    FROM calls SEMI JOIN sure USING (communicator, operation) JOIN communicators USING (communicator)
    WHERE operation IN (SELECT unnest($1)) AND shared_by = 1
    GROUP BY communicator, operation, number, size
    HAVING count(*) = size AND count(DISTINCT row) = size AND count(ns) = size AND size > 1 AND min(bytes) = max(bytes)"""

# At the same place of a communicator all ranks make the same call; reports the first place where one does not.
DISORDER = f"""
    WITH counted AS (SELECT communicator, row, count(*) AS calls FROM calls WHERE operation NOT IN (SELECT unnest($1)) GROUP BY ALL),
         alike AS (SELECT communicator FROM counted GROUP BY ALL HAVING count(*) > 1 AND min(calls) = max(calls)),
         placed AS (SELECT communicator, row, operation, bytes, step,
                        ROW_NUMBER() OVER (PARTITION BY communicator, row ORDER BY place) - 1 AS place
                    FROM calls SEMI JOIN alike USING (communicator) WHERE operation NOT IN (SELECT unnest($1))),
         kinds AS (SELECT communicator, place, operation, bytes, count(*) AS ranks, list(row ORDER BY row) AS rows, min(step) AS step
                   FROM placed GROUP BY ALL),
         mixed AS (SELECT communicator, min(place) AS place FROM
                   (SELECT communicator, place FROM kinds GROUP BY ALL HAVING count(*) > 1) GROUP BY communicator)
    SELECT communicator, place, operation, NULLIF(bytes, {NONE}), ranks, rows, NULLIF(step, {NONE}) FROM kinds SEMI JOIN mixed USING (communicator, place)
    ORDER BY communicator, ranks DESC, operation, bytes"""


def _arrays(relation) -> dict:
    return {name: numpy.ma.filled(column, NONE) if numpy.ma.isMaskedArray(column) else column for name, column in relation.fetchnumpy().items()}


def _connect(threads: int, folder: str = ""):
    """Opens a database in memory, with its temporary files in `folder` instead of the current one. It has no output,
    which DuckDB's progress bar would write for slow queries."""
    database = duckdb.connect(":memory:", config={"memory_limit": MEMORY, "threads": threads, "temp_directory": folder,
                                                  "max_temp_directory_size": MOST_TEMPORARY})
    database.execute("SET enable_progress_bar = false")
    return database


def _add_joined(job: Job, chosen: list, threads: int) -> None:
    with tempfile.TemporaryDirectory(prefix="lanescope-fleet-") as folder:
        _join_calls(job, chosen, _connect(threads, folder))


def _join_calls(job: Job, chosen: list, database) -> None:
    try:
        operations = _Codes()
        for name in (*TOGETHER, *MESSAGES):
            operations.setdefault(name, len(operations))
        _add_collectives(database, chosen, operations)
        job.communicators = _communicators(database, chosen)
        names = list(operations)
        messages = [operations[name] for name in MESSAGES]
        database.execute(GROUPS, [[operations[name] for name in TOGETHER]])
        job.groups = _arrays(database.execute(
            "SELECT communicator, operation, bytes, number, step, ranks, moving_ns, waited_ns, last[2] AS last FROM groups ORDER BY communicator, operation, number"))
        job.groups["operation"] = numpy.array([names[code] for code in job.groups["operation"]], dtype=object)
        job.waits = _arrays(database.execute("""
            SELECT c.row, c.communicator, count(*) AS calls, sum((g.last[2] = c.row)::INTEGER)::BIGINT AS last,
                sum(CASE WHEN g.last[2] = c.row THEN g.waited_ns ELSE 0 END)::BIGINT AS caused_ns, sum(c.ns - g.moving_ns)::BIGINT AS waited_ns
            FROM calls c JOIN groups g USING (communicator, operation, number) GROUP BY ALL ORDER BY c.row, c.communicator"""))
        job.disorder = [(communicator, place, names[operation], size, ranks, rows, step) for communicator, place, operation, size, ranks, rows, step
                        in database.execute(DISORDER, [messages]).fetchall()]
        spoken = database.execute("SELECT communicator, list(DISTINCT operation ORDER BY operation) FROM calls GROUP BY ALL").fetchall()
        for communicator, codes in spoken:
            job.communicators[communicator]["operations"] = tuple(sorted(names[code] for code in codes))
        job.clocks = clock.between_machines(job.ranks, database)
        for machine, each in job.clocks.items():
            if each.settings:
                said = ", ".join(f"{setting.by_ns / 1e6:+.3f} ms" for setting in each.settings)
                job.notes.append(f"The clock of {machine} was set meanwhile, by {said}: before and after that it is brought to the others' "
                                 "on its own.")
    finally:
        database.close()


def _role(job: Job, row: int) -> str:
    """Returns the role of a rank from its communicators: their sizes, their operations, and its position in those that
    send messages, which are pipeline stages."""
    said = []
    for each in job.communicators.values():
        if row not in each["rows"]:
            continue
        spoken = each.get("operations", ())
        position = each["rows"][row]
        if position == NONE:
            position = sorted(each["rows"]).index(row)
        has_stages = any(name in MESSAGES for name in spoken)
        said.append((each["size"], spoken, position if has_stages else -1))
    stages = [f"stage {position} of {size}" for size, _, position in sorted(said) if position >= 0]
    sizes = sorted({size for size, _, position in said if position < 0})
    return ", ".join(stages + [f"groups of {' and '.join(map(str, sizes))}"] if sizes else stages) or "alone"


def _roles_by_hand(path: str, ranks: list) -> None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = io.StringIO(file.read(MOST_ROLES), newline="")
            if file.read(1):
                raise ValueError(f"it has more than {MOST_ROLES >> 20} MiB")
        given = {int(line["rank"]): line["role"] for line in csv.DictReader(lines)}
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise FleetError(f"{path}: not a list of roles, it needs the columns rank and role ({error}).") from error
    for rank in ranks:
        rank.role = given.get(rank.number, rank.role)


def _add_rest(job: Job, chosen: list) -> None:
    of_gpu = {rank.gpu_uuid: rank.row for rank in job.ranks if rank.gpu_uuid}
    names = _most_shared([summary.tables["kernels"]["name"][summary.tables["kernels"]["worker"] == worker].tolist() for _, summary, worker in chosen],
                         "kernels", job.notes)
    job.kernels = {name: numpy.zeros((2, len(chosen))) for name in names}
    for row, (_, summary, worker) in enumerate(chosen):
        kernels = summary.tables["kernels"]
        for place in numpy.flatnonzero(kernels["worker"] == worker):
            if kernels["name"][place] in job.kernels:
                job.kernels[kernels["name"][place]][:, row] = kernels["count"][place], kernels["total_ns"][place]
        counters = summary.tables["counters"]
        for place, (gpu, uuid) in enumerate(zip(counters["gpu"], counters["gpu_uuid"])):
            # One rank of a machine samples the GPUs of all.
            whose = of_gpu.get(uuid, -1) if uuid else row if gpu in (job.ranks[row].gpu, NONE) else -1
            if whose >= 0:
                job.counters.append((whose, *(counters[name][place] for name in ("key", "link", "device", "mean", "least", "greatest"))))
        health = summary.tables["health"]
        job.health += [(row, *(health[name][place] for name in health)) for place in range(len(health["code"]))]


def _join(summaries: list, unreadable: list, threads: int) -> Job:
    notes: list = []
    chosen = _choose(summaries, notes)
    if not chosen:
        raise FleetError("No file has a rank with GPU work." + (f" {unreadable[0].sentence}" if unreadable else ""))
    ranks = [rank for rank, _, _ in chosen]
    for row, rank in enumerate(ranks):
        rank.row = row
    _name_machines(ranks, notes)
    job = Job(ranks, unreadable, notes, *_matrices(chosen, notes))
    _add_joined(job, chosen, threads)
    _add_rest(job, chosen)
    for rank in ranks:
        rank.role = _role(job, rank.row)
    return job


def _failure(summary: Summary, threads: int):
    """Returns the error of a job of this summary alone; None if there is none."""
    try:
        _join([summary], [], threads)
    except FleetError:
        pass
    except Exception as error:
        return error
    return None


def join(results: list, roles: str = "", threads: int = 2) -> Job:
    """Builds the job from the results of `reading.read`, in any order. Raises FleetError if no rank can be read."""
    unreadable = sorted((each for each in results if isinstance(each, Broken)), key=lambda each: each.source)
    summaries = sorted((each for each in results if isinstance(each, Summary)), key=lambda each: each.source)
    try:
        job = _join(summaries, unreadable, threads)
    except (duckdb.Error, ArithmeticError, LookupError, MemoryError, ValueError):
        # A file is untrusted: one whose content fails must not keep the others from the report.
        failures = {summary.source: _failure(summary, threads) for summary in summaries}
        unreadable += [broken(source, error) for source, error in failures.items() if error]
        try:
            job = _join([summary for summary in summaries if not failures[summary.source]], unreadable, threads)
        except (duckdb.Error, ArithmeticError, LookupError, MemoryError, ValueError) as error:
            raise FleetError(f"The files contradict each other: {error}.") from error
    if roles:
        _roles_by_hand(roles, job.ranks)
    return job
