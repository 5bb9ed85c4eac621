// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "capture/watch/StepMeter.h"
#include "model/format/Result.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope::capture {

/// Reason for which a trace of the ring is made.
enum class WatchCause : uint8_t {
    SlowStep,
    LevelChange,
    Hang,
    NcclAbort,
    OutOfMemory,
    Mark,
    Request,
    ProcessDied,
    Failed
};
inline constexpr size_t watchCauseCount = 9;
/// Returns "slow-step", as in names of files and metrics.
std::string_view nameOf(WatchCause cause);

/// Facts of a step in addition to its measures.
struct StepContext {
    int32_t rank = -1;  ///< -1: none.
    uint32_t processId = 0;
    std::string_view level;
    int32_t lateRank = -1;  ///< Rank for whose collectives the others waited longest; -1: none.
    int64_t lateNs = 0;
    int64_t medianNs = 0;                    ///< Of the steps before; 0: too few.
    bool isSlow = false;                     ///< Compared with them.
    double tensorActivity = NAN, mfu = NAN;  ///< Shares of the time and of the peak; NaN: not read.
    int64_t readSteps = 0;                   ///< Steps over which they are means.
};

/// Folder for what a watch writes: `steps.jsonl`, `metrics.prom`, traces and reports of hangs. Its size is bounded,
/// except for one trace. For its owner only. One thread.
class WatchFolder {
  public:
    static constexpr uint64_t maxStepBytes = 32 << 20;
    static constexpr size_t maxHangs = 20;

    /// Makes the folder of that name; see `expandOutputPattern`. A numbered name gets the first free number.
    static Result<WatchFolder> claim(const std::string& pattern, int pid);

    const std::filesystem::path& path() const { return folder_->path(); }
    /// Appends a line of JSON. At `maxStepBytes` the file becomes `steps.1.jsonl`, which is replaced.
    void addStep(const MeasuredStep& step, const StepContext& context);
    void countTrace(WatchCause cause) { ++traces_[static_cast<size_t>(cause)]; }
    /// Replaces `metrics.prom`, in the format of OpenMetrics.
    void writeMetrics(std::string_view level, bool hangs);
    void writeFile(const std::string& name, std::string_view text);
    /// Writes the report of a hang as text and JSON, and removes the oldest beyond `maxHangs`.
    void addHang(const std::string& name, std::string_view text, std::string_view json);
    /// Returns the path of a trace that does not exist: "slow-step-12.sqlite", then "slow-step-12-2.sqlite".
    std::filesystem::path freeTrace(const std::string& name) const;
    /// Removes the oldest traces beyond `maxCount`, and their indexes.
    void keepTrace(const std::filesystem::path& trace, size_t maxCount);
    /// Returns true once after a file "dump" was created in the folder, and removes the file.
    bool takeDumpFile() const;

  private:
    explicit WatchFolder(Folder folder) : folder_(std::make_unique<Folder>(std::move(folder))) {}

    struct Sums {
        int64_t steps = 0, ns = 0, busyNs = 0, communicationNs = 0, exposedNs = 0, copyNs = 0, lateNs = 0;
        double mfu = NAN;                   ///< Of the latest step with one.
        std::array<int64_t, 20> buckets{};  ///< By the upper bounds of `stepBucketSeconds`.
    };
    std::unique_ptr<Folder> folder_;
    UniqueFd steps_;
    uint64_t stepBytes_ = 0;
    std::map<int32_t, Sums> sums_;  ///< By rank.
    std::array<int64_t, watchCauseCount> traces_{};
    std::deque<std::filesystem::path> kept_;
    std::deque<std::string> hangs_;
};

}  // namespace lanescope::capture
