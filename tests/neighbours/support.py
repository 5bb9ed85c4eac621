# SPDX-License-Identifier: Apache-2.0
"""Programs, folders and a second user for tests of shared machines.

Run a test as `python3 test_files.py --bin FOLDER`. Tests with a second user need root and are skipped without.
"""

import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

OWNER = "lanescope-alice"  # Works in the folder.
NEIGHBOUR = "lanescope-mallory"  # May write to the same folder.

_given = [sys.argv.pop(at + 1) for at, word in enumerate(sys.argv[:-1]) if word == "--bin"]
if _given:
    sys.argv.remove("--bin")
BIN = pathlib.Path(_given[0] if _given else "build/dev/bin").resolve()


def has_users():
    """Makes the two users, and returns true if they exist and programs can run as them."""
    if os.geteuid() != 0:
        return False
    for name in (OWNER, NEIGHBOUR):
        try:
            pwd.getpwnam(name)
        except KeyError:
            if not shutil.which("useradd", path="/usr/sbin:/usr/bin:/sbin:/bin"):
                return False
            subprocess.run(["/usr/sbin/useradd", "-m", name], check=False, capture_output=True)
    try:
        return all(pwd.getpwnam(name) for name in (OWNER, NEIGHBOUR))
    except KeyError:
        return False


needs_users = unittest.skipUnless(has_users(), "needs root to make two users")


def installed():
    """Returns a copy of the programs that every user may run: `bin/lanescope` and `libexec/lanescope`."""
    if not hasattr(installed, "folder"):
        installed.folder = tempfile.TemporaryDirectory(prefix="lanescope-installed-")
        root = pathlib.Path(installed.folder.name)
        root.chmod(0o755)
        shutil.copytree(BIN, root / "bin", ignore=lambda folder, names: [
            name for name in names if not name.startswith("lanescope") or name == "lanescope-viewer"])
        for beside in ("libexec", "lib"):
            if (BIN.parent / beside).is_dir():
                shutil.copytree(BIN.parent / beside, root / beside, symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", str(root)], check=True)
    return pathlib.Path(installed.folder.name) / "bin"


def run(words, user=None, cwd=None, env=None, timeout=120, **more):
    """Runs a program, as `user` if given, and returns its `CompletedProcess` with text."""
    place = dict(os.environ, **(env or {}))
    if user:
        account = pwd.getpwnam(user)
        place.update(HOME=account.pw_dir, USER=user, LOGNAME=user)
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"):
            place.pop(name, None)
        place.update(env or {})
        more.update(user=account.pw_uid, group=account.pw_gid, extra_groups=[])
    return subprocess.run([str(word) for word in words], cwd=cwd, env=place, timeout=timeout, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, capture_output=True, check=False, **more)


def lanescope(*words, **more):
    return run([installed() / "lanescope", *words], **more)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("It did not happen.")
        time.sleep(0.01)


class SharedFolder(unittest.TestCase):
    """Test with a folder, `self.folder`, that both users may write to; `mode` 0o1777 is that of /tmp."""

    mode = 0o1777

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="lanescope-shared-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.folder.chmod(self.mode)

    def own(self, path, user, mode=0o600):
        """Gives a file to a user."""
        account = pwd.getpwnam(user)
        os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(mode)
        return path


def main():
    unittest.main(verbosity=2)
