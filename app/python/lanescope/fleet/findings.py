# SPDX-License-Identifier: Apache-2.0
"""Finds the ranks that lose time, and the amount: compares ranks with ranks that do the same work, never with a
threshold in seconds.

A finding must matter: its cost is a share of the step. It must also exceed the ordinary differences between ranks of
the role, and between the steps of a rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy

from lanescope.fleet.joining import NONE, PARTS, Job

LEAST_SHARE = 0.005  # of the median step, for a rank's loss; for a link, of the ranks' own time in it
LEAST_LINK_SHARE = 0.02  # of the time for the same bytes elsewhere
FEWEST_ALIKE = 3  # of two, neither can be called the outlier
FEWEST_STEPS = 4
LATE_SHARE = 0.03  # of the median step: a rank is late in a step
LATE_SPREADS = 6.0
LATE_QUANTILES = (0.9, 0.95, 0.99)  # of the delays of others' steps, if these are also late by more than `LATE_SPREADS`
FEWEST_LATE = 3
LEAST_CHANCE = 1e-6  # chance that an ordinary rank is late so often; a job of many ranks is some thousand tests
CHANCE_OF_ANY = 5e-4  # chance that any of the compared ranks is such an outlier if all are alike
NORMAL = 1.4826  # from a median absolute deviation to a standard deviation
KERNEL_FACTOR = 1.1
HOST_SHARE = 0.5  # from this share of its ranks on, the host is named instead


@dataclass
class Finding:
    """A cost or an error. `lost_ns` is the extra time of all steps; 0 if unknown."""

    kind: str  # "missing", "order", "rank", "host", "link", "kernel"
    what: str  # the part of the steps for a rank or host; "machine", "rail" or "communicator" for a link
    ranks: list
    lost_ns: float = 0.0
    share: float = 0.0  # of the median step; for a link, of the time elsewhere
    steps: tuple = ()  # first and last of the worst steps
    sureness: float = 0.0  # ratio to the ordinary difference
    facts: dict = field(default_factory=dict)
    shown: list | None = None  # ranks that show it side by side, computed on first use (`words.shown_ranks`)

    @property
    def order(self) -> tuple:
        return ({"missing": 0, "order": 1}.get(self.kind, 2), -self.lost_ns, self.kind, self.what, self.ranks)


def median(values, axis=None):
    with numpy.errstate(all="ignore"):
        return numpy.nanmedian(values, axis=axis) if numpy.size(values) else numpy.nan


def spread(values) -> float:
    """Returns a standard deviation that is robust against outliers: the biweight, which is much more precise for few
    values than the median absolute deviation."""
    values = numpy.asarray(values, dtype=float).ravel()
    values = values[~numpy.isnan(values)]
    if not len(values):
        return math.nan
    off = values - numpy.median(values)
    usual = float(numpy.median(numpy.abs(off)))
    if usual == 0:
        return 0.0
    share = (off / (9 * usual)) ** 2
    inside = share < 1
    off, share = off[inside], share[inside]
    below = float(((1 - share) * (1 - 5 * share)).sum())
    return math.sqrt(len(values) * float((off**2 * (1 - share) ** 4).sum())) / abs(below) if below else NORMAL * usual


def needed(count: int) -> float:
    """Returns the number of spreads that the furthest of `count` equal values exceeds by chance at most as often as
    `CHANCE_OF_ANY`: a quantile of Student's t, because a spread of few values is uncertain."""
    z, freedom = NormalDist().inv_cdf(1 - CHANCE_OF_ANY / max(count, 2)), max(count - 1, 1)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _best(excess: numpy.ndarray) -> numpy.ndarray:
    """Returns the mean of the best third of each rank's steps. It includes permanent slowness and excludes occasional
    slowness, such as by power and heat."""
    ordered = numpy.sort(excess, axis=1)  # unknown values are last
    counts = numpy.maximum(numpy.sum(~numpy.isnan(excess), axis=1) // 3, 1)
    sums = numpy.cumsum(numpy.nan_to_num(ordered), axis=1)
    return sums[numpy.arange(len(excess)), counts - 1] / counts


def chance_of_more(successes: int, tries: int, share: float) -> float:
    """Returns the probability of at least `successes` in so many tries."""
    if successes <= 0:
        return 1.0
    share = min(max(share, 1e-12), 1 - 1e-12)
    logs = [math.lgamma(tries + 1) - math.lgamma(k + 1) - math.lgamma(tries - k + 1) + k * math.log(share) + (tries - k) * math.log1p(-share)
            for k in range(successes, tries + 1)]
    highest = max(logs)
    return min(1.0, math.exp(highest) * sum(math.exp(each - highest) for each in logs))


def _worst_steps(job: Job, excess: numpy.ndarray) -> tuple:
    """Returns the first and last of the five worst consecutive steps."""
    filled = numpy.nan_to_num(excess, nan=0.0)
    width = min(5, len(filled))
    first = int(numpy.argmax(numpy.convolve(filled, numpy.ones(width), "valid")))
    return int(job.steps[first]), int(job.steps[first + width - 1])


def _is_often_late(late: numpy.ndarray, counts: numpy.ndarray, place: int, least_chance: float) -> bool:
    """Returns True if a rank is late more often than by chance, and than ranks ordinarily differ: some always do."""
    lates = late.sum(axis=1)
    own, count = int(lates[place]), int(counts[place])
    others = numpy.delete(lates, place)
    usual = (int(others.sum()) + 0.5) / max(int(counts.sum()) - count, 1)
    differ = own - float(others.mean()) >= needed(len(lates)) * float(others.std())
    return own >= FEWEST_LATE and differ and chance_of_more(own, count, usual) < least_chance


def _late_steps(excess: numpy.ndarray, counts: numpy.ndarray, place: int, usual: float):
    """Returns the number of late steps of a rank that is often late, else None. A step is late if it is far outside the
    differences between ranks. If all ranks are late at times, a step is late if it exceeds nearly all of the others'
    steps by a share of the step, so that a rank that is always slightly slower does not count as late whenever all are."""
    least = LATE_SHARE * usual
    limits = [max(least, LATE_SPREADS * spread(excess))]
    others = numpy.delete(excess, place, axis=0)
    others = others[~numpy.isnan(others)]
    limits += [least + max(0.0, float(limit)) for limit in numpy.quantile(others, LATE_QUANTILES)] if len(others) else []
    for limit in limits:
        late = excess > limit
        if _is_often_late(late, counts, place, LEAST_CHANCE / len(limits)):
            return int(late[place].sum())
    return None


def _judge_part(job: Job, rows: list, part: str) -> list:
    """Returns findings of the ranks of one role in one part of their steps."""
    values = job.parts[part][rows]
    excess = values - median(values, axis=0)
    counts = numpy.sum(~numpy.isnan(excess), axis=1)
    usual = job.step_ns
    with numpy.errstate(all="ignore"):
        means = numpy.where(counts > 0, numpy.nansum(excess, axis=1) / counts, 0.0)
        errors = numpy.nanstd(excess, axis=1) / numpy.sqrt(numpy.maximum(counts, 1))
    # If steps are longer at times, the means of all ranks exceed the medians of steps.
    means, best = means - median(means), _best(excess)
    best = best - median(best)
    between, between_best = spread(means), spread(best)
    found = []
    for place, row in enumerate(rows):
        count, mean = int(counts[place]), float(means[place])
        share = mean / usual if usual > 0 else 0.0
        if count < FEWEST_STEPS or share < LEAST_SHARE:
            continue
        sureness = mean / max(between, float(errors[place]), 1e-9 * usual)
        # If nearly all ranks have none of it in their best steps, a microsecond would be an outlier.
        if float(best[place]) >= LEAST_SHARE * usual:
            sureness = max(sureness, float(best[place]) / max(between_best, 1e-9 * usual))
        lates = _late_steps(excess, counts, place, usual)
        if sureness < needed(len(rows)) and lates is None:
            continue
        found.append(Finding("rank", part, [job.ranks[row].number], mean * count, share, _worst_steps(job, excess[place]), sureness,
                             {"late_steps": lates or 0, "steps": count, "is_now_and_then": bool(sureness < needed(len(rows))),
                              "role": job.ranks[row].role}))
    return found


def by_role(job: Job) -> dict:
    roles: dict = {}
    for rank in job.ranks:
        roles.setdefault(rank.role, []).append(rank.row)
    return dict(sorted(roles.items()))


def _slow_ranks(job: Job) -> list:
    found = []
    for rows in by_role(job).values():
        if len(rows) >= FEWEST_ALIKE:
            for part in PARTS:
                found += _judge_part(job, rows, part)
    return found


def _counter(job: Job, row: int, key: str) -> float:
    values = [mean for at, name, _, _, mean, _, _ in job.counters if at == row and name == key]
    return float(numpy.mean(values)) if values else math.nan


def _kernel_excess(job: Job, row: int, rows: list) -> list:
    """Returns (ns more than the others needed for as many, factor, name) of the kernels of a rank, worst first."""
    found = []
    for name, (counts, totals) in job.kernels.items():
        if not name or counts[row] == 0:
            continue
        with numpy.errstate(all="ignore"):
            means = totals[rows] / counts[rows]
        usual = median(means)
        own = totals[row] / counts[row]
        if usual > 0:
            found.append((float((own - usual) * counts[row]), float(own / usual), name, spread(means)))
    return sorted(found, key=lambda each: (-each[0], each[2]))


def _explain(job: Job, finding: Finding) -> None:
    """Adds the causes of a slow rank: clocks, throttle reasons, and the kernel with most of the excess."""
    if finding.what != "compute" or len(finding.ranks) != 1:
        return
    own = next(rank for rank in job.ranks if rank.number == finding.ranks[0])
    rows = by_role(job)[own.role]
    clocks = numpy.array([_counter(job, row, "clock.sm") for row in rows])
    if not numpy.isnan(clocks).all():
        finding.facts.update(clock_hz=_counter(job, own.row, "clock.sm"), usual_clock_hz=float(median(clocks)))
    held = _counter(job, own.row, "throttle.reasons")
    if held > 0:
        finding.facts["throttled_share"] = held
    kernels = _kernel_excess(job, own.row, rows)
    total = sum(max(each[0], 0.0) for each in kernels)
    if kernels and total > 0 and kernels[0][0] > 0.6 * total and kernels[0][1] > KERNEL_FACTOR:
        finding.facts.update(kernel=kernels[0][2], kernel_factor=kernels[0][1])


def _join_hosts(job: Job, findings: list) -> list:
    """Replaces the findings of most ranks of a machine that are slow in the same way by one finding of the machine."""
    slow: dict = {}
    for each in findings:
        if each.kind == "rank":
            machine = next(rank.machine for rank in job.ranks if rank.number == each.ranks[0])
            slow.setdefault((machine, each.what), []).append(each)
    machines = {rank.machine for rank in job.ranks}
    joined, gone = [], set()
    for (machine, part), each in sorted(slow.items()):
        there = [rank.number for rank in job.ranks if rank.machine == machine]
        if len(each) < 2 or len(each) <= HOST_SHARE * len(there) or len(machines) < 2:
            continue
        worst = max(each, key=lambda one: one.lost_ns)
        joined.append(Finding("host", part, sorted(one.ranks[0] for one in each), worst.lost_ns, worst.share, worst.steps, worst.sureness,
                              {"machine": machine, "ranks_there": len(there), "role": worst.facts["role"]}))
        gone.update(id(one) for one in each)
    return joined + [each for each in findings if id(each) not in gone]


def _place_of(job: Job, communicator: int) -> tuple:
    """Returns ("machine", its name) for a communicator inside a machine, ("rail", local rank) for one across machines
    with one GPU each."""
    rows = sorted(job.communicators[communicator]["rows"])
    machines = {job.ranks[row].machine for row in rows}
    local = {job.ranks[row].local_rank for row in rows}
    if len(machines) == 1:
        return "machine", next(iter(machines))
    if len(machines) == len(rows) and len(local) == 1 and NONE not in local:
        return "rail", str(next(iter(local)))
    return "communicator", job.communicators[communicator]["name"] or f"0x{communicator & (1 << 64) - 1:016x}"


def _moving_by_communicator(job: Job) -> dict:
    """Returns communicator -> times, by the properties that must be equal (operation, bytes, ranks, kind of place)."""
    groups = job.groups
    if not groups or not len(groups["communicator"]):
        return {}
    keys = numpy.rec.fromarrays([groups["communicator"], groups["operation"].astype("U24"), groups["bytes"]])
    _, first, which = numpy.unique(keys, return_index=True, return_inverse=True)
    order = numpy.argsort(which, kind="stable")
    bounds = numpy.searchsorted(which[order], numpy.arange(len(first) + 1))
    alike: dict = {}
    for number, place in enumerate(first):
        rows = order[bounds[number]:bounds[number + 1]]
        communicator = int(groups["communicator"][place])
        kind = _place_of(job, communicator)[0]
        key = (groups["operation"][place], int(groups["bytes"][place]), int(groups["ranks"][place]), kind)
        alike.setdefault(key, {})[communicator] = (groups["moving_ns"][rows].astype(float), groups["step"][rows])
    return alike


def _slow_links(job: Job) -> list:
    """Returns communicators that move the same bytes among as many ranks slower than others."""
    losses: dict = {}
    for (operation, size, _, _), members in sorted(_moving_by_communicator(job).items()):
        if len(members) < FEWEST_ALIKE:
            continue
        usual_of = {communicator: float(median(times)) for communicator, (times, _) in members.items()}
        values = numpy.array(list(usual_of.values()))
        usual, between = float(median(values)), spread(values)
        for communicator, (times, steps) in members.items():
            excess = usual_of[communicator] - usual
            error = NORMAL * median(numpy.abs(times - usual_of[communicator])) / math.sqrt(len(times)) * 1.25
            sureness = excess / max(math.hypot(between, error), 1e-9 * max(usual, 1.0))
            losses.setdefault(communicator, []).append((excess * len(times), usual * len(times), sureness, operation, size, steps))
    found = []
    fewest = max(len({key for key in losses}), FEWEST_ALIKE)
    # The ranks' own time without waiting for batches: a long wait of all must not hide a slow link.
    steps_ns = job.busy_ns * max(len(job.steps), 1)
    for communicator, each in losses.items():
        sure = [one for one in each if one[2] >= needed(fewest)]
        lost, usual = sum(one[0] for one in sure), sum(one[1] for one in sure)
        if not sure or lost < LEAST_LINK_SHARE * usual or lost < LEAST_SHARE * steps_ns:
            continue
        what, name = _place_of(job, communicator)
        worst = max(sure, key=lambda one: (one[0], one[3], one[4]))
        known = worst[5][worst[5] != NONE]
        found.append(Finding("link", what, sorted(job.ranks[row].number for row in job.communicators[communicator]["rows"]), lost, lost / usual,
                             (int(known.min()), int(known.max())) if len(known) else (), max(one[2] for one in sure),
                             {"name": name, "operation": worst[3], "bytes": worst[4], "communicators": len(losses)}))
    return found


def _missing(job: Job) -> list:
    there = {rank.number for rank in job.ranks}
    sizes = {rank.world_size for rank in job.ranks if rank.world_size > 0}
    gone = sorted(set(range(max(sizes))) - there) if sizes and max(sizes) <= 1 << 20 else []
    found = [Finding("missing", "ranks", gone, facts={"world_size": max(sizes)})] if gone else []
    if not sizes:
        for communicator, each in sorted(job.communicators.items()):
            if each["size"] > len(each["rows"]):
                found.append(Finding("missing", "communicator", sorted(job.ranks[row].number for row in each["rows"]),
                                     facts={"communicator": communicator, "size": each["size"], "there": len(each["rows"])}))
    return found


def _disorder(job: Job) -> list:
    """Returns the ranks that call another collective than most at the same place."""
    found, by_communicator = [], {}
    for communicator, place, operation, size, ranks, rows, step in job.disorder:
        by_communicator.setdefault(communicator, []).append((place, operation, size, ranks, rows, step))
    for communicator, kinds in sorted(by_communicator.items()):
        place, usual, usual_size, count, _, step = kinds[0]
        for _, operation, size, ranks, rows, at in kinds[1:]:
            found.append(Finding("order", "collectives", sorted(job.ranks[row].number for row in rows), steps=(at, at) if at is not None else (),
                                 facts={"communicator": communicator, "place": place, "called": operation, "bytes": size, "others": usual,
                                        "others_bytes": usual_size, "are_even": ranks == count}))
    return found


def _join_disorder(findings: list) -> list:
    """Keeps only the earliest finding of a rank that is out of order in several communicators."""
    kept: dict = {}
    for each in findings:
        kept.setdefault(tuple(each.ranks), each)
    return list(kept.values())


def find(job: Job) -> list:
    """Returns all findings, worst first."""
    slow = _slow_ranks(job)
    for each in slow:
        _explain(job, each)
    found = _missing(job) + _join_disorder(_disorder(job)) + _join_hosts(job, slow) + _slow_links(job)
    return sorted(found, key=lambda each: each.order)


def unjudged(job: Job) -> list:
    """Returns the roles with too few ranks to find the slow one."""
    return [role for role, rows in by_role(job).items() if len(rows) < FEWEST_ALIKE]
