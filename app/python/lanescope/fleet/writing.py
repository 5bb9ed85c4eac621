# SPDX-License-Identifier: Apache-2.0
"""Writes the report as an SQLite file: the same job produces the same bytes, independent of reader and order."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sqlite3
import tempfile

import numpy

from lanescope.fleet import FleetError
from lanescope.fleet.findings import Finding
from lanescope.fleet.joining import NONE, PARTS, Job
from lanescope.fleet.printing import encodable
from lanescope.fleet.reading import REPORT
from lanescope.fleet.words import command, sentence, shown_ranks

VERSION = 1

SCHEMA = """
    CREATE TABLE ranks (rank INTEGER PRIMARY KEY, machine TEXT, host TEXT, local_rank INTEGER, role TEXT, gpu INTEGER, gpu_name TEXT,
        gpu_uuid TEXT, pid INTEGER, ended_abnormally INTEGER, steps INTEGER, own_ns_per_step REAL, against_role REAL, lost_ns INTEGER, trace TEXT,
        trace_start_utc_ns INTEGER, mfu REAL);
    CREATE TABLE machines (machine TEXT PRIMARY KEY, ranks INTEGER, clock TEXT, clock_offset_ns INTEGER, clock_drift_ppb INTEGER,
        clock_error_ns INTEGER);
    CREATE TABLE clock_settings (machine TEXT, after_ns INTEGER, before_ns INTEGER, by_ns INTEGER, clock_offset_ns INTEGER,
        clock_drift_ppb INTEGER);
    CREATE TABLE steps (rank INTEGER, step INTEGER, start_ns INTEGER, wall_ns INTEGER, communication_ns INTEGER, compute_ns INTEGER,
        copies_ns INTEGER, loading_ns INTEGER, launching_ns INTEGER, against_role REAL, PRIMARY KEY (rank, step)) WITHOUT ROWID;
    CREATE TABLE communicators (communicator TEXT PRIMARY KEY, name TEXT, ranks INTEGER, here INTEGER);
    CREATE TABLE collectives (communicator TEXT, operation TEXT, bytes INTEGER, calls INTEGER, moving_ns INTEGER, waited_ns INTEGER);
    CREATE TABLE lateness (rank INTEGER, communicator TEXT, collectives INTEGER, last INTEGER, cost_others_ns INTEGER, waited_ns INTEGER);
    CREATE TABLE findings (place INTEGER PRIMARY KEY, kind TEXT, what TEXT, ranks TEXT, first_step INTEGER, last_step INTEGER, lost_ns INTEGER,
        share REAL, sureness REAL, sentence TEXT, command TEXT, shown_ranks TEXT);
    CREATE TABLE job (folder TEXT);
    CREATE TABLE broken (file TEXT PRIMARY KEY, sentence TEXT);
    CREATE TABLE notes (sentence TEXT);
    CREATE TABLE health (rank INTEGER, severity INTEGER, code TEXT, count INTEGER, sentence TEXT);
"""


def name_of(communicator: int) -> str:
    return f"0x{communicator & (1 << 64) - 1:016x}"


def number(value):
    """Returns a cell; None for an unknown number."""
    return None if value is None or value == NONE or value != value else int(value)


def against_role(job: Job) -> numpy.ndarray:
    """Returns each rank's own time in each step, as a share above the median of its role."""
    made = numpy.full(job.own.shape, numpy.nan)
    roles = numpy.array([rank.role for rank in job.ranks], dtype=object)
    with numpy.errstate(all="ignore"):
        for role in sorted(set(roles)):
            rows = numpy.flatnonzero(roles == role)
            usual = numpy.nanmedian(numpy.where(numpy.isnan(job.own[rows]), numpy.nan, job.own[rows]), axis=0)
            made[rows] = job.own[rows] / usual - 1
    return numpy.where(numpy.isfinite(made), made, numpy.nan)


