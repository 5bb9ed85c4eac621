#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks on a GPU that kernels have the module that launched them, also in CUDA graphs and of torch.compile, and what that costs.

usage: modules_gpu.py LANESCOPE PYTHON FOLDER [--seconds N]

PYTHON has PyTorch with CUDA. Runs a small GPT in four ways: eager, captured in a CUDA graph, by torch.compile, and by
torch.compile(mode="reduce-overhead"); each under `lanescope record`, and eager and compiled under
torch.profiler(with_stack, with_modules), whose modules are the truth: those of the eager run for the graph, those of the
compiled run for reduce-overhead. Prints a table, and leaves traces, profiles and modules.json in FOLDER. Exits with the number
of rows that are not as wanted. At most N seconds (280).
"""
import collections
import ctypes
import gzip
import json
import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

from recorder import shift

ITERATIONS = 10


def make(width=512, heads=8, layers=6, shape=(4, 256)):
    import torch
    from torch import nn

    torch.manual_seed(1)

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x):
            batch, length, width = x.shape
            q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.proj(mixed.transpose(1, 2).reshape(batch, length, width))

    class Feed(nn.Sequential):
        pass

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.norm, self.attention = nn.LayerNorm(width), Attention(width, heads)
            self.second, self.feed = nn.LayerNorm(width), Feed(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            x = x + self.attention(self.norm(x))
            return x + self.feed(self.second(x))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
            self.norm = nn.LayerNorm(width)

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.norm(x).relu()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Gpt().to(device, torch.bfloat16).eval()
    return model, torch.randn(*shape, width, device=device, dtype=torch.bfloat16)


def caller(mode):
    """Returns a function that runs the model once, or makes a step of a larger one in a training."""
    import torch

    if mode == "training":
        model, x = make(width=2048, heads=16, layers=12, shape=(16, 1024))
        optimizer = torch.optim.AdamW(model.train().parameters(), fused=True)

        def step():
            model(x).float().square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        return step
    model, x = make()
    if mode == "compile":
        model = torch.compile(model)
    elif mode == "reduce-overhead":
        model = torch.compile(model, mode="reduce-overhead")
    if mode != "graph":
        return lambda: model(x)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x)
    return graph.replay


def run(mode):
    """The recorded program."""
    import torch

    with torch.no_grad():
        call = caller(mode)
        for _ in range(5):
            call()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_push("measured")
        for _ in range(ITERATIONS):
            call()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()


def profile(mode, out):
    import torch
    from torch.profiler import ProfilerActivity

    with torch.no_grad():
        call = caller(mode)
        for _ in range(5):
            call()
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True,
                                    with_modules=True) as made:
            for _ in range(ITERATIONS):
                call()
            torch.cuda.synchronize()
    made.export_chrome_trace(out)


def operators(out):
    """Writes the operators of the eager model, without views, and what PyTorch says of the code that it generated."""
    import torch
    from torch._inductor.utils import run_and_get_code
    from torch.utils._python_dispatch import TorchDispatchMode

    found = set()

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, function, _types, arguments=(), named=None):
            # Views launch nothing, and buffers are only made.
            if not getattr(function, "is_view", False) and not re.search(r"\.(empty|_unsafe_view|_to_copy)", str(function.overloadpacket)):
                found.add(str(function.overloadpacket))
            return function(*arguments, **(named or {}))

    with torch.no_grad():
        model, x = make()
        with Noting():
            model(x)
        torch._dynamo.reset()
        _, codes = run_and_get_code(torch.compile(model), x)
    kernels = collections.defaultdict(set)
    for code in codes:
        for names, kernel in re.findall(r"Original ATen: \[([^\]]*)\]\n(?:[ \t]*(?!#)[^\n]*\n){0,3}?[ \t]*(triton_\w+)\.run\(", code):
            kernels[kernel].update(name.strip() for name in names.split(","))
    with open(out, "w") as file:
        json.dump({"eager": sorted(found), "kernels": {name: sorted(each) for name, each in kernels.items()}}, file)


def stacks_switch():
    with open("/proc/self/maps") as file:
        paths = {line.split()[-1] for line in file if "liblanescope-agent" in line}
    return ctypes.CDLL(paths.pop()).lanescopeStacks


def cost(mode, seconds, out):
    """Times blocks with and without the stacks of launches, in the order ABBA: [[with, without], ...] of ms per call."""
    import torch

    def block(isOn, count):
        switch(1 if isOn else 0)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            call()
        torch.cuda.synchronize()
        return 1e3 * (time.perf_counter() - begin) / count

    with torch.set_grad_enabled(mode == "training"):
        call = caller(mode)
        for _ in range(20):
            call()
        torch.cuda.synchronize()
        switch, pairs, end = stacks_switch(), [], time.monotonic() + seconds
        count = max(5, int(60 / block(True, 20)))  # some 60 ms
        while time.monotonic() < end:
            first, second, third, fourth = block(True, count), block(False, count), block(False, count), block(True, count)
            pairs += [[first, second], [fourth, third]]
        switch(1)
    with open(out, "w") as file:
        json.dump(pairs, file)


def plain(name):
    return re.sub(r"[^A-Za-z0-9_]", "", name)


def of_profile(path):
    """Returns the kernels, by start, each with the classes of the modules around its launch."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    modules, launches, kernels = collections.defaultdict(list), {}, []
    for event in events:
        category, arguments = event.get("cat"), event.get("args", {})
        if category == "python_function" and event["name"].startswith("nn.Module: "):
            modules[event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["name"][11:].rsplit("_", 1)[0]))
        elif category in ("cuda_runtime", "cuda_driver") and "correlation" in arguments:
            launches[arguments["correlation"]] = (event["tid"], event["ts"])
        elif category == "kernel":
            kernels.append((event["ts"], event["name"], arguments["correlation"]))
    found = []
    for _, name, correlation in sorted(kernels):
        thread, at = launches.get(correlation, (None, 0))
        chain = [kind for begin, end, kind in sorted(modules[thread], key=lambda each: (each[0], -each[1])) if begin <= at < end]
        found.append((plain(name), tuple(chain)))
    return found


