# SPDX-License-Identifier: Apache-2.0
"""Faults of the second blind set: what waits for the GPU, copies, and where batches come from. The names tell nothing."""

import json

from .small_models import numpy_work, of, seldom
from .vision_graph_models import lstm, mixer, repeats, second, tower, unet, vision


@second("c07", "an iterative solver asks after each of its 64 iterations whether the error is small enough, which only the "
        "GPU knows", "the whole solve: `if error < limit` (aten::is_nonzero, .item()) waits for the GPU")
def _(run):
    torch = run.torch
    torch.manual_seed(31)
    width = of(run, 8192, 64)
    matrix = torch.randn(width, width, device=run.device) / (2 * width ** 0.5)
    right, limit = torch.randn(width, 1, device=run.device), 0.0

    def solve(number, asks=True):
        found = right
        with torch.no_grad():
            for _ in range(64):
                after = right + matrix @ found
                error = (after - found).square().sum()
                found = after
                if asks and error < limit:
                    break

    return run.steps(solve, lambda i: solve(i, False), "solve {}", limit=100)


@second("c12", "of each of 64 images the boxes with a good score are chosen by a mask, the size of which the thread "
        "waits for", "the end of a step: boxes[mask] (aten::nonzero) waits for the GPU, once an image")
def _(run):
    net, torch = unet(run), run.torch
    images, boxes = of(run, 64, 4), of(run, 20000, 50)
    corners = torch.rand(images, boxes, 4, device=run.device)
    scores = torch.rand(images, boxes, device=run.device)

    def step(number, single=True):
        net.step(number)
        if single:
            return [corners[image][scores[image] > 0.7].mean(0) for image in range(images)]
        good = (scores > 0.7).unsqueeze(2)
        return (corners * good).sum(1) / good.sum(1)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=100)


@second("c19", "the norm of the gradient of each of some 130 parameters is read by float(), one after the other, for the log",
        "after the backward pass: float(norm) (.item()) waits for the GPU, once a parameter")
def _(run):
    net, torch = vision(run, depth=10, count=24), run.torch
    norms = {}

    def step(number, singly=True):
        net.backward(*net.batch(number))
        if singly:
            for name, each in net.model.named_parameters():
                norms[name] = float(each.grad.norm())
        else:
            norms["all"] = torch._foreach_norm([each.grad for each in net.model.parameters()])
        net.update()

    return run.steps(step, lambda i: step(i, False), "train {}", limit=100)


@second("c02", "the 85 MB of images of a batch are in memory that is not pinned when they are copied to the GPU",
        "the start of a step: the copy HtoD from pageable memory")
def _(run):
    net, torch = unet(run), run.torch
    count, side = len(net.batches[0][0]), net.batches[0][0].shape[2] * 3
    plain = [torch.rand(count, 3, side, side) for _ in range(2)]
    fixed = [run.pinned(each.clone()) for each in plain]

    def step(number, source=plain):
        large = source[number % 2].to(run.device, non_blocking=True)
        small = torch.nn.functional.avg_pool2d(large, 3).to(torch.bfloat16, memory_format=torch.channels_last)
        net.step(number, (small, net.batch(number)[1]))

    return run.steps(step, lambda i: step(i, fixed), "step {}", limit=110)


@second("c24", "the scores of all classes for all pixels are copied to the CPU, 100 MB a batch, where their largest would do",
        "the end of a batch: .cpu() of the scores, a copy DtoH into pageable memory")
def _(run):
    net, torch = unet(run, count=96, classes=32), run.torch
    images = net.batches[0][0].to(run.device)
    kept = run.pinned(torch.zeros(len(images), *images.shape[2:], dtype=torch.uint8))

    def segment(number, whole=True):
        with torch.no_grad():
            scores = net.model(images)
            if whole:
                return scores.cpu()
            return kept.copy_(scores.argmax(1).to(torch.uint8), non_blocking=True)

    return run.steps(segment, lambda i: segment(i, False), "batch {}", limit=100)


@second("c33", "the moving average of the weights, 200 MB, lives on the CPU and goes to the GPU and back in each step",
        "the end of a step: a copy HtoD and one DtoH of 200 MB, during which no kernel runs")
def _(run):
    net, torch = vision(run, depth=4), run.torch
    flat = lambda: torch.cat([each.detach().flatten() for each in net.model.parameters()]).float()
    here = flat()
    there = run.pinned(here.cpu())

    def step(number, travels=True):
        net.step(number)
        now = flat()
        if travels:
            average = there.to(run.device, non_blocking=True).lerp_(now, 0.01)
            there.copy_(average, non_blocking=True)
        else:
            here.lerp_(now, 0.01)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=100)


@second("c06", "two worker processes of the DataLoader need 40 ms for each batch, so that one comes only every 20 ms",
        "the start of a step: the main thread waits for the DataLoader's next batch")
def _(run):
    torch, net = run.torch, tower(run, depth=4)
    milliseconds, (rows, wide) = of(run, 40, 2), net.batches[0][0].shape

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            numpy_work(milliseconds)
            return torch.full((rows, wide), 0.5, dtype=torch.bfloat16)

    loader = torch.utils.data.DataLoader(Rows(), batch_size=None, num_workers=2, pin_memory=run.cuda,
                                         multiprocessing_context="fork")
    batches = iter(loader)

    def step(number):
        values = next(batches).to(run.device, non_blocking=True)
        net.step(number, (values, net.batch(number)[1]))

    return run.steps(step, net.step, "step {}", limit=100)


@second("c31", "crops are cut, turned and scaled by NumPy in the main thread, some 18 ms a step",
        "the start of a step: NumPy and Python of the main thread, before anything is launched")
def _(run):
    import numpy

    net, torch = vision(run, depth=4), run.torch
    generator = numpy.random.default_rng(3)
    photos = generator.integers(0, 255, (8, 256, 256, 3), dtype=numpy.uint8)

    def crop(which=0):
        top, left = generator.integers(0, 128, 2)
        part = photos[which % 8, top : top + 96, left : left + 96]
        part = part[:, ::-1] if top % 2 else part
        values = (part.astype(numpy.float32) / 255 - 0.45) / 0.23
        return numpy.clip(values * (1 + left / 1000), -2, 2)[::2, ::2]

    count = repeats(run, crop, 18)

    def step(number, cuts=True):
        if cuts:
            crops = torch.from_numpy(numpy.stack([crop(which) for which in range(count)]))
            run.pinned(crops).to(run.device, non_blocking=True).mean()
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=100)


@second("c21", "after every 12th step the next part of the records is read from JSON by the main thread while the GPU waits",
        "after every 12th step: json.loads in the main thread")
def _(run):
    net, kept = mixer(run), []
    text = json.dumps([{"id": number, "text": f"record {number}", "score": number / 7} for number in
                       range(of(run, 90_000, 200))])

    def refill():
        kept[:] = json.loads(text)[:100]

    return seldom(run, net.step, refill, 12, "step {}", 130)


@second("c30", "after every 16th step the scores of an evaluation become Python lists, and Python ranks them, while the GPU "
        "waits", "after every 16th step: .tolist() and sorting in the main thread")
def _(run):
    net, torch, ranks = lstm(run), run.torch, []

    def evaluate():
        with torch.no_grad():
            scores = net.model(net.batch(0)[0])[-1, : of(run, 300, 2)].float()
        ranks.clear()
        for row in scores.tolist():
            order = sorted(range(len(row)), key=lambda at: -row[at])
            ranks.append(order.index(len(ranks) % len(row)))

    return seldom(run, net.step, evaluate, 16, "step {}", 130)
