// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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

/// Process, thread, time (CLOCK_MONOTONIC) and core of a record.
struct PerfPlace {
    uint32_t process = 0, thread = 0, core = 0;
    int64_t timeNs = 0;
};

struct PerfSample {
    PerfPlace place;
    bool isInKernel = false;
    /// In the kernel's order; empty if the thread had no 64-bit user registers. Not aligned.
    std::span<const std::byte> registers;
    std::span<const std::byte> stack;  ///< From the stack pointer on.
};

/// A thread got or left a core, also at its end.
struct PerfSwitch {
    PerfPlace place;
    bool isIn = false;
    bool isPreempted = false;  ///< It left the core while it could have continued.
};

/// An executable mapping of a file, or of an object with a name in brackets.
struct PerfMapping {
    PerfPlace place;
    uint64_t address = 0, bytes = 0, fileOffset = 0;
    std::string_view file;
};

/// New name of a thread; by exec, if it executes another program.
struct PerfName {
    PerfPlace place;
    bool isExec = false;
    std::string_view name;
};

struct PerfFork {
    PerfPlace place;
    uint32_t parentProcess = 0, parentThread = 0;
};

class PerfVisitor {
  public:
    virtual ~PerfVisitor() = default;
    virtual void visit(const PerfSample&) {}
    virtual void visit(const PerfSwitch&) {}
    virtual void visit(const PerfMapping&) {}
    virtual void visit(const PerfName&) {}
    virtual void visit(const PerfFork&) {}
    /// The kernel reports nothing more about the thread, usually because it ended.
    virtual void ended(const PerfPlace&) {}
    /// This number of records had no space in the buffer, which was not emptied fast enough.
    virtual void lost(uint64_t) {}
    /// The kernel paused the samples because they took too long.
    virtual void throttled() {}
};

/// Removes from samples the space that the kernel left empty after the end of a stack. Each stack
/// has the maximum size, and most stacks are short. Returns the number of remaining bytes, at the
/// beginning of `bytes`. Records are read as before. O(bytes).
size_t dropEmptyStacks(std::span<std::byte> bytes, size_t registerCount);

/// Reads records of one core, made with `perfAttributes`, whose samples have `registerCount`
/// registers. Accepts any bytes: skips an invalid record if its end is known, else stops. Returns
/// the number of bytes that it did not understand. O(bytes).
size_t readPerfRecords(std::span<const std::byte> bytes, size_t registerCount, PerfVisitor& visitor);

}  // namespace lanescope::capture
