// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "capture/perf/PerfLog.h"
#include "capture/perf/perfRecords.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// A file that `PerfLog` wrote, perhaps only the beginning of one, or anything else. One thread.
class PerfLogFile {
  public:
    /// Maps the file. Fails if it cannot be read, is none, or comes from another kind of machine.
    static Result<PerfLogFile> open(const std::filesystem::path& path);
    PerfLogFile(PerfLogFile&& other) noexcept;
    PerfLogFile& operator=(PerfLogFile&&) = delete;
    ~PerfLogFile();

    const PerfLogHead& head() const { return head_; }
    /// How it ended; nothing if it was broken off.
    const std::optional<PerfEnd>& end() const { return end_; }
    /// Hands all records to `visitor`: of a core in the order of time, of several by turns. Returns
    /// how many bytes made no sense. O(bytes); may be called again.
    uint64_t read(PerfVisitor& visitor);

  private:
    explicit PerfLogFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::span<const std::byte> bytes_;
    PerfLogHead head_{};
    std::optional<PerfEnd> end_;
};

}  // namespace lanescope::capture
