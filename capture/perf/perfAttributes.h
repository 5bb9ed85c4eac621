// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>

namespace lanescope::capture {

/// A prime: a program that does the same each 10 ms would meet 100 samples a second in the same
/// place each time.
inline constexpr double usualPerfHz = 97, fastestPerfHz = 2'000;

/// What is asked of the kernel for each sample.
struct PerfSettings {
    double hz = usualPerfHz;      ///< Samples a second of the time of a thread on a core.
    uint32_t stackBytes = 32768;  ///< Of the user stack with each sample; a multiple of 8.
    bool seesKernel = true;       ///< Also samples of threads that are in the kernel.
};

/// The user registers of a sample, by the numbers that DWARF gives them on this machine.
struct PerfRegisters {
    static constexpr size_t most = 33;
    uint64_t values[most] = {};
    uint64_t programCounter = 0, stackPointer = 0, framePointer = 0;
};

/// This machine, as `EM_*` of elf.h.
extern const uint16_t perfMachine;
/// How many registers the kernel writes with each sample.
extern const size_t perfRegisterCount;
/// How many of `PerfRegisters::values` DWARF has on this machine.
extern const size_t dwarfRegisterCount;

/// One software event that says all: a sample each so often, when threads get and lose a core, and
/// what is mapped, forked, executed and ended. It begins when its process runs another program, and
/// goes on in what that starts.
perf_event_attr perfAttributes(const PerfSettings& settings);

/// Of the kernel's order to DWARF's; `values` are `perfRegisterCount`.
PerfRegisters dwarfRegisters(const uint64_t* values);

}  // namespace lanescope::capture
