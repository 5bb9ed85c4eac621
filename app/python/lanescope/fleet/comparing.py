# SPDX-License-Identifier: Apache-2.0
"""Compares two jobs by role: the steps that take longer in one than in the other."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

import numpy

from lanescope.fleet.findings import _moving_by_communicator, by_role, median, needed, spread
from lanescope.fleet.joining import PARTS, Job
from lanescope.fleet.page import escaped, table, whole
from lanescope.fleet.words import percent, seconds, size
from lanescope.fleet.writing import content_of, publish

SCHEMA = """
    CREATE TABLE roles (role TEXT, part TEXT, ranks_a INTEGER, ranks_b INTEGER, a_ns REAL, b_ns REAL, difference_ns REAL, sureness REAL,
        is_sure INTEGER, PRIMARY KEY (role, part));
    CREATE TABLE kernels (name TEXT PRIMARY KEY, a_ns_per_step REAL, b_ns_per_step REAL, difference_ns REAL);
    CREATE TABLE collectives (operation TEXT, bytes INTEGER, ranks INTEGER, place TEXT, a_ns REAL, b_ns REAL, difference_ns REAL);
"""


class Difference(NamedTuple):
    """The difference of a part of a role's steps: medians over ranks of each rank's median step."""

    role: str
    part: str
    counts: tuple
    a_ns: float
    b_ns: float
    sureness: float

    @property
    def difference_ns(self) -> float:
        return self.b_ns - self.a_ns

    @property
    def is_sure(self) -> bool:
        return abs(self.sureness) >= needed(min(self.counts)) and abs(self.difference_ns) >= 0.005 * max(self.a_ns, self.b_ns)


def _part(job: Job, part: str) -> numpy.ndarray:
    return {"step": job.wall, "communication": job.communication, **job.parts}[part]


def roles(a: Job, b: Job) -> list:
    """Returns the differences of the roles in both jobs; if each job has only one role, of that role."""
    of_a, of_b = by_role(a), by_role(b)
    pairs = [(role, of_a[role], of_b[role]) for role in of_a if role in of_b]
    if not pairs and len(of_a) == len(of_b) == 1:
        pairs = [(next(iter(of_a)), next(iter(of_a.values())), next(iter(of_b.values())))]
    made = []
    for role, rows_a, rows_b in pairs:
        for part in ("step", *PARTS, "communication"):
            medians = [median(_part(job, part)[rows], axis=1) for job, rows in ((a, rows_a), (b, rows_b))]
            middle = [float(median(each)) for each in medians]
            # The error of a median of so many ranks, and at least a ten thousandth, the limit of any clock.
            error = numpy.hypot(*(max(spread(each), 1e-4 * abs(at)) * 1.25 / numpy.sqrt(len(each)) for each, at in zip(medians, middle)))
            made.append(Difference(role, part, (len(rows_a), len(rows_b)), *middle, float((middle[1] - middle[0]) / max(error, 1.0))))
    return made


def _kernels(job: Job) -> dict:
    steps = numpy.maximum(numpy.isfinite(job.wall).sum(axis=1), 1)
    return {name: float(median(totals[1] / steps)) for name, totals in job.kernels.items() if name}


def kernels(a: Job, b: Job) -> list:
    """Returns (name, ns per step in a, in b) of the kernels, by difference."""
    of_a, of_b = _kernels(a), _kernels(b)
    made = [(name, of_a.get(name, 0.0), of_b.get(name, 0.0)) for name in {*of_a, *of_b}]
    return sorted(made, key=lambda each: (-abs(each[2] - each[1]), each[0]))


def collectives(a: Job, b: Job) -> list:
    """Returns (operation, bytes, ranks, place, ns in a, in b) of the collectives that both jobs have."""
    found = []
    of_a, of_b = _moving_by_communicator(a), _moving_by_communicator(b)
    for key in sorted(of_a.keys() & of_b.keys()):
        found.append((*key, *(float(median(numpy.concatenate([times for times, _ in each[key].values()]))) for each in (of_a, of_b))))
    return found


def write(a: Job, b: Job, path: str, is_forced: bool = False) -> None:
    def fill(database: sqlite3.Connection) -> None:
        database.executemany("INSERT INTO roles VALUES (?,?,?,?,?,?,?,?,?)", [
            (each.role, each.part, *each.counts, round(each.a_ns), round(each.b_ns), round(each.difference_ns), round(each.sureness, 2), each.is_sure)
            for each in roles(a, b)])
        database.executemany("INSERT INTO kernels VALUES (?,?,?,?)", [(name, round(one), round(other), round(other - one)) for name, one, other in kernels(a, b)])
        database.executemany("INSERT INTO collectives VALUES (?,?,?,?,?,?,?)", [
            (*key, round(one), round(other), round(other - one)) for *key, one, other in collectives(a, b)])
    publish(path, content_of(SCHEMA, fill), is_forced)


def lines(a: Job, b: Job) -> list:
    """Returns the significant differences, one sentence each."""
    said = []
    for each in roles(a, b):
        if each.is_sure:
            change = each.difference_ns / each.a_ns if each.a_ns else float("inf")
            said.append(f"{each.role}: {each.part} {seconds(each.a_ns)} -> {seconds(each.b_ns)} per step ({change:+.1%}).")
    return said or ["No significant difference between the two jobs."]


def page(a: Job, b: Job, title: str) -> str:
    parts = table(["Role", "Part", "Before", "After", "Difference", "Sure"], [
        (each.role, each.part, seconds(each.a_ns), seconds(each.b_ns), seconds(each.difference_ns), "yes" if each.is_sure else "no") for each in roles(a, b)])
    largest = table(["Kernel", "Before", "After", "Difference"], [(name, seconds(one), seconds(other), seconds(other - one))
                                                                 for name, one, other in kernels(a, b)[:20]])
    moved = table(["Operation", "Bytes", "Ranks", "Place", "Before", "After", "Change"], [
        (operation, size(count), ranks, place, seconds(one), seconds(other), percent(other / one - 1) if one else "")
        for operation, count, ranks, place, one, other in collectives(a, b)])
    said = "".join(f"<li>{escaped(line)}</li>" for line in lines(a, b))
    return whole(title, f"<section><h2>What differs</h2><ul>{said}</ul></section><section><h2>Steps by role</h2>{parts}</section>"
            f"<section><h2>Kernels, each step</h2>{largest}</section><section><h2>Moving the same bytes</h2>{moved}</section>")
