// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope::capture {

/// File next to the logs that takes up the disk space needed to finish the trace. If the disk or a quota fills, the
/// logs stop first. The space is released when the trace is finished, which needs it. On a disk that is full already
/// the reserve is smaller or missing. One thread.
class DiskReserve {
  public:
    /// Name of the file in the run folder.
    static constexpr const char* fileName = "reserve";
    static constexpr uint64_t minBytes = 4 << 20, maxBytes = uint64_t{1} << 30;

    /// Begins with `minBytes`, or the part of it that the disk has.
    explicit DiskReserve(std::shared_ptr<const Folder> runFolder);
    DiskReserve(DiskReserve&&) = default;
    ~DiskReserve();

    /// Enlarges the reserve to `minBytes` plus the space for the events of two seconds, at most `maxBytes` and a
    /// quarter of the free space. `logBytes` is the number of log bytes that were read in `ns`.
    void cover(uint64_t logBytes, int64_t ns);
    /// Gives the space back, once and for all.
    void release();

  private:
    bool grow(uint64_t bytes);

    std::shared_ptr<const Folder> runFolder_;
    UniqueFd file_;
    uint64_t bytes_ = 0;
};

}  // namespace lanescope::capture
