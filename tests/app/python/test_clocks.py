#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clocks of a real recording of two ranks, put wrong by known amounts and brought together again.

usage: PYTHONPATH=STAGE test_clocks.py

Takes a sample that was recorded on two GPUs, makes a trace of each rank, and has `tests/workloads/ranks-gpu` judge what `merge`
makes of them once each has a host and a clock of its own.
"""

import contextlib
import gzip
import importlib.util
import io
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

import lanescope

TESTS = Path(__file__).resolve().parents[2]
SAMPLE = TESTS.parent / "resources" / "samples" / "resnet152-nvlink.sqlite.gz"


def script(path):
    """A script without an ending as a module."""
    loader = SourceFileLoader("ranks_gpu", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ranks_gpu", loader))
    loader.exec_module(module)
    return module


class Clocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.dont_write_bytecode = True
        cls.judge = script(TESTS / "workloads" / "ranks-gpu")
        cls.folder = Path(tempfile.mkdtemp())
        whole = cls.folder / "whole.sqlite"
        with gzip.open(SAMPLE) as source, open(whole, "wb") as target:
            shutil.copyfileobj(source, target)
        (cls.folder / "ranks").mkdir()
        for rank in (0, 1):
            cls.run_lanescope("merge", whole, "--ranks", rank, "-o", cls.folder / "ranks" / f"rank.{rank}.sqlite")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @staticmethod
    def run_lanescope(*words):
        return subprocess.run([str(lanescope.program()), *map(str, words)], check=True, capture_output=True, text=True)

    def judged(self, seed, is_set):
        """How many are wrong, and what was said."""
        options = types.SimpleNamespace(lanescope=str(lanescope.program()), seed=seed)
        for name in ("set", "skewed"):
            shutil.rmtree(self.folder / "ranks" / name, ignore_errors=True)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            wrong = self.judge.judge_clocks(options, self.folder / "ranks", is_set)
        return wrong, said.getvalue()

    def test_a_known_offset_and_drift_are_recovered_within_what_is_told(self):
        for seed in (1, 2, 3):
            wrong, said = self.judged(seed, is_set=False)
            self.assertEqual(wrong, 0, said)
            self.assertNotIn("was set", said)

    def test_a_clock_that_was_set_is_recovered_before_and_after(self):
        for seed in (4, 5, 6):
            wrong, said = self.judged(seed, is_set=True)
            self.assertEqual(wrong, 0, said)
            self.assertIn("The clock of node1 was set by +3", said)

    def test_what_shifts_a_trace_shifts_all_of_it(self):
        import skewed_trace
        clock = skewed_trace.Clock(offset_ns=5_000_000, drift_ppm=10.0, step_ns=2_000_000, step_at_ns=1_000_000_000)
        source, target = self.folder / "ranks" / "rank.0.sqlite", self.folder / "shifted.sqlite"
        skewed_trace.skew(source, target, clock, "elsewhere")
        before, after = (self.judge.kernel_starts(path)[0] for path in (source, target))
        zero = self.judge.zero_of(source)
        for old, new in zip(before, after):
            self.assertLessEqual(abs(new - old - clock.ahead(old - zero)), 1)
        self.assertEqual(len(before), len(after))
        self.assertIn("elsewhere", self.run_lanescope("info", target).stdout)


if __name__ == "__main__":
    unittest.main()
