#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of another user next to a trace: indexes, journals, logs, pipes; permissions of what commands create."""

import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from support import BIN, NEIGHBOUR, OWNER, SharedFolder, lanescope, main, needs_users, run, wait_for

ENDING = ".lanescope-index"
HEADER, AT_SOURCE, AT_CHECKSUM = 88, (16, 40), 68


def recording(path, ranges):
    """Records `ranges` rows of the schema of a real trace: an import of torch events."""
    events = ",".join(f'{{"ph":"X","name":"step {at}","pid":1,"tid":1,"ts":{at * 10},"dur":5}}' for at in range(ranges))
    source = path.with_suffix(".json")
    source.write_text(f'{{"schemaVersion":1,"traceEvents":[{events}]}}')
    done = lanescope("import", source, "-o", path)
    assert done.returncode == 0, done.stderr
    source.unlink()
    return path


def journal_of(trace):
    """Returns a rollback journal that would overwrite a page of the trace."""
    page, nonce = bytes(4096), 7
    header = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 1, nonce, trace.stat().st_size // 4096, 512, 4096)
    return header.ljust(512, b"\0") + struct.pack(">I", 3) + page + struct.pack(">I", nonce)


@needs_users
class Files(SharedFolder):
    def setUp(self):
        super().setUp()
        self.trace = self.own(recording(self.folder / "run.sqlite", 30), OWNER, 0o644)
        self.content = self.trace.read_bytes()

    def stored(self, user, trace=None):
        return lanescope("sql", trace or self.trace, "SELECT count(*) FROM NVTX_EVENTS", "-f", "csv", user=user)

    def test_index_of_another_user_is_not_used(self):
        # Smaller traces are read without an index.
        self.trace.unlink()
        self.own(recording(self.trace, 30000), OWNER, 0o644)
        self.assertGreater(self.trace.stat().st_size, 1 << 20)
        other = recording(self.folder / "other.sqlite", 7)
        for user in (OWNER, NEIGHBOUR):
            self.assertEqual(lanescope("index", self.trace, user=user).returncode, 0)
        own = self.trace.with_name(self.trace.name + ENDING)
        self.assertEqual(own.owner(), OWNER)
        self.assertEqual(own.stat().st_mode & 0o777, 0o644)
        self.assertEqual(lanescope("index", other).returncode, 0)
        forged = bytearray((other.parent / (other.name + ENDING)).read_bytes())
        forged[slice(*AT_SOURCE)] = own.read_bytes()[slice(*AT_SOURCE)]
        forged[AT_CHECKSUM:AT_CHECKSUM + 4] = struct.pack("<I", zlib.crc32(bytes(forged[:AT_CHECKSUM])))
        whole = lanescope("stats", self.trace, user=OWNER).stdout
        self.assertIn("30", whole)
        # Of another user; of the reader, as from an archive; writable by others.
        for name, user, mode in (("foreign", NEIGHBOUR, 0o644), ("unpacked", OWNER, 0o644), ("open", OWNER, 0o666)):
            with self.subTest(name):
                own.unlink()
                own.write_bytes(forged)
                self.own(own, user, mode)
                self.assertEqual(lanescope("stats", self.trace, user=OWNER).stdout, whole)
        # Root could change the trace itself, so the forgery is whole.
        own.unlink()
        own.write_bytes(forged)
        self.own(own, "root", 0o644)
        self.assertNotEqual(lanescope("stats", self.trace, user=OWNER).stdout, whole)
        done = lanescope("check", self.trace, user=OWNER)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, f"BAD  The index .*{ENDING} differs from the trace: .*NVTX ranges")
        self.assertEqual(lanescope("index", "--remove", self.trace).returncode, 0)
        self.assertEqual(lanescope("index", self.trace, user=OWNER).returncode, 0)
        done = lanescope("check", self.trace, user=OWNER)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, f"ok   The index .*{ENDING} is intact and equals one made from the trace just now")

    def test_notes_of_another_user_are_ignored(self):
        notes = self.trace.with_name(self.trace.name + ".lanescope-notes.json")
        # Not JSON: a sentence shows that the file was read.
        for user, mode, said in ((NEIGHBOUR, 0o644, "ok   .*: ignored, because another user can write"),
                                 (OWNER, 0o666, "ok   .*: ignored, because another user can write"),
                                 (OWNER, 0o644, "BAD  .*: the notes are corrupt"), ("root", 0o644, "BAD  .*: the notes are corrupt")):
            for reader in (OWNER, None):
                with self.subTest(user=user, mode=mode, reader=reader):
                    notes.write_text("not notes")
                    self.own(notes, user, mode)
                    done = lanescope("check", self.trace, user=reader)
                    self.assertEqual(done.returncode, 0 if said.startswith("ok") else 1, done.stdout)
                    self.assertRegex(done.stdout, said)
                    notes.unlink()
        os.mkfifo(notes, 0o666)
        self.assertIn("ignored", lanescope("check", self.trace, user=OWNER, timeout=30).stdout)

    def test_foreign_journals_are_ignored(self):
        for ending, content in (("-journal", journal_of(self.trace)), ("-wal", b"x" * 40000), ("-shm", b"x" * 32768)):
            side = self.trace.with_name(self.trace.name + ending)
            side.write_bytes(content)
            self.own(side, NEIGHBOUR, 0o666)
            with self.subTest(ending):
                for words in (["info"], ["check"], ["explain"], ["stats"]):
                    done = lanescope(*words, self.trace, user=OWNER)
                    # Without GPU work there is nothing to explain.
                    expected = 3 if words == ["explain"] else 0
                    self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
                self.assertIn(side.name, lanescope("check", self.trace, user=OWNER).stdout)
                self.assertIn("30", self.stored(OWNER).stdout)
                self.assertEqual(side.read_bytes(), content)
                self.assertEqual(self.trace.read_bytes(), self.content)
            side.unlink()

    def test_foreign_files_do_not_hide_own_rows(self):
        database = sqlite3.connect(self.trace)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE more (a)")
        database.commit()
        copy = self.own(shutil.copy(self.trace, self.folder / "copy.sqlite") and self.folder / "copy.sqlite", OWNER, 0o644)
        self.own(shutil.copy(f"{self.trace}-wal", f"{copy}-wal") and pathlib.Path(f"{copy}-wal"), OWNER, 0o644)
        database.close()
        shm = pathlib.Path(f"{copy}-shm")
        for foreign in (False, True):
            if foreign:
                self.own(shm if shm.write_bytes(b"y" * 32768) else shm, NEIGHBOUR, 0o666)
            done = lanescope("sql", copy, "SELECT count(*) FROM more", user=OWNER)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(shm.read_bytes(), b"y" * 32768)

    def test_pipes_do_not_block(self):
        partial = self.trace.rename(self.folder / "live.sqlite.partial")
        logs = self.folder / ".live.sqlite.run"
        logs.mkdir(0o755)
        for pipe in (logs / "session.json", pathlib.Path(f"{partial}-wal"), pathlib.Path(f"{partial}-journal"),
                     pathlib.Path(f"{partial}{ENDING}")):
            os.mkfifo(pipe, 0o666)
        for command in ("info", "stats", "explain", "summarize", "check"):
            lanescope(command, partial, user=OWNER, timeout=30)

    @unittest.skipUnless((BIN / "lanescope-viewer").exists(), "needs the viewer")
    def test_settings_of_the_viewer_are_private(self):
        with tempfile.TemporaryDirectory() as home:
            place = dict(os.environ, HOME=home, XDG_CONFIG_HOME=f"{home}/config", XDG_RUNTIME_DIR=home, QT_QPA_PLATFORM="offscreen")
            settings = pathlib.Path(home, "config/lanescope/viewer.conf")
            words = ["sh", "-c", 'umask 000; exec "$@"', "sh", str(BIN / "lanescope-viewer"), str(self.trace)]
            with subprocess.Popen(words, env=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as viewer:
                wait_for(settings.exists)
                viewer.terminate()
            for path in (settings.parent, settings):
                self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_measured_rates_replace_no_other_file(self):
        for name, content in (("notes.txt", "mine"), ("other.json", "{}"), ("run.sqlite", None)):
            path = self.folder / name
            if content:
                path.write_text(content)
            before = path.read_bytes()
            done = lanescope("doctor", "--measure", "-o", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("exists, and is no file of doctor --measure", done.stderr)
            self.assertEqual(path.read_bytes(), before)

    def test_output_goes_to_no_pipe_or_device_of_another_user(self):
        words = ["sql", self.trace, "SELECT 1 AS one", "-f", "csv", "-o"]
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.own(pipe, NEIGHBOUR, 0o666)
        done = lanescope(*words, pipe, user=OWNER, timeout=30)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a pipe or device of another user", done.stderr)
        # A link of another user is replaced, where that is possible.
        out = self.folder / "out"
        for mode, expected in ((0o1777, 1), (0o777, 0)):
            self.folder.chmod(mode)
            out.symlink_to("/dev/null")
            self.own(out, NEIGHBOUR)
            self.assertEqual(lanescope(*words, out, user=OWNER).returncode, expected)
            self.assertEqual(out.is_symlink(), mode == 0o1777)
            out.unlink()
        # Pipes and devices of the user are written.
        own = self.folder / "own"
        os.mkfifo(own)
        self.own(own, OWNER)
        with subprocess.Popen(["cat", own], stdout=subprocess.PIPE, text=True) as reader:
            self.assertEqual(lanescope(*words, own, user=OWNER, timeout=30).returncode, 0)
            self.assertEqual(reader.communicate(timeout=30)[0], "one\n1\n")
        for place in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            # A pipe of that user.
            done = run(["sh", "-c", '"$@" | cat', "sh", lanescope("--version").args[0], *words, place], user=OWNER, timeout=30)
            self.assertEqual((done.returncode, done.stdout), (0, "one\n1\n"), done.stderr)

    def test_caches_and_logs_are_private(self):
        with tempfile.TemporaryDirectory() as home:
            os.chmod(home, 0o777)
            words = f"umask 000; cd {home}; '{lanescope('--version').args[0]}'"
            run(["sh", "-c", f"{words} bench --runs 2 -- true --- true"], user=OWNER, env={"HOME": home})
            run(["sh", "-c", f"{words} index '{self.trace}'"], user=NEIGHBOUR, env={"HOME": home})
            made = [path for path in pathlib.Path(home).rglob("*") if not path.is_symlink()]
            self.assertTrue(any(path.name == "key" for path in made))
            self.assertTrue(any(path.suffix == ".log" for path in made))
            # Permissions in a private folder do not matter.
            for path in made:
                if path.parent == pathlib.Path(home) or path.suffix == ".log" or path.name == "key":
                    self.assertEqual(path.stat().st_mode & 0o077, 0, path)


if __name__ == "__main__":
    main()
