// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lanescope {

/// The checksums of something that is mapped from a file, block by block. Each is compared when its
/// block is first read, since to read them all would take as long as to read the file. Refers to
/// memory that stays. Any thread.
class BlockChecks {
  public:
    /// Of what needs no check.
    BlockChecks() = default;
    /// `seen` has a zero for each of the `checksums`; `damaged` counts the blocks that differ.
    BlockChecks(std::span<const uint32_t> checksums, std::atomic<uint8_t>* seen,
                std::atomic<uint32_t>* damaged)
        : checksums_(checksums.data()), seen_(seen), damaged_(damaged) {}

    /// Whether nobody has compared this block yet.
    bool isDue(size_t block) const {
        return seen_ != nullptr && seen_[block].load(std::memory_order_relaxed) == 0;
    }
    void compare(size_t block, uint32_t checksum) const {
        if (checksum != checksums_[block]) noteDamage();
        seen_[block].store(1, std::memory_order_relaxed);
    }
    /// Of a block that does not even say where it lies.
    void fail(size_t block) const {
        noteDamage();
        seen_[block].store(1, std::memory_order_relaxed);
    }

  private:
    void noteDamage() const { damaged_->fetch_add(1, std::memory_order_relaxed); }

    const uint32_t* checksums_ = nullptr;
    std::atomic<uint8_t>* seen_ = nullptr;
    std::atomic<uint32_t>* damaged_ = nullptr;
};

}  // namespace lanescope
