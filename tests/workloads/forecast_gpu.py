#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares forecasts of `lanescope whatif` with the programs after the change: six programs with ten changes each.

usage: forecast_gpu.py LANESCOPE FOLDER [--unrecorded] [PROGRAM...]

Records each program once: for each change the steps before it and those with it, five times in turn, since two processes
with one program differ by more than a change. Each forecast is from the steps before a change alone; forecast and change
are medians of the five. `--unrecorded` also measures the changes without the recorder. Writes forecasts.csv, forecasts.md
and the traces into FOLDER. Exits with the number of forecasts that are refused or more than 5 % of the step off. Needs
PyTorch and one GPU; takes some minutes.
"""

import csv
import glob
import inspect
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

STEPS = 30
TURNS = 5
WARM_UP = 5
CYCLES = 1_000_000  # of a spinning kernel: about half a millisecond


def line_of(function):
    """Returns the line of the only statement of a function, as `whatif` names it."""
    return f"line:{os.path.basename(__file__)}:{inspect.getsourcelines(function)[1] + 1}"


def main_spin(cycles):
    torch.cuda._sleep(int(cycles))


def side_spin(cycles):
    torch.cuda._sleep(int(cycles))


def third_spin(cycles):
    torch.cuda._sleep(int(cycles))


def seconds_of(work, count=20, rest=lambda: None):
    """Returns the GPU time of a piece of work alone, with a rest after each: full load lowers the clocks."""
    for _ in range(3):
        work()
    times = []
    for _ in range(count):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        rest()
        times.append((start, end))
    torch.cuda.synchronize()
    return statistics.mean(start.elapsed_time(end) for start, end in times) / 1e3


class Program:
    """A program with switches. `base` are its usual values; a change is (name, switches, arguments of whatif)."""

    base = {}

    def changes(self):
        raise NotImplementedError

    def prepare(self, options):
        """Makes what a variant needs, outside of its steps."""

    def batches(self, options):
        """Returns what the steps iterate over."""
        return range(STEPS + WARM_UP)

    def step(self, batch, options):
        raise NotImplementedError


class Gemm(Program):
    """Bound by matrix products, with a spinning kernel and elementwise operations."""

    base = {"k": 8192, "spin": 4 * CYCLES, "add": 4, "size": 4096, "gemms": 8}

    def prepare(self, options):
        make = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.bfloat16)
        self.a = make(options["size"], max(options["k"], 1))
        self.b = make(max(options["k"], 1), options["size"])
        self.x = torch.zeros(options["size"] * 4096, device="cuda")

    def step(self, batch, options):
        for _ in range(options["gemms"]):
            self.a @ self.b
        for _ in range(options["add"]):
            self.x.add_(1)
        if options["spin"]:
            main_spin(options["spin"])

    def factor(self, k):
        def products():
            for _ in range(self.base["gemms"]):
                self.a @ self.b

        def seconds(size):
            self.prepare({**self.base, "k": size})
            return seconds_of(products, 30, lambda: main_spin(self.base["spin"]))

        return seconds(k) / seconds(self.base["k"])

    def changes(self):
        gemm = lambda k: ("--scale", f"family:matrix_product={self.factor(k):.4f}")
        spin = lambda factor: ("--scale", f"kernel:spin={factor}")
        add = ("--scale", "family:elementwise=0")
        return [
            ("half of K", {"k": 4096}, gemm(4096)),
            ("quarter of K", {"k": 2048}, gemm(2048)),
            ("twice K", {"k": 16384}, gemm(16384)),
            ("no products", {"gemms": 0}, ("--scale", "family:matrix_product=0")),
            ("no elementwise", {"add": 0}, add),
            ("half spin", {"spin": 2 * CYCLES}, spin(0.5)),
            ("no spin", {"spin": 0}, spin(0)),
            ("twice spin", {"spin": 8 * CYCLES}, spin(2)),
            ("half of K, half spin", {"k": 4096, "spin": 2 * CYCLES}, gemm(4096) + spin(0.5)),
            ("no elementwise, no spin", {"add": 0, "spin": 0}, add + spin(0)),
        ]


class Launches(Program):
    """Bound by launches: many small kernels, next to a spinning kernel at the start."""

    base = {"spin": CYCLES, "kernels": 300, "graph": False, "add": 4096}

    def prepare(self, options):
        self.x = torch.zeros(options["add"], device="cuda")
        if not options["graph"]:
            return
        self.graph = torch.cuda.CUDAGraph()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            self.body(options)
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph):
            self.body(options)

    def body(self, options):
        for _ in range(options["kernels"]):
            self.x.add_(1)

    def step(self, batch, options):
        if options["spin"]:
            main_spin(options["spin"])
        self.graph.replay() if options["graph"] else self.body(options)

    def changes(self):
        spin = lambda factor: ("--scale", f"kernel:spin={factor}")
        no_launches = ("--scale", "launch=0", "--scale", "host=0")
        def scaled(size):
            # Outside of a graph launches take longer than small kernels.
            def in_graph(count):
                self.prepare({**self.base, "add": count, "graph": True, "kernels": 200})
                return seconds_of(self.graph.replay) / 200

            return ("--scale", f"family:elementwise={in_graph(size) / in_graph(self.base['add']):.4f}")

        return [
            ("no spin", {"spin": 0}, spin(0)),
            ("half spin", {"spin": CYCLES // 2}, spin(0.5)),
            ("2 x spin", {"spin": 2 * CYCLES}, spin(2)),
            ("4 x spin", {"spin": 4 * CYCLES}, spin(4)),
            ("16 x spin", {"spin": 16 * CYCLES}, spin(16)),
            ("40 x spin", {"spin": 40 * CYCLES}, spin(40)),
            ("graph", {"graph": True}, no_launches),
            ("graph, no spin", {"graph": True, "spin": 0}, no_launches + spin(0)),
            ("larger kernels", {"add": 1 << 20}, scaled(1 << 20)),
            ("graph, 4 x spin", {"graph": True, "spin": 4 * CYCLES}, no_launches + spin(4)),
        ]


class Items(Program):
    """Reads a value from the GPU in each of several layers."""

    base = {"spin": CYCLES // 2, "item": True, "layers": 12, "small": 15, "tail": CYCLES}

    def prepare(self, options):
        self.x = torch.zeros(4096, device="cuda")

    def step(self, batch, options):
        for _ in range(options["layers"]):
            for _ in range(options["small"]):
                self.x.add_(1)
            if options["spin"]:
                main_spin(options["spin"])
            if options["item"]:
                self.x[0].item()
        if options["tail"]:
            side_spin(options["tail"])

    def changes(self):
        spin = lambda factor: ("--scale", f"{line_of(main_spin)}={factor}")
        tail = lambda factor: ("--scale", f"{line_of(side_spin)}={factor}")
        kernel = lambda factor: ("--scale", f"kernel:spin={factor}")
        no_sync = ("--no", "sync")
        return [
            ("no item", {"item": False}, no_sync),
            ("no item, half spin", {"item": False, "spin": CYCLES // 4, "tail": CYCLES // 2}, no_sync + kernel(0.5)),
            ("no item, twice spin", {"item": False, "spin": CYCLES, "tail": 2 * CYCLES}, no_sync + kernel(2)),
            ("half spin", {"spin": CYCLES // 4, "tail": CYCLES // 2}, kernel(0.5)),
            ("twice spin", {"spin": CYCLES, "tail": 2 * CYCLES}, kernel(2)),
            ("no spin", {"spin": 0, "tail": 0}, kernel(0)),
            ("half of the layers' spin", {"spin": CYCLES // 4}, spin(0.5)),
            ("4 x the layers' spin", {"spin": 2 * CYCLES}, spin(4)),
            ("no tail", {"tail": 0}, tail(0)),
            ("8 x tail", {"tail": 8 * CYCLES}, tail(8)),
        ]


class SlowData:
    """Items that take some time to make."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return STEPS + WARM_UP

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.zeros(1024)


