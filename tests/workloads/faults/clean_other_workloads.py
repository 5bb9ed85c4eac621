# SPDX-License-Identifier: Apache-2.0
"""Programs of the third blind set in which nothing is wrong: other work than training, and what goes on beside it."""

import random

from .known_architectures import (adamw, apply, dense, encoder, llama, made, of, pictures, pushed, texts, third_clean,
                                  vgg, vit, words_loss)


@third_clean("d26")
def _(run):
    """Texts come in groups of one length each, so that the steps differ."""
    model = llama(run, depth=3)
    optimizer = adamw(run, model.parameters())
    groups = [texts(run, model, 16, length, 2) for length in (1024, 768, 512)]
    order = random.Random(5).choices(range(3), k=400)
    order[:6] = [0, 1, 2, 0, 1, 2]

    def step(number):
        tokens = groups[order[number]][number % 2]
        words_loss(run, model(tokens), tokens).backward()
        apply(optimizer)

    return run.steps(step, step_range="step {}", limit=70, warm_up=6)


@third_clean("d28")
def _(run):
    """A moving average of the weights on the GPU; every 50 steps the mean loss is written down."""
    torch = run.torch
    torch.backends.cudnn.benchmark = True
    model = vgg(run)
    optimizer, batches = adamw(run, model.parameters()), pictures(run, model, 96)
    mine = list(model.parameters())
    average = [each.detach().clone() for each in mine]
    total, kept = torch.zeros((), device=run.device), []

    def step(number):
        images, target = batches[number % 3]
        loss = torch.nn.functional.cross_entropy(model(images).float(), target)
        loss.backward()
        apply(optimizer)
        with torch.no_grad():
            torch._foreach_lerp_(average, mine, 0.001)
        total.add_(loss.detach())
        if number % 50 == 49:
            kept.append(total.item() / 50)
            total.zero_()

    return run.steps(step, step_range="step {}", limit=120)


@third_clean("d30")
def _(run):
    """A matrix as a product of two that are not negative, in float32 with TF32."""
    torch = run.torch
    torch.set_float32_matmul_precision("high")
    rows, columns, rank = of(run, 32768, 64), of(run, 16384, 48), of(run, 2048, 8)
    known = torch.rand(rows, columns, device=run.device)
    left, right = torch.rand(rows, rank, device=run.device), torch.rand(rank, columns, device=run.device)

    def iteration(number):
        right.mul_((left.T @ known).div_(((left.T @ left) @ right).add_(1e-6)))
        left.mul_((known @ right.T).div_((left @ (right @ right.T)).add_(1e-6)))

    return run.steps(iteration, step_range="iteration {}", limit=110)


@third_clean("d32")
def _(run):
    """A wave in a potential, step by step in space and in frequencies."""
    torch = run.torch
    side, count = of(run, 4096, 16), of(run, 4, 1)
    line = torch.linspace(-1, 1, side, device=run.device)
    square = line[:, None].square() + line.square()
    frequency = torch.fft.fftfreq(side, device=run.device)
    potential = torch.polar(torch.ones_like(square), -square)
    # Holds the factor that belongs to a transform and its inverse.
    motion = torch.polar(torch.full_like(square, side ** -2.0), -frequency[:, None].square() - frequency.square())
    state = [torch.exp(-20 * square).to(torch.complex64).repeat(count, 1, 1)]

    def advance(number):
        wave = state.pop()
        for _ in range(12):
            wave = torch.fft.fft2(wave.mul_(potential))
            wave = torch.fft.ifft2(wave.mul_(motion), norm="forward")
        state.append(wave)

    return run.steps(advance, step_range="step {}", limit=100)


@third_clean("d34")
def _(run):
    """The price of an option by many paths, each kernel as fast as the memory allows."""
    torch = run.torch
    paths, times = of(run, 1 << 27, 1 << 10), of(run, 24, 4)
    noise, place, highest = (torch.empty(paths, device=run.device) for _ in range(3))
    total = torch.zeros((), device=run.device)

    def simulate(number):
        place.zero_()
        highest.zero_()
        for _ in range(times):
            noise.normal_(-0.0002, 0.02)
            place.add_(noise)
            torch.maximum(highest, place, out=highest)
        total.add_(highest.expm1_().sub_(0.1).relu_().mean())

    truth = run.steps(simulate, limit=90)
    total.item()
    return truth