def lost(job: Job, against: numpy.ndarray) -> list:
    """Returns the extra own time of each rank over all steps, compared with the median rank of its role, from its
    excess over the role's median in each step; ns."""
    with numpy.errstate(all="ignore"):
        later = numpy.nansum(numpy.where(against > -1, job.own * against / (1 + against), numpy.nan), axis=1)
    roles = numpy.array([rank.role for rank in job.ranks], dtype=object)
    usual = {role: float(numpy.median(later[roles == role])) for role in set(roles)}
    return [round(float(later[rank.row]) - usual[rank.role]) for rank in job.ranks]


def _rounded(value, digits: int = 6):
    return None if value is None or value != value else round(float(value), digits)


def _fill(database: sqlite3.Connection, job: Job, findings: list) -> None:
    against = against_role(job)
    # Traces are there or below, unless they were moved.
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(rank.trace)) for rank in job.ranks]) if job.ranks else ""
    with numpy.errstate(all="ignore"):
        own_means = [float(numpy.nanmean(row)) if numpy.isfinite(row).any() else None for row in job.own]
        against_medians = [float(numpy.nanmedian(row)) if numpy.isfinite(row).any() else None for row in against]
    losses = lost(job, against)
    database.executemany("INSERT INTO ranks VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", [
        (rank.number, rank.machine, rank.host, number(rank.local_rank), rank.role, rank.gpu, rank.gpu_name, rank.gpu_uuid, rank.pid,
         int(rank.ended_abnormally), int(numpy.isfinite(job.wall[rank.row]).sum()), _rounded(own_means[rank.row], 0),
         _rounded(against_medians[rank.row]), losses[rank.row], encodable(os.path.relpath(os.path.abspath(rank.trace), folder)),
         rank.start_utc_ns or None, _rounded(rank.mfu) if rank.mfu >= 0 else None) for rank in job.ranks])
    database.execute("INSERT INTO job VALUES (?)", (encodable(folder),))
    database.executemany("INSERT INTO machines VALUES (?,?,?,?,?,?)", [
        (machine, sum(rank.machine == machine for rank in job.ranks), clock.method, clock.offset_ns, clock.drift_ppb, number(clock.error_ns))
        for machine, clock in job.clocks.items()])
    database.executemany("INSERT INTO clock_settings VALUES (?,?,?,?,?,?)", [
        (machine, each.after_ns, each.before_ns, each.by_ns, each.offset_ns, each.drift_ppb)
        for machine, clock in job.clocks.items() for each in clock.settings])
    for rank in job.ranks:
        row = rank.row
        there = numpy.flatnonzero(numpy.isfinite(job.wall[row]))
        columns = [job.steps, job.starts[row], job.wall[row], job.communication[row], *(job.parts[part][row] for part in PARTS)]
        cells = [[int(value) for value in column[there]] for column in columns]
        shares = [_rounded(value) for value in against[row][there]]
        database.executemany("INSERT INTO steps VALUES (?,?,?,?,?,?,?,?,?,?)", [(rank.number, *values) for values in zip(*cells, shares)])
    database.executemany("INSERT INTO communicators VALUES (?,?,?,?)", sorted(
        (name_of(communicator), each["name"], each["size"], len(each["rows"])) for communicator, each in job.communicators.items()))
    _fill_collectives(database, job)
    database.executemany("INSERT INTO findings VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", [_finding_row(job, place, each) for place, each in enumerate(findings, 1)])
    database.executemany("INSERT OR REPLACE INTO broken VALUES (?,?)", [
        (encodable(os.path.basename(each.source)), encodable(each.sentence)) for each in job.broken])
    database.executemany("INSERT INTO notes VALUES (?)", [(encodable(note),) for note in job.notes])
    database.executemany("INSERT INTO health VALUES (?,?,?,?,?)", [
        (job.ranks[row].number, int(severity), code, number(count), text) for row, severity, code, count, text in job.health])


def _finding_row(job: Job, place: int, each: Finding) -> tuple:
    first, last = each.steps or (None, None)
    return (place, each.kind, each.what, ",".join(map(str, each.ranks)), number(first), number(last), round(each.lost_ns), _rounded(each.share),
            _rounded(each.sureness, 2), encodable(sentence(job, each)), encodable(command(job, each)), ",".join(map(str, shown_ranks(job, each))))