class Loader(Program):
    """Waits for a loader with one worker."""

    base = {"workers": 1, "seconds": 0.024, "spin": 16 * CYCLES}

    def batches(self, options):
        if options["workers"] == 0:
            return [torch.zeros(1, 1024)] * (STEPS + WARM_UP)
        from torch.utils.data import DataLoader

        return DataLoader(SlowData(options["seconds"]), batch_size=1, num_workers=options["workers"])

    def step(self, batch, options):
        batch.cuda()
        main_spin(options["spin"])
        torch.cuda.synchronize()

    def changes(self):
        loader = lambda factor: ("--scale", f"loader={factor}")
        spin = lambda factor: ("--scale", f"kernel:spin={factor}")
        return [
            ("2 workers", {"workers": 2}, loader(0.5)),
            ("4 workers", {"workers": 4}, loader(0.25)),
            ("no loader", {"workers": 0}, ("--no", "loader")),
            ("half of the time", {"seconds": 0.012}, loader(0.5)),
            ("twice the time", {"seconds": 0.048}, loader(2)),
            ("half spin", {"spin": 8 * CYCLES}, spin(0.5)),
            ("twice spin", {"spin": 32 * CYCLES}, spin(2)),
            ("4 x spin", {"spin": 64 * CYCLES}, spin(4)),
            ("4 workers, half spin", {"workers": 4, "spin": 8 * CYCLES}, loader(0.25) + spin(0.5)),
            ("no loader, half spin", {"workers": 0, "spin": 8 * CYCLES}, ("--no", "loader") + spin(0.5)),
        ]


