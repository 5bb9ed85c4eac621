# SPDX-License-Identifier: Apache-2.0
"""The command `lanescope fleet`, started by the program, which has validated its arguments."""

from __future__ import annotations

import argparse
import os
import sys

from lanescope.fleet import FleetError


def _parsed(words: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lanescope fleet")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--output", default="fleet.sqlite")
    for name in ("--html", "--roles", "--scheduler"):
        parser.add_argument(name, default="")
    parser.add_argument("--workers", type=int, default=0)
    for name in ("--force", "--without-tls", "--print-slurm", "--print-kubernetes"):
        parser.add_argument(name, action="store_true")
    return parser.parse_args(words)


def load(folder: str, asked: argparse.Namespace):
    """Loads the job from the files in a folder."""
    from lanescope.fleet import joining, reading, running
    if not os.path.isdir(folder):
        raise FleetError(f"{folder}: not a folder. Name the folder with the summaries or traces of the ranks.")
    paths = reading.find(folder)
    if not paths:
        raise FleetError(f"{folder} has neither summaries ({reading.SUMMARY}) nor traces.")
    if asked.scheduler:
        results = running.in_cluster([os.path.abspath(path) for path in paths], asked.scheduler, asked.without_tls)
    else:
        results = running.in_processes(paths, asked.workers)
    return joining.join(results, asked.roles)


def _report(asked: argparse.Namespace) -> None:
    from lanescope.fleet import findings, page, words, writing
    job = load(asked.folders[0], asked)
    found = findings.find(job)
    for role in findings.unjudged(job):
        alike = [rank.number for rank in job.ranks if rank.role == role]
        job.notes.append(f"{words.numbers(alike)} ({role}): too few ranks do the same work to find slow ones. Set their roles with --roles.")
    writing.write(job, found, asked.output)
    if asked.html:
        page.write_page(page.page(job, found, f"The job in {os.path.basename(os.path.abspath(asked.folders[0]))}"), asked.html)
    print(f"{words.shape(job)}.")
    for each in found[:10]:
        lost = f" {words.seconds(each.lost_ns)} lost." if each.lost_ns else ""
        print(f"- {words.sentence(job, each)}{lost}")
        if words.command(job, each):
            print(f"    {words.command(job, each)}")
    if not found:
        print("No rank, link or host stands out, and no rank is missing.")
    for note in job.notes:
        print(note)
    for each in job.broken:
        print(each.sentence, file=sys.stderr)
    print(f"The report is {asked.output}{' and ' + asked.html if asked.html else ''}.", file=sys.stderr)


def _compare(asked: argparse.Namespace) -> None:
    from lanescope.fleet import comparing, page
    jobs = [load(folder, asked) for folder in asked.folders]
    comparing.write(*jobs, asked.output)
    if asked.html:
        page.write_page(comparing.page(*jobs, " against ".join(os.path.basename(os.path.abspath(folder)) for folder in asked.folders)), asked.html)
    print("\n".join(comparing.lines(*jobs)))


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
    try:
        run(words)
    except FleetError as error:
        sys.exit(f"lanescope: {error}")
    except ImportError as error:
        sys.exit(f"lanescope: `fleet` needs more Python packages ({error}): pip install \"lanescope[fleet]\".")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(130)
