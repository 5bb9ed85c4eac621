# SPDX-License-Identifier: Apache-2.0
"""Blind faults of the CPU side: what the main thread does itself, pauses, threads in each other's way."""

import gc
import os
import pickle
import re
import tempfile
import threading
import time

from .small_models import adam, blind, decoder, mlp, of, recurrent, seldom


@blind("b10", "every 15th step writes the model to disk in the main thread while the GPU waits",
       "after every 15th step: copies DtoH of all parameters and pickle.dump")
def _(run):
    net = mlp(run, depth=3, rows=12288)
    with tempfile.TemporaryDirectory(dir=os.environ.get("FAULTS_DISK") or "/var/tmp") as folder:

        def keep():
            values = {name: each.float().cpu().numpy() for name, each in net.model.state_dict().items()}
            with open(os.path.join(folder, "model"), "wb") as file:
                pickle.dump(values, file)

        return seldom(run, net.step, keep, 15, "step {}", 120)


@blind("b15", "every 9th step the main thread splits a text of 250000 words into tokens while the GPU waits",
       "after every 9th step: Python of the main thread (re and a dictionary)")
def _(run):
    net = decoder(run)
    text = " ".join(f"w{number * 7919 % 30011}" for number in range(of(run, 250_000, 2000)))
    words = {}

    def split_text():
        return [words.setdefault(each, len(words)) for each in re.findall(r"\w+", text)]

    return seldom(run, net.step, split_text, 9, "step {}")


@blind("b19", "a second thread computes in Python most of the time and so holds the GIL, for which the main thread waits",
       "the whole step: the main thread waits for the GIL that the thread `monitor` has")
def _(run):
    net, begins, ends = decoder(run, layers=10, batch=4), threading.Event(), threading.Event()
    history = [float(number % 97) for number in range(3000)]

    def watch():
        begins.wait()
        while not ends.is_set():
            until = time.monotonic() + 12e-3
            while time.monotonic() < until:
                mean = sum(each for each in history) / len(history)
                history[0] = sum((each - mean) * (each - mean) for each in history) / len(history)
            time.sleep(4e-3)

    thread = threading.Thread(target=watch, name="monitor", daemon=True)
    thread.start()

    def step(number):
        begins.set()
        net.step(number)

    truth = run.steps(step, lambda i: net.step(i), "step {}", limit=80)
    ends.set()
    thread.join()
    return truth


@blind("b21", "the features are scaled on the CPU by eight times as many OpenMP threads as there are cores, which wait for "
       "each other in every small operator", "the start of a step: operators on the CPU, whose threads have no core")
def _(run):
    net, torch = mlp(run), run.torch
    cores = len(os.sched_getaffinity(0))
    features = torch.rand(1 << 19)

    def step(number, threads=0):
        torch.set_num_threads(threads or min(8 * cores, 256))
        values = features
        for part in range(30):
            values = (values * 1.01).clamp(0, 1)
        net.step(number)

    return run.steps(step, lambda i: step(i, max(cores // 4, 1)), "step {}", limit=100)


@blind("b22", "each step ends with gc.collect() over a heap of some 300000 objects",
       "the end of a step: gc.collect() in the main thread while the GPU is idle")
def _(run):
    net = recurrent(run, length=24)
    # What PyTorch itself has is left out, so that the pauses are those of the heap.
    gc.freeze()
    heap = [{"id": number, "tags": [number]} for number in range(of(run, 150_000, 2000))]

    def step(number):
        net.step(number)
        gc.collect()

    truth = run.steps(step, lambda i: net.step(i), "step {}", limit=50)
    heap.clear()
    gc.unfreeze()
    return truth


@blind("b24", "every 11th step the main thread counts histograms of all weights by NumPy, for the log, while the GPU waits",
       "after every 11th step: numpy.histogram in the main thread")
def _(run):
    import numpy

    net, kept = decoder(run), []

    def count():
        kept.clear()
        for each in net.model.parameters():
            values = each.detach().flatten()[:30000].float().cpu().numpy()
            kept.append(numpy.histogram(values, bins=64))

    return seldom(run, net.step, count, 11, "train_step {}")


@blind("b34", "the table of positions, always the same, is computed by NumPy in the main thread in every step",
       "the start of a step: sines and cosines by NumPy, before anything is launched")
def _(run):
    import numpy

    net, torch = decoder(run), run.torch
    length, width = net.batches[0][0].shape[1], net.model.head.in_features

    def table():
        at = numpy.arange(length)[:, None] / 10000 ** (numpy.arange(width // 2)[None, :] / (width // 2))
        turns = numpy.concatenate([numpy.sin(at), numpy.cos(at), numpy.sin(at * 2), numpy.cos(at * 2)], 1)
        return run.pinned(torch.from_numpy(turns[:, :width]).to(torch.bfloat16)).to(run.device, non_blocking=True)

    ready = table()

    def step(number, anew=True):
        tokens, target = net.batch(number)
        net.loss(net.model(tokens, table() if anew else ready), target).backward()
        net.update()

    return run.steps(step, lambda i: step(i, False), "step {}")


@blind("b37", "an optimizer written in Python goes over 400 small parameters one by one, ten small kernels for each",
       "the end of a step: thousands of launches of kernels of a few microseconds")
def _(run):
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(7)
    width = of(run, 512, 16)
    layers = [nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(100)]
    model = nn.Sequential(*layers).to(run.device, torch.bfloat16)
    values = torch.randn(of(run, 6144, 16), width, device=run.device, dtype=torch.bfloat16)
    fused = adam(run, model.parameters())
    means = [torch.zeros_like(each) for each in model.parameters()]
    squares = [torch.zeros_like(each) for each in model.parameters()]

    def by_hand():
        with torch.no_grad():
            for each, mean, square in zip(model.parameters(), means, squares):
                mean.mul_(0.9).add_(each.grad, alpha=0.1)
                square.mul_(0.99).addcmul_(each.grad, each.grad, value=0.01)
                change = mean / (square.sqrt() + 1e-6)
                each.add_(change * (each.norm() / (change.norm() + 1e-6)).clamp(0, 1), alpha=-1e-6)

    def step(number, update=by_hand):
        model(values).float().square().mean().backward()
        update()
        model.zero_grad(set_to_none=True)

    return run.steps(step, lambda i: step(i, fused.step), "step {}", limit=36)
