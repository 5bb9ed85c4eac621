// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <vector>

#include "capture/python/OwnMemory.h"

namespace lanescope::capture {

/// Reads the memory of another process, without stopping it and without its noticing
/// (`process_vm_readv`), page by page, of which the latest are kept: a look at a thread costs a few
/// system calls, whatever it asks for. One thread.
class ForeignMemory final : public agent::python::Memory {
  public:
    /// Which pages a look used, so that the next one like it gets them all by one call.
    class Trail {
        friend class ForeignMemory;
        static constexpr size_t most = 10;
        std::array<uint64_t, most> pages_{};
        size_t count_ = 0;
    };

    explicit ForeignMemory(pid_t pid) : pid_(pid) {}

    /// False if not all of it is there, or if nobody may read it.
    bool read(uint64_t address, void* into, size_t bytes) const override;
    /// What is read from now on is read anew.
    void forget();
    /// The same, and what was used after the last such call with `trail` is read at once. It is
    /// written to until the next call and has to live until then.
    void begin(Trail& trail);
    void endTrail() { trail_ = nullptr; }
    /// Whether the system refuses to let anything of the process be read.
    bool isRefused() const { return isRefused_; }

  private:
    /// That of the smallest page: a block is there as a whole or not at all.
    static constexpr uint64_t blockBytes = 4'096;
    static constexpr size_t blockCount = 20;
    struct Block {
        uint64_t number = 0;
        uint32_t look = 0;    ///< In which it was read; 0: not yet.
        bool isUsed = false;  ///< In that look.
        std::array<unsigned char, blockBytes> bytes{};
    };
    const Block* used(Block& block) const;
    const Block* block(uint64_t number) const;

    const pid_t pid_;
    uint32_t look_ = 1;
    mutable bool isRefused_ = false;
    mutable Trail* trail_ = nullptr;
    mutable std::vector<Block> blocks_;  // made with the first that is read
};

}  // namespace lanescope::capture
