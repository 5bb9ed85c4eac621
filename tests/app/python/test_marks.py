#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a training says of itself: nothing where nothing records, ranges that nest where `lanescope record` does.

usage: PYTHONPATH=STAGE test_marks.py      prints what a range costs; LANESCOPE_BENCH_ASSERT=1 holds it against 200 ns
"""

import os
import subprocess
import sys
import tempfile
import timeit
import unittest
from pathlib import Path

import arrow

import lanescope

PROGRAM = """
import asyncio, threading
import lanescope

@lanescope.range("decorated")
def work(number):
    return number + 1

@lanescope.range("waits")
async def waits():
    await asyncio.sleep(0.002)
    return 7

async def both():
    return await asyncio.gather(waits(), waits())

for number in range(5):
    with lanescope.step(number), lanescope.range("forward \\u00e9\\0hidden"):
        assert work(number) == number + 1
assert work.__name__ == "work"
assert asyncio.run(both()) == [7, 7]
try:
    with lanescope.range("fails"):
        raise KeyError("kept")
except KeyError:
    lanescope.mark("after")
thread = threading.Thread(target=work, args=(1,))
thread.start()
thread.join()
print(any("lanescope-marks" in line for line in open("/proc/self/maps")))
"""


def run(command, **environment):
    clean = {name: value for name, value in os.environ.items() if name != "NVTX_INJECTION64_PATH"}
    return subprocess.run(command, env={**clean, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)


class Marks(unittest.TestCase):
    def test_nothing_is_loaded_where_nothing_records(self):
        done = run([sys.executable, "-c", PROGRAM])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "False\n", ""))
        done = run([sys.executable, "-c", "import sys, lanescope; print([name for name in ('ctypes', 'json', 'importlib.metadata') "
                    "if name in sys.modules])"])
        self.assertEqual(done.stdout, "[]\n")

    def test_a_training_goes_on_where_the_library_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(Path(lanescope.__file__).parent, Path(folder) / "lanescope")
            done = run([sys.executable, "-S", "-c", PROGRAM], NVTX_INJECTION64_PATH="/no/such/tool.so", PYTHONPATH=folder)
        self.assertEqual((done.returncode, done.stdout), (0, "False\n"))
        self.assertTrue(done.stderr.startswith("lanescope: ranges are not recorded: "), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_recording_has_the_ranges(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "run.sqlite"
            done = run([str(lanescope.program()), "record", "-o", str(place), "--", sys.executable, "-c", PROGRAM])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("True\n", done.stdout)
            rows = arrow.rows_of(lanescope.open(place).nvtx())
        texts = [row["text"] for row in rows]
        steps = [row for row in rows if row["text"].startswith("step ")]
        self.assertEqual([row["text"] for row in steps], [f"step {number}" for number in range(5)])
        for step in steps:
            within = [row["text"] for row in rows if step["start_ns"] < row["start_ns"] and row["end_ns"] <= step["end_ns"]]
            self.assertEqual(within, ["forward \u00e9", "decorated"])
        self.assertEqual(texts.count("decorated"), 6)
        self.assertEqual(len({row["tid"] for row in rows if row["text"] == "decorated"}), 2)
        waits = [row for row in rows if row["text"] == "waits"]
        self.assertEqual([row["style"] for row in waits], ["start_end", "start_end"])
        for row in waits:
            self.assertGreaterEqual(row["duration_ns"], 2_000_000)
        self.assertEqual([row["style"] for row in rows if row["text"] in ("fails", "after")], ["push_pop", "mark"])

    def test_costs_next_to_nothing_where_nothing_records(self):
        if lanescope.marks.is_recorded():
            self.skipTest("Something records this process.")
        for what, statement in (("with range", "with span('forward'): pass"), ("with step", "with step(7): pass"),
                                ("mark", "mark('x')"), ("decorated call", "decorated()"), ("call", "plain()")):
            def plain():
                pass

            names = {"span": lanescope.range, "step": lanescope.step, "mark": lanescope.mark, "plain": plain,
                     "decorated": lanescope.range("x")(plain)}
            # Short turns, of which one at least has the processor to itself.
            ns = min(timeit.repeat(statement, globals=names, number=2000, repeat=400)) * 1e9 / 2000
            print(f"{what}: {ns:.0f} ns", file=sys.stderr)
            if os.environ.get("LANESCOPE_BENCH_ASSERT"):
                self.assertLess(ns, 200, what)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
