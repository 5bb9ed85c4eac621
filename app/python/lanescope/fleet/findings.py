# SPDX-License-Identifier: Apache-2.0
"""Who loses time, and how much of it: ranks against ranks that do the same work, never against a threshold in seconds.

A finding needs two things. It must matter: a share of the step. And it must stand out of what ranks of that role differ by
anyhow, and of how much a rank differs from step to step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy

from lanescope.fleet.joining import NONE, PARTS, Job

LEAST_SHARE = 0.005  # of the usual step, of what a rank loses; of a link, of what ranks do themselves in it
LEAST_LINK_SHARE = 0.02  # of what moving the same bytes takes elsewhere
FEWEST_ALIKE = 3  # of two nobody can say which is the odd one
FEWEST_STEPS = 4
LATE_SHARE = 0.03  # of the usual step: a rank is late in a step
LATE_SPREADS = 6.0
LATE_QUANTILES = (0.9, 0.95, 0.99)  # of what others' steps are late by, where these are late by more than so many spreads, too
FEWEST_LATE = 3
LEAST_CHANCE = 1e-6  # that a rank is late so often though it is as the others; a job of many ranks asks some thousand times
CHANCE_OF_ANY = 5e-4  # that of as many as are compared one stands out so far, if all are alike
NORMAL = 1.4826  # from a median absolute deviation to a standard deviation
KERNEL_FACTOR = 1.1
HOST_SHARE = 0.5  # of its ranks, from which on the host is named instead


@dataclass
class Finding:
    """Something that costs time or should not be. `lost_ns` is how much longer all steps took for it; 0 if nobody can say."""

    kind: str  # "missing", "order", "rank", "host", "link", "kernel"
    what: str  # of a rank or host the part of its steps; of a link "machine", "rail" or "communicator"
    ranks: list
    lost_ns: float = 0.0
    share: float = 0.0  # of the usual step; of a link of what the same takes elsewhere
    steps: tuple = ()  # first and last step that show it most
    sureness: float = 0.0  # how many times the usual difference it is
    facts: dict = field(default_factory=dict)
    shown: list | None = None  # ranks that show it beside each other, once somebody asked (`words.shown_ranks`)

    @property
    def order(self) -> tuple:
        return ({"missing": 0, "order": 1}.get(self.kind, 2), -self.lost_ns, self.kind, self.what, self.ranks)


def median(values, axis=None):
    with numpy.errstate(all="ignore"):
        return numpy.nanmedian(values, axis=axis) if numpy.size(values) else numpy.nan


def spread(values) -> float:
    """A standard deviation that a few odd ones do not change: by the biweight, which of few values knows it far better than
    the median of distances does."""
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
    """How many spreads off the furthest of so many alike is by chance no more often than `CHANCE_OF_ANY`: a quantile of
    Student's t, since few tell little of their own spread."""
    z, freedom = NormalDist().inv_cdf(1 - CHANCE_OF_ANY / max(count, 2)), max(count - 1, 1)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _best(excess: numpy.ndarray) -> numpy.ndarray:
    """The mean of the best third of each rank's steps: what is slow for good is so in these, too, while what slows a rank
    down now and then, as power and heat do, is not in them."""
    ordered = numpy.sort(excess, axis=1)  # what is not known is last
    counts = numpy.maximum(numpy.sum(~numpy.isnan(excess), axis=1) // 3, 1)
    sums = numpy.cumsum(numpy.nan_to_num(ordered), axis=1)
    return sums[numpy.arange(len(excess)), counts - 1] / counts


def chance_of_more(successes: int, tries: int, share: float) -> float:
    """That of so many tries at least as many succeed."""
    if successes <= 0:
        return 1.0
    share = min(max(share, 1e-12), 1 - 1e-12)
    logs = [math.lgamma(tries + 1) - math.lgamma(k + 1) - math.lgamma(tries - k + 1) + k * math.log(share) + (tries - k) * math.log1p(-share)
            for k in range(successes, tries + 1)]
    highest = max(logs)
    return min(1.0, math.exp(highest) * sum(math.exp(each - highest) for each in logs))


def _worst_steps(job: Job, excess: numpy.ndarray) -> tuple:
    """The steps from the first to the last of the five worst in a row."""
    filled = numpy.nan_to_num(excess, nan=0.0)
    width = min(5, len(filled))
    first = int(numpy.argmax(numpy.convolve(filled, numpy.ones(width), "valid")))
    return int(job.steps[first]), int(job.steps[first + width - 1])


def _is_often_late(late: numpy.ndarray, counts: numpy.ndarray, place: int, least_chance: float) -> bool:
    """Whether a rank is late more often than chance has it, and than ranks differ in that anyhow: some always are."""
    lates = late.sum(axis=1)
    own, count = int(lates[place]), int(counts[place])
    others = numpy.delete(lates, place)
    usual = (int(others.sum()) + 0.5) / max(int(counts.sum()) - count, 1)
    differ = own - float(others.mean()) >= needed(len(lates)) * float(others.std())
    return own >= FEWEST_LATE and differ and chance_of_more(own, count, usual) < least_chance


def _late_steps(excess: numpy.ndarray, counts: numpy.ndarray, place: int, usual: float):
    """In how many of its steps a rank is late, if it often is; else None. Late is what is far from what ranks differ by; where
    all are late now and then, what is later by a share of the step than all but few of the others' steps: who is always a
    little slower is not late for that whenever all are."""
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
    """Findings of the ranks of one role in one part of their steps."""
    values = job.parts[part][rows]
    excess = values - median(values, axis=0)
    counts = numpy.sum(~numpy.isnan(excess), axis=1)
    usual = job.step_ns
    with numpy.errstate(all="ignore"):
        means = numpy.where(counts > 0, numpy.nansum(excess, axis=1) / counts, 0.0)
        errors = numpy.nanstd(excess, axis=1) / numpy.sqrt(numpy.maximum(counts, 1))
    # Where steps are now and then longer, all ranks' means lie above the medians of steps.
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
        # Where nearly all have none of it in their best steps a microsecond would be far out.
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
    """(ns more than the others took for as many, factor, name) of the kernels of a rank, worst first."""
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
    """What stands beside a slow rank: clocks, what held them down, and the kernel that makes up most of it."""
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
    """Where most ranks of a machine are slow in the same way, it is the machine."""
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
    """("machine", its name) of one inside a machine, ("rail", local rank) of one that goes across them by one GPU each."""
    rows = sorted(job.communicators[communicator]["rows"])
    machines = {job.ranks[row].machine for row in rows}
    local = {job.ranks[row].local_rank for row in rows}
    if len(machines) == 1:
        return "machine", next(iter(machines))
    if len(machines) == len(rows) and len(local) == 1 and NONE not in local:
        return "rail", str(next(iter(local)))
    return "communicator", job.communicators[communicator]["name"] or f"0x{communicator & (1 << 64) - 1:016x}"


def _moving_by_communicator(job: Job) -> dict:
    """By what must be alike (operation, bytes, ranks, kind of place): communicator -> times."""
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
    """Communicators that move the same bytes among as many ranks slower than others do."""
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
    # What ranks do in a step but wait: where all wait long for batches, that is no reason to let a link be slow.
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
    """The ranks that call another collective than most do at the same place."""
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
    """One rank that is out of order in several communicators is one finding, the earliest."""
    kept: dict = {}
    for each in findings:
        kept.setdefault(tuple(each.ranks), each)
    return list(kept.values())


def find(job: Job) -> list:
    """All findings, worst first."""
    slow = _slow_ranks(job)
    for each in slow:
        _explain(job, each)
    found = _missing(job) + _join_disorder(_disorder(job)) + _join_hosts(job, slow) + _slow_links(job)
    return sorted(found, key=lambda each: each.order)


def unjudged(job: Job) -> list:
    """The roles of too few ranks to say which is slow."""
    return [role for role, rows in by_role(job).items() if len(rows) < FEWEST_ALIKE]
