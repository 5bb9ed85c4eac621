# SPDX-License-Identifier: Apache-2.0
"""Programs whose floating-point operations are known: what roofs-gpu records to judge MFU and the roofline by.

    python3 roofs_known.py gemms                     200 products, each timed by CUDA events
    python3 roofs_known.py pure KIND [SECONDS]       one operation for a time: square, ragged, skinny, causal, conv
    python3 roofs_known.py train KIND [SECONDS]      a training: bf16, fp16, checkpoint
    python3 roofs_known.py profile KIND FILE         five steps of that training, or `gemms`, under torch.profiler
    python3 roofs_known.py gpt KIND                  three steps of a small GPT in `lanescope.torch.shapes()`: eager, sdpa
    python3 roofs_known.py bytes                     20 operations on tensors larger than caches, once each, in ranges "bytes N"

The last line of the output is a JSON object with the operations, counted by their formulas and by PyTorch, and the times.
"""

import contextlib
import json
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

import lanescope.torch

nvtx = torch.cuda.nvtx
DEVICE = "cuda"
# A product takes 0.7 ms or more, so that the gap between two launches, some 4 us while recording, is below a percent.
MIN_FLOPS, MAX_FLOPS = 1e12, 6e12
WIDTH, LAYERS, HEADS, LENGTH, BATCH, VOCABULARY = 2048, 12, 16, 1024, 16, 50304
SMALL = 768, 4, 12, 512, 16, 16384  # of the small GPT, which has other attention if "eager"
IS_EAGER = False