class Copies(Program):
    """Copies pageable memory to the GPU before a spinning kernel."""

    base = {"bytes": 64 << 20, "pinned": False, "spin": 8 * CYCLES, "back": 8 << 20}

    hosts = {}  # made once: the rate of pageable copies depends on the pages

    def prepare(self, options):
        key = options["bytes"], options["pinned"]
        if key not in self.hosts:
            self.hosts[key] = torch.zeros(key[0], dtype=torch.uint8, pin_memory=key[1])
        self.host = self.hosts[key]
        self.device = torch.zeros(64 << 20, dtype=torch.uint8, device="cuda")

    def step(self, batch, options):
        if options["bytes"]:
            self.device[: options["bytes"]].copy_(self.host, non_blocking=options["pinned"])
        main_spin(options["spin"])
        if options["back"]:
            self.device[: options["back"]].cpu()

    def factor(self, **options):
        def seconds(changed):
            all_options = {**self.base, **changed}
            self.prepare(all_options)
            return seconds_of(lambda: self.device[: all_options["bytes"]].copy_(self.host, non_blocking=True), 5)

        return seconds(options) / seconds({})

    def changes(self):
        copy = lambda factor: ("--scale", f"copy:HtoD={factor:.4f}")
        back = lambda factor: ("--scale", f"copy:DtoH={factor}")
        spin = lambda factor: ("--scale", f"kernel:spin={factor}")
        return [
            ("pinned", {"pinned": True}, copy(self.factor(pinned=True))),
            ("half of the bytes", {"bytes": 32 << 20}, copy(self.factor(bytes=32 << 20))),
            ("no copy", {"bytes": 0}, copy(0)),
            ("half of the copy back", {"back": 4 << 20}, back(0.5)),
            ("twice the copy back", {"back": 16 << 20}, back(2)),
            ("half spin", {"spin": 4 * CYCLES}, spin(0.5)),
            ("no spin", {"spin": 1}, spin(0)),
            ("4 x spin", {"spin": 32 * CYCLES}, spin(4)),
            ("pinned, half spin", {"pinned": True, "spin": 4 * CYCLES}, copy(self.factor(pinned=True)) + spin(0.5)),
            ("no copy, 2 x spin", {"bytes": 0, "spin": 16 * CYCLES}, copy(0) + spin(2)),
        ]


