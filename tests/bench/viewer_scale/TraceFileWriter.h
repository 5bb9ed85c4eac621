// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "model/format/Result.h"
#include "tests/bench/viewer_scale/TrainingRows.h"

namespace lanescope::bench {

/// Kind of file to write.
enum class FileKind {
    Native,     ///< With `application_id` and Lanescope's own tables.
    OtherTool,  ///< Only the tables shared with exports of other profilers.
};

/// Writes simulated rows into a new trace file, in the order they come, without indexes.
class TraceFileWriter {
  public:
    /// Fails if `path` exists.
    static Result<TraceFileWriter> create(const std::filesystem::path& path, FileKind kind,
                                          const SimulatedNames& names);
    TraceFileWriter(TraceFileWriter&&) noexcept;
    ~TraceFileWriter();

    Result<void> write(const StepRows& rows);
    /// Writes the remaining rows. `endNs` is the end of both processes.
    Result<void> finish(int64_t endNs);

  private:
    class File;
    explicit TraceFileWriter(std::unique_ptr<File> file);

    std::unique_ptr<File> file_;
};

}  // namespace lanescope::bench
