#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lanescope fleet` and other starts of programs, in folders where another user left programs and modules."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

import support

PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
MODULES = ("lanescope/__init__.py", "numpy.py", "duckdb.py", "site.py", "os.py", "sitecustomize.py", "usercustomize.py")
PROGRAMS = ("python3", "lanescope-viewer", "nsys")


@support.needs_users
@unittest.skipUnless(PYTHON, "needs a Python that every user may run")
class Start(support.SharedFolder):
    def setUp(self):
        super().setUp()
        self.ran = self.folder / "ran"
        (self.folder / "lanescope").mkdir()
        for name in MODULES:
            self.plant(name, f"open({str(self.ran)!r}, 'a').write({name!r})\n")
        for name in PROGRAMS:
            self.plant(name, f"#!/bin/sh\necho {name} >>{self.ran}\n", 0o755)

    def plant(self, name, text, mode=0o644):
        (self.folder / name).write_text(text)
        self.own(self.folder / name, support.NEIGHBOUR, mode)

    def start(self, *words, user=support.OWNER, **variables):
        variables.setdefault("LANESCOPE_PYTHON", PYTHON)
        done = support.lanescope(*words, user=user, cwd=self.folder, env=variables)
        self.assertFalse(self.ran.exists(), self.ran.exists() and self.ran.read_text())
        return done

    def test_fleet_imports_nothing_that_others_wrote(self):
        for user in (support.OWNER, None):
            for path in (None, "", ".", ":/nonexistent", "lanescope/..", str(self.folder), f"/proc/self/cwd:{self.folder}/lanescope/.."):
                with self.subTest(user=user, path=path):
                    variables = {} if path is None else {"PYTHONPATH": path, "PYTHONUSERBASE": path, "PYTHONSTARTUP": f"{path}/numpy.py"}
                    done = self.start("fleet", ".", user=user, **variables)
                    self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
                    self.assertIn("Install the wheel with dask, distributed, duckdb and numpy", done.stderr)

    def test_fleet_imports_from_own_folders_except_after_sudo(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        package = Path(place.name) / "lanescope" / "fleet"
        package.mkdir(parents=True)
        for name, text in (("../__init__.py", ""), ("__init__.py", ""), ("command.py", "def main(words): print(words)")):
            (package / name).write_text(text)
        for path in (place.name, *Path(place.name).rglob("*")):
            self.own(Path(path), support.OWNER, 0o755)
        self.assertEqual(self.start("fleet", ".", "-o", "-x", PYTHONPATH=place.name).stdout, "['--output=-x', '--', '.']\n")
        self.assertEqual(self.start("fleet", ".", PYTHONPATH=place.name, SUDO_UID="1").returncode, 1)
        done = self.start("fleet", ".", PYTHONPATH=place.name, user=None)
        self.assertIn(f"Skipped because other users may write there: {place.name}.", done.stderr)

    def test_programs_are_not_found_in_the_current_folder(self):
        self.plant("run.nsys-rep", "a report")
        for path in ("", ":", ".:/nonexistent"):
            for words in (("fleet", "."), ("view", "run.nsys-rep"), ("info", "run.nsys-rep"), ("doctor",)):
                with self.subTest(path=path, words=words):
                    self.start(*words, PATH=path, LANESCOPE_PYTHON="", CUDA_HOME=".", VIRTUAL_ENV=".", PYTHONPATH=":.")


if __name__ == "__main__":
    support.main()
