# SPDX-License-Identifier: Apache-2.0
"""Faults of the CPU side of the second blind set: what the main thread does or waits for. The names tell nothing."""

import json
import os
import random
import tempfile
import threading
import time

from .small_models import of
from .vision_graph_models import experts, graph, lstm, mixer, repeats, second, unet, vision


@second("c40", "each step writes some hundred lines of a log, for each of which the file is opened and closed",
        "the end of a step: open, write and close in the main thread, some 18 ms")
def _(run):
    net = mixer(run, depth=5)
    with tempfile.TemporaryDirectory(dir=os.environ.get("FAULTS_DISK") or "/var/tmp") as folder:
        path = os.path.join(folder, "log")

        def log(line="step 0, part 0: learning rate 1e-5"):
            with open(path, "a", encoding="utf-8") as file:
                file.write(line + "\n")

        lines = repeats(run, log, 18)

        def step(number, told=True):
            net.step(number)
            for part in range(lines if told else 0):
                log(f"step {number}, part {part}: learning rate 1e-5")

        return run.steps(step, lambda i: step(i, False), "step {}", limit=100)


@second("c16", "the weight of each token of a batch is computed by a loop of Python, some 18 ms a step",
        "the start of a step: Python of the main thread, one token after the other")
def _(run):
    net, torch = lstm(run), run.torch
    part = [number * 7919 % 1013 for number in range(of(run, 1000, 20))]

    def weigh(tokens=part):
        found = []
        for token in tokens:
            rare = 1.0 if token < 13 else 1.0 / (1 + token % 97)
            found.append(min(rare * (2.0 if token % 5 == 0 else 1.0), 1.5))
        return found

    tokens = part * repeats(run, weigh, 18)

    def step(number, loops=True):
        if loops:
            weights = run.pinned(torch.tensor(weigh(tokens))).to(run.device, non_blocking=True)
            weights.mean()
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=90)


@second("c37", "a second thread keeps a lock for 24 ms while it sends metrics, and the main thread needs it in each step",
        "the end of a step: the main thread waits for the lock that the thread `metrics` has")
def _(run):
    net, lock = graph(run), threading.Lock()
    begins, ends, counts = threading.Event(), threading.Event(), {}
    milliseconds = of(run, 24, 2)

    def send():
        begins.wait()
        while not ends.is_set():
            with lock:
                # Stands for an answer from elsewhere that is waited for.
                time.sleep(milliseconds / 1e3)
                counts.clear()
            time.sleep(0.001)

    thread = threading.Thread(target=send, name="metrics", daemon=True)
    thread.start()

    def step(number):
        begins.set()
        net.step(number)
        with lock:
            counts["steps"] = counts.get("steps", 0) + 1

    truth = run.steps(step, net.step, "step {}", limit=90)
    ends.set()
    thread.join()
    return truth


@second("c03", "a second thread sorts long lists, in each of which it keeps the GIL for 25 ms, and the main thread cannot "
        "launch", "the whole step: the main thread waits for the GIL that the thread `indexer` has")
def _(run):
    net = vision(run, depth=4)
    begins, ends = threading.Event(), threading.Event()
    generator = random.Random(7)
    numbers = [generator.random() for _ in range(of(run, 4000, 50))]
    numbers *= repeats(run, lambda: sorted(numbers), 20)

    def index():
        begins.wait()
        while not ends.is_set():
            sorted(numbers)
            time.sleep(0.003)

    thread = threading.Thread(target=index, name="indexer", daemon=True)
    thread.start()

    def step(number):
        begins.set()
        net.step(number)

    truth = run.steps(step, net.step, "step {}", limit=60)
    ends.set()
    thread.join()
    return truth


@second("c26", "each step ends with 20 ms of waiting for a signal to stop, which never comes",
        "the end of a step: threading.Event.wait(0.02) in the main thread, which does nothing meanwhile")
def _(run):
    net, stop = experts(run), threading.Event()

    def step(number, waits=True):
        net.step(number)
        if waits:
            stop.wait(0.02)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=100)


@second("c44", "the whole history of the training is made JSON anew in each step, some 18 ms",
        "the end of a step: json.dumps in the main thread")
def _(run):
    net = vision(run, depth=4)
    history = [{"step": number, "rate": number * 1e-7, "tags": ["train", str(number)]} for number in range(of(run, 500, 9))]

    def state():
        return json.dumps(history, indent=1)

    history *= repeats(run, state, 18)

    def step(number, keeps=True):
        net.step(number)
        return len(state()) if keeps else 0

    return run.steps(step, lambda i: step(i, False), "step {}", limit=100)


@second("c13", "about one step in twelve, at no fixed distance, tidies a dictionary for 70 ms in the main thread while the "
        "GPU waits", "the end of some steps: Python of the main thread that goes over the dictionary")
def _(run):
    net = unet(run, count=40)
    known = {f"key {number}": number for number in range(of(run, 3000, 20))}
    late = {at + shift for at, shift in zip(range(9, 400, 12), random.Random(5).choices(range(9), k=40))}
    spent = []

    def tidy():
        return {key: value + 1 for key, value in known.items() if not key.endswith("#")}

    times = repeats(run, tidy, 70)

    def step(number):
        net.step(number)
        if number in late:
            run.sync()
            begin = time.perf_counter()
            for _ in range(times):
                tidy()
            spent.append((time.perf_counter() - begin) * 1e3)

    truth = run.steps(step, None, "step {}", limit=130)
    one = sum(spent) / max(len(spent), 1)
    return {**truth, "slowStep": sorted(at for at in late if at < truth["firstStep"] + truth["steps"]),
            "costOfOneMs": round(one, 3), "costMs": round(sum(spent) / truth["steps"], 3)}
