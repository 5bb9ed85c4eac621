# SPDX-License-Identifier: Apache-2.0
"""A fixed list of NCCL operations of known sizes and types, timed by CUDA events, to compare with
what Lanescope records of them. Rank 0 prints a line an operation; every other line begins with #.

    lanescope record --nccl plugin -o known.lanescope -- \
        python3 -m torch.distributed.run --standalone --nproc-per-node=2 nccl_known.py > known.txt
    lanescope stats -r nccl_sum -f json known.lanescope > known.json
    python3 nccl_known.py --check known.txt known.json

The check needs no GPU. It compares counts exactly, and the median time on the GPU and the bus
bandwidth within --tolerance (a share; events also hold the gaps around a kernel, so small messages
are compared loosely).
"""

import argparse
import json
import os
import sys

MIB = 1 << 20
FIELDS = ("operation", "type", "bytes", "ranks", "calls", "median_us", "algbw", "busbw", "kernel")


def traffic(operation, size, ranks):
    """Bytes of the algorithm and of the bus, by the arithmetic of nccl-tests; `size` is NCCL's."""
    if operation == "AllReduce":
        return size, size * 2 * (ranks - 1) / ranks
    if operation in ("AllGather", "ReduceScatter", "AlltoAll"):
        return size * ranks, size * (ranks - 1)
    return size, size


