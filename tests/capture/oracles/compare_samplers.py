# SPDX-License-Identifier: Apache-2.0
"""Has three samplers look at one running program, ours, py-spy and Austin, and holds ours against them and its own clock.

usage: compare_samplers.py LANESCOPE [SECONDS]

py-spy and austin of PATH, or of the folder that LANESCOPE_TEST_ORACLES names (`pip install py-spy austin-dist`); exits
with 77 where neither runs. Prints the share of each function of each thread as each of the four tells it. The limit is
five points: they look at different moments, on a machine that has other things to do.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 5.0


def oracle(name):
    folder = os.environ.get("LANESCOPE_TEST_ORACLES")
    path = shutil.which(name, path=folder) if folder else shutil.which(name)
    # One that was made for a newer C library does not start here.
    if path and subprocess.run([path, "--version"], capture_output=True).returncode == 0:
        return path
    return None


def child_of(recorder, seconds=20):
    """The Python program that the recorder started, once it runs."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        waiting = [recorder]  # Its only child records; the program is that one's.
        while waiting:
            process = waiting.pop()
            try:
                children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
                for child in children:
                    if b"known_functions" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                        return child
            except OSError:
                continue
            waiting += children
        time.sleep(0.05)
    sys.exit("the program did not start")


def shares(sums, functions):
    """Per cent by thread and function, of the time in the functions that the program knows of."""
    result = {}
    for thread, by_function in sums.items():
        known = {name: value for name, value in by_function.items() if name in functions}
        whole = sum(known.values())
        if whole:
            result[thread] = {name: 100 * value / whole for name, value in known.items()}
    return result


def of_py_spy(path):
    sums = collections.defaultdict(collections.Counter)
    for line in path.read_text().splitlines():
        told = re.fullmatch(r"thread \((\d+)\).*;([^;]*) \([^;]*\) (\d+)", line)
        if told:
            sums[told.group(1)][told.group(2)] += int(told.group(3))
    return sums


def of_austin(path):
    sums = collections.defaultdict(collections.Counter)
    for line in path.read_text().splitlines():
        told = re.fullmatch(r"P\d+;T(?:\d+:)?(\d+);(?:.*;)?[^;]*:([^:;]*):\d+ (\d+)", line)
        if told:
            sums[told.group(1)][told.group(2)] += int(told.group(3))
    return sums


def of_ours(path):
    sums = collections.defaultdict(collections.Counter)
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    for thread, function, ns in database.execute(
            "SELECT t.globalTid & 0xffffff, f.value, sum(t.\"end\" - t.start) FROM LANESCOPE_THREAD_STATES t"
            " JOIN LANESCOPE_STACKS s ON s.id = t.callchainId JOIN StringIds f ON f.id = s.functionId GROUP BY 1, 2"):
        sums[str(thread)][function] += ns
    said = database.execute("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'threadSampler'").fetchone()
    print(f"ours: {said[0] if said else 'nothing'}")
    return sums


def main():
    lanescope, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 25.0
    py_spy, austin = oracle("py-spy"), oracle("austin")
    if not py_spy and not austin:
        print("Neither py-spy nor austin runs here.")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        recorder = subprocess.Popen(
            [lanescope, "record", "--no-sample", "-o", folder / "ours.sqlite", "--", sys.executable,
             HERE / "known_functions.py", str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        program = child_of(recorder.pid)
        time.sleep(1)
        looking, length = [], int(seconds - 3)
        if py_spy:
            looking.append(subprocess.Popen(
                [py_spy, "record", "-d", str(length), "-r", "100", "-f", "raw", "--nonblocking", "-t", "--idle", "-o",
                 folder / "py-spy", "--pid", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        if austin:
            looking.append(subprocess.Popen(
                [austin, "-i", "10ms", "-x", str(length), "-o", folder / "austin", "-p", program],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        said, errors = recorder.communicate(timeout=seconds + 60)
        for each in looking:
            each.wait(timeout=30)
        told = json.loads(said)
        functions = {name for works in told.values() for name in works}
        truth = shares(told, functions)
        found = {"ours": shares(of_ours(folder / "ours.sqlite"), functions)}
        if py_spy and (folder / "py-spy").exists():
            found["py-spy"] = shares(of_py_spy(folder / "py-spy"), functions)
        if austin and (folder / "austin").exists():
            found["austin"] = shares(of_austin(folder / "austin"), functions)
    if len(found) == 1:
        print("Neither py-spy nor austin may look here.")
        return 77
    bad = 0
    print(f"{'thread':>8} {'function':10} {'its clock':>9} " + " ".join(f"{name:>9}" for name in found))
    for thread, works in truth.items():
        for function, share in works.items():
            values = {name: told.get(thread, {}).get(function, 0.0) for name, told in found.items()}
            print(f"{thread:>8} {function:10} {share:9.2f} " + " ".join(f"{value:9.2f}" for value in values.values()))
            others = [share] + [value for name, value in values.items() if name != "ours"]
            bad += any(abs(values["ours"] - other) > LIMIT for other in others)
    if bad:
        print(f"{bad} shares of ours are further than {LIMIT:.0f} points from another's.\n{errors}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
