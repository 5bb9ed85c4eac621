// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <vector>

#include "capture/python/OwnMemory.h"

namespace lanescope::capture {

/// Reader of another process's memory, without stopping or affecting it (`process_vm_readv`). Reads page by page and
/// caches the latest, so that a sample of a thread costs a few system calls, whatever it reads. One thread.
class RemoteMemory final : public agent::python::Memory {
  public:
    /// Pages that a sample used, so that the next similar one reads them with one call.
    class Trail {
        friend class RemoteMemory;
        static constexpr size_t maxPages = 10;
        std::array<uint64_t, maxPages> pages_{};
        size_t count_ = 0;
    };

    explicit RemoteMemory(pid_t pid) : pid_(pid) {}

    /// Returns false if not all of it is mapped, or if reading is not allowed.
    bool read(uint64_t address, void* into, size_t bytes) const override;
    void forget();
    /// Empties the cache and reads the pages used after the last such call with `trail` at once.
    /// `trail` is written until the next call and must live until then.
    void begin(Trail& trail);
    void endTrail() { trail_ = nullptr; }
    /// Returns true if the system does not allow reading the process.
    bool isRefused() const { return isRefused_; }

  private:
    /// Size of the smallest page: a block is mapped completely or not at all.
    static constexpr uint64_t blockBytes = 4'096;
    static constexpr size_t blockCount = 20;
    struct Block {
        uint64_t number = 0;
        uint32_t round = 0;   ///< Sample in which it was read; 0: never.
        bool isUsed = false;  ///< In that sample.
        std::array<unsigned char, blockBytes> bytes{};
    };
    const Block* used(Block& block) const;
    const Block* block(uint64_t number) const;

    const pid_t pid_;
    uint32_t round_ = 1;
    mutable bool isRefused_ = false;
    mutable Trail* trail_ = nullptr;
    mutable std::vector<Block> blocks_;  // allocated with the first read
};

}  // namespace lanescope::capture
