# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: one that runs `lanescope` and reads its answers."""

import json
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


class Lanescope:
    """A program of Lanescope whose traces are in `folder`."""

    def __init__(self, program, folder="."):
        self.program, self.folder = str(program), pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def record(self, name, command, *options, before=(), limit=None, environment=None):
        """(trace, finished process) of a command recorded into the folder; status 124 if it took longer than `limit` s."""
        trace = self.folder / f"{name}.sqlite"
        words = [*before, self.program, "record", "--force", "-o", trace, *options, "--", *command]
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment)
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.terminate()
            out, err = process.communicate()
            process.returncode, err = 124, f"{err} took more than {limit} s"
        return trace, subprocess.CompletedProcess(words, process.returncode, out, err)

    def said(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True)

    def json(self, *arguments):
        """The answer of a command; {} if there is none, with its error in "failed"."""
        done = self.said(*arguments, "-f", "json")
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {"failed": done.stderr.strip()[-300:] or f"status {done.returncode}"}

    def rows(self, trace, query):
        """The rows of a query, without units in the names of columns; none if it failed."""
        found = self.json("sql", trace, query)
        return [] if "failed" in found else [{key.split(" (")[0]: value for key, value in row.items()} for row in found]


def shift(differences):
    """The Hodges-Lehmann estimate of a shift by differences of pairs, between the ends of its interval of 95 % (Wilcoxon).
    Some blocks that others disturbed hardly change it, a cost of each block does."""
    averages = sorted((one + other) / 2 for at, one in enumerate(differences) for other in differences[at:])
    count = len(differences)
    outside = count * (count + 1) / 4 - 1.96 * (count * (count + 1) * (2 * count + 1) / 24) ** 0.5
    outside = max(int(outside), 0)
    return averages[outside], statistics.median(averages), averages[-1 - outside]


def last_json(text, start='{"'):
    """The last line of a program's output that is JSON, which says what it did; None without."""
    lines = [line for line in text.splitlines() if line.startswith(start)]
    return json.loads(lines[-1]) if lines else None


def error_of(done):
    return " ".join(done.stderr.split())[-300:] or f"status {done.returncode}"