def _fill_collectives(database: sqlite3.Connection, job: Job) -> None:
    groups, sums = job.groups, {}
    for place in range(len(groups.get("communicator", ()))):
        key = (name_of(int(groups["communicator"][place])), groups["operation"][place], number(groups["bytes"][place]))
        each = sums.setdefault(key, [0, 0, 0])
        each[0] += 1
        each[1] += int(groups["moving_ns"][place])
        each[2] += int(groups["waited_ns"][place])
    database.executemany("INSERT INTO collectives VALUES (?,?,?,?,?,?)",
                         [(*key, *each) for key, each in sorted(sums.items(), key=lambda one: (one[0][:2], one[0][2] or -1))])
    waits = job.waits
    database.executemany("INSERT INTO lateness VALUES (?,?,?,?,?,?)", [
        (job.ranks[int(row)].number, name_of(int(communicator)), int(calls), int(last), int(caused), int(waited))
        for row, communicator, calls, last, caused, waited in zip(*(waits[name] for name in ("row", "communicator", "calls", "last", "caused_ns", "waited_ns")))]
        if waits else [])


def place_for(path: str, is_forced: bool) -> None:
    """Fails before anything is read if the result cannot be written."""
    if not os.path.lexists(path):
        return
    if os.path.isdir(path):
        raise FleetError(f"{path}: this is a folder. Name a file.")
    if not os.path.isfile(path) and not os.path.islink(path):
        raise FleetError(f"{path}: this is not a regular file. Choose another name.")
    if not is_forced:
        raise FleetError(f"{path}: the file exists. Choose another name, or overwrite it with --force.")


def _assign_name(folder: int, partial: str, name: str, is_forced: bool) -> None:
    if is_forced:
        os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        # Unlike a renaming, it fails if the name was created in the meantime.
        os.link(partial, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        os.unlink(partial, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS) or name in os.listdir(folder):
            raise
        os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)  # a file system without links


def publish(path: str, content, is_forced: bool) -> None:
    """Publishes a file for its owner only, which gets its name when complete. `content` is an iterable of bytes.

    Other users may be able to write to the folder. So the folder is opened once, the unfinished file is a new one with
    a name that cannot be predicted, and no link is followed.
    """
    place, name = os.path.split(path)
    partial, folder = f".lanescope-{secrets.token_hex(16)}.partial", -1
    try:
        folder = os.open(place or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
        try:
            with open(file, "wb") as out:
                out.writelines(content)
                os.fchmod(out.fileno(), 0o600)
            _assign_name(folder, partial, name, is_forced)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial, dir_fd=folder)
            raise
    except FileExistsError as error:
        raise FleetError(f"{path}: the file exists. Choose another name, or overwrite it with --force.") from error
    except (OSError, sqlite3.Error) as error:
        raise FleetError(f"{path}: cannot write: {getattr(error, 'strerror', None) or error}.") from error
    finally:
        if folder >= 0:
            os.close(folder)


def content_of(schema: str, fill):
    """Yields, for `publish`, a native SQLite file with these tables, filled in one transaction. SQLite opens files by
    name, so the file is made in a private folder."""
    with tempfile.TemporaryDirectory(prefix="lanescope-fleet-") as private:
        made = os.path.join(private, "report.sqlite")
        database = sqlite3.connect(made, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = OFF")
            database.execute(f"PRAGMA application_id = {REPORT}")
            database.execute(f"PRAGMA user_version = {VERSION}")
            database.executescript(schema)
            database.execute("BEGIN")
            fill(database)
            database.execute("COMMIT")
        finally:
            database.close()
        with open(made, "rb") as file:
            while block := file.read(1 << 20):
                yield block


def write(job: Job, findings: list, path: str, is_forced: bool = False) -> None:
    publish(path, content_of(SCHEMA, lambda database: _fill(database, job, findings)), is_forced)
