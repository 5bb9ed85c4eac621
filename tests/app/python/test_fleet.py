#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparison of many ranks: simulated jobs with known faults, whose noise is that of recorded runs.

usage: PYTHONPATH=STAGE test_fleet.py      skips itself where DuckDB or NumPy is missing
"""

import gzip
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import lanescope

TESTS = Path(__file__).resolve().parents[2]
SAMPLES = TESTS.parent / "resources" / "samples"
SKIPPED = 77

try:
    import duckdb  # noqa: F401
    import numpy
except ImportError as error:
    print(f"Skipped: {error}")
    sys.exit(SKIPPED)

import fleet_jobs  # noqa: E402
from lanescope.fleet import FleetError, clock, comparing, findings, joining, page, printing, reading, running, words, writing  # noqa: E402


def kill_once(path):
    """A task whose process dies the first time that it is at a certain file."""
    marker = Path(path).parent / "died"
    if "00003" in path and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return reading.read(path)


def kill_always(path):
    if "00003" in path:
        os.kill(os.getpid(), signal.SIGKILL)
    return reading.read(path)


def summarize(folder, *traces):
    subprocess.run([str(lanescope.program()), "summarize", *map(str, traces), "-o", str(folder)], check=True, stderr=subprocess.DEVNULL)


def recorded(folder):
    """Summaries of recordings of real GPUs."""
    packed = sorted(SAMPLES.glob("*.sqlite.gz")) + sorted((TESTS / "golden/compare-pairs").glob("same*.sqlite.gz"))
    for path in packed:
        with gzip.open(path) as source, open(folder / path.name[:-3], "wb") as target:
            shutil.copyfileobj(source, target)
    made = folder / "made"
    summarize(made, *sorted(folder.glob("*.sqlite")))
    read = [reading.read(path) for path in reading.find(made)]
    assert all(isinstance(each, reading.Summary) for each in read), read
    return read


def schema_of(folder):
    """The tables of a summary, as the program makes them; `recorded` was called for the folder, or is here."""
    if not (folder / "made").exists():
        recorded(folder)
    database = sqlite3.connect(next((folder / "made").glob("*.lanescope-summary")))
    schema = ";\n".join(sql for sql, in database.execute("SELECT sql FROM sqlite_master WHERE type = 'table'"))
    database.close()
    return schema


class WithNoise(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.recorded = recorded(cls.folder)
        cls.noise = fleet_jobs.Noise()
        cls.schema = schema_of(cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def simulated(self, seed=1, fault="", size=0.0, **shape):
        return fleet_jobs.SimulatedJob(self.noise, seed, fault, size, **shape)

    def written(self, name, job):
        """A folder with the summaries of a job as files."""
        folder = self.folder / name
        folder.mkdir()
        for summary in job.summaries():
            fleet_jobs.write_summary(summary, folder / Path(summary.source).name, self.schema)
        return folder

    def report(self, results, name):
        job = joining.join(results)
        path = str(self.folder / name)
        found = findings.find(job)
        writing.write(job, found, path)
        return Path(path).read_bytes(), page.page(job, found, "a job")


class Reading(WithNoise):
    def test_a_recorded_trace_says_who_ran_and_what(self):
        sample = next(each for each in self.recorded if "nvlink" in each.source)
        workers, steps, calls = (sample.tables[name] for name in ("workers", "steps", "collectives"))
        self.assertEqual(list(workers["rank"]), [0, 1])
        self.assertEqual(list(workers["world_size"]), [2, 2])
        self.assertTrue(all(workers["host"]) and all(workers["gpu_uuid"]))
        self.assertTrue((steps["wall_ns"] >= steps["compute_ns"] + steps["copies_ns"] + steps["loading_ns"] + steps["communication_ns"]).all())
        self.assertGreater(steps["communication_ns"].sum(), 0)
        self.assertTrue((calls["gpu_ns"] != reading.NONE).any())
        self.assertTrue(len(sample.tables["kernels"]["name"]) > 10 and len(sample.tables["counters"]["key"]) > 0)

    def test_it_says_the_same_as_a_file_and_as_a_trace(self):
        trace = next(self.folder.glob("*no-p2p.sqlite"))
        made, own = reading.read(str(trace)), next(each for each in self.recorded if "no-p2p" in each.source)
        for name, columns in own.tables.items():
            for column, values in columns.items():
                self.assertTrue((made.tables[name][column] == values).all(), f"{name}.{column}")

    def test_what_is_broken_is_a_line_and_stops_nobody(self):
        folder = self.written("broken", self.simulated())
        ending = reading.SUMMARY
        whole = (folder / f"rank00000{ending}").read_bytes()
        (folder / f"rank00001{ending}").write_bytes(whole[:len(whole) // 2])
        (folder / f"rank00002{ending}").write_bytes(b"no file of SQLite")
        (folder / f"rank00003{ending}").write_bytes(b"")
        for name, sql in (("00004", "UPDATE LANESCOPE_STORED SET value = 10 WHERE name = 'version'"),
                          ("00005", "UPDATE LANESCOPE_STORED_STEPS SET wallNs = 'long'"),
                          ("00006", "DROP TABLE LANESCOPE_STORED_STEPS; CREATE VIEW LANESCOPE_STORED_STEPS AS SELECT * FROM LANESCOPE_STORED_PARTS"),
                          ("00007", "UPDATE LANESCOPE_STORED_PARTS SET ns = 9223372036854775807")):
            database = sqlite3.connect(folder / f"rank{name}{ending}")
            database.executescript(sql)
            database.close()
        (folder / "other.sqlite").write_bytes(b"nothing")
        results = running.in_processes(reading.find(folder), 1)
        broken = [Path(each.source).name[:9] for each in results if isinstance(each, reading.Broken)]
        self.assertEqual(broken, ["other.sql"] + [f"rank0000{number}" for number in range(1, 8)])
        job = joining.join(results)
        self.assertEqual(len(job.ranks), 25)
        self.assertEqual((findings.find(job)[0].kind, findings.find(job)[0].ranks), ("missing", list(range(1, 8))))
        self.assertIn("Write it again with 'lanescope summarize'", " ".join(each.sentence for each in job.broken))


    def test_a_hostile_summary_is_a_line_and_costs_little(self):
        generated = "CREATE TABLE x AS SELECT * FROM LANESCOPE_STORED_{0}; DROP TABLE LANESCOPE_STORED_{0}; CREATE TABLE LANESCOPE_STORED_{0}({1}, \"{2}\" GENERATED ALWAYS AS ({3}))"
        update = "UPDATE LANESCOPE_STORED_{} SET {} = {}".format
        cases = [generated.format("KERNELS", "worker, count, totalNs, mostNs", "name", "printf('%.*c', 100000000, 'x')"),
                 generated.format("STEPS", "worker, number, startNs", "wallNs", "length(hex(zeroblob(100000000)))"),
                 "DROP TABLE LANESCOPE_STORED_KERNELS; CREATE VIEW LANESCOPE_STORED_KERNELS AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
                 "SELECT 0 AS worker, printf('%.*c', 1000000, n) AS name, 1 AS count, 1 AS totalNs, 1 AS mostNs FROM c",
                 "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000) INSERT INTO LANESCOPE_STORED_HEALTH(severity, code, sentence) SELECT 1, 'a', n FROM c",
                 update("COMMUNICATORS", "ranks", 1 << 62), update("COLLECTIVES", "number", 1 << 62), update("PLACES", "worldSize", 1 << 62),
                 update("WORKERS", "rank", 1 << 40), update("WORKERS", "worker", -1), update("STEPS", "number", (1 << 63) - 1), update("STEPS", "startNs", -(1 << 63)),
                 update("COLLECTIVES", "gpuEndNs", 9 * 10**17), update("PLACES", "host", "x'00ff'"), update("PLACES", "host", "CAST(x'ff41' AS TEXT)")]
        folder = self.written("hostile", self.simulated())
        for number, sql in enumerate(cases):
            database = sqlite3.connect(folder / f"rank{number:05}{reading.SUMMARY}")
            database.executescript(sql)
            database.close()
        for path in reading.find(folder)[:len(cases)]:
            start = time.monotonic()
            with self.subTest(path=path):
                self.assertIsInstance(reading.read(path), reading.Broken)
                self.assertLess(time.monotonic() - start, reading.MOST_SECONDS / 2)
        job = joining.join([reading.read(path) for path in reading.find(folder)])
        self.assertEqual((len(job.ranks), len(job.broken)), (32 - len(cases), len(cases)))

    def test_a_summary_that_fails_to_join_keeps_no_other_from_the_report(self):
        summaries = self.simulated().summaries()
        summaries[3].tables["communicators"]["size"][:] = 1 << 62
        job = joining.join(summaries)
        self.assertEqual([each.source for each in job.broken], [summaries[3].source])
        self.assertEqual(len(job.ranks), 31)

    def test_steps_and_kernels_of_one_rank_do_not_use_the_memory_of_all(self):
        summaries, most = self.simulated().summaries(), joining.MOST_CELLS // 32
        steps = summaries[0].tables["steps"]
        for name, column in steps.items():
            steps[name] = numpy.concatenate([column, numpy.repeat(column[:1], most)])
        steps["step"] = numpy.arange(len(steps["step"]))
        job = joining.join(summaries)
        self.assertEqual(len(job.steps), most)
        self.assertTrue(any("steps are compared" in note for note in job.notes))


class Publishing(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def test_a_file_is_for_its_owner_and_follows_no_link(self):
        victim, path = self.folder / "victim", self.folder / "report"
        victim.write_text("precious")
        (self.folder / "report.partial").symlink_to(victim)
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        writing.publish(str(path), [b"1"], False)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        for is_link in (False, True):
            if is_link:
                path.unlink()
                path.symlink_to(victim)
            with self.assertRaises(FleetError):
                writing.publish(str(path), [b"2"], False)
        writing.publish(str(path), [b"3"], True)
        self.assertEqual((path.read_text(), victim.read_text(), path.is_symlink()), ("3", "precious", False))
        self.assertEqual(sorted(os.listdir(self.folder)), ["report", "report.partial", "victim"])
        with self.assertRaises(FleetError):
            writing.place_for("/dev/null", True)

    def test_texts_are_printable(self):
        hostile = "\x1b]0;T\x07\x9b31m\r\nlanescope: fake\u202e\udc80<script>"
        self.assertEqual(printing.printable(hostile), " ]0;T  31m  lanescope: fake\ufffd\ufffd<script>")
        shown = page.whole(hostile, page.table([hostile], [[hostile]]))
        self.assertNotRegex(shown.replace("\n", ""), "[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]|fake.{0,20}<script>")
        self.assertIn("Content-Security-Policy", shown)


class Findings(WithNoise):
    def test_a_fault_is_listed_first(self):
        for fault, sizes in fleet_jobs.FAULTS.items():
            for seed in range(3):
                job = self.simulated(seed, fault, sizes[-1])
                with self.subTest(fault=fault, seed=seed):
                    found = findings.find(joining.join(job.summaries()))
                    self.assertTrue(found and job.is_named(found[0]), found[:2])

    def test_nobody_is_accused_of_what_all_do(self):
        for seed in range(8):
            with self.subTest(seed=seed):
                self.assertEqual(findings.find(joining.join(self.simulated(seed).summaries())), [])

    def test_nothing_but_the_report_is_printed(self):
        database = joining._connect(1)
        self.assertEqual(database.execute("SELECT current_setting('enable_progress_bar')").fetchone(), (False,))
        database.close()

    def test_waits_are_those_of_a_plain_loop(self):
        simulated = self.simulated(5, hosts=4, gpus=4)
        job = joining.join(simulated.summaries())
        groups = {}
        for row, rank in enumerate(job.ranks):
            calls = simulated.summaries()[rank.number].tables["collectives"]
            for at in range(len(calls["number"])):
                groups.setdefault((calls["communicator"][at], calls["operation"][at], calls["number"][at]), []).append(
                    (int(calls["gpu_end_ns"][at] - calls["gpu_ns"][at]), row))
        caused, waited = {}, {}
        for (communicator, _, _), members in groups.items():
            least, last = min(members)
            for ns, row in members:
                waited[row, communicator] = waited.get((row, communicator), 0) + ns - least
                caused[last, communicator] = caused.get((last, communicator), 0) + ns - least
        self.assertEqual(len(waited), len(job.waits["row"]))
        for place, row in enumerate(job.waits["row"]):
            key = (row, job.waits["communicator"][place])
            self.assertEqual(job.waits["waited_ns"][place], waited[key])
            self.assertEqual(job.waits["caused_ns"][place], caused.get(key, 0))

    def test_machines_are_laid_on_one_clock_by_what_ends_together(self):
        summaries, offsets = self.simulated(12).summaries(), (0, 3_000_000, -8_000_000, 500)
        for rank, summary in enumerate(summaries):
            summary.facts["startUtcNs"] += offsets[rank // 8]

        def fit(count, seen):
            """By the median of what a machine's ends differ from the first's."""
            ends = numpy.full((int(seen["moment"].max()) + 1, count), numpy.nan)
            ends[seen["moment"], seen["machine"]] = (seen["end_ns"] - seen["end_ns"].min()).astype(float)
            self.assertTrue((seen["begin_ns"] <= seen["end_ns"]).all())
            difference = numpy.nanmedian(ends - ends[:, :1], axis=0)
            return numpy.array([[-difference[place], 0, 0, 1000, len(ends), 0] for place in range(count)]), numpy.zeros((0, 7))
        usual = clock.fit_by_merge
        try:
            clock.fit_by_merge = lambda: fit
            found = joining.join(summaries).clocks
            clock.fit_by_merge = lambda: None
            alone = joining.join(summaries).clocks
        finally:
            clock.fit_by_merge = usual
        for offset, each in zip(offsets, found.values()):
            self.assertEqual(each.method, "collectives")
            self.assertLess(abs(each.offset_ns + offset), 5000)
        self.assertEqual({(each.method, each.offset_ns, each.error_ns) for each in alone.values()}, {("clock of the day", 0, 50_000)})

    def test_what_each_rank_loses_is_written_once(self):
        simulated = self.simulated(18, "slow_gpu", 0.1)
        job = joining.join(simulated.summaries())
        path = str(self.folder / "lost.sqlite")
        found = findings.find(job)
        writing.write(job, found, path)
        database = sqlite3.connect(path)
        lost = dict(database.execute("SELECT rank, lost_ns FROM ranks"))
        shares = dict(database.execute("SELECT rank, mfu FROM ranks"))
        self.assertEqual(shares, {rank.number: round(0.4 + rank.number / 1000, 6) for rank in job.ranks})
        self.assertRegex(words.mfu(job), r"^MFU 4\d\.\d %, from 40\.0 % \(rank 0\) to 4\d\.\d % \(rank \d+\)\.$")
        starts = {start for start, in database.execute("SELECT trace_start_utc_ns FROM ranks")}
        database.close()
        usual = numpy.nanmedian(job.own, axis=0)  # all are of one role
        self.assertEqual(len({rank.role for rank in job.ranks}), 1)
        later = (job.own - usual).sum(axis=1)
        for rank in job.ranks:
            self.assertAlmostEqual(lost[rank.number], later[rank.row] - numpy.median(later), delta=1e-6 * abs(later).max() + 2)
        self.assertEqual(max(lost, key=lost.get), simulated.culprit)
        self.assertEqual(starts, {1_800_000_000_000_000_000})
        self.assertIs(words.shown_ranks(job, found[0]), words.shown_ranks(job, found[0]))

    def test_a_machine_whose_clock_was_set_is_told(self):
        if clock.fit_by_merge() is None:
            self.skipTest("the compiled library is not here")
        summaries, by_ns = self.simulated(13).summaries(), 4_000_000
        for summary in summaries[8:16]:
            calls = summary.tables["collectives"]
            known = calls["gpu_end_ns"] != reading.NONE
            middle = int(numpy.median(calls["gpu_end_ns"][known]))
            late = known & (calls["gpu_end_ns"] > middle)
            for name in ("gpu_ns", "gpu_end_ns", "call_ns"):
                calls[name][late] += by_ns
        job = joining.join(summaries)
        self.assertEqual([len(each.settings) for each in job.clocks.values()], [0, 1, 0, 0])
        machine, found = list(job.clocks.items())[1]
        self.assertLess(abs(found.settings[0].by_ns - by_ns), 50_000)
        self.assertLess(found.error_ns, 200_000)
        self.assertTrue(any(machine in note and "was set" in note for note in job.notes))
        path = str(self.folder / "set.sqlite")
        writing.write(job, [], path)
        database = sqlite3.connect(path)
        self.assertEqual(database.execute("SELECT machine, by_ns FROM clock_settings").fetchall(), [(machine, found.settings[0].by_ns)])
        database.close()
        self.assertIn("+4 ms", page.page(job, [], "a job"))

    def test_clocks_stand_beside_a_slow_gpu_whoever_sampled_them(self):
        simulated = self.simulated(14, "slow_gpu", 0.1)
        summaries = simulated.summaries()
        for host in range(4):
            rows = [("clock.sm", gpu, host * 8 + gpu, 1.7e9 if host * 8 + gpu == simulated.culprit else 1.98e9) for gpu in range(8)]
            rows += [("throttle.reasons", gpu, host * 8 + gpu, 0.4 if host * 8 + gpu == simulated.culprit else 0.0) for gpu in range(8)]
            table = summaries[host * 8].tables["counters"]
            given = {"key": [row[0] for row in rows], "gpu": [row[1] for row in rows], "gpu_uuid": [f"GPU-{row[2]:05}" for row in rows],
                     "link": [reading.NONE] * 16, "device": [""] * 16, **{name: [row[3] for row in rows] for name in ("mean", "least", "greatest")}}
            for name, kind in reading.COLUMNS["counters"].items():
                table[name] = fleet_jobs._array(given[name], kind)
        job = joining.join(summaries)
        said = words.sentence(job, findings.find(job)[0])
        self.assertIn("Its SMs run at 1700 MHz, the others at 1980 MHz. Its clocks are held down 40.0 % of the time.", said)

    def test_most_ranks_of_a_machine_are_the_machine(self):
        summaries = self.simulated(2).summaries()
        for rank in range(8, 16):
            steps = summaries[rank].tables["steps"]
            more = steps["compute_ns"] // 10
            steps["compute_ns"] = steps["compute_ns"] + more
            steps["wall_ns"] = steps["wall_ns"] + more
        first = findings.find(joining.join(summaries))[0]
        self.assertEqual((first.kind, first.what, first.facts["machine"], first.ranks), ("host", "compute", "node001", list(range(8, 16))))

    def test_the_last_attempt_counts_and_boots_tell_machines_of_one_name(self):
        before, after = self.simulated(3), self.simulated(4)
        summaries = [each._replace(source=f"first/{each.source}") for each in before.summaries()]
        for each in after.summaries():
            each.facts["startUtcNs"] += 10**12
            each.tables["workers"]["host"][:] = "localhost"
            summaries.append(each)
        job = joining.join(summaries)
        self.assertEqual([rank.number for rank in job.ranks], list(range(32)))
        self.assertEqual({rank.machine for rank in job.ranks}, {f"localhost ({number})" for number in range(1, 5)})
        self.assertTrue(any("started up to 2 times" in note for note in job.notes))
        self.assertEqual(int(job.wall[0].sum()), int(after.walls.astype(numpy.int64)[:, 0].sum()))

    def test_runs_of_different_programs_are_no_attempts_of_one_job(self):
        summaries = []
        for command in ("python train.py", "python other.py"):
            for each in self.simulated(3).summaries():
                each.facts["commandLine"] = command
                summaries.append(each)
        with self.assertRaisesRegex(FleetError, "is in files of different programs, such as .* Name a folder with the files of one job"):
            joining.join(summaries)

    def test_attempts_may_have_other_arguments(self):
        summaries = []
        for command in ("python train.py --attempt 1", "/usr/bin/python3.12 -u ./train.py --attempt 2"):
            for each in self.simulated(3).summaries():
                each.facts["commandLine"] = command
                summaries.append(each)
        self.assertEqual([rank.number for rank in joining.join(summaries).ranks], list(range(32)))

    def test_of_a_job_that_still_runs_those_that_ended_are_judged(self):
        simulated = self.simulated(15, "slow_gpu", 0.1)
        running_on = [rank for rank in (4, 9, 17) if rank != simulated.culprit]
        job = joining.join([summary for rank, summary in enumerate(simulated.summaries()) if rank not in running_on])
        found = findings.find(job)
        self.assertEqual((found[0].kind, found[0].ranks), ("missing", running_on))
        self.assertIn("still running, ended without one", words.sentence(job, found[0]))
        self.assertTrue(simulated.is_named(found[1]), found)

    def test_what_slows_all_down_now_and_then_is_nobodys_loss(self):
        """Where steps are longer now and then, every rank's mean lies above the median of each step."""
        summaries, random_of = self.simulated(16).summaries(), numpy.random.default_rng(1)
        for summary in summaries:
            steps = summary.tables["steps"]
            more = (random_of.random(len(steps["step"])) < 0.2) * steps["compute_ns"] // 5
            steps["compute_ns"] = steps["compute_ns"] + more
            steps["wall_ns"] = steps["wall_ns"] + more
        self.assertEqual(findings.find(joining.join(summaries)), [])
        steps = summaries[7].tables["steps"]
        more = steps["compute_ns"] // 33
        steps["compute_ns"], steps["wall_ns"] = steps["compute_ns"] + more, steps["wall_ns"] + more
        found = findings.find(joining.join(summaries))
        self.assertEqual([(each.kind, each.what, each.ranks) for each in found], [("rank", "compute", [7])])
        self.assertLess(abs(found[0].lost_ns / int(more.sum()) - 1), 0.5)

    def test_few_are_not_told_by_their_own_spread(self):
        self.assertAlmostEqual(findings.spread([1, 2, 3, 4, 5, 6, 7, 8, 1e9]), float(numpy.std([1, 2, 3, 4, 5, 6, 7, 8], ddof=1)), delta=1.0)
        self.assertEqual((findings.spread([3.0] * 9), findings.spread([3.0, 3.0, 3.0, 9.0])), (0.0, 0.0))
        self.assertGreater(findings.needed(4), 10)
        for count in (32, 1024):
            self.assertTrue(4.5 < findings.needed(count) < 5.5)

    def test_roles_are_found_or_given(self):
        summaries = self.simulated(6).summaries()
        self.assertEqual({rank.role for rank in joining.join(summaries).ranks}, {"groups of 4 and 8"})
        path = self.folder / "roles.csv"
        path.write_text("rank,role\n" + "".join(f"{rank},{'odd' if rank % 2 else 'even'}\n" for rank in range(32)))
        self.assertEqual({rank.role for rank in joining.join(summaries, str(path)).ranks}, {"odd", "even"})
        path.write_text("x\n1\n")
        with self.assertRaises(FleetError):
            joining.join(summaries, str(path))
        os.truncate(path, 1 << 40)  # of zeros
        with self.assertRaisesRegex(FleetError, "more than 16 MiB"):
            joining.join(summaries, str(path))

    def test_two_jobs_differ_where_one_is_slower(self):
        a = joining.join(self.simulated(7).summaries())
        slower = self.simulated(7)
        for summary in (summaries := slower.summaries()):
            steps = summary.tables["steps"]
            more = steps["compute_ns"] // 20
            steps["compute_ns"] = steps["compute_ns"] + more
            steps["wall_ns"] = steps["wall_ns"] + more
        said = comparing.lines(a, joining.join(summaries))
        self.assertTrue(any("compute" in line and "(+5.0%)" in line for line in said), said)
        self.assertEqual(comparing.lines(a, a), ["No significant difference between the two jobs."])


