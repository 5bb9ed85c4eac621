# SPDX-License-Identifier: Apache-2.0
"""Records survive/steadyLoad, watches it while it runs, and compares the trace with its own count."""

import os
import pathlib
import sqlite3
import struct
import subprocess
import threading
import time

FIELDS = ("kernels_per_batch", "copies_per_batch", "bytes_per_copy", "batches", "finished", "waits",
          "began_ns", "last_ns", "process", "is_done")
COLUMNS = ("s", "batches", "kernels_per_s", "program_rss_kib", "program_anon_kib", "record_rss_kib",
           "log_bytes", "trace_bytes", "disk_free_bytes", "memory_free_kib", "dropped")


class Report:
    """What the program itself says that it did, which it keeps in a file that is mapped."""

    def __init__(self, path):
        values = [0] * len(FIELDS)
        try:
            content = pathlib.Path(path).read_bytes()
            if len(content) >= 8 * len(FIELDS):
                values = struct.unpack_from(f"={len(FIELDS)}q", content)
        except OSError:
            pass
        for name, value in zip(FIELDS, values):
            setattr(self, name, value)

    def seconds(self):
        return max((self.last_ns - self.began_ns) / 1e9, 1e-9)

    def expected(self):
        """What a whole trace holds of it."""
        copies = self.batches * self.copies_per_batch
        return {"kernels": self.batches * self.kernels_per_batch, "copies": copies,
                "copied_bytes": copies * self.bytes_per_copy, "ranges": self.batches + self.waits}


def sum_of(reports, name):
    return sum(getattr(report, name) for report in reports)


def expected_of(reports):
    total = {"kernels": 0, "copies": 0, "copied_bytes": 0, "ranges": 0}
    for report in reports:
        for name, value in report.expected().items():
            total[name] += value
    return total


def count_trace(path):
    """What a trace holds, its drops and doubts; "problem" if it cannot be read."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def one(what, table):
        """Zeros of a table without rows, which is not there."""
        is_there = database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        return database.execute(f"SELECT {what} FROM {table}").fetchone() if is_there else (0, 0)

    try:
        copies = one("count(*), coalesce(sum(bytes), 0)", "CUPTI_ACTIVITY_KIND_MEMCPY")
        health = database.execute("SELECT code, severity, coalesce(sum(count), 0), min(sentence) "
                                  "FROM LANESCOPE_HEALTH GROUP BY code").fetchall()
        dropped = dict(database.execute("SELECT what, sum(count) FROM LANESCOPE_GAPS GROUP BY what"))
        return {"dropped": dropped, "kernels": one("count(*)", "CUPTI_ACTIVITY_KIND_KERNEL")[0],
                "copies": copies[0], "copied_bytes": copies[1],
                "ranges": one('count("end")', "NVTX_EVENTS")[0],
                "calls": one("count(*)", "CUPTI_ACTIVITY_KIND_RUNTIME")[0],
                "health": [list(row) for row in health]}
    except sqlite3.Error as error:
        return {"problem": str(error)}
    finally:
        database.close()


# Of the numbers that LANESCOPE_GAPS has for what was lost.
LOST_NVTX_CALLS, LOST_ACTIVITY = 1, 2


def is_accounted_for(name, held, wanted):
    """Whether what a trace lacks is counted in it as dropped. A call that was dropped is one of the
    two of a range, and a record of activity may be a kernel's, a copy's or a call's."""
    missing = wanted[name] - held[name]
    if name == "ranges":
        return 0 <= missing <= (held["dropped"].get(LOST_NVTX_CALLS) or 0)
    if name == "copied_bytes":
        return is_accounted_for("copies", held, wanted) and missing * max(wanted["copies"], 1) == (
            (wanted["copies"] - held["copies"]) * wanted["copied_bytes"])
    return 0 <= missing <= (held["dropped"].get(LOST_ACTIVITY) or 0)


def dropped_so_far(path):
    """The counts in the health of a trace that is being recorded; "" while it cannot be asked."""
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0.5)
        try:
            return database.execute("SELECT coalesce(sum(count), 0) FROM LANESCOPE_HEALTH "
                                    "WHERE severity > 0").fetchone()[0]
        finally:
            database.close()
    except sqlite3.Error:
        return ""


def status_of(process):
    """The lines of /proc/PID/status that are numbers of KiB."""
    numbers = {}
    try:
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            words = line.split()
            if len(words) == 3 and words[2] == "kB":
                numbers[words[0].rstrip(":")] = int(words[1])
    except OSError:
        pass
    return numbers


