# SPDX-License-Identifier: Apache-2.0
"""Recordings in folders of others and on bad days: nothing of others is touched, and a trace is made."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest

import support
from support import NEIGHBOUR, OWNER, wait_for

PROGRAM = r"""
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
/* ranges NUMBER FOLDER: makes ranges, says so by FOLDER/made, waits for FOLDER/go, makes as many again, returns 7. */
static void make(long number) { while (number-- > 0) { nvtxRangePushA("range"); nvtxRangePop(); } }
int main(int count, char** words) {
    long number = atol(words[1]);
    char path[4096];
    make(number);
    if (count > 2) {
        snprintf(path, sizeof path, "%s/made", words[2]);
        fclose(fopen(path, "w"));
        snprintf(path, sizeof path, "%s/go", words[2]);
        while (access(path, F_OK) != 0) usleep(1000);
        make(number);
    }
    return 7;
}
"""
HEADERS = pathlib.Path(__file__).resolve().parents[2] / ".cache/cuda-headers/include"


def program():
    """Returns the compiled program, which every user may run."""
    if not hasattr(program, "folder"):
        program.folder = tempfile.TemporaryDirectory(prefix="lanescope-program-")
        folder = pathlib.Path(program.folder.name)
        folder.chmod(0o755)
        (folder / "ranges.c").write_text("#include <stdio.h>\n" + PROGRAM)
        subprocess.run(["cc", "-O1", f"-I{HEADERS}", "-o", folder / "ranges", folder / "ranges.c", "-ldl"], check=True)
    return pathlib.Path(program.folder.name) / "ranges"


def ranges(trace):
    with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59").fetchone()[0]


class Recording:
    """`lanescope record` of the program, which stops half way until `proceed`."""

    def __init__(self, folder, output, user=None, number=500, more=()):
        self.steps = tempfile.TemporaryDirectory(prefix="lanescope-steps-")
        self.place = pathlib.Path(self.steps.name)
        self.place.chmod(0o777)
        account = pwd.getpwnam(user) if user else None
        identity = dict(user=account.pw_uid, group=account.pw_gid, extra_groups=[]) if account else {}
        words = [support.installed() / "lanescope", "record", *more, "-o", output, "--", program(), number, self.place]
        self.process = subprocess.Popen([str(word) for word in words], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=dict(os.environ, HOME=account.pw_dir if account else "/root"), **identity)
        wait_for(lambda: (self.place / "made").exists() or self.process.poll() is not None)

    def proceed(self):
        (self.place / "go").touch()
        said = self.process.communicate(timeout=120)[0]
        self.steps.cleanup()
        return self.process.returncode, said


needs_compiler = unittest.skipUnless(shutil.which("cc") and HEADERS.is_dir(), "needs a compiler and the headers of NVTX")


@needs_compiler
@support.needs_users
class SharedFolders(support.SharedFolder):
    mode = 0o1777

    def as_neighbour(self, script):
        done = support.run(["sh", "-c", script], user=NEIGHBOUR, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_link_in_place_of_the_logs_loses_no_file(self):
        self.folder.chmod(0o777)
        home = pathlib.Path(tempfile.mkdtemp(prefix="lanescope-home-"))
        self.own(home, OWNER, 0o700)
        for name in ("train.log", "eval.log.1", "session.json"):
            self.own(home / name, OWNER) if (home / name).write_text("loss") else None
        run = Recording(self.folder, "t.sqlite", OWNER)
        self.as_neighbour(f"mv .t.sqlite.run .gone && ln -s {home} .t.sqlite.run")
        status, said = run.proceed()
        self.assertEqual((status, ranges(self.folder / "t.sqlite")), (7, 1000), said)
        self.assertEqual(sorted(os.listdir(home)), ["eval.log.1", "session.json", "train.log"])

    def test_link_in_place_of_the_folder_of_the_trace_is_not_followed(self):
        self.folder.chmod(0o777)
        home = pathlib.Path(tempfile.mkdtemp(prefix="lanescope-home-"))
        names = [f"t.sqlite{ending}" for ending in ("", ".partial", ".partial-wal", ".partial-shm", ".partial-journal")]
        for name in names:
            (home / name).write_text("results")
            self.own(home / name, OWNER)
        self.own(home, OWNER, 0o700)
        for force in ([], ["--force"]):
            place = self.folder / f"sub{len(force)}"
            place.mkdir()
            place.chmod(0o777)
            run = Recording(self.folder, f"{place}/t.sqlite", OWNER, more=force)
            self.as_neighbour(f"mv {place} {place}.moved && ln -s {home} {place}")
            status, said = run.proceed()
            self.assertEqual((status, ranges(f"{place}.moved/t.sqlite")), (7, 1000), said)
            self.assertIn(".moved/t.sqlite", said)
            self.assertEqual([(home / name).read_text() for name in names], ["results"] * len(names))
            self.assertEqual(sorted(os.listdir(home)), sorted(names))

    def test_root_removes_nothing_in_a_folder_of_a_user(self):
        self.folder.chmod(0o777)
        self.own(self.folder, NEIGHBOUR, 0o777)
        with tempfile.TemporaryDirectory() as private:
            for name in ("secret.log", "session.json"):
                (pathlib.Path(private) / name).write_text("root's")
            run = Recording(self.folder, "t.sqlite")
            self.as_neighbour(f"mv .t.sqlite.run .gone && ln -s {private} .t.sqlite.run")
            status, said = run.proceed()
            self.assertEqual((status, ranges(self.folder / "t.sqlite")), (7, 1000), said)
            self.assertIn(f"belongs to {NEIGHBOUR}", said)
            self.assertEqual(sorted(os.listdir(private)), ["secret.log", "session.json"])

    def test_root_is_asked_for_a_name_in_a_folder_of_a_user(self):
        self.own(self.folder, NEIGHBOUR, 0o755)
        for status, words in ((1, ["record", "--"]), (1, ["record", "--repeat", "2", "--"]), (3, ["bench", "true", "---"])):
            done = support.lanescope(*words, program(), 10, cwd=self.folder)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(f"This folder belongs to {NEIGHBOUR}, who can replace the trace. As root, use -o", done.stderr)
            self.assertEqual(os.listdir(self.folder), [])
        with tempfile.TemporaryDirectory() as private:
            for name in ("t.sqlite", f"{private}/t.sqlite"):
                done = support.lanescope("record", "-o", name, "--", program(), 10, cwd=self.folder)
                self.assertEqual((done.returncode, ranges(self.folder / name)), (7, 10), done.stderr)
                self.assertEqual(f"belongs to {NEIGHBOUR}" in done.stderr, name == "t.sqlite", done.stderr)
        self.own(self.folder, "root", 0o777)
        self.assertEqual(support.lanescope("record", "--", program(), 10, cwd=self.folder).returncode, 7)

    def test_side_files_of_others_are_not_used(self):
        for suffix in ("-wal", "-shm", "-journal", ""):
            self.as_neighbour(f"umask 0; touch t.sqlite.partial{suffix}")
            done = support.lanescope("record", "-o", "t.sqlite", "--", program(), 10, user=OWNER, cwd=self.folder)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("of another user", done.stderr)
            self.assertEqual(os.listdir(self.folder), [f"t.sqlite.partial{suffix}"])
            (self.folder / f"t.sqlite.partial{suffix}").unlink()

    def test_file_of_another_user_in_a_sticky_folder_is_refused_before_the_program_runs(self):
        (self.folder / "mine").touch()
        for script in ("touch t.sqlite", "ln -s mine t.sqlite"):
            self.as_neighbour(script)
            done = support.lanescope("record", "--force", "-o", "t.sqlite", "--", "touch", "ran", user=OWNER, cwd=self.folder)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("t.sqlite: a file of another user, cannot be replaced", done.stderr)
            self.assertEqual(sorted(os.listdir(self.folder)), ["mine", "t.sqlite"])
            (self.folder / "t.sqlite").unlink()

    def test_taken_names_do_not_stop_a_numbered_recording(self):
        self.as_neighbour("touch lanescope-ranges-1.sqlite.partial; mkdir .lanescope-ranges-2.sqlite.run;"
                          "ln -s nowhere lanescope-ranges-3.sqlite; touch lanescope-ranges-4.sqlite-journal")
        done = support.lanescope("record", "--", program(), 10, user=OWNER, cwd=self.folder)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(ranges(self.folder / "lanescope-ranges-5.sqlite"), 10)


@needs_compiler
class BadDays(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="lanescope-day-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def assert_whole(self, run, expected=1000):
        status, said = run.proceed()
        self.assertEqual((status, ranges(self.folder / "t.sqlite")), (7, expected), said)
        self.assertEqual(sorted(os.listdir(self.folder)), ["t.sqlite"], said)
        return said

    def test_cut_log_of_sqlite_loses_nothing(self):
        run = Recording(self.folder, "t.sqlite")
        wait_for(lambda: (self.folder / "t.sqlite.partial-wal").exists())
        os.truncate(self.folder / "t.sqlite.partial-wal", 0)
        self.assert_whole(run)

    def test_killed_recording_keeps_status_and_trace(self):
        run = Recording(self.folder, "t.sqlite")
        for child in pathlib.Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        self.assertIn("Signal 9 ended the recording", self.assert_whole(run))

    def test_empty_folder_of_logs_is_none(self):
        (self.folder / ".t.sqlite.run").mkdir()
        self.assert_whole(Recording(self.folder, "t.sqlite"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a disk")
    def test_full_disk_leaves_a_trace(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", self.folder], check=False)
        if done.returncode != 0:
            self.skipTest("cannot mount")
        self.addCleanup(subprocess.run, ["umount", self.folder], check=False)
        run = Recording(self.folder, "t.sqlite", number=150_000)
        with contextlib.suppress(OSError), open(self.folder / "fill", "wb", buffering=0) as fill:
            while fill.write(bytes(4096)):
                pass
        (run.place / "go").touch()
        said = run.process.communicate(timeout=120)[0]
        self.assertEqual(run.process.returncode, 7, said)
        self.assertGreater(ranges(self.folder / "t.sqlite"), 1000, said)
        for wrong in ("read by another", "in use by another", "killed, crashed"):
            self.assertNotIn(wrong, said)


if __name__ == "__main__":
    support.main()
