# SPDX-License-Identifier: Apache-2.0
"""Faults of what the GPU is given to do: too small, too many, too slow, waited for too often."""

from .common import Net, busy, calibrated, program
from .xla import by_jax


@program("item-each-step", "the loss is read by .item() each step, so the 7 ms of Python that follow no longer overlap with "
         "the GPU's work", "the end of a step: loss.item() waits for the GPU, and then the GPU for the thread")
def _(run):
    net, log = Net(run), []

    def step(number):
        log.append(net.step(number).item())
        busy(7)

    def good(number):
        net.step(number)
        busy(7)

    return run.steps(step, good, "step {}")


@program("many-syncs", "gradients are clipped by a loop that reads the norm of each of 100 parameters by .item()",
         "between backward and optimizer: 100 waits for the GPU a step")
def _(run):
    net = Net(run, width=1024, depth=49, rows=16384)

    def clip(read):
        for each in net.model.parameters():
            norm = each.grad.norm()
            if read and norm.item() > 1e9:
                each.grad.mul_(0.1)

    def step(number, read=True):
        net.backward(net.batch(number))
        clip(read)
        net.update()

    return run.steps(step, lambda i: step(i, False), "step {}", limit=36)


@program("tiny-kernels", "a recurrence is written as a loop over 500 time steps of tiny elementwise kernels",
         "the middle of a step: some 1500 kernels of a few microseconds, launched more slowly than they run")
def _(run):
    net, torch = Net(run, depth=3), run.torch
    values = torch.randn(run.size(500), 256, device=run.device)

    def step(number):
        state = torch.zeros(256, device=run.device)
        for each in values:
            state = torch.tanh(state * 0.9 + each)
        net.step(number)

    return run.steps(step, lambda i: net.step(i), "step {}", limit=24)


@program("unfused-optimizer", "the optimizer goes over 130 small parameters one by one, some 15 small kernels for each",
         "the optimizer's step: launch-bound")
def _(run):
    net = Net(run, width=768, depth=64, rows=16384, fused=False)
    torch = run.torch
    good = torch.optim.AdamW(net.model.parameters(), lr=1e-5, fused=True) if run.cuda else net.optimizer
    slow = net.optimizer

    def step(number, optimizer=slow):
        net.optimizer = optimizer
        net.step(number)

    return run.steps(step, lambda i: step(i, good), "step {}", limit=24)


@program("straggling-kernel", "an index_add whose indices are all the same runs as one slow kernel, its additions one after "
         "the other", "the middle of a step: one kernel of aten::index_add_ that is as long as all others")
def _(run):
    net, torch = Net(run), run.torch
    into = torch.zeros(4096, 1, device=run.device)

    def make(size):
        places, values = torch.zeros(size, dtype=torch.long, device=run.device), torch.ones(size, 1, device=run.device)
        return lambda: into.index_add_(0, places, values)

    slow = calibrated(run, make, 10, run.size(1 << 21), 1 << 28 if run.cuda else 1 << 12)

    def step(number):
        loss = net.backward(net.batch(number))
        slow()
        net.update()
        return loss

    return run.steps(step, lambda i: net.step(i), "step {}")


@program("one-block", "a softmax over a single row runs in one block, so that all but one multiprocessor idle for it",
         "the middle of a step: the softmax kernel with one block")
def _(run):
    net, torch = Net(run), run.torch

    def make(size):
        row = torch.randn(1, size, device=run.device)
        return lambda: torch.softmax(row, 1)

    slow = calibrated(run, make, 10, run.size(1 << 22), 1 << 30 if run.cuda else 1 << 14)

    def step(number):
        slow()
        net.step(number)

    return run.steps(step, lambda i: net.step(i))


@program("memset-excess", "a workspace of 24 GB is cleared each step, though nothing reads it before it is written",
         "the start of a step: zero_() of the workspace, as memset or fill kernel")
def _(run):
    net, torch = Net(run), run.torch
    work = torch.empty(24 << 30 if run.cuda else 1 << 20, dtype=torch.uint8, device=run.device)

    def step(number):
        work.zero_()
        net.step(number)

    return run.steps(step, lambda i: net.step(i), "step {}")


@program("serialised-streams", "two branches on two streams, each too small to fill the GPU, wait for each other after every "
         "kernel though they are independent", "the whole step: kernels of two streams that never overlap")