def size_of(folder):
    total = 0
    try:
        for entry in os.scandir(folder):
            total += entry.stat().st_size
    except OSError:
        pass
    return total


def memory_free_kib():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1])
    return 0


class Load:
    """One run of the program, recorded or bare. Folders and files are this object's own."""

    def __init__(self, bench, name, *, bare=False, processes=1, folder=None, options=(), limits=None,
                 **words):
        self.bench, self.name, self.bare = bench, name, bare
        self.folder = pathlib.Path(folder or bench.folder / name)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.trace = self.folder / "t.sqlite"
        self.logs = self.folder / ".t.sqlite.run"
        report = bench.folder / f"{name}.report"
        self.reports = [f"{report}.{rank}" for rank in range(processes)] if processes > 1 else [report]
        for file in self.reports:
            pathlib.Path(file).unlink(missing_ok=True)
        program = [bench.program, "--report", report, "--processes", processes]
        for word, value in words.items():
            program += ["--" + word, value]
        record = [] if bare else [bench.lanescope, "record", "--force", *options, "-o", self.trace, "--"]
        self.errors_path = bench.folder / f"{name}.err"
        self.errors = open(self.errors_path, "wb")
        self.begun = time.monotonic()
        self.process = subprocess.Popen([str(word) for word in record + program], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=self.errors,
                                        env=bench.environment, preexec_fn=limits)
        self.largest = {"program_rss_kib": 0, "record_rss_kib": 0}
        self.previous = (self.begun, 0)
        self.ended_s = 0.0  # By the clock of the day, as times in reports.

    def read_reports(self):
        return [Report(path) for path in self.reports]

    def sample(self):
        """One line of the table: where it stands now."""
        reports = self.read_reports()
        now, batches = time.monotonic(), sum_of(reports, "batches")
        kernels = (batches - self.previous[1]) * max(reports[0].kernels_per_batch, 0)
        rate = kernels / max(now - self.previous[0], 1e-9)
        self.previous = (now, batches)
        programs = [status_of(report.process) for report in reports if report.process]
        partial = f"{self.trace}.partial"
        trace_bytes = sum(os.path.getsize(partial + end) for end in ("", "-wal")
                          if os.path.exists(partial + end))
        line = {"s": round(now - self.begun, 1), "batches": batches, "kernels_per_s": round(rate),
                "program_rss_kib": sum(each.get("VmRSS", 0) for each in programs),
                "program_anon_kib": sum(each.get("RssAnon", 0) for each in programs),
                "record_rss_kib": 0 if self.bare else status_of(self.process.pid).get("VmRSS", 0),
                "log_bytes": size_of(self.logs), "trace_bytes": trace_bytes,
                "disk_free_bytes": free_bytes(self.folder), "memory_free_kib": memory_free_kib(),
                "dropped": "" if self.bare else dropped_so_far(partial)}
        for name in self.largest:
            self.largest[name] = max(self.largest[name], line[name])
        return line

    def wait(self, most_s, every_s=10, table=None, must_end=lambda line: ""):
        """Until it has ended, with a line of `table` every so often; ends it where `must_end` says
        why, and after `most_s`. Returns what was said, and the exit status, None if it hung."""
        why, asked_at = "", None
        if table:
            table.write(",".join(COLUMNS) + "\n")
        next_line = self.begun + every_s
        while self.process.poll() is None:
            time.sleep(0.05)
            now = time.monotonic()
            if now >= next_line:
                next_line += every_s
                line = self.sample()
                if table:
                    table.write(",".join(str(line[name]) for name in COLUMNS) + "\n")
                    table.flush()
                why = why or must_end(line)
            if asked_at is None and (why or now - self.begun > most_s):
                why, asked_at = why or f"took more than {most_s:.0f} s", now
                self.process.terminate()
            elif asked_at is not None and now - asked_at > 600:
                self.process.kill()
                self.process.wait()
                return why, None
        self.ended_s = time.time()
        return why, status_in_shell(self.process.returncode)

    def said(self):
        self.errors.close()
        return self.errors_path.read_text(errors="replace").strip()


def status_in_shell(code):
    return 128 - code if code < 0 else code


def free_bytes(folder):
    try:
        state = os.statvfs(folder)
    except OSError:
        return 0
    return state.f_bavail * state.f_frsize


class Beside(threading.Thread):
    """A function that runs beside others, and whose failure is told."""

    def __init__(self, function, *arguments):
        super().__init__(daemon=True)
        self.function, self.arguments, self.error = function, arguments, None
        self.start()

    def run(self):
        try:
            self.function(*self.arguments)
        except Exception as error:  # pylint: disable=broad-except
            self.error = error
