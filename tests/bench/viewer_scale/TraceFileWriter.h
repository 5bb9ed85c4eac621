// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "model/format/Result.h"
#include "tests/bench/viewer_scale/TrainingRows.h"

namespace lanescope::bench {

/// Which kind of file to write.
enum class FileKind {
    Ours,     ///< With `application_id` and the tables of our own.
    Foreign,  ///< The tables that other profilers' exports share with ours, and nothing else.
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
    /// Writes what is left. `endNs` is when both processes ended.
    Result<void> finish(int64_t endNs);

  private:
    class File;
    explicit TraceFileWriter(std::unique_ptr<File> file);

    std::unique_ptr<File> file_;
};

}  // namespace lanescope::bench
