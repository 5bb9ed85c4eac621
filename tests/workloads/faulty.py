#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings and inferences on one GPU with one known fault each, and such without: what faults-gpu records.

usage: faulty.py NAME [--device cuda|cpu] [--seconds S] | --list

Prints a line of JSON: what is wrong (null if nothing), where, and what it costs a step in milliseconds by the program's
own clock (`costMs`), with the step's time with and without it (`stepMs`, `withoutMs`). The steps without it come first.
"""

import argparse
import importlib
import sys

sys.dont_write_bytecode = True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=2.6)
    options = parser.parse_args()
    from faults import common

    for module in ("inputs", "kernels", "memory", "host", "ranks", "redundant", "clean"):
        importlib.import_module("faults." + module)
    if options.list:
        print(" ".join(common.PROGRAMS))
        return
    entry = common.PROGRAMS[options.name]
    before = entry.get("before")
    state = before(options) if before else None
    import torch

    if options.device == "cpu":
        from faults import cpu

        cpu.stand_in(torch)
    run = common.Run(torch, options.device, options.seconds)
    run.state = state
    try:
        truth = entry["function"](run)
    except common.Skipped as why:
        truth = {"skipped": str(why)}
    if truth is not None:
        common.report(options.name, entry, truth)
    sys.stdout.flush()
    after = entry.get("after")
    if after:
        after(state)


if __name__ == "__main__":
    main()
