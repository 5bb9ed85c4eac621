// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "capture/log/LogFile.h"
#include "capture/options/AgentOptions.h"

namespace lanescope::agent {

/// Free disk space at which a process stops recording, so that the trace of its log still fits. By default a twentieth
/// of the disk, or more if the disk fills fast, by any writer. Writer thread only.
class DiskLimit {
  public:
    explicit DiskLimit(uint64_t bytes) : bytes_(bytes) {}

    /// Returns true if less than the reserve and a block are free. Call it repeatedly; it measures how fast the disk
    /// fills.
    bool isReached(log::LogFile::Disk disk, int64_t nowNs) {
        if (bytes_ == 0 || disk.bytes == 0) return false;
        const uint64_t minFree = minFreeBytes(disk, nowNs);
        // The trace needs about as much as the log that it is made of. On a tiny disk no block
        // would fit.
        const uint64_t rest = disk.freeBytes > minFree ? disk.freeBytes - minFree : 0;
        if (disk.bytes >= tinyDiskBytes) allowedBytes_ = std::max(rest / 2, std::min(rest, minAllowedBytes));
        return disk.freeBytes < minFree || allowedBytes_ < minBlockBytes;
    }
    /// Returns the bytes that may be written before the next reading, as of the last one; all before the first.
    uint64_t allowedBytes() const { return allowedBytes_; }

  private:
    uint64_t minFreeBytes(log::LogFile::Disk disk, int64_t nowNs) {
        if (bytes_ != defaultReserve) return bytes_;
        if (lastNs_ == 0) {
            firstFree_ = disk.freeBytes;
        } else if (nowNs > lastNs_) {
            const double used = disk.freeBytes < lastFree_ ? static_cast<double>(lastFree_ - disk.freeBytes) : 0;
            // Bursts count for several readings.
            bytesPerNs_ = std::max(used / static_cast<double>(nowNs - lastNs_), bytesPerNs_ / 2);
        }
        lastNs_ = nowNs;
        lastFree_ = disk.freeBytes;
        const auto forTrace = closingBytes + static_cast<uint64_t>(bytesPerNs_ * static_cast<double>(closingNs));
        const uint64_t twentieth = std::min(maxTwentiethBytes, disk.bytes / divisor);
        // On a tiny disk a quarter of the free space is used in any case.
        return std::max(twentieth, std::min({forTrace, firstFree_ / 4 * 3, maxTwentiethBytes}));
    }

    static constexpr uint64_t divisor = 20, maxTwentiethBytes = uint64_t{1} << 30;
    static constexpr uint64_t minAllowedBytes = uint64_t{1} << 20, tinyDiskBytes = uint64_t{16} << 20;
    static constexpr uint64_t minBlockBytes = uint64_t{512} << 10;  ///< A smaller allowance loses every block.
    static constexpr uint64_t closingBytes = uint64_t{4} << 20;
    static constexpr int64_t closingNs = 2'000'000'000;

    const uint64_t bytes_;
    uint64_t firstFree_ = 0, lastFree_ = 0;
    int64_t lastNs_ = 0;
    double bytesPerNs_ = 0;
    uint64_t allowedBytes_ = std::numeric_limits<uint64_t>::max();
};

}  // namespace lanescope::agent
