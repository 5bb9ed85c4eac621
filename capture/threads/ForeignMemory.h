// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <vector>

#include "capture/python/OwnMemory.h"

namespace lanescope::capture {

/// Reads the memory of another process, without stopping it and without its noticing
/// (`process_vm_readv`), in blocks of which the latest are kept: a look at a thread costs some ten
/// system calls, whatever it asks for. One thread.
class ForeignMemory final : public agent::python::Memory {
  public:
    explicit ForeignMemory(pid_t pid) : pid_(pid) {}

    /// False if not all of it is there, or if nobody may read it.
    bool read(uint64_t address, void* into, size_t bytes) const override;
    /// What is read from now on is read anew.
    void forget();
    /// Whether the system refuses to let anything of the process be read.
    bool isRefused() const { return isRefused_; }

  private:
    static constexpr uint64_t blockBytes = 1'024;
    static constexpr size_t blockCount = 64;
    struct Block {
        uint64_t number = 0;
        uint32_t look = 0;  ///< In which it was read; 0: not yet.
        std::array<unsigned char, blockBytes> bytes{};
    };
    const Block* block(uint64_t number) const;

    const pid_t pid_;
    uint32_t look_ = 1;
    mutable bool isRefused_ = false;
    mutable std::vector<Block> blocks_;  // made with the first that is read
};

}  // namespace lanescope::capture
