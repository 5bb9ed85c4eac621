// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>

namespace lanescope::capture {

/// A prime: at 100 samples per second, a program with a 10 ms cycle would always be sampled at the same place.
inline constexpr double defaultPerfHz = 97, maxPerfHz = 2'000;

struct PerfSettings {
    double hz = defaultPerfHz;    ///< Samples per second of a thread's time on a core.
    uint32_t stackBytes = 32768;  ///< Bytes of the user stack per sample; a multiple of 8.
    bool seesKernel = true;       ///< Also samples threads in the kernel.
};

/// User registers of a sample, by their DWARF numbers on this machine.
struct PerfRegisters {
    static constexpr size_t maxRegisters = 33;
    uint64_t values[maxRegisters] = {};
    uint64_t programCounter = 0, stackPointer = 0, framePointer = 0;
};

/// This machine, as `EM_*` of elf.h.
extern const uint16_t perfMachine;
/// Number of registers that the kernel writes per sample.
extern const size_t perfRegisterCount;
/// Number of `PerfRegisters::values` that DWARF has on this machine.
extern const size_t dwarfRegisterCount;

/// Returns the attributes of one software event for everything: periodic samples, switches of threads, and mappings,
/// forks, execs and exits. It begins when its process executes another program, and continues in its children.
perf_event_attr perfAttributes(const PerfSettings& settings);

/// Converts the kernel's order to DWARF's; `values` has `perfRegisterCount` values.
PerfRegisters dwarfRegisters(const uint64_t* values);

}  // namespace lanescope::capture
