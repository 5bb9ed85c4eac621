# SPDX-License-Identifier: Apache-2.0
"""Faults of the third blind set: where batches come from, copies, and what waits for the GPU. The names tell nothing."""

import re
import time
import zlib

from .small_models import of
from .vision_graph_models import repeats
from .task_models import conformer, detector, policy, recommender, routed, tagger, third


@third("d01", "each of the 32 experts of a layer looks for its own tokens by nonzero(), of which only the GPU knows how many "
       "there are", "the forward pass: (chosen == expert).nonzero() waits for the GPU, 128 times a step")
def _(run):
    net = routed(run)

    def step(number, singly=True):
        net.singly = singly
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=60)


@third("d07", "the tables of the embedding bags stay on the CPU, where the main thread looks up and updates them while the GPU "
       "waits", "the start of a step and its end: embedding_bag, its backward pass and the update on the CPU")
def _(run):
    net, torch = recommender(run), run.torch
    bags = [torch.nn.EmbeddingBag(net.table, 64, mode="sum", sparse=True) for _ in range(4)]
    optimizer = torch.optim.SGD([each.weight for each in bags], lr=1e-3)
    ids = net.ids.cpu()

    def step(number):
        net(number, torch.cat([each(chosen) for each, chosen in zip(bags, ids)], 1).to(run.device))
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return run.steps(step, net, "step {}", limit=80)


@third("d09", "the spectrograms of each batch are unpacked by zlib in the main thread, some 18 ms a step",
       "the start of a step: zlib.decompress in the main thread, before anything is launched")
def _(run):
    import numpy

    net, torch = conformer(run), run.torch
    noise = numpy.random.default_rng(4).integers(0, 40, of(run, 1 << 18, 1 << 12)).astype(numpy.uint8)
    packed = zlib.compress(noise.tobytes(), 3)
    count = repeats(run, lambda: zlib.decompress(packed), 18)

    def unpack():
        return [numpy.frombuffer(zlib.decompress(packed), numpy.uint8) for _ in range(count)]

    def step(number, packs=True):
        if packs:
            sounds = torch.from_numpy(numpy.concatenate(unpack()[:8]))
            run.pinned(sounds).to(run.device, non_blocking=True).float().mean()
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=90)


@third("d11", "a DataLoader without workers cuts the texts of a batch into words in the main thread, some 18 ms a step",
       "the start of a step: __getitem__ and the collating of the DataLoader with num_workers=0, in the main thread")