@third_clean("d36")
def _(run):
    """A language model scores texts; the scores go to pinned memory without waiting."""
    torch = run.torch
    model = llama(run, depth=6).eval()
    written = texts(run, model, 8, 2048)
    kept = [run.pinned(torch.zeros(len(written[0]), dtype=torch.long)) for _ in range(8)]

    def request(number):
        with torch.inference_mode():
            tokens = written[number % 4]
            right = model(tokens).argmax(2) == tokens.roll(-1, 1)
            kept[number % 8].copy_(right.sum(1), non_blocking=True)

    return run.steps(request, step_range="request {}", limit=80)


@third_clean("d38")
def _(run):
    """Three worker processes and pinned memory; a stream of its own brings the next batch."""
    import numpy
    torch = run.torch
    count, side, classes = of(run, 192, 2), of(run, 96, 16), of(run, 200, 16)
    stock = numpy.random.default_rng(1).integers(0, 256, (of(run, 1024, 8), side, side, 3), dtype=numpy.uint8)

    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 16

        def __getitem__(self, index):
            chosen = numpy.random.default_rng(index).integers(0, len(stock), count)
            return torch.from_numpy(stock[chosen]), torch.from_numpy(chosen % classes)

    loader = torch.utils.data.DataLoader(Images(), batch_size=None, num_workers=of(run, 3, 1), prefetch_factor=2,
                                         pin_memory=run.cuda, multiprocessing_context="fork")
    batches = iter(loader)
    model = vgg(run, side=96)
    optimizer, side_stream, ready = adamw(run, model.parameters()), torch.cuda.Stream(), []

    def fetch():
        images, target = next(batches)
        with torch.cuda.stream(side_stream):
            ready.append([each.to(run.device, non_blocking=True) for each in (images, target)])

    fetch()

    def step(number):
        main = torch.cuda.current_stream()
        main.wait_stream(side_stream)
        images, target = ready.pop()
        images.record_stream(main)
        target.record_stream(main)
        fetch()
        values = images.permute(0, 3, 1, 2).to(torch.bfloat16).div_(255)
        torch.nn.functional.cross_entropy(model(values).float(), target).backward()
        apply(optimizer)

    return run.steps(step, step_range="step {}", limit=80)


@third_clean("d40")
def _(run):
    """A teacher answers the next batch in a stream of its own while the student learns this one."""
    torch = run.torch
    rows, entering, leaving = of(run, 16384, 16), of(run, 1024, 16), of(run, 1024, 16)
    teacher = dense(run, entering, of(run, 4096, 32), 5, leaving).eval()
    student = dense(run, entering, of(run, 3072, 24), 4, leaving)
    optimizer = adamw(run, student.parameters())
    values = [torch.randn(rows, entering, device=run.device, dtype=torch.bfloat16) for _ in range(4)]
    answers = torch.empty(2, rows, leaving, device=run.device, dtype=torch.bfloat16)
    side = torch.cuda.Stream()
    told, used = ([torch.cuda.Event() for _ in range(2)] for _ in range(2))
    side.wait_stream(torch.cuda.current_stream())

    def teach(number):
        with torch.cuda.stream(side), torch.no_grad():
            side.wait_event(used[number % 2])
            answers[number % 2].copy_(teacher(values[number % 4]))
            told[number % 2].record(side)

    teach(0)

    def step(number):
        main = torch.cuda.current_stream()
        teach(number + 1)
        main.wait_event(told[number % 2])
        torch.nn.functional.mse_loss(student(values[number % 4]), answers[number % 2]).backward()
        used[number % 2].record(main)
        apply(optimizer)

    return run.steps(step, step_range="step {}", limit=90)


