# SPDX-License-Identifier: Apache-2.0
"""The command `lanescope fleet`, started by the program, which has validated its arguments."""

from __future__ import annotations

import argparse
import os
import sys

from lanescope.fleet import FleetError
from lanescope.fleet.printing import printable


def _parsed(words: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lanescope fleet")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--output", default="fleet.sqlite")
    for name in ("--html", "--roles", "--scheduler"):
        parser.add_argument(name, default="")
    parser.add_argument("--workers", type=int, default=0)
    for name in ("--force", "--without-tls", "--print-slurm", "--print-kubernetes"):
        parser.add_argument(name, action="store_true")
    return parser.parse_args(words)


def _say(text, file=None) -> None:
    """Prints one line without control characters: names in files are untrusted."""
    print(printable(text), file=file or sys.stdout)


def load(folder: str, asked: argparse.Namespace):
    """Loads the job from the files in a folder."""
    from lanescope.fleet import joining, reading, running
    if not os.path.isdir(folder):
        raise FleetError(f"{folder}: not a folder. Name the folder with the summaries or traces of the ranks.")
    paths = reading.find(folder)
    if not paths:
        raise FleetError(f"{folder} has neither summaries ({reading.SUMMARY}) nor traces.")
    most = running.most_bytes() // len(asked.folders)
    if asked.scheduler:
        results = running.in_cluster([os.path.abspath(path) for path in paths], asked.scheduler, asked.without_tls, most=most)
    else:
        results = running.in_processes(paths, asked.workers, most=most)
    return joining.join(results, asked.roles)


def _report(asked: argparse.Namespace) -> None:
    from lanescope.fleet import findings, page, words, writing
    job = load(asked.folders[0], asked)
    found = findings.find(job)
    for role in findings.unjudged(job):
        alike = [rank.number for rank in job.ranks if rank.role == role]
        job.notes.append(f"{words.numbers(alike)} ({role}): too few ranks do the same work to find slow ones. Set their roles with --roles.")
    writing.write(job, found, asked.output, asked.force)
    if asked.html:
        page.write_page(page.page(job, found, f"The job in {os.path.basename(os.path.abspath(asked.folders[0]))}"), asked.html, asked.force)
    _say(f"{words.shape(job)}. {words.mfu(job)}".rstrip())
    for each in found[:10]:
        lost = f" {words.seconds(each.lost_ns)} lost." if each.lost_ns else ""
        _say(f"- {words.sentence(job, each)}{lost}")
        if words.command(job, each):
            _say(f"    {words.command(job, each)}")
    if not found:
        _say("No rank, link or host differs by more than equal ranks usually do, and no rank is missing. 'explain' names the rank that waits least.")
    for note in job.notes:
        _say(note)
    for each in job.broken:
        _say(each.sentence, sys.stderr)
    _say(f"The report is {asked.output}{' and ' + asked.html if asked.html else ''}.", sys.stderr)


def _compare(asked: argparse.Namespace) -> None:
    from lanescope.fleet import comparing, page
    jobs = [load(folder, asked) for folder in asked.folders]
    comparing.write(*jobs, asked.output, asked.force)
    if asked.html:
        page.write_page(comparing.page(*jobs, " against ".join(os.path.basename(os.path.abspath(folder)) for folder in asked.folders)), asked.html, asked.force)
    for line in comparing.lines(*jobs):
        _say(line)


def run(words: list) -> None:
    asked = _parsed(words)
    if asked.print_slurm or asked.print_kubernetes:
        from lanescope.fleet import running
        print(running.SLURM if asked.print_slurm else running.KUBERNETES, end="")
        return
    from lanescope.fleet import writing
    for path in filter(None, (asked.output, asked.html)):
        writing.place_for(path, asked.force)
    (_compare if len(asked.folders) > 1 else _report)(asked)


def main(words: list) -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # for terminals without UTF-8
    try:
        run(words)
    except FleetError as error:
        _say(f"lanescope: {error}", sys.stderr)
        sys.exit(1)
    except ImportError as error:
        sys.exit(f"lanescope: `fleet` needs more Python packages ({error}): pip install dask distributed duckdb numpy.")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(130)
