# SPDX-License-Identifier: Apache-2.0
"""A program by CUDA's driver alone, so that nothing is in its recording but what it knows: for truth-gpu.

    python3 known_driver.py

Prints as one line of JSON what the whole recording must have: counts, bytes, times, memory, and the facts of the machine
as nvidia-smi tells them.
"""

import ctypes
import json
import subprocess
import time

from torch.cuda import nvtx  # without a call of CUDA

MIB = 1 << 20
SPIN_NS = 2_000_000
# A kernel of a known time: it reads the GPU's clock until that has passed.
SPIN = b"""
.version 7.8
.target sm_52
.address_size 64
.visible .entry spin(.param .u64 nanoseconds)
{
    .reg .pred %more;
    .reg .u64 %begin, %now, %gone, %until;
    ld.param.u64 %until, [nanoseconds];
    mov.u64 %begin, %globaltimer;
again:
    mov.u64 %now, %globaltimer;
    sub.u64 %gone, %now, %begin;
    setp.lt.u64 %more, %gone, %until;
    @%more bra again;
    ret;
}
"""


class Driver:
    """Calls of libcuda by name; an error ends the program."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")

    def __getattr__(self, name):
        def call(*arguments):
            status = getattr(self.cuda, name)(*arguments)
            if status != 0:
                raise RuntimeError(f"{name} gave {status}")

        return call

    def attribute(self, which):
        value = ctypes.c_int()
        self.cuDeviceGetAttribute(ctypes.byref(value), which, 0)
        return value.value


def machine(driver):
    """Of the first GPU, as nvidia-smi and the driver tell it."""
    query = "name,uuid,pcie.link.gen.max,pcie.link.width.max,driver_version"
    done = subprocess.run(["nvidia-smi", "-i", "0", f"--query-gpu={query}", "--format=csv,noheader,nounits"],
                          capture_output=True, text=True)
    values = [value.strip() for value in done.stdout.strip().split(",")]
    facts = dict(zip(("name", "uuid", "pcieGeneration", "pcieWidth", "driver"), values))
    total = ctypes.c_size_t()
    driver.cuDeviceTotalMem_v2(ctypes.byref(total), 0)
    return facts | {"memoryBytes": total.value, "smCount": driver.attribute(16),
                    "computeMajor": driver.attribute(75), "computeMinor": driver.attribute(76)}


def used_memory():
    """Of all processes of the first GPU."""
    done = subprocess.run(["nvidia-smi", "-i", "0", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                          capture_output=True, text=True)
    return int(done.stdout) * MIB if done.stdout.strip().isdigit() else None


def timed(driver, work):
    """Nanoseconds between two events around `work`."""
    events = [ctypes.c_void_p() for _ in range(2)]
    for event in events:
        driver.cuEventCreate(ctypes.byref(event), 0)
    driver.cuEventRecord(events[0], None)
    work()
    driver.cuEventRecord(events[1], None)
    driver.cuCtxSynchronize()
    milliseconds = ctypes.c_float()
    driver.cuEventElapsedTime(ctypes.byref(milliseconds), *events)
    return milliseconds.value * 1e6


def main():
    driver = Driver()
    driver.cuInit(0)
    context, module, kernel, device, pinned = (ctypes.c_void_p() for _ in range(5))
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    driver.cuModuleLoadData(ctypes.byref(module), SPIN)
    driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"spin")
    size = 256 * MIB
    driver.cuMemAlloc_v2(ctypes.byref(device), ctypes.c_size_t(size))
    driver.cuMemAllocHost_v2(ctypes.byref(pinned), ctypes.c_size_t(size))
    pageable = ctypes.create_string_buffer(8 * MIB)

    until = ctypes.c_uint64(SPIN_NS)
    parameters = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(until), ctypes.c_void_p))

    def launch():
        driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, parameters, None)

    def copy_in():
        driver.cuMemcpyHtoDAsync_v2(device, pinned, ctypes.c_size_t(size), None)

    def copy_out():
        driver.cuMemcpyDtoHAsync_v2(pinned, device, ctypes.c_size_t(size), None)

    for _ in range(3):
        nvtx.range_push("kernels")
        for _ in range(37):
            launch()
        driver.cuCtxSynchronize()
        nvtx.range_pop()
    in_ns = timed(driver, lambda: [copy_in() for _ in range(20)])
    out_ns = timed(driver, lambda: [copy_out() for _ in range(10)])
    for _ in range(7):
        driver.cuMemcpyHtoD_v2(device, pageable, ctypes.c_size_t(8 * MIB))
    for _ in range(9):
        driver.cuMemsetD8_v2(device, 1, ctypes.c_size_t(MIB))
    driver.cuCtxSynchronize()
    time.sleep(0.5)  # so that the memory in use is read by who samples it
    used = used_memory()
    print(json.dumps(({"usedBytes": used} if used is not None else {}) | {
        "counts": {"kernels": 3 * 37, "memcpys": 20 + 10 + 7, "memsets": 9},
        "kernels": 3 * 37,
        "kernelNs": 3 * 37 * SPIN_NS,
        "copyKinds": {"HtoD pinned": {"count": 20, "bytes": 20 * size, "ns": in_ns},
                      "DtoH pinned": {"count": 10, "bytes": 10 * size, "ns": out_ns},
                      "HtoD pageable": {"count": 7, "bytes": 7 * 8 * MIB}},
        "ranges": {"pattern": "kernels", "count": 3},
        "nvlinkBytes": 0,
        "machine": machine(driver),
    }))


if __name__ == "__main__":
    main()
