# SPDX-License-Identifier: Apache-2.0
"""Faults of the GPU's own work in the second blind set: kernels, launches, memory, streams. The names tell nothing."""

from .small_models import of
from .common import calibrated
from .vision_graph_models import mixer, second, tower, unet, vision


@second("c09", "the areas of four classes are added up over tens of millions of pixels by index_add, whose atomic additions "
        "to the same four numbers wait for each other", "the end of a step: the one kernel of index_add")
def _(run):
    net, torch = unet(run, count=40), run.torch
    parts = {}

    def make(size):
        size -= size % 4
        parts["values"] = torch.ones(size, device=run.device)
        parts["classes"] = torch.arange(4, device=run.device).repeat_interleave(size // 4)
        return lambda: torch.zeros(4, device=run.device).index_add(0, parts["classes"], parts["values"])

    calibrated(run, make, 9, of(run, 1 << 20, 64), of(run, 1 << 26, 256))

    def step(number, atomic=True):
        net.step(number)
        if atomic:
            return torch.zeros(4, device=run.device).index_add(0, parts["classes"], parts["values"])
        return parts["values"].view(4, -1).sum(1)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=110)


@second("c25", "an LSTM is written by hand and launches some 1500 kernels of a few microseconds for 48 moments",
        "the end of a step: the loop over the moments, forward and backward, launches slower than the GPU works")
def _(run):
    net, torch, nn = vision(run, depth=3), run.torch, run.torch.nn
    length, rows, width = of(run, 48, 4), of(run, 64, 2), of(run, 256, 16)
    sequence = torch.randn(length, rows, width, device=run.device)
    ready = nn.LSTM(width, width).to(run.device)

    def by_hand():
        hidden = cell = torch.zeros(rows, width, device=run.device)
        for values in sequence:
            gates = nn.functional.linear(values, ready.weight_ih_l0, ready.bias_ih_l0)
            gates = gates + nn.functional.linear(hidden, ready.weight_hh_l0, ready.bias_hh_l0)
            enter, forget, new, leave = gates.chunk(4, 1)
            cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
            hidden = leave.sigmoid() * cell.tanh()
        return hidden

    def step(number, encode=by_hand):
        net.step(number)
        encode().mean().backward()
        ready.zero_grad(set_to_none=True)

    return run.steps(step, lambda i: step(i, lambda: ready(sequence)[1][0]), "step {}", limit=45)


@second("c36", "the distances of all points with all others, which never change, are computed anew in each step",
        "the start of a step: the kernel of torch.cdist")
def _(run):
    net, torch = mixer(run), run.torch
    parts = {}

    def make(size):
        points = torch.rand(size, 32, device=run.device)
        parts["near"] = lambda: (-torch.cdist(points, points, p=1.0)).exp()
        return parts["near"]

    near = calibrated(run, make, 8, of(run, 1024, 8), of(run, 8000, 16))
    ready = near()

    def step(number, anew=True):
        (near() if anew else ready).mean()
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=110)


@second("c42", "torch.cuda.empty_cache() after each step gives all memory back, which the next one takes from the driver "
        "anew", "the whole step: cudaFree and cudaMalloc, for which the main thread waits")
def _(run):
    net = unet(run)

    def step(number, empties=True):
        net.step(number)
        if empties:
            run.torch.cuda.empty_cache()

    return run.steps(step, lambda i: step(i, False), "step {}", limit=90)


@second("c18", "eight kernels that leave most of the GPU idle are spread over four streams, each of which waits for the one "
        "before, so that none runs beside another", "the end of a step: the kernels of logcumsumexp run one after the other")
def _(run):
    net, torch = tower(run, depth=3), run.torch
    streams = [torch.cuda.Stream() for _ in range(4)]
    parts = {}

    def make(size):
        parts["signals"] = [torch.rand(size, 64, device=run.device) for _ in range(8)]
        return lambda: torch.logcumsumexp(parts["signals"][0], 0)

    calibrated(run, make, 1.2, of(run, 1024, 8), of(run, 1 << 17, 16))

    def step(number, serial=True):
        net.step(number)
        main = torch.cuda.current_stream()
        for stream in streams:
            stream.wait_stream(main)
        for at, signal in enumerate(parts["signals"]):
            stream = streams[at % 4]
            if serial:
                stream.wait_stream(streams[(at - 1) % 4])
            with torch.cuda.stream(stream):
                torch.logcumsumexp(signal, 0)
        for stream in streams:
            main.wait_stream(stream)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=100)