def _(run):
    torch = run.torch
    side = [torch.cuda.Stream(), torch.cuda.Stream()]
    weights = [torch.randn(2048, 2048, device=run.device, dtype=torch.bfloat16) / 45 for _ in range(2)]
    values = [torch.randn(128, 2048, device=run.device, dtype=torch.bfloat16) for _ in range(2)]
    long = [torch.randn(24, run.size(1 << 20), device=run.device) for _ in range(2)]

    def branches(waiting):
        for _ in range(20):
            for which in range(2):
                with torch.cuda.stream(side[which]):
                    if waiting:
                        side[which].wait_stream(side[1 - which])
                    values[which] = torch.tanh(values[which] @ weights[which])
                    torch.softmax(long[which], 1)

    def step(number, waiting=True):
        for each in side:
            each.wait_stream(torch.cuda.current_stream())
        branches(waiting)
        for each in side:
            torch.cuda.current_stream().wait_stream(each)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=120)


@program("anomaly-mode", "autograd's anomaly mode is on: it looks for NaN after each operator of backward and keeps stacks",
         "the backward pass: a check and a wait for the GPU after each operator")
def _(run):
    net = Net(run, width=1024, depth=40, rows=16384)

    def step(number):
        with run.torch.autograd.set_detect_anomaly(True):
            net.step(number)

    return run.steps(step, lambda i: net.step(i), "step {}", limit=40)


@program("recompile", "torch.compile compiles the model anew in each step, since each has a shape of its own",
         "the start of a step: the main thread compiles in torch._dynamo while the GPU is idle")
def _(run):
    net, torch = Net(run, depth=2), run.torch
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1000
    fast = torch.compile(net.model, backend="aot_eager", dynamic=False)

    def step(number, shapes=True):
        rows = net.rows - (number % 1000 if shapes else 0)
        loss = torch.nn.functional.cross_entropy(fast(net.batch(number)[:rows]).float(), net.labels[:rows])
        loss.backward()
        net.update()

    return run.steps(step, lambda i: step(i, False), "step {}", limit=40)


@program("mask-sync", "each of 60 layers picks rows by a boolean mask, whose count the CPU waits for",
         "the forward pass: aten::nonzero and a wait for the GPU in each layer")
def _(run):
    net = Net(run, width=1024, depth=30, rows=16384)
    torch = run.torch
    values = torch.randn(net.rows, 256, device=run.device)

    def step(number, waits=True):
        kept = values
        for layer in range(60):
            mask = kept[:, layer] > -2
            kept = kept[mask] * 1.01 if waits else torch.where(mask[:, None], kept, 0) * 1.01
            if waits:
                kept = torch.nn.functional.pad(kept, (0, 0, 0, net.rows - kept.shape[0]))
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=30)


@program("eager-decode", "tokens are decoded one at a time without a CUDA graph, so that the GPU waits for launches",
         "the whole of a request: launch-bound kernels of some microseconds")
def _(run):
    torch, nn = run.torch, run.torch.nn
    layers = nn.Sequential(*[nn.Sequential(nn.LayerNorm(1024), nn.Linear(1024, 2048), nn.GELU(), nn.Linear(2048, 1024))
                             for _ in range(16 if run.cuda else 2)]).to(run.device, torch.bfloat16)
    words = torch.randn(4000, 1024, device=run.device, dtype=torch.bfloat16)
    state = torch.randn(1, 1024, device=run.device, dtype=torch.bfloat16)

    def decode():
        value = state
        for layer in layers:
            value = value + layer(value)
        state.copy_(words[(value @ words.T).argmax(1)])

    with torch.no_grad():
        for _ in range(3):
            decode()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decode()
        good = run.timed(graph.replay, 20)

        def request(number):
            for _ in range(10):
                decode()

        truth = run.steps(request, None, "request {}", limit=40)
    truth["costMs"], truth["withoutMs"] = round(truth["stepMs"] - good * 10, 3), round(good * 10, 3)
    return truth


@program("no-tensor-cores", "the matrix products run in float32 without TF32, so not on the tensor cores",
         "forward and backward: the kernels of the products, sgemm of float32")
def _(run):
    net, torch = Net(run, width=2048, depth=6, rows=4096, dtype=run.torch.float32), run.torch

    def good(number):
        torch.backends.cuda.matmul.allow_tf32 = True
        net.step(number)

    def step(number):
        torch.backends.cuda.matmul.allow_tf32 = False
        net.step(number)

    return run.steps(step, good, "step {}")


@program("jax-recompile", "a small function of JAX gets another shape in each step and is compiled each time while the GPU waits",
         "the end of a step: jax.jit traces and compiles in the main thread")
def _(run):
    made = []

    def measure(number, jax):
        if not made:
            made.append(jax.jit(lambda values: (values * 2 + 1).sum()))
        made[0](jax.numpy.ones((100 + number, 16))).block_until_ready()

    return by_jax(run, True, measure)
