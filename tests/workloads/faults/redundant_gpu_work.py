# SPDX-License-Identifier: Apache-2.0
"""Faults of the GPU's own work in the third blind set: kernels, copies on the GPU, memory. The names tell nothing."""

from .small_models import Training, of, pairs
from .common import calibrated
from .task_models import attention_graph, contrastive, detector, generator, policy, recommender, third


@third("d03", "a matrix that whitens the outcomes was read as float64, so that all that follows is computed in float64",
       "the loss: products, softmax and their backward passes in double precision")
def _(run):
    import numpy

    net, torch = contrastive(run), run.torch
    whitens = torch.from_numpy(numpy.eye(net.width) + 0.01).to(run.device)

    def step(number, kind=torch.float64):
        matrix = whitens.to(kind)
        net.match = lambda left, right: (left.to(kind) @ matrix) @ (right.to(kind) @ matrix).T
        net.step(number)

    return run.steps(step, lambda i: step(i, torch.bfloat16), "step {}", limit=90)


@third("d17", "the identifiers of all edges are made unique anew in each step, by a sort of tens of millions of numbers",
       "the start of a step: the kernels with which torch.unique sorts")
def _(run):
    net, torch = attention_graph(run), run.torch
    parts = {}

    def make(size):
        parts["edges"] = torch.randint(0, 1 << 40, (size,), device=run.device)
        return lambda: torch.unique(parts["edges"], return_inverse=True)

    calibrated(run, make, 9, of(run, 1 << 20, 64), of(run, 1 << 26, 256))
    ready = torch.unique(parts["edges"], return_inverse=True)[0]

    def step(number, anew=True):
        found = torch.unique(parts["edges"], return_inverse=True)[0] if anew else ready
        found[:1000].float().mean()
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=100)


@third("d21", "images are blurred by one convolution of 31 x 31 a channel where two of 31 numbers each would do",
       "the start of a step: the kernel of the depthwise convolution in `blur`")
def _(run):
    net, torch = detector(run, depth=3), run.torch
    wide = of(run, 31, 5)
    line = torch.hann_window(wide + 2, periodic=False, device=run.device)[1:-1]
    line = line / line.sum()
    square = torch.outer(line, line).expand(3, 1, wide, wide).contiguous()
    across, along = (line.expand(3, 1, wide).contiguous().view(3, 1, *shape) for shape in ((1, wide), (wide, 1)))
    parts, turn = {}, torch.nn.functional.conv2d

    def blur():
        return turn(parts["photos"], square, padding=wide // 2, groups=3)

    def blur_twice():
        once = turn(parts["photos"], across, padding=(0, wide // 2), groups=3)
        return turn(once, along, padding=(wide // 2, 0), groups=3)

    def make(size):
        parts["photos"] = torch.rand(size, 3, of(run, 256, 16), of(run, 256, 16), device=run.device)
        return blur

    calibrated(run, make, 10, of(run, 8, 1), of(run, 384, 2))

    def step(number, first=blur):
        with torch.no_grad():
            first().mean()
        net.step(number)

    return run.steps(step, lambda i: step(i, blur_twice), "step {}", limit=100)


@third("d23", "the replay memory of 4 GB is moved on by a few rows in each step, for which all of it is copied twice on the "
       "GPU", "the start of a step: copies DtoD of clone() and copy_(), 4 GB each")
def _(run):
    net, torch = policy(run), run.torch
    rows, wide, new = of(run, 1 << 20, 64), of(run, 4096, 16), of(run, 2048, 4)
    memory = torch.zeros(rows, wide, dtype=torch.uint8, device=run.device)
    fresh = torch.ones(new, wide, dtype=torch.uint8, device=run.device)

    def step(number, moves=True):
        if moves:
            memory[:-new].copy_(memory[new:].clone())
            memory[-new:] = fresh
        else:
            at = number * new % (rows - new)
            memory[at : at + new] = fresh
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=110)


@third("d25", "the keys and values of all tokens so far are copied by torch.cat for each new token, 3 GB each time",
       "the whole step: the kernels of torch.cat")
def _(run):
    generate, torch = generator(run), run.torch

    def with_new(cache, at, new):
        return torch.cat([cache, new], 3)

    return run.steps(lambda i: generate(i, with_new), generate, "tokens {}", limit=90)


@third("d43", "between the convolutions of a net in channels_last each block makes its values contiguous in the other layout, "
       "and back again", "forward and backward pass: copies that only transpose, by .contiguous() and in the convolutions")
def _(run):
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(52)
    count, channels, side = of(run, 64, 2), of(run, 128, 8), of(run, 64, 8)
    state = {"turns": False}

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.turn, self.norm = nn.Conv2d(channels, channels, 3, padding=1), nn.LayerNorm(channels)

        def forward(self, values):
            found = self.norm(self.turn(values).permute(0, 2, 3, 1).contiguous()).permute(0, 3, 1, 2)
            if state["turns"]:
                found = found.contiguous()
            return values + nn.functional.relu(found)

    model = nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), *[Block() for _ in range(7)], nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(channels, 10))
    model = model.to(run.device, torch.bfloat16, memory_format=torch.channels_last)
    images = torch.randn(count, 3, side, side).to(torch.bfloat16, memory_format=torch.channels_last)
    net = Training(run, model, pairs(run, images, torch.randint(0, 10, (count,))))

    def step(number, turns=True):
        state["turns"] = turns
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=110)


@third("d45", "the gradient of a table of 4 million users is dense: all of its 4 GB are filled with zeros and all of the table "
       "is updated for the 16 thousand rows that a batch has",
       "the backward pass: the filling in embedding_dense_backward; the update of the whole table")
def _(run):
    net, torch = recommender(run), run.torch
    users, wide = of(run, 4_000_000, 100), 256
    table = torch.zeros(users, wide, device=run.device).requires_grad_()
    optimizer = torch.optim.SGD([table], lr=1e-3)
    seen = torch.randint(0, users, (net.rows,), device=run.device)

    def step(number, dense=True):
        if dense:
            net(number, torch.nn.functional.embedding(seen, table))
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        else:
            rows = table.detach().index_select(0, seen).requires_grad_()
            net(number, rows)
            table.detach().index_add_(0, seen, rows.grad, alpha=-1e-3)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=110)