class Running(WithNoise):
    def test_order_and_number_of_workers_change_no_byte(self):
        folder = self.written("order", self.simulated(8, "slow_gpu", 0.1))
        paths = reading.find(folder)
        first = self.report(running.in_processes(paths, 1), "first.sqlite")
        random.Random(1).shuffle(paths)
        self.assertEqual(self.report(running.in_processes(paths, 3), "second.sqlite"), first)

    def test_a_process_that_dies_is_started_again(self):
        folder = self.written("dies", self.simulated(9))
        paths = reading.find(folder)
        whole = self.report(running.in_processes(paths, 2), "whole.sqlite")
        self.assertEqual(self.report(running.in_processes(paths, 2, kill_once), "died.sqlite"), whole)
        self.assertTrue((folder / "died").exists())
        results = running.in_processes(paths, 2, kill_always)
        self.assertEqual([Path(each.source).name for each in results if isinstance(each, reading.Broken)], ["rank00003.lanescope-summary"])
        self.assertEqual(len(joining.join(results).ranks), 31)

    def test_summaries_beyond_the_memory_of_a_job_are_reported(self):
        paths = reading.find(self.written("memory", self.simulated(11)))
        most = sum(reading.read(path).memory for path in paths[:7])
        results = running.in_processes(paths, 2, most=most)
        self.assertEqual([isinstance(each, reading.Summary) for each in results], [True] * 7 + [False] * 25)
        self.assertIn("is not in the report: the summaries need more than", results[-1].sentence)
        self.assertEqual([len(list_of) for list_of in (joining.join(results).ranks, joining.join(results).broken)], [7, 25])

    def test_the_command_says_what_it_found(self):
        folder = self.written("command", self.simulated(10, "slow_gpu", 0.1))
        report, shown = self.folder / "report.sqlite", self.folder / "report.html"
        environment = dict(os.environ, LANESCOPE_PYTHON=sys.executable)
        words_of = [str(lanescope.program()), "fleet", str(folder), "-o", str(report), "--html", str(shown)]
        done = subprocess.run(words_of, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        culprit = self.simulated(10, "slow_gpu", 0.1).culprit
        self.assertIn(f"- Rank {culprit} on node", done.stdout.decode())
        database = sqlite3.connect(report)
        self.assertEqual(database.execute("SELECT kind, what, ranks FROM findings WHERE place = 1").fetchone(), ("rank", "compute", str(culprit)))
        self.assertEqual(database.execute("SELECT count(*), count(DISTINCT rank) FROM steps").fetchone(), (32 * 40, 32))
        database.close()
        self.assertIn("data:image/png;base64,", shown.read_text())
        again = subprocess.run(words_of, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual((again.returncode, again.stderr.decode().count("--force")), (1, 1))

    def test_the_command_lays_two_jobs_side_by_side(self):
        a = self.written("job-a", self.simulated(20, steps=20))
        b = self.written("job-b", self.simulated(20, "slow_gpu", 0.5, steps=20))
        report = self.folder / "compared.sqlite"
        done = subprocess.run([str(lanescope.program()), "fleet", str(a), str(b), "-o", str(report)], check=True,
                              env=dict(os.environ, LANESCOPE_PYTHON=sys.executable), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        database = sqlite3.connect(report)
        self.assertEqual(database.execute("SELECT ranks_a, ranks_b FROM roles WHERE part = 'compute'").fetchone(), (32, 32))
        database.close()
        self.assertTrue(done.stdout.decode().strip())

    def test_without_the_package_one_sentence_says_so(self):
        bare = self.folder / "bare"
        bare.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
        bare.chmod(0o755)
        done = subprocess.run([str(lanescope.program()), "fleet", str(self.folder)], env=dict(os.environ, LANESCOPE_PYTHON=str(bare)),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Install the wheel with dask, distributed, duckdb and numpy", done.stderr.decode())
        self.assertEqual(len(done.stderr.decode().splitlines()), 1)

    def test_a_scheduler_without_tls_is_refused(self):
        for address in ("tcp://node1:8786", "tcp://127.0.0.1:1", "tcp://localhost:1", "tcp://[::1]:1", "inproc://1", "ws://x:1"):
            with self.assertRaises(FleetError):
                running.check_encryption(address, False)
            running.check_encryption(address, True)
        running.check_encryption("tls://node1:8786", False)
        path = self.folder / "scheduler.json"
        for text, mode, is_good in ((None, 0, False), ('{"address": "tls://a:1"}', 0o644, True), ('{"address": "tls://a:1"}', 0o664, False), ("[" * 10**6, 0o600, False)):
            if text is not None:
                path.write_text(text)
                path.chmod(mode)
            if is_good:
                self.assertEqual(running.address_of(str(path)), "tls://a:1")
            else:
                with self.assertRaises(FleetError):
                    running.address_of(str(path))

    def test_a_cluster_that_loses_a_worker_makes_the_same_bytes(self):
        try:
            from distributed import LocalCluster
        except ImportError as error:
            self.skipTest(str(error))
        folder = self.written("cluster", self.simulated(11, "slow_rail", 0.5, hosts=8, steps=10))
        paths = reading.find(folder)
        self.assertEqual(len(paths), 64)
        alone = self.report(running.in_processes(paths, 1), "alone.sqlite")
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
            self.assertEqual(self.report(running.in_cluster(paths, cluster.scheduler_address, True, task=kill_once), "cluster.sqlite"), alone)
        self.assertTrue((folder / "died").exists())

    def test_a_cluster_with_tls_is_talked_to_by_it(self):
        try:
            import dask
            from distributed import LocalCluster, Security
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout",
                            "key.pem", "-out", "cert.pem"], cwd=self.folder, check=True, stderr=subprocess.DEVNULL)
        except (ImportError, OSError) as error:
            self.skipTest(str(error))
        tls = {"distributed.comm.require-encryption": True, "distributed.comm.tls.ca-file": str(self.folder / "cert.pem")}
        tls.update({f"distributed.comm.tls.{who}.{what}": str(self.folder / f"{what}.pem")
                    for who in ("client", "scheduler", "worker") for what in ("cert", "key")})
        paths = reading.find(self.written("tls", self.simulated(13, hosts=2, gpus=4, steps=5)))
        with dask.config.set(tls):
            with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", protocol="tls", security=Security()) as cluster:
                self.assertTrue(cluster.scheduler_address.startswith("tls://"))
                results = running.in_cluster(paths, cluster.scheduler_address)
        self.assertEqual(len(joining.join(results).ranks), 8)


class Words(unittest.TestCase):
    def test_numbers_of_ranks_are_short(self):
        self.assertEqual(joining._numbers([3]), "rank 3")
        self.assertEqual(joining._numbers([9, 0, 1, 2, 3]), "ranks 0-3, 9")
        self.assertEqual(joining._numbers(range(0, 40, 2)), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 12 more")
        self.assertEqual((words.seconds(1.5e9), words.seconds(2.5e6), words.size(1 << 21)), ("1.5 s", "2.5 ms", "2.0 MiB"))

    def test_a_picture_keeps_the_worst_of_what_shares_a_cell(self):
        values = numpy.zeros((10, 10))
        values[7, 3] = -0.2
        values[2, 8] = 0.3
        folded = page._folded(values, 5, 5)
        self.assertEqual((folded[3, 1], folded[1, 4], numpy.count_nonzero(folded)), (-0.2, 0.3, 2))


if __name__ == "__main__":
    unittest.main()