def shapes():
    """200 shapes: squares, skinny, ragged, of layers of transformers."""
    sides = [1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192, 12288, 16384]
    ragged = [1000, 1111, 2040, 3000, 4104, 5003, 7777]
    found = []
    for m in sides + ragged:
        for n in (1024, 2048, 4096, 5120, 8192, 11008, 14336, 3000, 4104):
            for k in (1024, 2048, 4096, 8192, 16384):
                if MIN_FLOPS <= 2 * m * n * k <= MAX_FLOPS:
                    found.append((m, n, k))
    step = max(1, len(found) // 67)
    return found[::step][:67]


def products():
    """(precision, m, n, k, function) of 200 products."""
    chosen = shapes()
    for precision, count in (("bf16", 67), ("tf32", 67), ("fp8", 66)):
        for m, n, k in chosen[:count]:
            if precision == "fp8":
                m, n, k = (math.ceil(each / 16) * 16 for each in (m, n, k))
                a = torch.randn(m, k, device=DEVICE).to(torch.float8_e4m3fn)
                b = torch.randn(n, k, device=DEVICE).to(torch.float8_e4m3fn)
                one = torch.ones((), device=DEVICE)
                yield precision, m, n, k, lambda a=a, b=b, one=one: torch._scaled_mm(
                    a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16
                )
            else:
                kind = torch.bfloat16 if precision == "bf16" else torch.float32
                a = torch.randn(m, k, device=DEVICE, dtype=kind)
                b = torch.randn(k, n, device=DEVICE, dtype=kind)
                yield precision, m, n, k, lambda a=a, b=b: torch.mm(a, b)


def timed(call, repeats):
    """Returns the mean time of `repeats` calls by CUDA events, launched while the GPU is busy with something else."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(4_000_000)
    begin.record()
    for _ in range(repeats):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e6 / repeats


def run_gemms(repeats=10):
    torch.backends.cuda.matmul.allow_tf32 = True
    results = []
    # The first use of a context of shapes takes longer than the GPU is kept busy.
    with lanescope.torch.shapes():
        torch.ones(8, device=DEVICE) @ torch.ones(8, device=DEVICE)
    for number, (precision, m, n, k, call) in enumerate(products()):
        for _ in range(2):
            call()
        torch.cuda.synchronize()
        nvtx.range_push(f"gemm {number}")
        with lanescope.torch.shapes() if repeats > 3 else contextlib.nullcontext():
            ns = timed(call, repeats)
        nvtx.range_pop()
        results.append({"precision": precision, "m": m, "n": n, "k": k, "ns": ns, "flops": 2 * m * n * k})
    return {"gemms": results, "repeats": repeats}


def pure_call(kind):
    """(function, operations that are asked for, operations with the padding that is known)"""
    half = torch.bfloat16
    if kind in ("square", "ragged", "skinny"):
        m, n, k = {"square": (8192, 8192, 8192), "ragged": (8200, 8200, 8192), "skinny": (8192, 64, 8192)}[kind]
        a = torch.randn(m, k, device=DEVICE, dtype=half)
        b = torch.randn(k, n, device=DEVICE, dtype=half)
        return lambda: torch.mm(a, b), 2 * m * n * k
    if kind == "causal":
        q, k, v = (torch.randn(8, 16, 4096, 128, device=DEVICE, dtype=half) for _ in range(3))
        return (
            lambda: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
            4 * 8 * 16 * 128 * 4096 * 4097 // 2,
        )
    x = torch.randn(128, 256, 56, 56, device=DEVICE, dtype=half).to(memory_format=torch.channels_last)
    w = torch.randn(256, 256, 3, 3, device=DEVICE, dtype=half).to(memory_format=torch.channels_last)
    return lambda: functional.conv2d(x, w, padding=1), 2 * 128 * 256 * 56 * 56 * 256 * 9


def run_pure(kind, seconds):
    call, flops = pure_call(kind)
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    repeats = max(1, int(0.1e9 / timed(call, 10)))
    steps = []
    torch.cuda.synchronize()
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        with nvtx.range(f"step {len(steps)}"):
            steps.append(timed(call, repeats) * repeats)
    wall = time.perf_counter() - begin
    return {
        "kind": kind,
        "flopsPerStep": flops * repeats,
        "steps": len(steps),
        "wallNs": wall * 1e9,
        "onGpuNs": sum(steps),
        "flopsPerSecond": flops * repeats * len(steps) / wall,
        "whileBusyPerSecond": flops * repeats * len(steps) / (sum(steps) / 1e9),
    }


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.attention(self.first(x)).chunk(3, dim=-1)
        q, k, v = (each.view(*each.shape[:2], HEADS, -1).transpose(1, 2) for each in (q, k, v))
        if IS_EAGER:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            mask = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device=q.device).triu(1)
            mixed = torch.softmax(scores.masked_fill(mask, float("-inf")), -1) @ v
        else:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(functional.gelu(self.up(self.second(x))))


class Model(nn.Module):
    def __init__(self, keeps):
        super().__init__()
        self.keeps = keeps
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x) if self.keeps else checkpoint(block, x, use_reentrant=False)
        return self.head(self.norm(x))


class Training:
    def __init__(self, kind):
        torch.manual_seed(0)
        self.half = torch.float16 if kind == "fp16" else torch.bfloat16
        self.model = Model(kind != "checkpoint").to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5, fused=kind != "eager")
        self.scaler = torch.amp.GradScaler(enabled=kind == "fp16")
        self.tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH), device=DEVICE)

    def loss(self):
        with torch.autocast(DEVICE, dtype=self.half):
            logits = self.model(self.tokens)
            return functional.cross_entropy(logits.view(-1, VOCABULARY), self.tokens.view(-1))

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(self.loss()).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


def counted(kind):
    """Operations of a step: by PyTorch's counter (of the program, with recomputation) and by formulas (of the model)."""
    training = Training(kind)
    with FlopCounterMode(display=False) as counter:
        training.step()
    by_operator = {str(name): flops for name, flops in counter.get_flop_counts()["Global"].items()}
    tokens = BATCH * LENGTH
    matrices = sum(each.numel() for name, each in training.model.named_parameters() if each.dim() == 2)
    matrices -= VOCABULARY * WIDTH  # the embedding is looked up
    pairs = BATCH * LAYERS * WIDTH  # times queries times keys, two products
    return {
        "byPyTorch": counter.get_total_flops(),
        "byOperator": by_operator,
        "sixND": 6 * matrices * tokens,
        "attentionFull": 3 * 4 * pairs * LENGTH * LENGTH,
        "attentionCausal": 3 * 4 * pairs * LENGTH * (LENGTH + 1) // 2,
        "parameters": matrices,
    }


def run_training(kind, seconds):
    truth = counted(kind)
    torch.cuda.empty_cache()
    training = Training(kind)
    for _ in range(5):
        training.step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    steps = 0
    while time.perf_counter() - begin < seconds:
        with nvtx.range(f"step {steps}"):
            training.step()
        torch.cuda.synchronize()
        steps += 1
    truth.update(kind=kind, steps=steps, wallNs=(time.perf_counter() - begin) * 1e9)
    # The same steps with shapes as NVTX ranges, for a report by shape.
    with lanescope.torch.shapes():
        for number in range(3):
            with nvtx.range(f"step {steps + number}"):
                training.step()
            torch.cuda.synchronize()
    return truth


def run_gpt(kind):
    global WIDTH, LAYERS, HEADS, LENGTH, BATCH, VOCABULARY, IS_EAGER
    (WIDTH, LAYERS, HEADS, LENGTH, BATCH, VOCABULARY), IS_EAGER = SMALL, kind == "eager"
    truth = counted(kind)
    training = Training(kind)
    times = {}
    for name, context in (("warm", contextlib.nullcontext), ("plain", contextlib.nullcontext), ("shaped", lanescope.torch.shapes)):
        begin = time.perf_counter()
        for number in range(3):
            with nvtx.range(f"{name} {number}"), context():
                training.step()
            torch.cuda.synchronize()
        times[name] = (time.perf_counter() - begin) / 3 * 1e3
    return {**truth, "kind": kind, "steps": 3, "stepMs": times}


def moving():
    """20 operations on tensors of 0.5 to 2 GiB, by the name that reports have of them."""
    half = torch.bfloat16
    rows, columns = 65536, 8192
    a, b, c = (torch.randn(rows, columns, device=DEVICE, dtype=half) for _ in range(3))
    single = torch.randn(16384, 16384, device=DEVICE)
    square = torch.randn(32768, 32768, device=DEVICE, dtype=half)
    vector = torch.randn(32768, device=DEVICE, dtype=half)
    thin = torch.randn(32768, 16, device=DEVICE, dtype=half)
    weight, bias = (torch.randn(columns, device=DEVICE, dtype=half) for _ in range(2))
    batches = [torch.randn(64, *sizes, device=DEVICE, dtype=half) for sizes in ((4096, 4096), (4096, 32))]
    with torch.no_grad():
        return {
            "add": lambda: torch.add(a, b),
            "mul": lambda: torch.mul(a, b),
            "sub": lambda: torch.sub(a, c),
            "div": lambda: torch.div(a, b),
            "add in place": lambda: a.add_(b),
            "relu": lambda: torch.relu(a),
            "sigmoid": lambda: torch.sigmoid(a),
            "tanh": lambda: torch.tanh(a),
            "gelu": lambda: functional.gelu(a),
            "silu": lambda: functional.silu(a),
            "exp of fp32": lambda: torch.exp(single),
            "sqrt of fp32": lambda: torch.sqrt(single),
            "softmax": lambda: torch.softmax(a, -1),
            "layer_norm": lambda: functional.layer_norm(a, (columns,), weight, bias),
            "sum": lambda: torch.sum(a),
            "copy": lambda: b.copy_(a),
            "fill": lambda: c.fill_(1.0),
            "mv": lambda: torch.mv(square, vector),
            "skinny mm": lambda: torch.mm(square, thin),
            "skinny bmm": lambda: torch.bmm(*batches),
        }


def run_bytes():
    """A kernel `spin_kernel` precedes each operation, so that a profiler without ranges separates them, too."""
    calls = moving()
    for call in calls.values():
        call()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    with lanescope.torch.shapes():
        for number, call in enumerate(calls.values()):
            torch.cuda._sleep(10_000)
            with nvtx.range(f"bytes {number}"):
                call()
            torch.cuda.synchronize()
    torch.cuda.profiler.stop()
    return {"operations": list(calls)}


def run_profile(kind, path):
    truth = {} if kind == "gemms" else counted(kind)
    training = None if kind == "gemms" else Training(kind)
    step = training.step if training else lambda: run_gemms(2)
    if training:
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    both = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=both, record_shapes=True, with_stack=kind != "gemms") as profiler:
        for number in range(3 if training else 1):
            with torch.profiler.record_function(f"step {number}"):
                result = step()
                torch.cuda.synchronize()
    profiler.export_chrome_trace(path)
    return {**truth, **(result or {}), "kind": kind}


def main():
    what, kind, *more = [*sys.argv[1:], ""]
    more = [each for each in more if each]
    if what == "gemms":
        result = run_gemms()
    elif what == "pure":
        result = run_pure(kind, float(more[0] if more else 6))
    elif what == "train":
        result = run_training(kind, float(more[0] if more else 22))
    elif what == "gpt":
        result = run_gpt(kind)
    elif what == "bytes":
        result = run_bytes()
    elif what == "profile":
        result = run_profile(kind, more[0])
    else:
        sys.exit(__doc__)
    result["gpu"] = torch.cuda.get_device_name()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
