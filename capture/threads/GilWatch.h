// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "capture/python/OwnMemory.h"

namespace lanescope::capture {

/// Where the lock of a Python interpreter lies, as the layout of its version says or learnt from a
/// thread that waits for it: the word on which it sleeps lies in a structure that names the state
/// of the thread that holds the lock. All since 3.9 have it in that form, which either has to show.
/// One thread.
class GilWatch {
  public:
    /// Takes the lock to lie there, if that is what lies there.
    void suppose(const agent::python::Memory& memory, uint64_t address,
                 std::span<const uint64_t> states);
    bool isFound() const { return address_ != 0; }
    /// Whether a thread that sleeps in futex on the word at `address` waits for the lock. `states`
    /// are those of the threads of the interpreter.
    bool isWaitedFor(const agent::python::Memory& memory, uint64_t address,
                     std::span<const uint64_t> states);
    /// The state of the thread that holds the lock; nothing if none does, or if that is not known.
    std::optional<uint64_t> holder(const agent::python::Memory& memory) const;

  private:
    bool isAt(const agent::python::Memory& memory, uint64_t address,
              std::span<const uint64_t> states) const;

    uint64_t address_ = 0;  ///< 0: not found yet.
};

}  // namespace lanescope::capture
