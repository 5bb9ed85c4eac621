# SPDX-License-Identifier: Apache-2.0
"""Findings as sentences, and the commands that show them."""

from __future__ import annotations

import shlex

from lanescope.fleet.findings import Finding
from lanescope.fleet.joining import Job, _numbers

PART = {"compute": "its kernels", "copies": "copies that nothing hides", "loading": "waiting for the next batch",
        "launching": "a GPU that its CPU leaves idle"}


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


def shape(job: Job) -> str:
    """ "32 ranks on 4 machines, 40 steps of 431 ms"."""
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
        return f"{numbers(each.ranks)} of {facts['world_size']} left no summary."
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
        return (f"Rank {each.ranks[0]} on {machine} loses {per_step} a step ({percent(each.share)}) by {PART[each.what]}, against ranks of its "
                f"role.{often}{_beside(facts)}")
    where = {"machine": f"On {facts['name']}", "rail": f"On the rail of local rank {facts['name']}", "communicator": f"In communicator {facts['name']}"}
    return (f"{where[each.what]}, {facts['operation']} of {size(facts['bytes'])} moves its data {percent(each.share)} slower than in other "
            f"groups of as many ranks ({_numbers(each.ranks)}).")


def command(job: Job, each: Finding) -> str:
    """What shows it: the trace of its first rank, at its worst steps; empty where there is none."""
    rank = next((rank for rank in job.ranks if rank.number in each.ranks), None)
    if rank is None:
        return ""
    steps = f" --steps {each.steps[0]}-{each.steps[1]}" if each.steps and each.kind in ("rank", "host") else ""
    return f"lanescope explain {shlex.quote(rank.trace)}{steps}" if steps else f"lanescope view {shlex.quote(rank.trace)}"
