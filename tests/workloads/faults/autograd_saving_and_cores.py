# SPDX-License-Identifier: Apache-2.0
"""Faults of the CPU side of the third blind set: what the main thread does or waits for. The names tell nothing."""

import gc
import os
import subprocess
import sys
import tempfile
import threading
import time

from .small_models import of, seldom
from .common import without_recorder
from .task_models import attention_graph, conformer, contrastive, gan, scaled, tagger, third


@third("d05", "the detection of anomalies by autograd was left on: each operation keeps its Python stack, and each gradient is "
       "looked through for NaN, for the outcome of which the thread waits",
       "the forward pass: traceback.format_stack; the backward pass: isnan().any() waits for the GPU")
def _(run):
    train, torch = gan(run), run.torch

    def step(number, looks=True):
        with torch.autograd.set_detect_anomaly(looks):
            train(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=60)


@third("d19", "AdamW without `fused` or `foreach` updates each of some 290 weights by eight kernels of a few microseconds",
       "the end of a step: optimizer.step() launches 2300 small kernels slower than the GPU works")
def _(run):
    net, torch = scaled(run), run.torch
    single = torch.optim.AdamW(net.model.parameters(), lr=1e-5, foreach=False)

    return run.steps(lambda i: net.step(i, single), net.step, "step {}", limit=45)


@third("d27", "each step adds forward hooks for statistics that are never taken away, so that each step is slower than the one "
       "before", "the forward pass: the hooks `watch`, four more of them in each step")
def _(run):
    net = contrastive(run)
    seen = {}

    def watch(module, inputs, found):
        seen[id(module)] = found.detach().float().norm()

    def step(number):
        for tower in net.model:
            for block in tower[1:3]:
                block.register_forward_hook(watch)
        net.step(number)

    return run.steps(step, net.step, "step {}", limit=100)


@third("d29", "gc.collect() after each step goes over hundreds of thousands of objects, some 20 ms",
       "the end of a step: gc.collect() in the main thread")
def _(run):
    net, kept = attention_graph(run), []
    # What the libraries made is not looked at, so that the time is that of the program's own objects.
    gc.collect()
    gc.freeze()
    wanted, found = of(run, 0.02, 0.001), 0.0
    while found < wanted and len(kept) < 2_000_000:
        kept += [{"index": number, "parts": [number]} for number in range(of(run, 20_000, 100))]
        gc.collect()
        begin = time.perf_counter()
        gc.collect()
        found = time.perf_counter() - begin

    def step(number, collects=True):
        net.step(number)
        if collects:
            gc.collect()

    truth = run.steps(step, lambda i: step(i, False), "step {}", limit=90)
    gc.unfreeze()
    return truth


@third("d31", "after every 20th step the weights and the state of the optimiser are saved and forced onto the disk, while the "
       "GPU waits", "after every 20th step: torch.save and os.fsync in the main thread")
def _(run):
    net, torch = tagger(run), run.torch
    with tempfile.TemporaryDirectory(dir=os.environ.get("FAULTS_DISK") or "/var/tmp") as folder:

        def save():
            with open(os.path.join(folder, "state.pt"), "wb") as file:
                torch.save({"model": net.model.state_dict(), "optimizer": net.optimizer.state_dict()}, file)
                file.flush()
                os.fsync(file.fileno())

        return seldom(run, net.step, save, 20, "step {}", 150)


@third("d33", "a second thread computes in Python nearly all the time, and the main thread gets the GIL back only every 5 ms",
       "the whole step: the main thread waits for the GIL that the thread `tally` has")
def _(run):
    net = conformer(run)
    begins, ends = threading.Event(), threading.Event()
    milliseconds, counts = of(run, 12, 1), {}

    def count():
        begins.wait()
        while not ends.is_set():
            until = time.perf_counter() + milliseconds / 1e3
            while time.perf_counter() < until:
                for word in range(300):
                    counts[word % 97] = counts.get(word % 97, 0) + 1
            time.sleep(0.001)

    thread = threading.Thread(target=count, name="tally", daemon=True)
    thread.start()

    def step(number):
        begins.set()
        net.step(number)

    truth = run.steps(step, net.step, "step {}", limit=50)
    ends.set()
    thread.join()
    return truth


HOG = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
parent = os.getppid()
sys.stdin.readline()
while os.getppid() == parent:
    for number in range(1000000):
        pass
"""


@third("d35", "four other processes compute on the one core that the main thread is pinned to, and it gets a fifth of it",
       "the whole step: the main thread is ready and does not run, and launches too slowly")
def _(run):
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    net = scaled(run)
    hogs = [subprocess.Popen([sys.executable, "-c", HOG, str(core)], stdin=subprocess.PIPE, env=without_recorder(), text=True)
            for _ in range(of(run, 4, 1))]
    state = {}

    def step(number):
        if not state:
            state["begun"] = True
            for each in hogs:
                each.stdin.write("go\n")
                each.stdin.flush()
        net.step(number)

    try:
        return run.steps(step, net.step, "step {}", limit=50)
    finally:
        for each in hogs:
            each.kill()
            each.wait()
            each.stdin.close()


@third("d37", "the end of a step is looked for only every 25 ms: the main thread sleeps in between, and the GPU has "
       "long been done by then",
       "the end of a step: time.sleep(0.025) in a loop around event.query()")
def _(run):
    train, torch = gan(run), run.torch

    def step(number, polls=True):
        train(number)
        if polls:
            done = torch.cuda.Event()
            done.record()
            while not done.query():
                time.sleep(0.025)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=100)