class Trace:
    """What a recording says of the kernels in its measured range."""

    def __init__(self, path, isGraph):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        begin, end = self.database.execute(
            "SELECT e.start, e.\"end\" FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId"
            " WHERE coalesce(e.text, s.value) = 'measured'").fetchone()
        text = "LEFT JOIN StringIds {0} ON {0}.id = s.{1}"
        self.frames = {row[0]: row[1:] for row in self.database.execute(
            "SELECT s.id, s.parentId, m.value, o.value FROM LANESCOPE_STACKS s "
            + text.format("m", "moduleId") + " " + text.format("o", "operatorsId"))}
        nodes = {}
        if isGraph:
            originals = dict(self.database.execute("SELECT graphNodeId, originalGraphNodeId FROM CUDA_GRAPH_NODE_EVENTS"))
            captured = dict(self.database.execute(
                "SELECT e.graphNodeId, n.callchainId FROM LANESCOPE_GRAPH_NODE_STACKS n"
                " JOIN CUDA_GRAPH_NODE_EVENTS e ON e.rowid = n.nodeRow"))
            for node in originals:
                at = node
                while originals.get(at):
                    at = originals[at]
                nodes[node] = captured.get(at)
        stacks = dict(self.database.execute(
            "SELECT correlationId, callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IS NOT NULL"))
        self.kernels = []
        for name, node, correlation in self.database.execute(
                "SELECT n.value, k.graphNodeId, k.correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL k"
                " JOIN StringIds n ON n.id = k.demangledName WHERE k.start BETWEEN ? AND ? ORDER BY k.start", (begin, end)):
            if not isGraph:
                self.kernels.append((name, stacks.get(correlation)))
            elif node:
                self.kernels.append((name, nodes.get(node)))

    def chain(self, stack):
        chain = []
        while stack:
            parent, module, _ = self.frames[stack]
            if module:
                chain.append(module)
            stack = parent
        return chain[::-1]

    def operators(self, stack):
        while stack:
            parent, _, names = self.frames[stack]
            if names:
                return {name.strip() for name in names.split(" of ")[0].split(" at ")[0].split(",")}
            stack = parent
        return set()


