#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command of a finding opens its ranks and steps: the built programs, on a recording of two ranks.

usage: PYTHONPATH=STAGE test_open_ranks.py      skips itself where DuckDB or NumPy is missing
"""

import gzip
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import lanescope

SAMPLES = Path(__file__).resolve().parents[3] / "resources" / "samples"

try:
    import duckdb  # noqa: F401
except ImportError as error:
    print(f"Skipped: {error}")
    sys.exit(77)

from lanescope.fleet import joining, reading, running, words, writing  # noqa: E402
from lanescope.fleet.findings import Finding  # noqa: E402


class OpenRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.program = cls.folder / "bin" / "lanescope"
        cls.program.parent.mkdir()
        shutil.copy(lanescope.program(), cls.program)
        # In place of the window: says what it was to open.
        viewer = cls.program.with_name("lanescope-viewer")
        viewer.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        viewer.chmod(0o755)
        cls.job = cls.folder / "the job"
        cls.job.mkdir()
        whole = cls.folder / "whole.sqlite"
        with gzip.open(SAMPLES / "resnet152-nvlink.sqlite.gz") as source, open(whole, "wb") as target:
            shutil.copyfileobj(source, target)
        for rank in (0, 1):
            cls.run_program("merge", str(whole), "--ranks", str(rank), "-o", str(cls.job / f"run.{rank}.sqlite"))
        cls.run_program("summarize", *map(str, sorted(cls.job.glob("run.?.sqlite"))))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def run_program(cls, *arguments):
        environment = dict(os.environ, XDG_CACHE_HOME=str(cls.folder / "cache"))
        done = subprocess.run([str(cls.program), *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.stderr.decode()}")
        return done.stdout.decode()

    def found(self):
        job = joining.join(running.in_processes(reading.find(self.job), 1))
        return job, Finding("rank", "compute", [1], 1e6, 0.1, (4, 9), 9.0, {"is_now_and_then": False})

    def check(self, path):
        database = sqlite3.connect(path)
        names = {name for name, in database.execute("SELECT DISTINCT text FROM NVTX_EVENTS WHERE text LIKE 'step %'")}
        database.close()
        self.assertEqual(names, {f"step {number}" for number in range(4, 10)})
        said = json.loads(self.run_program("info", str(path), "-f", "json"))
        self.assertEqual(sorted(each["rank"] for each in said["processes"] if each.get("rank") is not None), [0, 1])

    def test_the_command_opens_ranks_and_steps_as_one_trace(self):
        job, finding = self.found()
        command = shlex.split(words.command(job, finding))
        self.assertEqual(command[:3], ["lanescope", "view", "--merge"])
        self.assertEqual(command[-4:], ["--ranks", "0,1", "--steps", "4-8"])
        opened = self.run_program(*command[1:]).splitlines()
        self.assertEqual(len(opened), 1)
        self.check(opened[0])
        self.assertEqual(os.stat(opened[0]).st_mode & 0o777, 0o600)
        # The same ranks of a folder, and as a file.
        self.check(self.run_program("view", "--merge", str(self.job), "--ranks", "0,1", "--steps", "4-8").strip())
        cut = self.folder / "cut.sqlite"
        self.run_program("merge", *command[3:], "-o", str(cut))
        self.check(cut)

    def test_a_report_names_traces_below_its_folder(self):
        job, finding = self.found()
        report = self.folder / "fleet.sqlite"
        writing.write(job, [finding], str(report))
        database = sqlite3.connect(report)
        self.assertEqual(database.execute("SELECT folder FROM job").fetchall(), [(str(self.job),)])
        self.assertEqual(database.execute("SELECT trace FROM ranks ORDER BY rank").fetchall(), [("run.0.sqlite",), ("run.1.sqlite",)])
        self.assertEqual(database.execute("SELECT shown_ranks FROM findings").fetchall(), [("1,0",)])
        database.close()


if __name__ == "__main__":
    unittest.main()
