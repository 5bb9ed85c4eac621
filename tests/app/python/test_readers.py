#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of others read what Lanescope writes, and find in it what is there.

usage: PYTHONPATH=STAGE test_readers.py      each part skips itself where its program is missing

LANESCOPE_TEST_CONSUMERS names a folder with programs that read SQLite exports of Nsight Systems, unchanged: nsys2json and
PyProf (which needs tqdm and cxxfilt). LANESCOPE_TEST_DATA may name one with real exports, on which they have to do the
same. HTA (`hta`) and TraceLens (`TraceLens`) read files of torch.profiler; they are used if Python has them. The `tracelens`
of the registry of Python is another program, with a module of another name.
"""

import collections
import contextlib
import gzip
import importlib.util
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import lanescope

SAMPLES = Path(__file__).resolve().parents[3] / "resources" / "samples"
SKIPPED = 77


def has(module):
    return importlib.util.find_spec(module) is not None


def folder_of(variable):
    folder = os.environ.get(variable)
    return Path(folder) if folder and Path(folder).is_dir() else None


def run(*command, **more):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
    return done


def ask(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute(sql).fetchall()


def tables_of(path):
    return {name for name, in ask(path, "SELECT name FROM sqlite_master WHERE type = 'table'")}


def columns_of(path, table):
    return {row[1] for row in ask(path, f"PRAGMA table_info({table})")}


class Written(unittest.TestCase):
    """What Lanescope writes of its samples: a file of torch.profiler for each rank, and of that its own SQLite."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.samples, cls.traces, cls.ranks = [], [], {}
        for packed in sorted(SAMPLES.glob("*.sqlite.gz")):
            sample = cls.folder / packed.name.replace(".gz", "")
            with gzip.open(packed) as source, open(sample, "wb") as target:
                shutil.copyfileobj(source, target)
            run(lanescope.program(), "export", "-f", "kineto", sample, "-o", cls.folder / (sample.stem + ".json"))
            files = sorted(cls.folder.glob(sample.stem + "*.json"))
            ranks = ask(sample, "SELECT rank, globalPid FROM LANESCOPE_PROCESSES WHERE rank IS NOT NULL ORDER BY rank")
            assert len(files) == len(ranks) > 0, (files, ranks)
            cls.samples.append(sample)
            for file, (rank, process) in zip(files, ranks):
                cls.ranks[file] = (sample, rank, process)
                cls.traces.append(file.with_suffix(".sqlite"))
                run(lanescope.program(), "import", "--into", cls.folder, file)