def _(run):
    net, torch = tagger(run), run.torch
    vocabulary = {f"word{number}": number % net.words for number in range(5000)}
    texts = [" ".join(f"Word{(start * 31 + at * 17) % 6000}," for at in range(8)) for start in range(64)]
    split = re.compile(r"\w+")

    def tokens_of(text):
        return [vocabulary.get(word.lower(), 0) for word in split.findall(text)]

    count = of(run, 128, 4)
    times = repeats(run, lambda: [tokens_of(texts[at % 64]) for at in range(count)], 18)
    length, rows = net.batches[0][0].shape

    class Texts(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            return tokens_of(" ".join([texts[index % 64]] * times))

    def collate(lists):
        longest = max(map(len, lists))
        return torch.tensor([each + [0] * (longest - len(each)) for each in lists])

    batches = iter(torch.utils.data.DataLoader(Texts(), batch_size=count, collate_fn=collate, num_workers=0))

    def step(number):
        read = run.pinned(next(batches)).to(run.device, non_blocking=True).flatten()
        words = read.repeat(length * rows // len(read) + 1)[: length * rows].view(length, rows)
        net.step(number, (words, net.batch(number)[1]))

    return run.steps(step, net.step, "step {}", limit=90)


@third("d13", "before each update twelve moves are simulated by NumPy in the main thread, and the GPU has nothing to do "
       "meanwhile", "the start of a step: the simulator (NumPy) between one choice of actions and the next")
def _(run):
    import numpy

    net, torch = policy(run), run.torch
    generator = numpy.random.default_rng(6)
    rows, moves = of(run, 1024, 8), of(run, 12, 2)
    bodies = generator.standard_normal((rows, net.seen)).astype(numpy.float32)
    drift = torch.randn(16, net.seen, device=run.device)

    def simulate(where, actions):
        speed = numpy.take(drift_there, actions, axis=0)
        near = numpy.sqrt(numpy.square(where).sum(1, keepdims=True) + 1e-3)
        return numpy.clip(where + 0.01 * (speed - where / near), -4, 4)

    drift_there = drift.cpu().numpy()
    substeps = repeats(run, lambda: simulate(bodies, numpy.zeros(rows, int)), 1.5)

    def play(where):
        for _ in range(moves):
            seen = torch.from_numpy(where).to(run.device).to(torch.bfloat16)
            actions = net.model(seen)[:, :16].argmax(1).cpu().numpy()
            for _ in range(substeps):
                where = simulate(where, actions)
        return where

    def play_there(where):
        for _ in range(moves):
            speed = drift[net.model(where.to(torch.bfloat16))[:, :16].argmax(1)]
            where = (where + 0.01 * (speed - where / where.norm(dim=1, keepdim=True))).clamp(-4, 4)
        return where

    begins = torch.from_numpy(bodies).to(run.device)

    def step(number, on_cpu=True):
        with torch.no_grad():
            play(bodies) if on_cpu else play_there(begins)
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=80)


@third("d15", "boxes that overlap are left out by a loop that takes the best of those left, and asks the GPU each time whether "
       "there are any", "the end of a step: the loop of `suppress`, `if not left.any()` waits for the GPU up to 120 times")
def _(run):
    net, torch = detector(run), run.torch
    count, most = of(run, 2000, 40), of(run, 120, 5)
    corners = torch.rand(count, 2, device=run.device)
    boxes = torch.cat([corners, corners + 0.02 + 0.05 * torch.rand(count, 2, device=run.device)], 1)
    scores = torch.rand(count, device=run.device)

    def overlap(one, others):
        low, high = torch.maximum(one[..., :2], others[..., :2]), torch.minimum(one[..., 2:], others[..., 2:])
        both = (high - low).clamp(min=0).prod(-1)
        area = lambda some: (some[..., 2:] - some[..., :2]).prod(-1)
        return both / (area(one) + area(others) - both)

    def suppress():
        left, kept = torch.ones(count, dtype=torch.bool, device=run.device), []
        for _ in range(most):
            if not left.any():
                break
            best = torch.where(left, scores, -1.0).argmax()
            kept.append(best)
            left = left & (overlap(boxes.index_select(0, best[None]), boxes) < 0.3)
            left = left & (torch.arange(count, device=run.device) != best)
        return torch.stack(kept)

    def suppress_at_once():
        order = scores.argsort(descending=True)
        found = boxes.index_select(0, order)
        return overlap(found[:, None], found[None]).triu(1).amax(0) < 0.3

    def step(number, choose=suppress):
        net.step(number)
        with torch.no_grad():
            choose()

    return run.steps(step, lambda i: step(i, suppress_at_once), "step {}", limit=60)


@third("d39", "the DataLoader starts its eight workers anew for each epoch of only 16 batches (persistent_workers is off), and "
       "the GPU waits until they are there",
       "every 16th step: iter(loader) starts processes, and its first batch is waited for")
def _(run):
    net, torch = detector(run, depth=3), run.torch
    shape, period = net.batches[0][0].shape, 16

    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return period

        def __getitem__(self, index):
            return torch.full((shape[0], 3, 8, 8), index / period, dtype=torch.bfloat16)

    loader = torch.utils.data.DataLoader(Images(), batch_size=None, num_workers=of(run, 8, 1),
                                         multiprocessing_context="fork")
    spent, state = [], {}

    def step(number):
        if number % period == 0:
            run.sync()
            begin = time.perf_counter()
            state["batches"] = None
            state["batches"] = iter(loader)
            first = next(state["batches"])
            spent.append((time.perf_counter() - begin) * 1e3)
        else:
            first = next(state["batches"])
        images, target = net.batch(number)
        net.step(number, (images + run.pinned(first).to(run.device, non_blocking=True).mean(), target))

    truth = run.steps(step, None, "step {}", limit=150)
    state.clear()
    one = sum(spent[1:]) / max(len(spent) - 1, 1)
    return {**truth, "every": period, "costOfOneMs": round(one, 3), "costMs": round(one / period, 3)}


@third("d41", "the lists of what 300 users clicked become tensors on the GPU one by one, each by a small copy that is waited "
       "for", "the start of a step: torch.tensor(list, device=...), 300 copies HtoD from pageable memory")
def _(run):
    net, torch = recommender(run), run.torch
    clicked = [[(user * 37 + at * 11) % net.table for at in range(40)] for user in range(of(run, 300, 5))]
    ready = run.pinned(torch.tensor(clicked))

    def step(number, singly=True):
        if singly:
            ids = torch.stack([torch.tensor(each, device=run.device) for each in clicked])
        else:
            ids = ready.to(run.device, non_blocking=True)
        ids.float().mean()
        net(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=100)


@third("d47", "the memory of each batch of raw images is pinned anew in each step, and given back at its end",
       "the start and the end of a step: cudaHostRegister and cudaHostUnregister of 160 MB")
def _(run):
    net, torch = conformer(run), run.torch
    raw = [torch.ones(of(run, 160 << 20, 1 << 10), dtype=torch.uint8) for _ in range(3)]
    register = torch.cuda.cudart().cudaHostRegister if run.cuda else lambda *_: 0
    unregister = torch.cuda.cudart().cudaHostUnregister if run.cuda else lambda *_: 0
    fixed = run.pinned(raw[2].clone())

    def step(number, anew=True):
        batch = raw[number % 2] if anew else fixed
        if anew:
            register(batch.data_ptr(), batch.nbytes, 0)
        batch.to(run.device, non_blocking=True).view(-1, 64)[:, 0].float().mean()
        copied = torch.cuda.Event()
        copied.record()
        net.step(number)
        if anew:
            copied.synchronize()
            unregister(batch.data_ptr())

    return run.steps(step, lambda i: step(i, False), "step {}", limit=90)