class Bench:
    def __init__(self, torch, dist, options):
        self.torch, self.dist, self.options = torch, dist, options
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.device = torch.device("cuda", torch.cuda.current_device())

    def tensor(self, size, dtype):
        return self.torch.ones(size // dtype.itemsize, dtype=dtype, device=self.device)

    def run(self, label, work, operation, dtype, size, ranks=None, calls_each=1, kernel="own"):
        """Does `work` again and again; `calls_each` NCCL calls are made by it on each rank."""
        torch, options = self.torch, self.options
        ranks = ranks or self.ranks
        torch.cuda.synchronize()
        pairs = []
        with torch.cuda.nvtx.range("known " + label):
            for _ in range(options.warmup + options.repeat):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                work()
                end.record()
                pairs.append((begin, end))
            torch.cuda.synchronize()
        times = sorted(b.elapsed_time(e) * 1e3 for b, e in pairs[options.warmup :])
        median = times[len(times) // 2]
        algorithm, bus = traffic(operation, size, ranks)
        calls = calls_each * (options.warmup + options.repeat) * self.callers(operation)
        self.line(
            label,
            operation=operation,
            type=str(dtype).removeprefix("torch."),
            bytes=size,
            ranks=ranks,
            calls=calls,
            median_us=f"{median:.1f}",
            algbw=f"{algorithm / median / 1e3:.2f}",
            busbw=f"{bus / median / 1e3:.2f}",
            kernel=kernel,
        )

    def callers(self, operation):
        return 1 if operation in ("Send", "Recv") else self.ranks

    def line(self, label, **values):
        if self.rank == 0:
            print(f"{label}: " + " ".join(f"{name}={values[name]}" for name in FIELDS), flush=True)

    def all(self):
        torch, dist = self.torch, self.dist
        f32, bf16, i64 = torch.float32, torch.bfloat16, torch.int64

        large = self.tensor(256 * MIB, f32)
        self.run("all_reduce large", lambda: dist.all_reduce(large), "AllReduce", f32, 256 * MIB)
        small = self.tensor(MIB, bf16)
        self.run("all_reduce small", lambda: dist.all_reduce(small), "AllReduce", bf16, MIB)

        part, whole = self.tensor(16 * MIB, bf16), self.tensor(16 * MIB * self.ranks, bf16)
        self.run(
            "all_gather",
            lambda: dist.all_gather_into_tensor(whole, part),
            "AllGather",
            bf16,
            16 * MIB,
        )
        part32, whole32 = self.tensor(8 * MIB, f32), self.tensor(8 * MIB * self.ranks, f32)
        self.run(
            "reduce_scatter",
            lambda: dist.reduce_scatter_tensor(part32, whole32),
            "ReduceScatter",
            f32,
            8 * MIB,
        )
        numbers = self.tensor(4 * MIB, i64)
        self.run("broadcast", lambda: dist.broadcast(numbers, 0), "Broadcast", i64, 4 * MIB)
        sums = self.tensor(2 * MIB, f32)
        self.run("reduce", lambda: dist.reduce(sums, self.ranks - 1), "Reduce", f32, 2 * MIB)

        sent, got = self.tensor(MIB * self.ranks, f32), self.tensor(MIB * self.ranks, f32)
        # PyTorch makes it of one Send and one Recv a peer, all in one kernel, or of one AlltoAll.
        self.run(
            "all_to_all",
            lambda: dist.all_to_all_single(got, sent),
            "AlltoAll",
            f32,
            MIB,
            kernel="shared",
        )

        message = self.tensor(32 * MIB, f32)

        def pass_on():
            if self.rank == 0:
                dist.send(message, 1)
            elif self.rank == 1:
                dist.recv(message, 0)

        self.run("send", pass_on, "Send", f32, 32 * MIB, ranks=2)

        four = [self.tensor(3 * MIB, f32) for _ in range(4)]

        def together():
            with dist._coalescing_manager(device=self.device):
                for one in four:
                    dist.all_reduce(one)

        self.run(
            "coalesced", together, "AllReduce", f32, 3 * MIB, calls_each=4, kernel="shared"
        )

        second = dist.new_group(list(range(self.ranks)), group_desc="second group")
        other = self.tensor(5 * MIB, f32)
        self.run(
            "second group",
            lambda: dist.all_reduce(other, group=second),
            "AllReduce",
            f32,
            5 * MIB,
        )


def run(options):
    try:
        import torch
        import torch.distributed as dist
    except ImportError:
        sys.exit("nccl_known: PyTorch is not installed; install it with 'pip install torch'.")
    if "RANK" not in os.environ:
        sys.exit("nccl_known: start it with python3 -m torch.distributed.run, as its head says.")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    if dist.get_world_size() < 2:
        sys.exit("nccl_known: it needs two GPUs or more.")
    if dist.get_rank() == 0:
        version = ".".join(str(part) for part in torch.cuda.nccl.version())
        print(f"# PyTorch {torch.__version__}, NCCL {version}, {dist.get_world_size()} ranks")
        print("# bytes: as each rank passes them to NCCL; calls: of all ranks together")
    Bench(torch, dist, options).all()
    dist.destroy_process_group()


def read_known(path):
    known = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            label, _, rest = line.strip().partition(": ")
            fields = dict(word.partition("=")[::2] for word in rest.split() if "=" in word)
            if set(FIELDS) <= set(fields):
                known.append((label, fields))
    return known


def check(options):
    known = read_known(options.check[0])
    with open(options.check[1], encoding="utf-8") as file:
        rows = json.load(file)
    if not known:
        sys.exit(f"nccl_known: {options.check[0]} holds no line of an operation.")
    failures = 0
    for label, fields in known:
        size, expected = int(fields["bytes"]), int(fields["calls"])
        names = {fields["operation"]}
        if label == "all_to_all":
            names |= {"AllToAll", "Send"}
        found = [
            row for row in rows if row["Operation"] in names and row["Call Size (B)"] == size
        ]
        problems = []
        calls = sum(row["Rank Calls"] for row in found)
        if label == "all_to_all" and found and found[0]["Operation"] == "Send":
            expected *= int(fields["ranks"])
        if calls != expected:
            problems.append(f"{calls} calls instead of {expected}")
        types = {row["Type"] for row in found}
        if types - {None, fields["type"]}:
            problems.append(f"types {types} instead of {fields['type']}")
        times = [row for row in found if row["GPU Med (ns)"] is not None]
        if not times:
            problems.append("no time on the GPU")
        if times and fields["kernel"] == "own":
            longest = max(times, key=lambda row: row["Rank Calls"])
            measured, recorded = float(fields["median_us"]), longest["GPU Med (ns)"] / 1e3
            # An event pair also holds the waits around the kernel, some 30 us of them.
            if abs(recorded - measured) > options.tolerance * measured + 30:
                problems.append(f"median {recorded:.1f} us instead of {measured:.1f} us")
            if longest["Bus BW (GB/s)"] is None:
                problems.append("no bus bandwidth")
        how = {(row["Algorithm"], row["Protocol"]) for row in found}
        print(f"{'FAIL' if problems else 'ok  '} {label}: {'; '.join(problems) or 'as known'}; {how}")
        failures += bool(problems)
    sys.exit(1 if failures else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--check", nargs=2, metavar=("KNOWN.TXT", "NCCL_SUM.JSON"))
    parser.add_argument("--tolerance", type=float, default=0.15)
    options = parser.parse_args()
    if options.check:
        check(options)
    else:
        run(options)


if __name__ == "__main__":
    main()