class Streams(Program):
    """Two streams that wait for each other by events, and work before and after."""

    base = {"main": 6 * CYCLES, "side": 10 * CYCLES, "third": 4 * CYCLES, "wait": True}

    def prepare(self, options):
        self.stream = torch.cuda.Stream()

    def step(self, batch, options):
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            if options["side"]:
                side_spin(options["side"])
        if options["main"]:
            main_spin(options["main"])
        torch.cuda.current_stream().wait_stream(self.stream)
        if options["third"]:
            third_spin(options["third"])

    def changes(self):
        def change(**factors):
            lines = {"main": main_spin, "side": side_spin, "third": third_spin}
            arguments = ()
            for name, factor in factors.items():
                arguments += ("--scale", f"{line_of(lines[name])}={factor}")
            switches = {name: int(self.base[name] * factor) for name, factor in factors.items()}
            return (", ".join(f"{factor:g} x {name}" for name, factor in factors.items()), switches, arguments)

        return [
            change(side=0.5),
            change(side=0.2),
            change(side=2),
            change(main=0.5),
            change(main=2),
            change(main=3),
            change(third=0.5),
            change(third=0),
            change(side=0.5, main=0.5),
            change(side=0.5, third=2),
        ]


PROGRAMS = {"gemm": Gemm, "launches": Launches, "items": Items, "loader": Loader, "copies": Copies, "streams": Streams}


def run_steps(program, options, name):
    """Returns the mean seconds of a step, whose ranges have that name."""
    program.prepare(options)
    start = None
    for index, batch in enumerate(program.batches(options)):
        if index == WARM_UP:
            torch.cuda.synchronize()
            start = time.perf_counter()
        torch.cuda.nvtx.range_push(f"{name} {index}")
        program.step(batch, options)
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / STEPS


def measure(name):
    program = PROGRAMS[name]()
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    changes = program.changes()
    for _ in range(TURNS):
        run_steps(program, program.base, "warm-up")
    found = []
    for index, (label, switches, arguments) in enumerate(changes):
        turns = []
        for turn in range(TURNS):
            before = run_steps(program, program.base, before_name(index, turn))
            turns.append((before, run_steps(program, {**program.base, **switches}, "changed")))
        found.append({"label": label, "turns": turns, "arguments": list(arguments)})
    print("RESULT " + json.dumps(found), flush=True)


def before_name(change, turn):
    """Returns the name of the ranges before a change. Numbers would not distinguish them."""
    return f"before {chr(ord('a') + change)}{chr(ord('a') + turn)}"


def median_change(change):
    """Returns the median seconds of a step before a change, and those plus the median difference."""
    before = statistics.median(turn[0] for turn in change["turns"])
    return before, before + statistics.median(turn[1] - turn[0] for turn in change["turns"])


def forecast_of(lanescope, trace, change, turn, arguments):
    command = [lanescope, "whatif", trace, "--range", f"{before_name(change, turn)} #", "-f", "json", *arguments]
    asked = subprocess.run(command, capture_output=True, text=True)
    return json.loads(asked.stdout) if asked.stdout.strip() else {"refusal": asked.stderr.strip() or "no answer"}


def forecasts_of(lanescope, trace, changes):
    """Returns for each change its forecasts, one per turn. The first question makes the index of the trace."""
    keys = [(change, turn) for change in range(len(changes)) for turn in range(TURNS)]
    ask = lambda key: forecast_of(lanescope, trace, *key, changes[key[0]]["arguments"])
    with ThreadPoolExecutor(8) as pool:
        answers = [ask(keys[0]), *pool.map(ask, keys[1:])]
    return [answers[TURNS * change : TURNS * (change + 1)] for change in range(len(changes))]