class Check:
    def __init__(self):
        self.lanescope, self.python = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
        self.folder = pathlib.Path(sys.argv[3]).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 280
        self.end, self.rows, self.wrong = time.monotonic() + seconds, [], 0

    def row(self, what, wanted, found, isGood=True):
        self.rows.append([what, wanted, found, isGood])
        self.wrong += not isGood
        print(f"{what:64} {wanted:18} {found}{'' if isGood else '   WRONG'}", flush=True)

    def share(self, what, found, truth, least):
        """Compares kernel by kernel in order of start; of unequal numbers of kernels those of equal name."""
        if len(found) == len(truth):
            wrong = [(one, other) for one, other in zip(found, truth) if one[1] != other[1]]
            equal = len(truth) - len(wrong)
        else:
            both = collections.Counter(found) & collections.Counter(truth)
            equal, wrong = sum(both.values()), [(one, None) for one in (collections.Counter(found) - both).elements()]
        part = 100 * equal / max(len(truth), len(found), 1)
        self.row(what, f">= {least} %", f"{part:.2f} % of {len(truth)} ({len(found)} recorded)", part >= least and bool(truth))
        for (one, other), count in collections.Counter(wrong).most_common(3):
            print(f"    {count} x {one[0][:60]}: {'/'.join(one[1])}" + (f"; wanted {'/'.join(other[1])}" if other else ""))

    def call(self, command, environment=None):
        left = max(self.end - time.monotonic(), 10)
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=left, env={**os.environ, **(environment or {})})
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stdout[-1500:]}")
        return done.stdout

    def itself(self, *arguments):
        return [self.python, pathlib.Path(__file__).resolve(), *arguments]

    def modules(self):
        profiles, traces = {}, {}
        cache = {"TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor")}
        for mode in ("eager", "compile"):
            out = self.folder / f"{mode}.json.gz"
            self.call(self.itself("profile", mode, out), cache)
            profiles[mode] = of_profile(out)
        profiles.update({"graph": profiles["eager"], "reduce-overhead": profiles["compile"]})
        for mode, truth in profiles.items():
            path = self.folder / f"{mode}.sqlite"
            self.call([self.lanescope, "record", "--force", "-o", path, "--", *self.itself("run", mode)], cache)
            trace = traces[mode] = Trace(path, mode in ("graph", "reduce-overhead"))
            chains = [(name, trace.chain(stack)) for name, stack in trace.kernels]
            found = [(plain(name), tuple(module.split(" ")[0] for module in chain)) for name, chain in chains]
            self.share(f"{mode}: kernels with the modules of torch.profiler", found, truth, 99)
            paths = {tuple(chain) for _, chain in chains}
            self.row(f"{mode}: modules with kernels, different paths", "", str(len(paths)))
            with_path = sum(all(" " in module for module in chain[1:]) for _, chain in chains if chain)
            self.row(f"{mode}: kernels with attribute paths", ">= 99 %", f"{100 * with_path / max(len(chains), 1):.2f} %",
                     with_path >= 0.99 * len(chains))
            report = self.call([self.lanescope, "stats", "-r", "kernels_by_module", "-f", "csv", path])
            self.row(f"{mode}: rows of kernels_by_module", "", str(max(len(report.strip().splitlines()) - 1, 0)))
        return traces

    def fused(self, traces):
        out = self.folder / "operators.json"
        self.call(self.itself("operators", out), {"TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor")})
        truth = json.loads(out.read_text())
        for mode in ("compile", "reduce-overhead"):
            of_kernel, known = collections.defaultdict(set), set()
            for name, stack in traces[mode].kernels:
                of_kernel[name] |= traces[mode].operators(stack)
            for names in of_kernel.values():
                known |= names
            pairs = {(kernel, name) for kernel, names in truth["kernels"].items() for name in names}
            have = {(kernel, name) for kernel, name in pairs if name in of_kernel[kernel]}
            self.row(f"{mode}: operators of Triton kernels", ">= 95 %", f"{100 * len(have) / max(len(pairs), 1):.2f} % of {len(pairs)}",
                     len(have) >= 0.95 * len(pairs) and len(pairs) > 0)
            eager = set(truth["eager"])
            self.row(f"{mode}: operators of the eager model that some kernel names", "",
                     f"{len(eager & known)} of {len(eager)}; not {sorted(eager - known)}")

    def costs(self):
        root = self.lanescope.parent.parent
        agent = next(str(each) for each in (root / "libexec/lanescope/liblanescope-agent.so", root / "lib/liblanescope-agent.so")
                     if each.exists())
        for left, (mode, limit) in zip((3, 2, 1), (("training", 0.3), ("graph", 0.3), ("eager", 2.0))):
            seconds = min(45, (self.end - time.monotonic()) / left - 15)
            if seconds < 10:
                self.row(f"{mode}: cost of stacks", f"<= +{limit} %", "no time left", False)
                continue
            logs = self.folder / f"logs-{mode}"
            shutil.rmtree(logs, ignore_errors=True)
            logs.mkdir()
            out = self.folder / f"cost-{mode}.json"
            self.call(self.itself("cost", mode, seconds, out), {
                "LANESCOPE_AGENT_DIR": str(logs), "CUDA_INJECTION64_PATH": agent, "NVTX_INJECTION64_PATH": agent})
            shutil.rmtree(logs)
            pairs = json.loads(out.read_text())
            without = statistics.mean(other for _, other in pairs)
            added = [100 * (with_stacks - other) / without for with_stacks, other in pairs]
            mean = statistics.mean(added)
            half = 1.96 * statistics.stdev(added) / len(added) ** 0.5
            low, middle, high = shift(added)
            self.row(f"{mode}: {without:.3f} ms, cost of stacks and modules, {len(pairs)} pairs", f"<= +{limit} %",
                     f"{mean:+.3f} %, {mean - half:+.3f} to {mean + half:+.3f} % (Hodges-Lehmann {middle:+.3f} %, "
                     f"{low:+.3f} to {high:+.3f} %)", mean + half <= limit)


def main():
    roles = {"run": run, "profile": profile, "operators": operators,
             "cost": lambda mode, seconds, out: cost(mode, float(seconds), out)}
    if sys.argv[1:] and sys.argv[1] in roles:
        return roles[sys.argv[1]](*sys.argv[2:])
    if len(sys.argv) < 4 or "--help" in sys.argv:
        sys.exit(__doc__)
    check = Check()
    for part in (lambda: check.fused(check.modules()), check.costs):
        try:
            part()
        except (RuntimeError, OSError, subprocess.TimeoutExpired, sqlite3.Error) as error:
            check.row("failed", "", str(error)[-1500:], False)
    (check.folder / "modules.json").write_text(json.dumps(check.rows, indent=1))
    sys.exit(check.wrong)


if __name__ == "__main__":
    main()
