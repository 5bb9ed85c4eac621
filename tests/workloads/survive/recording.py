# SPDX-License-Identifier: Apache-2.0
"""Runs a program under `lanescope record` and says how much of what it did is in the trace."""

import fcntl
import os
import pathlib
import pty
import signal
import sqlite3
import subprocess
import termios
import time

KERNELS_PER_STEP = 6
PATIENCE_S = 120


class Loss:
    """What the worst process of a run lost, in milliseconds of its own work; None: all of it."""

    def __init__(self):
        self.nvtx_ms = 0.0
        self.cuda_ms = 0.0

    def worst(self):
        return max(self.nvtx_ms, self.cuda_ms)


class Trace:
    """The steps and kernels of a trace, by process."""

    def __init__(self, path):
        self.steps, self.kernels, self.health, self.ranges = {}, {}, [], {}
        self.problem = None
        try:
            self.read(path)
        except sqlite3.Error as error:
            self.problem = f"unreadable: {error}"

    def read(self, path):
        if not path.exists():
            self.problem = "no trace"
            return
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        if database.execute("PRAGMA quick_check").fetchone()[0] != "ok":
            self.problem = "damaged"
            return
        # A table without rows is not there.
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
        pid = "(({0} >> 24) & 0xffffff)".format
        ranges = (
            f"SELECT {pid('globalTid')}, coalesce(e.text, s.value), e.end FROM NVTX_EVENTS e "
            "LEFT JOIN StringIds s ON s.id = e.textId"
        )
        for process, name, end in database.execute(ranges) if "NVTX_EVENTS" in tables else []:
            if name and name.startswith("step ") and end is not None:
                self.steps.setdefault(process, set()).add(int(name[5:]))
            elif name:
                self.ranges[process] = self.ranges.get(process, 0) + 1
        kernels = (
            f"SELECT {pid('globalPid')}, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1"
        )
        self.kernels = dict(database.execute(kernels)) if "CUPTI_ACTIVITY_KIND_KERNEL" in tables else {}
        self.health = [row[0] for row in database.execute("SELECT code FROM LANESCOPE_HEALTH")]


class Run:
    """One recording, while it runs and after."""

    def __init__(self, lanescope, folder, options=(), environment=None, limits=None):
        self.lanescope, self.folder = lanescope, pathlib.Path(folder)
        self.trace = self.folder / "t.sqlite"
        self.progress = self.folder.parent / (self.folder.name + ".progress")
        self.options = list(options)
        self.environment = {**os.environ, **(environment or {})}
        self.limits = limits
        self.errors = ""
        self.output = ""
        self.status = None
        self.took_s = 0.0
        self.ended_s = 0.0

    def start(self, words, on_terminal=False):
        self.words = [str(self.lanescope), "record", "-o", str(self.trace), *self.options, "--"]
        self.words += [str(word) for word in words] + ["--progress", str(self.progress)]
        self.terminal = None
        keyboard = subprocess.DEVNULL
        if on_terminal:
            self.terminal, keyboard = pty.openpty()

        def prepare():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            if on_terminal:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if self.limits:
                self.limits()

        self.log = open(self.progress.with_suffix(".err"), "w+b")
        self.out = open(self.progress.with_suffix(".out"), "w+b")
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            self.words,
            stdin=keyboard,
            stdout=self.out,
            stderr=self.log,
            env=self.environment,
            start_new_session=True,
            preexec_fn=prepare,
        )
        return self

    def finish(self):
        """Waits; False if it hangs, and then ends the whole session."""
        try:
            self.status = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.status = None
        self.took_s = time.monotonic() - self.begun
        if self.status is not None and self.status < 0:
            self.status = 128 - self.status
        for file, name in ((self.log, "errors"), (self.out, "output")):
            file.seek(0)
            setattr(self, name, file.read().decode(errors="replace"))
            file.close()
        if self.terminal is not None:
            os.close(self.terminal)
        return self.status is not None

    def noted(self):
        """What the program says it did: by process, the steps with their times."""
        steps = {}
        if not self.progress.exists():
            return steps
        for line in self.progress.read_text().splitlines():
            words = line.split()
            if len(words) == 3:
                steps.setdefault(int(words[1]), []).append((int(words[0]), int(words[2])))
        return steps

    def wait_for_steps(self, count, processes=1):
        """Until so many processes noted so many steps; the first of them that did so."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            ready = [pid for pid, steps in self.noted().items() if len(steps) >= count]
            if len(ready) >= processes:
                return ready[0]
            time.sleep(0.005)
        return None

    def press(self, keys):
        os.write(self.terminal, keys)

    def loss(self, trace, with_gpu=True):
        """Each process's time from its last step that is in the trace to the last it noted."""
        loss = Loss()
        for pid, noted in self.noted().items():
            last_ns = noted[-1][0]
            seen = trace.steps.get(pid, set())
            present = [ns for ns, step in noted if step in seen]
            through = max(present) if present else noted[0][0]
            missing = len(noted) - len(present)
            loss.nvtx_ms = max(loss.nvtx_ms, (last_ns - through) / 1e6 if missing else 0)
            if not with_gpu:
                continue
            steps = min(trace.kernels.get(pid, 0) // KERNELS_PER_STEP, len(noted))
            through = noted[steps - 1][0] if steps else noted[0][0]
            loss.cuda_ms = max(loss.cuda_ms, (last_ns - through) / 1e6)
        return loss
