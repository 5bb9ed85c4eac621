#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of traces in Python, held against the command line and against SQLite, without any library but Python's own.

usage: PYTHONPATH=STAGE test_tables.py      STAGE holds the package as pip install --target lays it out
"""

import collections
import csv
import ctypes
import gc
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import arrow

import lanescope

TESTS = Path(__file__).resolve().parents[2]
SAMPLES = TESTS.parent / "resources" / "samples"


def command(*arguments):
    """What the command line prints."""
    return subprocess.run([str(lanescope.program()), *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()


class WithTraces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        for name, packed in (("every", TESTS / "golden/every-kind/every-kind.sqlite.gz"),
                             ("nvlink", SAMPLES / "resnet152-nvlink.sqlite.gz"),
                             ("no-p2p", SAMPLES / "resnet152-no-p2p.sqlite.gz")):
            with gzip.open(packed) as source, open(cls.folder / f"{name}.sqlite", "wb") as target:
                shutil.copyfileobj(source, target)
        cls.every = lanescope.open(cls.folder / "every.sqlite")
        cls.nvlink = lanescope.open(cls.folder / "nvlink.sqlite")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)


class Tables(WithTraces):
    def test_every_report_says_what_the_command_line_says(self):
        told = command("stats", "--help")
        listed = told[told.index("\nReports"):told.index("\nCSV and JSON")]
        names = re.findall(r"^  ([a-z][\w:]*)", listed, re.M)
        self.assertGreater(len(names), 25)
        for trace in (self.every, self.nvlink):
            for name in names:
                expected = json.loads(command("stats", trace.path, "-r", name, "-f", "json"))
                rows = arrow.rows_of(trace.stats(name))
                self.assertEqual(rows, expected, name)

    def test_options_of_a_report_are_those_of_the_command_line(self):
        rows = arrow.rows_of(self.nvlink.stats("memcpy_bandwidth", by="range", range_name="step #", range="0s:100s"))
        expected = json.loads(command("stats", self.nvlink.path, "-r", "memcpy_bandwidth", "--by", "range", "--range-name",
                                      "step #", "--range", "0s:100s", "-f", "json"))
        self.assertEqual(rows, expected)
        self.assertGreater(len(rows), 0)

    def test_kernels_are_those_of_the_file(self):
        database = sqlite3.connect(self.nvlink.path)
        expected = database.execute(
            "SELECT k.start, k.end, k.end - k.start, s.value, d.value, gridX, gridY, gridZ, blockX, blockY, blockZ, "
            "registersPerThread, staticSharedMemory, dynamicSharedMemory, deviceId, streamId, correlationId, "
            "(k.globalPid >> 24) & 0xffffff "
            "FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName JOIN StringIds d "
            "ON d.id = k.demangledName ORDER BY k.start").fetchall()
        columns = arrow.columns_of(self.nvlink.kernels())
        names = ("start_ns end_ns duration_ns name full_name grid_x grid_y grid_z block_x block_y block_z "
                 "registers_per_thread static_shared_bytes dynamic_shared_bytes gpu stream correlation pid").split()
        self.assertEqual(len(self.nvlink.kernels()), len(expected))
        got = list(zip(*(columns[name] for name in names)))
        self.assertEqual(sorted(got), sorted(expected))
        self.assertEqual(columns["start_ns"], sorted(columns["start_ns"]))
        self.assertEqual(set(columns["rank"]), {0, 1})

    def test_copies_are_those_of_the_file(self):
        database = sqlite3.connect(self.every.path)
        expected = database.execute("SELECT start, end, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY start").fetchall()
        columns = arrow.columns_of(self.every.memcpys())
        self.assertEqual(sorted(zip(columns["start_ns"], columns["end_ns"], columns["bytes"])), sorted(expected))
        self.assertIn("HtoD", columns["kind"])
        kinds = collections.Counter(columns["kind"])
        for row in json.loads(command("stats", self.every.path, "-r", "memcpy_bandwidth", "-f", "json")):
            self.assertIn(row["Kind"], [*kinds, "memset"])
        # A copy from the host has no GPU that it comes from.
        self.assertIn(None, columns["source_gpu"])

    def test_every_kind_of_event_has_a_table(self):
        with self.assertRaises(lanescope.Error) as refused:
            self.every.events("magic")
        kinds = re.search(r"choose from: (.*)\.$", str(refused.exception)).group(1).split(", ")
        self.assertGreaterEqual(len(kinds), 8)
        for kind in kinds:
            columns = arrow.columns_of(self.every.events(kind))
            self.assertEqual({len(values) for values in columns.values()}, {len(self.every.events(kind))}, kind)
            self.assertIn("start_ns", columns)

    def test_nccl_is_the_listing_of_the_command_line(self):
        listed = json.loads(command("stats", self.nvlink.path, "-r", "nccl_trace", "-f", "json"))
        columns = arrow.columns_of(self.nvlink.nccl())
        self.assertGreater(len(listed), 0)
        for name, header in (("start_ns", "Start (ns)"), ("operation", "Operation"), ("size_bytes", "Size (B)"),
                             ("bus_bw_gbps", "Bus BW (GB/s)"), ("rank", "Rank")):
            self.assertEqual(columns[name], [row[header] for row in listed], name)

    def test_steps_are_those_that_are_compared(self):
        comparison = json.loads(command("compare", self.nvlink.path, self.folder / "no-p2p.sqlite", "-f", "json"))
        rows = arrow.rows_of(self.nvlink.steps())
        self.assertIn("steps", json.dumps(comparison["baseline"]))
        parts = [name for name in rows[0] if name.endswith("_ns") and name not in ("start_ns", "wall_ns", "on_cpu_ns")]
        self.assertGreater(len(parts), 8)
        for row in rows:
            self.assertEqual(sum(row[part] for part in parts), row["wall_ns"])
        workers = comparison["baseline"]["workers"]
        self.assertEqual(len(rows), sum(len(worker["steps"]) for worker in workers))
        self.assertEqual([row["wall_ns"] for row in rows],
                         [step["wallNs"] for worker in workers for step in worker["steps"]])
        self.assertEqual([row["on_cpu_ns"] for row in rows],
                         [step["onCpuNs"] for worker in workers for step in worker["steps"]])
        self.assertEqual({row["step"] for row in arrow.rows_of(self.nvlink.steps(steps="3-4"))}, {3, 4})

    def test_a_page_is_that_of_the_command(self):
        self.assertEqual(self.nvlink.html(steps="3-4"), command("page", self.nvlink.path, "--steps", "3-4"))
        self.assertIn('<iframe sandbox="allow-scripts"', self.nvlink._repr_html_())
        with self.assertRaises(lanescope.Error):
            self.nvlink.html(steps="4-3")

    def test_an_explanation_is_that_of_the_command(self):
        said = json.loads(command("explain", self.nvlink.path, "-f", "json"))
        explanation = self.nvlink.explain()
        self.assertEqual(explanation.to_dict(), said)
        self.assertTrue(str(explanation).startswith("GPUs compute "))
        self.assertIn("<h1", explanation.html())
        self.assertIn("<iframe sandbox", explanation._repr_html_())
        muted = [finding["rule"] for finding in said["findings"]]
        self.assertTrue(muted)
        self.assertEqual(self.nvlink.explain(mute=muted).to_dict()["findings"], [])
        with self.assertRaisesRegex(lanescope.Error, "There is no rule \"nothing\""):
            self.nvlink.explain(mute=["nothing"])
        # A text is one rule, not a list of letters.
        with self.assertRaisesRegex(lanescope.Error, "There is no rule \"nothing\""):
            self.nvlink.explain(mute="nothing")

    def test_a_copy_of_the_folder_uses_the_program_of_the_path_or_says_so(self):
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name) / "alone"
            shutil.copytree(Path(lanescope.__file__).parent, copy / "lanescope")
            script = ("import lanescope\n"
                      "try:\n    print(lanescope.__version__, len(lanescope.open(%r).kernels()) > 0)\n"
                      "except lanescope.Error as error:\n    print(error)" % str(self.nvlink.path))
            run = lambda path: subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE,
                                              env={"PYTHONPATH": str(copy), "PATH": path}).stdout.decode()
            self.assertIn("The program lanescope is not in", run(name))
            self.assertEqual(run(str(lanescope.program().parent)).split(), [lanescope.__version__, "True"])

    def test_units_stand_in_the_metadata(self):
        schema = arrow.schema_of(arrow.stream_in(capsule := self.every.memcpys().__arrow_c_stream__()))
        units = {schema.children[column].contents.name: arrow.metadata_of(schema.children[column].contents)
                 for column in range(schema.n_children)}
        self.assertEqual(units[b"start_ns"], [("unit", "ns")])
        self.assertEqual(units[b"bytes"], [("unit", "bytes")])
        self.assertEqual(units[b"kind"], [])
        self.assertEqual(arrow.metadata_of(schema), [("table", "memcpy")])
        schema.release(ctypes.byref(schema))
        del capsule

    def test_sql_keeps_the_rules_for_files_that_nobody_vouches_for(self):
        rows = arrow.rows_of(self.every.sql("SELECT count(*) AS n, 1.5 AS real, NULL AS none, 'x' AS text, x'00ff' AS b"))
        self.assertEqual(rows, [{"n": rows[0]["n"], "real": 1.5, "none": None, "text": "x", "b": "x'00ff'"}])
        for refused in ("DELETE FROM StringIds", "ATTACH 'x' AS y", "SELECT load_extension('x')", "SELECT 1; SELECT 2"):
            with self.assertRaises(lanescope.Error):
                self.every.sql(refused)
        self.assertEqual(len(self.every.sql("SELECT 1 UNION SELECT 2 UNION SELECT 3", rows=2)), 2)
        self.assertIn("Only the first 2 rows", repr(self.every.sql("SELECT 1 UNION SELECT 2 UNION SELECT 3", rows=2)))
        with self.assertRaisesRegex(lanescope.Error, "stopped after 1 s"):
            self.every.sql("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(x) FROM c", seconds=1)

    def test_no_function_runs_on_beyond_the_time(self):
        # Each call compares some 10^10 bytes, and none of them looks at a clock.
        query = ("WITH t(x) AS (SELECT replace(hex(zeroblob(250000)), '0', 'a')) "
                 "SELECT instr(x, substr(x, 1, 250000) || 'b'), instr(x, substr(x, 1, 250001) || 'b'),"
                 " instr(x, substr(x, 1, 250002) || 'b') FROM t")
        begun = time.monotonic()
        self.every.sql("SELECT 1")
        start = time.monotonic() - begun
        begun = time.monotonic()
        with self.assertRaisesRegex(lanescope.Error, "stopped after 1 s"):
            self.every.sql(query, seconds=1)
        self.assertLess(time.monotonic() - begun - start, 1.1)
        self.assertEqual(len(self.every.sql("SELECT 1")), 1)

    def test_mixed_columns_are_of_text_and_strange_bytes_are_utf8(self):
        rows = arrow.rows_of(self.every.sql("SELECT 1 AS a UNION ALL SELECT 'x' UNION ALL SELECT NULL UNION ALL SELECT 2.5"))
        self.assertEqual([row["a"] for row in rows], ["1", "x", None, "2.5"])
        rows = arrow.rows_of(self.every.sql("SELECT CAST(x'41ff42' AS TEXT) AS a"))
        self.assertEqual(rows, [{"a": "A\ufffdB"}])

    def test_a_failure_is_the_sentence_of_the_command_line(self):
        for attempt, sentence in ((lambda: lanescope.open(self.folder / "none.sqlite"), "none.sqlite: no such file. Check the path"),
                                  (lambda: lanescope.open(__file__), "test_tables.py"),
                                  (lambda: self.every.stats("magic"), 'Unknown report "magic"'),
                                  (lambda: self.every.stats("nvtx_sum", by="link"), "by link"),
                                  (lambda: self.every.stats("nvtx_sum", range="1000:"), "range lies outside"),
                                  (lambda: self.every.stats("nvtx_sum", range="x"), "is not a range"),
                                  (lambda: self.every.stats("nvtx_sum", range_name="step"), "by NVTX range"),
                                  (lambda: self.every.sql("SELECT 1", rows=0), "above 0"),
                                  (lambda: self.every.steps(range="no such"), "no such"),
                                  (lambda: self.every.compare(), "Name a run"),
                                  (lambda: self.every.compare(self.every), "the same file")):
            with self.assertRaisesRegex(lanescope.Error, sentence):
                attempt()

    def test_previews_are_short_and_escaped(self):
        text = repr(self.nvlink.kernels())
        self.assertIn(f"10 of {len(self.nvlink.kernels()):,} rows", text)
        self.assertLess(len(text.splitlines()), 15)
        page = self.every.sql("SELECT '<script>&' AS \"<b>\"")._repr_html_()
        self.assertIn("&lt;script&gt;&amp;", page)
        self.assertNotIn("<script>", page)
        self.assertNotIn("<b>", page)

    def test_a_closed_trace_says_so_and_its_tables_stay(self):
        trace = lanescope.open(self.folder / "every.sqlite")
        table = trace.kernels()
        with trace:
            pass
        self.assertEqual(len(arrow.columns_of(table)["name"]), len(table))
        with self.assertRaisesRegex(lanescope.Error, "closed"):
            trace.kernels()
        with self.assertRaisesRegex(lanescope.Error, "closed"):
            trace.compare(self.folder / "no-p2p.sqlite")
        trace.close()


class Comparisons(WithTraces):
    def test_says_what_the_command_line_says(self):
        other = self.folder / "no-p2p.sqlite"
        comparison = self.nvlink.compare(other)
        self.assertEqual(repr(comparison), command("compare", self.nvlink.path, other))
        self.assertEqual(comparison.html(), command("compare", self.nvlink.path, other, "-f", "html"))
        self.assertEqual(comparison.to_dict(), json.loads(command("compare", self.nvlink.path, other, "-f", "json")))
        some = self.nvlink.compare(lanescope.open(other), steps="3-5", align="start", top=3)
        self.assertEqual(repr(some), command("compare", self.nvlink.path, other, "--steps", "3-5", "--align", "start",
                                             "--top", "3"))

    def test_a_notebook_shows_the_page_in_a_frame_of_its_own(self):
        shown = self.nvlink.compare(self.folder / "no-p2p.sqlite")._repr_html_()
        self.assertTrue(shown.startswith('<iframe sandbox="allow-scripts"'))
        self.assertEqual(shown.count('"'), 6)  # so that nothing of the page ends the attribute

    def test_its_tables_are_those_of_csv(self):
        comparison = self.nvlink.compare(self.folder / "no-p2p.sqlite")
        with self.assertRaises(lanescope.Error) as refused:
            comparison.table("magic")
        for name in re.search(r"choose from: (.*)\.$", str(refused.exception)).group(1).split(", "):
            text = command("compare", self.nvlink.path, self.folder / "no-p2p.sqlite", "-f", "csv", "--table", name)
            headers = next(csv.reader(text.splitlines()))
            self.assertEqual(list(arrow.columns_of(comparison.table(name))), headers)


class Lifetimes(WithTraces):
    """Who holds what, in each order in which consumers let go of it."""

    def test_batches_outlive_stream_table_and_trace(self):
        trace = lanescope.open(self.folder / "every.sqlite")
        table = trace.kernels()
        capsule = table.__arrow_c_stream__()
        stream = arrow.moved(arrow.stream_in(capsule))
        schema = arrow.schema_of(stream)
        del capsule
        trace.close()
        del table, trace
        gc.collect()
        array = arrow.next_array(stream)
        stream.release(ctypes.byref(stream))
        self.assertFalse(stream.release)
        self.assertEqual(len(arrow.values_of(schema.children[0].contents, array.children[0].contents)), array.length)
        array.release(ctypes.byref(array))
        schema.release(ctypes.byref(schema))

    def test_a_column_may_be_moved_out_of_a_batch(self):
        stream = arrow.stream_in(capsule := self.every.kernels().__arrow_c_stream__())
        schema, array = arrow.schema_of(stream), arrow.next_array(stream)
        names = [schema.children[column].contents.name for column in range(schema.n_children)]
        place = names.index(b"name")
        field = arrow.moved(schema.children[place].contents)
        column = arrow.moved(array.children[place].contents)
        schema.release(ctypes.byref(schema))
        array.release(ctypes.byref(array))
        del capsule
        values = arrow.values_of(field, column)
        self.assertEqual(values, arrow.columns_of(self.every.kernels())["name"])
        column.release(ctypes.byref(column))
        field.release(ctypes.byref(field))

    def test_what_nobody_takes_is_released(self):
        table = self.nvlink.kernels()
        before = memory()
        for _ in range(200):
            table.__arrow_c_stream__()
            table.__arrow_c_schema__()
            stream = arrow.stream_in(capsule := table.__arrow_c_stream__())
            array = arrow.next_array(stream)
            array.release(ctypes.byref(array))
            del capsule
        self.assertLess(memory() - before, 50e6)

    def test_exports_are_independent(self):
        table = self.every.stats("cuda_gpu_kern_sum")
        first, second = table.__arrow_c_stream__(), table.__arrow_c_stream__()
        schemas = [arrow.schema_of(arrow.stream_in(first)) for _ in range(2)] + [arrow.schema_in(table.__arrow_c_schema__())]
        self.assertEqual(schemas[0].n_children, schemas[1].n_children)
        for schema in schemas[:2]:
            schema.release(ctypes.byref(schema))
        del first
        self.assertIsNotNone(arrow.next_array(arrow.stream_in(second)))

    def test_many_threads_read_one_trace(self):
        expected = arrow.columns_of(self.every.kernels())
        failures = []

        def read():
            if arrow.columns_of(self.every.kernels()) != expected or not len(self.every.sql("SELECT 1")):
                failures.append(1)

        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


def memory():
    """Bytes that this process has in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
