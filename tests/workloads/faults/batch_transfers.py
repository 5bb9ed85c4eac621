# SPDX-License-Identifier: Apache-2.0
"""Blind faults of how data comes and goes: loading, copies between CPU and GPU. The names of the programs tell nothing."""

import queue
import threading
import zlib

from .small_models import Recommender, blind, convolution, denoiser, mlp, numpy_work, of, recurrent


@blind("b01", "the loss of each step is written into the log, which waits for the GPU, so that the 6 ms of NumPy by which "
       "the next batch is made do not overlap with it", "the end of a step: formatting the loss (.item()) waits for the GPU")
def _(run):
    net, lines = recurrent(run), []

    def step(number, shown=True):
        numpy_work(6)
        loss = net.step(number).detach()
        lines.append(f"{number}: {loss:.4f}" if shown else loss)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=70)


@blind("b02", "the 134 MB of dense features of a batch are copied from NumPy's pageable memory",
       "the start of a step: the copy HtoD from pageable memory")
def _(run):
    import numpy

    net = Recommender(run)
    shape = (net.rows, net.dense)
    plain = [numpy.full(shape, 0.5, dtype=numpy.float32) for _ in range(2)]
    fixed = [run.pinned(run.torch.full(shape, 0.5)) for _ in range(2)]

    def step(number):
        net.step(run.torch.from_numpy(plain[number % 2]).to(run.device, non_blocking=True))

    def good(number):
        net.step(fixed[number % 2].to(run.device, non_blocking=True))

    return run.steps(step, good, "step {}")


@blind("b05", "the boxes of the 640 objects of a batch go to the GPU one by one, 640 copies of some bytes",
       "the start of a step: 640 copies HtoD, each of which the thread waits for")
def _(run):
    net, torch = convolution(run), run.torch
    boxes = [torch.rand(1 + number % 5, 4) for number in range(of(run, 640, 20))]

    def step(number, single=True):
        if single:
            there = torch.cat([each.to(run.device) for each in boxes])
        else:
            there = run.pinned(torch.cat(boxes)).to(run.device, non_blocking=True)
        net.step(number)
        there.mean()

    return run.steps(step, lambda i: step(i, False), "train {}", limit=60)


@blind("b08", "one thread inflates the batches and needs several times as long for each as a step takes",
       "between the steps: the main thread waits at the queue for the thread that makes the batches")
def _(run):
    net, torch = mlp(run), run.torch
    size = of(run, 14 << 20, 1 << 14)
    packed = zlib.compress(torch.randint(0, 60, (size,), dtype=torch.uint8).numpy().tobytes(), 1)
    ready, ends = queue.Queue(maxsize=3), threading.Event()
    begin, shape = threading.Event(), net.batches[0][0].shape

    def make():
        begin.wait()
        while not ends.is_set():
            values = torch.frombuffer(bytearray(zlib.decompress(packed)), dtype=torch.uint8)
            values = values[: shape.numel()].reshape(shape).to(torch.bfloat16) / 64
            try:
                ready.put((run.pinned(values), net.batches[0][1]), timeout=1)
            except queue.Full:
                pass

    thread = threading.Thread(target=make, name="loader", daemon=True)
    thread.start()

    def step(number):
        begin.set()
        values, target = ready.get()
        net.step(number, (values.to(run.device, non_blocking=True), target.to(run.device, non_blocking=True)))

    truth = run.steps(step, lambda i: net.step(i), "step {}", limit=100)
    ends.set()
    thread.join()
    return truth


@blind("b13", "NumPy augments the images of a batch in the main thread, which takes longer than the step on the GPU",
       "the start of a step: NumPy in the main thread, while the GPU is idle")
def _(run):
    import numpy

    net, torch = convolution(run), run.torch
    draw = numpy.random.default_rng(0)
    images = draw.standard_normal((of(run, 48, 2), 3, 112, 112), dtype=numpy.float32)

    def step(number):
        mixed = images[:, :, ::-1, :] * draw.uniform(0.8, 1.2) + draw.standard_normal(images.shape, dtype=numpy.float32)
        mixed = numpy.clip((mixed - mixed.mean()) / mixed.std(), -3, 3)
        there = run.pinned(torch.from_numpy(numpy.ascontiguousarray(mixed))).to(run.device, non_blocking=True)
        net.step(number)
        there.mean()

    return run.steps(step, lambda i: net.step(i), "iteration {}", limit=120)


@blind("b26", "the agent's policy runs on the GPU and its world on the CPU: each of 64 moves a step waits for an action to "
       "come to the CPU and sends a state back",
       "the first part of a step: 64 round trips, each a copy DtoH, a wait and a copy HtoD")
def _(run):
    torch, nn = run.torch, run.torch.nn
    net = mlp(run)
    policy = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 8)).to(run.device)
    moves = torch.randn(8, 64)
    there = moves.to(run.device)

    def step(number, world_here=True):
        with torch.no_grad():
            if world_here:
                state = torch.zeros(16, 64)
                for _ in range(64):
                    action = policy(state.to(run.device)).argmax(1).cpu()
                    state = torch.tanh(state + moves[action])
            else:
                state = torch.zeros(16, 64, device=run.device)
                for _ in range(64):
                    state = torch.tanh(state + there[policy(state).argmax(1)])
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=60)


@blind("b29", "the guessed images and 100 MB of hidden values are fetched to the CPU in each step, to be looked at later",
       "before the optimizer: .cpu() of 100 MB, a copy DtoH to pageable memory that the thread waits for")
def _(run):
    step, torch = denoiser(run), run.torch
    hidden = torch.randn(of(run, 25 << 20, 1 << 12), device=run.device)
    seen = []

    def watch(found):
        seen[:] = [found.detach().float().cpu(), hidden.cpu()]

    return run.steps(lambda i: step(i, watch), lambda i: step(i), "step {}")


@blind("b32", "a batch of 300 MB is prefetched on a stream of its own, but the kernels wait for it at once instead of in the "
       "next step, so nothing overlaps",
       "the start of a step: the copy HtoD on the second stream, for which the kernels' stream waits")
def _(run):
    net, torch = mlp(run, depth=8), run.torch
    size = of(run, 300 << 20, 1 << 12)
    here = [run.pinned(torch.zeros(size, dtype=torch.uint8)) for _ in range(2)]
    there = [torch.empty(size, dtype=torch.uint8, device=run.device) for _ in range(2)]
    copies = torch.cuda.Stream()
    batch = net.batch(0)

    def step(number, at_once=True):
        main = torch.cuda.current_stream()
        main.wait_stream(copies)
        copies.wait_stream(main)
        with torch.cuda.stream(copies):
            there[number % 2].copy_(here[number % 2], non_blocking=True)
        if at_once:
            main.wait_stream(copies)
        net.step(number, batch)

    return run.steps(step, lambda i: step(i, False), "step {}")
