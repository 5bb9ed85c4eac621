// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "model/trace/BlockChecks.h"

namespace lanescope {

/// Remembers for a whole file which blocks were compared with their checksums. Memory that nobody
/// touches is not taken, so a file that is hardly looked at costs hardly any.
class SeenBlocks {
  public:
    /// For a column with these checksums. One thread.
    BlockChecks checksFor(std::span<const uint32_t> checksums) {
        if (checksums.size() > left_) addPart(checksums.size());
        std::atomic<uint8_t>* const first = next_;
        next_ += checksums.size();
        left_ -= checksums.size();
        return {checksums, first, &damaged_};
    }
    /// Of all blocks that were read so far, those that differ, and what else was found damaged.
    const std::atomic<uint32_t>& damaged() const { return damaged_; }
    std::atomic<uint32_t>& damaged() { return damaged_; }

  private:
    struct Free {
        void operator()(std::atomic<uint8_t>* part) const { std::free(part); }
    };
    void addPart(size_t least) {
        const size_t count = std::max(least, size_t{1} << 20);
        auto* part = static_cast<std::atomic<uint8_t>*>(std::calloc(count, 1));
        if (part == nullptr) throw std::bad_alloc();
        parts_.emplace_back(part);
        next_ = part;
        left_ = count;
    }

    std::vector<std::unique_ptr<std::atomic<uint8_t>, Free>> parts_;
    std::atomic<uint8_t>* next_ = nullptr;
    size_t left_ = 0;
    std::atomic<uint32_t> damaged_{0};
};

}  // namespace lanescope
