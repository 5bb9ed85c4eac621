# SPDX-License-Identifier: Apache-2.0
"""Findings as sentences, and the commands that show them."""

from __future__ import annotations

import shlex

from lanescope.fleet.findings import Finding, median
from lanescope.fleet.joining import Job, _numbers

MOST_STEPS = 5  # opened at once
PART = {"compute": "its kernels", "copies": "exposed copies", "loading": "waiting for the next batch",
        "launching": "GPU idle time caused by its CPU"}


def seconds(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def size(count) -> str:
    if count is None or count < 0:
        return "unknown size"
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} B"


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def mfu(job: Job) -> str:
    """Returns the MFU of the ranks in a sentence; empty if that of none is known."""
    known = sorted((rank.mfu, rank.number) for rank in job.ranks if rank.mfu >= 0)
    if not known:
        return ""
    (least, worst), (most, best) = known[0], known[-1]
    mean = sum(share for share, _ in known) / len(known)
    of = "" if len(known) == len(job.ranks) else f" of {len(known)} ranks"
    spread = f", from {least:.1%} (rank {worst}) to {most:.1%} (rank {best})" if len(known) > 1 else ""
    return f"MFU{of} {mean:.1%}{spread}.".replace("%", " %")


def shape(job: Job) -> str:
    """Returns, for example, "32 ranks on 4 machines, 40 steps of 431 ms"."""
    machines = len({rank.machine for rank in job.ranks})
    return f"{counted(len(job.ranks), 'rank')} on {counted(machines, 'machine')}, {counted(len(job.steps), 'step')} of {seconds(job.step_ns)}"


def numbers(ranks: list) -> str:
    text = _numbers(ranks)
    return text[0].upper() + text[1:]


def _beside(facts: dict) -> str:
    said = ""
    if "kernel" in facts:
        said += f" Most of it is {facts['kernel']}, {facts['kernel_factor']:.2f} times as long as elsewhere."
    if facts.get("clock_hz", 0) and facts.get("usual_clock_hz", 0) and facts["clock_hz"] < 0.99 * facts["usual_clock_hz"]:
        said += f" Its SMs run at {facts['clock_hz'] / 1e6:.0f} MHz, the others at {facts['usual_clock_hz'] / 1e6:.0f} MHz."
    if facts.get("throttled_share", 0) >= 0.01:
        said += f" Its clocks are held down {percent(facts['throttled_share'])} of the time."
    return said


def sentence(job: Job, each: Finding) -> str:
    facts = each.facts
    if each.kind == "missing" and each.what == "ranks":
        return f"{numbers(each.ranks)} of {facts['world_size']} have no summary: still running, ended without one, or stored elsewhere."
    if each.kind == "missing":
        return f"A communicator of {facts['size']} ranks has {facts['there']} here: {_numbers(each.ranks)}."
    if each.kind == "order":
        even = " Half of them do, so it may be the others." if facts["are_even"] else ""
        return (f"{numbers(each.ranks)} called {facts['called']} ({size(facts['bytes'])}) as call {facts['place']} of communicator "
                f"0x{facts['communicator'] & (1 << 64) - 1:016x}, where the others called {facts['others']} ({size(facts['others_bytes'])}).{even}")
    per_step = seconds(each.share * job.step_ns)
    if each.kind == "host":
        return (f"{facts['machine']}: {len(each.ranks)} of its {facts['ranks_there']} ranks lose up to {per_step} a step "
                f"({percent(each.share)}) by {PART[each.what].replace('its', 'their')}, against ranks of their role.")
    if each.kind == "rank":
        machine = next(rank.machine for rank in job.ranks if rank.number == each.ranks[0])
        often = f" It is late in {facts['late_steps']} of {facts['steps']} steps." if facts["is_now_and_then"] else ""
        return (f"Rank {each.ranks[0]} on {machine} loses {per_step} per step ({percent(each.share)}) by {PART[each.what]}, against ranks of its "
                f"role.{often}{_beside(facts)}")
    where = {"machine": f"On {facts['name']}", "rail": f"On the rail of local rank {facts['name']}", "communicator": f"In communicator {facts['name']}"}
    return (f"{where[each.what]}, {facts['operation']} of {size(facts['bytes'])} moves its data {percent(each.share)} slower than in other "
            f"groups of as many ranks ({_numbers(each.ranks)}).")


def shown_ranks(job: Job, each: Finding) -> list:
    """Returns the ranks that show a finding side by side, at most six: its own first, then the longest-waiting one in
    each of their communicators, and a median one of its role. Computed once."""
    if each.shown is None:
        each.shown = _find_shown(job, each)
    return each.shown


def _find_shown(job: Job, each: Finding) -> list:
    of_number = {rank.number: rank for rank in job.ranks}
    own = [of_number[number] for number in each.ranks if number in of_number]
    if not own:
        return []
    shown = [rank.number for rank in own[:1 if each.kind == "rank" else 3]]
    waited = {(int(row), int(communicator)): int(ns) for row, communicator, ns in zip(
        *(job.waits.get(name, ()) for name in ("row", "communicator", "waited_ns")))}
    within = [(len(members["rows"]), communicator, sorted(members["rows"])) for communicator, members in job.communicators.items()
              if own[0].row in members["rows"]]
    for _, communicator, rows in sorted(within)[:2]:
        others = [row for row in rows if job.ranks[row].number not in shown]
        if others:
            shown.append(job.ranks[max(others, key=lambda row: (waited.get((row, communicator), 0), -row))].number)
    means = median(job.own, axis=1)
    alike = [rank for rank in job.ranks if rank.role == own[0].role and rank.number not in shown]
    if alike:
        usual = median(means[[rank.row for rank in alike]])
        shown.append(min(alike, key=lambda rank: (abs(float(means[rank.row]) - usual), rank.number)).number)
    return shown


def command(job: Job, each: Finding) -> str:
    """Returns the command that shows the finding: ranks side by side, at its worst steps; empty if there is none."""
    ranks = shown_ranks(job, each)
    if not ranks:
        return ""
    traces = dict.fromkeys(rank.trace for number in ranks for rank in job.ranks if rank.number == number)
    steps = f" --steps {each.steps[0]}-{min(each.steps[1], each.steps[0] + MOST_STEPS - 1)}" if each.steps else ""
    return f"lanescope view --merge {' '.join(map(shlex.quote, traces))} --ranks {','.join(map(str, sorted(ranks)))}{steps}"