class OfNsightExports(Written):
    def consumer(self, name):
        folder = folder_of("LANESCOPE_TEST_CONSUMERS")
        if folder is None or not (folder / name).is_dir():
            self.skipTest(f"LANESCOPE_TEST_CONSUMERS names no folder with {name}.")
        return folder / name

    def exports(self):
        """Exports of Nsight Systems with ranges and work, as far as there are some."""
        folder = folder_of("LANESCOPE_TEST_DATA")
        wanted = {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"}
        found = sorted((folder / "nsys-exports").glob("*.sqlite")) if folder else []
        return [path for path in found if wanted <= tables_of(path)]

    def test_no_table_of_theirs_is_empty(self):
        for trace in self.traces:
            ours = [name for name in tables_of(trace) if not name.startswith(("LANESCOPE_", "ENUM_", "META_DATA_"))]
            for name in ours:
                with self.subTest(trace=trace.name, table=name):
                    self.assertTrue(ask(trace, f'SELECT 1 FROM "{name}" LIMIT 1'))

    def test_they_find_who_wrote_it_and_in_which_schema(self):
        for trace in self.traces:
            told = dict(ask(trace, "SELECT name, value FROM META_DATA_EXPORT"))
            self.assertEqual(told["EXPORT_SCHEMA_VERSION"], "3.25.0")
            self.assertRegex(told["EXPORT_PRODUCT_VERSION"], r"^2026\.2\.")
            self.assertIn("LANESCOPE_PRODUCER", told)

    def test_nothing_that_they_compute_with_is_null(self):
        for trace in self.traces:
            for table in ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME", "SYNCHRONIZATION"):
                name = "CUPTI_ACTIVITY_KIND_" + table
                if name in tables_of(trace):
                    self.assertEqual(ask(trace, f'SELECT count(*) FROM {name} WHERE start IS NULL OR "end" IS NULL'), [(0,)])
            self.assertEqual(ask(trace, "SELECT count(*) FROM NVTX_EVENTS WHERE text IS NULL AND eventType IN (34, 59, 60)"), [(0,)])
            self.assertEqual(ask(trace, 'SELECT count(*) FROM NVTX_EVENTS WHERE "end" IS NULL AND eventType IN (59, 60)'), [(0,)])
            named = {tid for tid, in ask(trace, "SELECT globalTid FROM ThreadNames")}
            for table in ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "NVTX_EVENTS"):
                if "globalTid" in columns_of(trace, table):
                    which = " WHERE eventType IN (34, 59, 60)" if table == "NVTX_EVENTS" else ""
                    busy = {tid for tid, in ask(trace, f"SELECT DISTINCT globalTid FROM {table}{which}")}
                    self.assertLessEqual(busy, named)
            for table in ("CUDA_GPU_MEMORY_USAGE_EVENTS", "CUDA_GPU_MEMORY_POOL_EVENTS"):
                if table in tables_of(trace):
                    self.assertEqual(ask(trace, f"SELECT count(*) FROM {table} WHERE start IS NULL"), [(0,)])

    def test_the_gpu_of_all_work_is_found(self):
        for trace in self.traces:
            with self.subTest(trace=trace.name):
                lost = ask(trace, """SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k WHERE NOT EXISTS
                    (SELECT 1 FROM TARGET_INFO_CUDA_DEVICE AS d JOIN TARGET_INFO_GPU AS g ON g.id = d.gpuId
                     WHERE d.cudaId = k.deviceId AND d.pid & 0xffffff = (k.globalPid >> 24) & 0xffffff
                        OR d.cudaId = k.deviceId AND (d.pid >> 24) & 0xffffff = (k.globalPid >> 24) & 0xffffff)""")
                self.assertEqual(lost, [(0,)])

    def nsys2json(self, program, path):
        out = self.folder / (path.stem + ".json")
        # Each process has one GPU here, as the program wants it.
        run(sys.executable, program / "nsys2json.py", "-f", path, "-o", out, "-t", "kernel", "nvtx")
        return json.loads(out.read_text())

    def test_nsys2json(self):
        program = self.consumer("nsys2json")
        for trace in self.traces + self.exports():
            with self.subTest(trace=trace.name):
                events = [each for each in self.nsys2json(program, trace) if each["ph"] == "X"]
                kernels = collections.Counter(each["name"] for each in events if each["cat"] == "cuda")
                wanted = collections.Counter(dict(ask(trace, """SELECT value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL
                    JOIN StringIds ON StringIds.id = shortName GROUP BY value""")))
                self.assertEqual(kernels, wanted)
                ranges = collections.Counter(each["name"] for each in events if each["cat"] != "cuda")
                # It leaves out what is registered, of an export of Nsight Systems too.
                wanted = collections.Counter(dict(ask(trace, """SELECT text, count(*) FROM NVTX_EVENTS
                    WHERE eventType = 59 AND "end" IS NOT NULL GROUP BY text""")))
                self.assertEqual(ranges, wanted)
                if trace in self.traces:
                    self.assertNotIn(None, ranges)

    def test_pyprof(self):
        program = self.consumer("PyProf")
        if not (has("tqdm") and has("cxxfilt")):
            self.skipTest("PyProf needs tqdm and cxxfilt.")
        environment = dict(os.environ, PYTHONPATH=str(program), PYTHONDONTWRITEBYTECODE="1")
        for trace in self.traces:
            with self.subTest(trace=trace.name):
                # It may write to the file it reads.
                copy = self.folder / ("pyprof-" + trace.name)
                shutil.copyfile(trace, copy)
                done = run(sys.executable, "-m", "pyprof.parse", copy, env=environment)
                lines = [each for each in done.stdout.splitlines() if each.startswith("{")]
                launched = ask(trace, """SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k
                    JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId
                    AND r.globalTid / 0x1000000 % 0x1000000 = k.globalPid / 0x1000000 % 0x1000000""")[0][0]
                self.assertEqual(len(lines), launched)


class OfTorchProfiler(Written):
    def counts(self, file):
        """Of work by category, and of calls, as the sample has them."""
        sample, _, process = self.ranks[file]
        tables = {"kernel": "KERNEL", "gpu_memcpy": "MEMCPY", "gpu_memset": "MEMSET"}
        work = {category: ask(sample, f"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_{table} WHERE globalPid = {process}")[0][0]
                for category, table in tables.items()}
        calls = ask(sample, f"""SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME
            WHERE globalTid / 0x1000000 = {process} / 0x1000000""")[0][0]
        return work, calls

    def test_hta(self):
        if not has("hta"):
            self.skipTest("There is no HTA.")
        from hta.common.trace_parser import ParserConfig, parse_trace_dataframe
        from hta.trace_analysis import TraceAnalysis

        jobs = collections.defaultdict(dict)
        for file, (sample, rank, _) in self.ranks.items():
            jobs[sample][rank] = str(file)
            with self.subTest(file=file.name):
                counts, calls = self.counts(file)
                meta, events, symbols = parse_trace_dataframe(str(file), ParserConfig.get_default_cfg())
                self.assertEqual(meta["distributedInfo"]["rank"], rank)
                names = symbols.get_sym_table()
                found = collections.Counter(events["cat"].map(lambda each: names[each]))
                self.assertEqual({key: found[key] for key in counts}, counts)
                self.assertEqual(found["cuda_runtime"] + found["cuda_driver"], calls)

        for files in jobs.values():
            analysis = TraceAnalysis(trace_files=files)
            kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
            self.assertIn("COMMUNICATION", set(kinds["kernel_type"]))
            self.assertGreater(len(kernels), 0)
            self.assertEqual(set(analysis.get_comm_comp_overlap(visualize=False)["rank"]), set(files))

    def test_trace_lens(self):
        if not has("TraceLens"):
            self.skipTest("There is no TraceLens.")
        from TraceLens import TreePerfAnalyzer

        for file in self.ranks:
            with self.subTest(file=file.name):
                counts, _ = self.counts(file)
                tree = TreePerfAnalyzer.from_file(profile_filepath=str(file)).tree
                found = collections.Counter(each.get("cat") for each in tree.events)
                self.assertEqual({key: found[key] for key in counts}, counts)


if __name__ == "__main__":
    done = unittest.main(exit=False).result
    sys.exit(0 if done.wasSuccessful() else 1)
