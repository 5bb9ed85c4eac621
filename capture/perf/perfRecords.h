// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lanescope::capture {

/// Whose a record is, and when and where it was made; on the clock that nobody sets.
struct PerfPlace {
    uint32_t process = 0, thread = 0, core = 0;
    int64_t timeNs = 0;
};

struct PerfSample {
    PerfPlace place;
    bool isInKernel = false;
    /// In the kernel's order; empty if the thread had none that a user's program uses. Not aligned.
    std::span<const std::byte> registers;
    std::span<const std::byte> stack;  ///< From the stack pointer on.
};

/// A thread got a core, or lost it, as also when it ended.
struct PerfSwitch {
    PerfPlace place;
    bool isIn = false;
    bool isPreempted = false;  ///< It lost the core and could have gone on.
};

/// A file, or something else that is called in brackets, was mapped to be executed.
struct PerfMapping {
    PerfPlace place;
    uint64_t address = 0, bytes = 0, fileOffset = 0;
    std::string_view file;
};

/// A thread is called so from now on; by exec, if it runs another program.
struct PerfName {
    PerfPlace place;
    bool isExec = false;
    std::string_view name;
};

/// A process or thread was made.
struct PerfFork {
    PerfPlace place;
    uint32_t parentProcess = 0, parentThread = 0;
};

/// Takes what `readPerfRecords` finds.
class PerfVisitor {
  public:
    virtual ~PerfVisitor() = default;
    virtual void visit(const PerfSample&) {}
    virtual void visit(const PerfSwitch&) {}
    virtual void visit(const PerfMapping&) {}
    virtual void visit(const PerfName&) {}
    virtual void visit(const PerfFork&) {}
    /// The kernel tells no more of the thread, mostly since it ended.
    virtual void ended(const PerfPlace&) {}
    /// So many records had no room in the buffer, which was not emptied as fast.
    virtual void lost(uint64_t) {}
    /// The kernel took a pause with samples, since they took it too long.
    virtual void throttled() {}
};

/// Takes out of samples what the kernel left empty behind the end of a stack: a record of it is
/// always as long as the longest, and most stacks are short. Returns how many bytes are left, at
/// the beginning of `bytes`. Records are read as before. O(bytes).
size_t dropEmptyStacks(std::span<std::byte> bytes, size_t registerCount);

/// Goes through records of one core, made by `perfAttributes`, whose samples have so many
/// registers. Any bytes may lie there: what makes no sense is skipped if its end is known, else
/// reading stops. Returns how many bytes it did not understand. O(bytes).
size_t readPerfRecords(std::span<const std::byte> bytes, size_t registerCount,
                       PerfVisitor& visitor);

}  // namespace lanescope::capture