@third_clean("d42")
def _(run):
    """A policy acts in many worlds that are simulated on the GPU, and learns from what came of it."""
    torch = run.torch
    worlds, seen, acts, width, turns = of(run, 32768, 16), of(run, 512, 16), of(run, 128, 8), of(run, 2048, 32), 4
    policy = dense(run, seen, width, 3, acts)
    critic = dense(run, seen, width, 2, 1)
    optimizer = adamw(run, [*policy.parameters(), *critic.parameters()])
    options = {"device": run.device, "dtype": torch.bfloat16}
    law, push = torch.randn(seen, seen, **options) / seen ** 0.5, torch.randn(acts, seen, **options) / acts ** 0.5
    states = torch.randn(turns + 1, worlds, seen, **options)
    actions, rewards = torch.empty(turns, worlds, acts, **options), torch.empty(turns, worlds, 1, **options)

    def update(number):
        with run.range("act"), torch.no_grad():
            states[0].copy_(states[turns])
            for turn in range(turns):
                torch.add(policy(states[turn]), torch.randn_like(actions[turn]), alpha=0.3, out=actions[turn])
                torch.tanh(torch.addmm(states[turn] @ law, actions[turn], push), out=states[turn + 1])
                torch.mean(states[turn + 1].square().neg_(), 1, keepdim=True, out=rewards[turn])
        with run.range("learn"):
            value = critic(states[:turns])
            better = rewards - value
            unlike = (policy(states[:turns]) - actions).square().mean(2, keepdim=True)
            (better.square().mean() + (unlike * better.detach()).mean()).backward()
            apply(optimizer)

    return run.steps(update, step_range="update {}", limit=80)


@third_clean("d44")
def _(run):
    """Groups points around means that move, a part of the points at a time."""
    torch = run.torch
    points, parts, means, width = of(run, 1 << 20, 64), 4, of(run, 4096, 8), of(run, 512, 16)
    values = torch.randn(points, width, device=run.device)
    short = values.to(torch.bfloat16)
    centre, ones = values[:means].clone(), torch.ones(points // parts, device=run.device)
    sums, counts = torch.empty_like(centre), torch.empty(means, device=run.device)

    def iteration(number):
        near, away = centre.to(torch.bfloat16).T, centre.square().sum(1).mul_(-0.5).to(torch.bfloat16)
        sums.zero_()
        counts.fill_(1e-6)
        for whole, part in zip(values.chunk(parts), short.chunk(parts)):
            own = torch.addmm(away, part, near).argmax(1)
            sums.index_add_(0, own, whole)
            counts.index_add_(0, own, ones)
        torch.div(sums, counts[:, None], out=centre)

    return run.steps(iteration, limit=90)


@third_clean("d46")
def _(run):
    """Images and their captions are brought together."""
    torch, nn = run.torch, run.torch.nn
    functional, count = nn.functional, of(run, 192, 2)
    words, length, width = of(run, 8192, 64), of(run, 128, 8), of(run, 1024, 32)
    looks = vit(run, depth=4, classes=512)

    class Reads(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.layers = nn.Embedding(words, width), encoder(run, width, 3, of(run, 16, 4))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, looks.classes)

        def forward(self, tokens):
            return self.head(self.norm(self.layers(self.words(tokens))).mean(1))

    reads = made(run, Reads)
    optimizer = adamw(run, [*looks.parameters(), *reads.parameters()])
    images = [each[0] for each in pictures(run, looks, 192)]
    tokens = torch.randint(0, words, (3, count, length), device=run.device)
    same = torch.arange(count, device=run.device)

    def step(number):
        with pushed(run, f"step {number}"):
            with pushed(run, "encode"):
                seen = functional.normalize(looks(images[number % 3]), dim=1)
                told = functional.normalize(reads(tokens[number % 3]), dim=1)
                scores = (seen @ told.T).float() * 20
            with pushed(run, "learn"):
                (functional.cross_entropy(scores, same) + functional.cross_entropy(scores.T, same)).backward()
                apply(optimizer)

    return run.steps(step, limit=60)


@third_clean("d48")
def _(run):
    """PyTorch's own encoder fills in words that are hidden."""
    torch, nn = run.torch, run.torch.nn
    width, rows, length, words = of(run, 2048, 32), of(run, 24, 2), of(run, 512, 16), of(run, 8192, 64)

    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(width, of(run, 16, 4), 4 * width, 0.1, "gelu", batch_first=True,
                                               norm_first=True)
            self.words, self.layers = nn.Embedding(words, width), nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
            self.head = nn.Linear(width, words)

        def forward(self, tokens):
            return self.head(self.layers(self.words(tokens)))

    model = made(run, Hidden)
    optimizer = adamw(run, model.parameters())
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda number: min((number + 1) / 100, 1))
    tokens = [torch.randint(1, words, (rows, length), device=run.device) for _ in range(4)]

    def step(number):
        text = tokens[number % 4]
        found = model(text.masked_fill(torch.rand(rows, length, device=run.device) < 0.15, 0))
        nn.functional.cross_entropy(found.flatten(0, 1), text.flatten()).backward()
        apply(optimizer)
        schedule.step()

    return run.steps(step, step_range="batch {}", limit=80)