def result_of(command):
    done = subprocess.run(command, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line[len("RESULT ") :])
    sys.exit(f"{' '.join(command)}: no result.\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def written(folder, rows):
    """Writes the rows so far, and returns them as a table."""
    with open(os.path.join(folder, "forecasts.csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    text = "| program | change | step before | forecast | measured | error | unrecorded: before, after | error |\n"
    text += "|---|---|---|---|---|---|---|---|\n"
    percent = lambda value: "refused" if value is None else f"{100 * value:+.1f} %"
    for row in rows:
        plain = f"{row['plain_before_ms']:.2f}, {row['plain_after_ms']:.2f}" if row["plain_before_ms"] else ""
        text += (
            f"| {row['program']} | {row['change']} | {row['before_ms']:.2f} | {row['forecast_ms']:.2f} ± "
            f"{row['margin_ms']:.2f} | {row['after_ms']:.2f} | {percent(row['error'])} | {plain} | "
            f"{percent(row['plain_error']) if plain else ''} |\n"
        )
    near = sum(1 for row in rows if row["error"] is not None and abs(row["error"]) <= 0.05)
    text += f"\n{near} of {len(rows)} within 5 % of the step.\n"
    with open(os.path.join(folder, "forecasts.md"), "w") as file:
        file.write(text)
    return text


def row_of(name, change, forecasts, plain):
    before, after = median_change(change)
    made = [each for each in forecasts if each.get("forecastNs") and not each.get("refusal")]
    # As for the change: the median difference.
    added = statistics.median(each["forecastNs"] - each["stepNs"] for each in made) / 1e9 if made else None
    plain_before, plain_after = median_change(plain) if plain else (None, None)
    return {
        "program": name,
        "change": change["label"],
        "arguments": " ".join(change["arguments"]),
        "before_ms": before * 1e3,
        "forecast_ms": (before + (added or 0)) * 1e3,
        "margin_ms": statistics.median(each["marginNs"] for each in made) / 1e6 if made else 0,
        "after_ms": after * 1e3,
        "error": None if added is None else (added - (after - before)) / before,
        "steps_ms": " ".join(f"{(each.get('stepNs') or 0) / 1e6:.3f}" for each in forecasts),
        "replay_errors": " ".join(f"{each.get('replayError') or 0:+.4f}" for each in forecasts),
        "plain_before_ms": plain_before and plain_before * 1e3,
        "plain_after_ms": plain_after and plain_after * 1e3,
        "plain_error": None if added is None or not plain else (added - (plain_after - plain_before)) / plain_before,
        "refused": next((each["refusal"] for each in forecasts if each.get("refusal")), ""),
    }


def main(lanescope, folder, names, unrecorded):
    os.makedirs(folder, exist_ok=True)
    rows = []
    for name in names:
        run = [sys.executable, os.path.abspath(__file__), "--run", name]
        trace = os.path.join(folder, f"{name}.sqlite")
        if os.path.exists(trace):
            os.remove(trace)
        changes = result_of([lanescope, "record", "-o", trace, "--"] + run)
        plain = result_of(run) if unrecorded else [None] * len(changes)
        forecasts = forecasts_of(lanescope, trace, changes)
        rows += [row_of(name, *each) for each in zip(changes, forecasts, plain)]
        for path in glob.glob(os.path.join(glob.escape(folder), "*.lanescope-index*")):
            os.remove(path)
        print(f"{name}: done", file=sys.stderr, flush=True)
    print(written(folder, rows), flush=True)
    return sum(1 for row in rows if row["error"] is None or abs(row["error"]) > 0.05)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--run":
        import torch

        measure(sys.argv[2])
    elif len(sys.argv) >= 3:
        asked = [each for each in sys.argv[3:] if each != "--unrecorded"]
        sys.exit(main(sys.argv[1], sys.argv[2], asked or list(PROGRAMS), len(asked) < len(sys.argv[3:])))
    else:
        sys.exit(__doc__)
