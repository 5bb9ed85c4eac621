# SPDX-License-Identifier: Apache-2.0
"""Recorded processes under hardship: what they lose is kept or reported, and no other folder gets a file."""

import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

import support

HEADERS = pathlib.Path(__file__).resolve().parents[2] / ".cache/cuda-headers/include"

# ranges NUMBER [exit | _exit | children | forks]: makes ranges.
PROGRAM = r"""
#include <nvtx3/nvToolsExt.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t forks;
static void forkAndRecord(int number) {
    int before = errno;
    pid_t child = fork();
    if (child == 0) { nvtxRangePushA("child"); nvtxRangePop(); exit(0); }
    if (child > 0) { forks++; waitpid(child, 0, 0); }
    errno = before;
}
int main(int count, char** words) {
    const char* mode = count > 2 ? words[2] : "exit";
    long made = atol(words[1]);
    if (!strcmp(mode, "children")) {
        for (long i = 0; i < made; ++i) forkAndRecord(0);
        return 0;
    }
    if (!strcmp(mode, "forks")) {
        struct sigaction action = {0};
        action.sa_handler = forkAndRecord;
        action.sa_flags = SA_RESTART;
        nvtxMarkA("first");
        usleep(100000);
        sigaction(SIGALRM, &action, 0);
        // One signal after the other, so that the program makes progress between them.
        struct itimerval once = {{0, 0}, {0, 1000}};
        for (long seen = -1; forks < made;) {
            if (seen != forks) { seen = forks; setitimer(ITIMER_REAL, &once, 0); }
            nvtxRangePushA("parent");
            nvtxRangePop();
        }
        printf("forks %d\n", (int)forks);
        return 0;
    }
    for (long i = 0; i < made; ++i) { nvtxRangePushA("range"); nvtxRangePop(); }
    if (!strcmp(mode, "_exit")) _exit(0);
    return 0;
}
"""
NO_THREADS = r"""
#include <errno.h>
#include <pthread.h>
int pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*f)(void*), void* p) { return EAGAIN; }
"""
OTHER_TIME = r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec* time) {
    long result = syscall(SYS_clock_gettime, clock, time);
    time->tv_sec += 63072000;
    return (int)result;
}
"""


@unittest.skipUnless(shutil.which("cc") and HEADERS.is_dir(), "needs a compiler and the headers of NVTX")
class Agent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="lanescope-agent-")
        cls.programs = pathlib.Path(cls.place.name)
        cls.ranges = cls.build("ranges", PROGRAM, "-I", HEADERS, "-ldl")
        cls.noThreads = cls.build("nothreads.so", NO_THREADS, "-shared", "-fPIC")
        cls.otherTime = cls.build("othertime.so", OTHER_TIME, "-shared", "-fPIC")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def build(cls, name, text, *options):
        source = cls.programs / f"{name}.c"
        source.write_text(text)
        subprocess.run(["cc", "-O1", "-o", cls.programs / name, source, *options], check=True)
        return cls.programs / name

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="lanescope-agent-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def record(self, *words, folder=None):
        place = folder or self.folder
        done = support.lanescope("record", "--force", "--no-sample", "-o", place / "t.sqlite", "--", *words, cwd=place)
        self.assertTrue((place / "t.sqlite").exists(), done.stderr)
        return sqlite3.connect(place / "t.sqlite")

    def ranges_in(self, trace, name="range"):
        return trace.execute("select count(*) from NVTX_EVENTS e left join StringIds s on s.id = e.textId "
                             "where coalesce(e.text, s.value) = ?", [name]).fetchone()[0]

    def health(self, trace, code):
        return trace.execute("select sentence, count from LANESCOPE_HEALTH where code = ?", [code]).fetchall()

    def test_process_of_an_earlier_recording_stays_out(self):
        late = f"until [ -e go ]; do sleep .05; done; {self.ranges} 7; touch done"
        self.record("sh", "-c", f"setsid sh -c '{late}' >/dev/null 2>&1 & {self.ranges} 10")
        trace = self.record("sh", "-c", f"{self.ranges} 100; touch go; until [ -e done ]; do sleep .05; done")
        self.assertEqual(self.ranges_in(trace), 100)
        self.assertEqual(self.health(trace, "process-without-log"), [])

    def test_link_in_place_of_the_run_folder_is_not_followed(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "train.log").write_text("mine")
        trace = self.record("sh", "-c", f"{self.ranges} 10; mv .t.sqlite.run moved; ln -s other .t.sqlite.run; "
                            f"{self.ranges} 20")
        self.assertEqual([path.name for path in other.iterdir()], ["train.log"])
        self.assertEqual(self.ranges_in(trace), 30)

    def test_process_without_threads_writes_at_exit(self):
        trace = self.record("env", f"LD_PRELOAD={self.noThreads}", self.ranges, 50)
        self.assertEqual(self.ranges_in(trace), 50)
        self.assertEqual(len(self.health(trace, "writer-missing")), 1)

    def test_process_without_threads_that_leaves_at_once_is_reported(self):
        trace = self.record("env", f"LD_PRELOAD={self.noThreads}", self.ranges, 50, "_exit")
        self.assertEqual(len(self.health(trace, "writer-missing")), 1)
        ends = self.health(trace, "process-ended-abnormally")
        self.assertIn("its events are missing", ends[0][0])

    def test_children_of_a_signal_handler_are_recorded_or_counted(self):
        trace = self.record(self.ranges, 200, "forks")
        # A push and a pop each.
        lost = sum(count for sentence, count in self.health(trace, "events-dropped") if "signal handler" in sentence)
        self.assertGreaterEqual(self.ranges_in(trace, "child") + lost / 2, 200)

    def test_replaced_clock_does_not_move_events(self):
        trace = self.record("env", f"LD_PRELOAD={self.otherTime}", self.ranges, 50)
        self.assertEqual(self.ranges_in(trace), 50)
        first, last = trace.execute("select min(start), max(end) from NVTX_EVENTS").fetchone()
        self.assertTrue(0 <= first <= last < 60e9, (first, last))
        self.assertEqual(self.health(trace, "clock-set"), [])

    def test_processes_without_inodes_are_reported(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=12", "none", disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("needs the right to mount")
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        trace = self.record(self.ranges, 20, "children", folder=disk)
        reported = self.health(trace, "process-without-log")
        self.assertEqual(self.ranges_in(trace, "child") + len(reported), 20)
        trace.close()


if __name__ == "__main__":
    support.main()
