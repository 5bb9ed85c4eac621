// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/log/RecordingLevel.h"
#include "capture/log/Records.h"
#include "capture/watch/ProcessProgress.h"

namespace lanescope::capture {

/// A step of one process. Times are event times in ns; GPU times are those within the step, of all GPUs of the process.
struct MeasuredStep {
    int64_t number = 0;  ///< From 0, counted by the process's own markers.
    std::string name;    ///< Text of its range, at most 64 bytes.
    int64_t startNs = 0, endNs = 0;
    int64_t busyNs = 0;           ///< At least one kernel or copy ran.
    int64_t communicationNs = 0;  ///< At least one kernel of a collective ran.
    int64_t exposedNs = 0;        ///< Only kernels of collectives ran.
    int64_t copyNs = 0;           ///< At least one copy ran.
    int64_t kernels = 0;          ///< Kernels that started in it.
    int64_t graphs = 0;           ///< CUDA graphs recorded as a whole; the kinds of their work are unknown.

    int64_t durationNs() const { return endNs - startNs; }
};

/// A remarkable call, which may be the reason for a dump.
enum class RemarkableCall : uint8_t { Requested, NcclAborted, OutOfMemory };
inline constexpr size_t remarkableCallCount = 3;

/// Receiver of the records of one process's log that measures its steps. Steps are the outermost ranges with the name
/// of a step on the first thread that has one. Memory is bounded whatever the log contains. One thread.
class StepMeter {
  public:
    using NameTest = std::function<bool(std::string_view)>;
    /// `isStep` decides on names of ranges, `isCollective` on names of kernels.
    StepMeter(NameTest isStep, NameTest isCollective);

    void operator()(const log::StringRecord& record, std::string_view text);
    void operator()(const log::NvtxRecord& record, std::span<const std::byte> payload);
    void operator()(const log::KernelRecord& record);
    void operator()(const log::MemcpyRecord& record);
    void operator()(const log::GraphRecord& record);
    void operator()(const log::ApiRecord& record);
    void operator()(const log::ClockRecord& record);
    void operator()(const log::DroppedRecord& record);
    void operator()(const log::LevelRecord& record);
    /// Ignores events after that time: a log may contain any time. `INT64_MAX / 4` at first.
    void setLatest(int64_t ns) { latestNs_ = ns; }

    /// Returns the steps whose GPU work has arrived, because the process reported work or a clock after `endNs` plus
    /// the time that its agent needs. `isLast` returns all.
    std::vector<MeasuredStep> take(bool isLast = false);
    /// Returns the kinds of remarkable calls since the last call, each once.
    std::vector<RemarkableCall> takeCalls();

    /// Returns the time of the last end of a step, or of GPU work without steps; 0 before.
    int64_t progressNs() const { return progressNs_; }
    int64_t longestStepNs() const { return longestStepNs_; }
    int64_t stepCount() const { return nextNumber_; }
    /// Returns the level at which the process recorded at that time, as far as it is known.
    log::RecordingLevel levelAt(int64_t ns) const;
    /// Returns the time since which the process records at `level`; `INT64_MAX` if it does not.
    int64_t appliedSinceNs(log::RecordingLevel level) const;

  private:
    struct Interval {
        int64_t startNs, endNs;
        enum Kind : uint8_t { Kernel, Collective, Copy, Graph } kind;
    };
    enum Name : uint8_t { Other = 0, Step = 1, Collective = 2, Abort = 4, Request = 8, Allocation = 16 };
    struct Text {
        uint8_t kinds = 0;  ///< Of `Name`.
        std::string step;   ///< Begin of the name of a step.
    };
    static constexpr size_t maxNames = 1 << 15, maxWork = 1 << 18, maxSteps = 4096, maxLevels = 16;

    uint8_t kindsOf(uint32_t id);
    void note(RemarkableCall call) { calls_[static_cast<size_t>(call)] = true; }
    bool isPossible(int64_t startNs, int64_t endNs) const {
        return startNs > 0 && endNs >= startNs && endNs <= latestNs_;
    }
    void addWork(int64_t startNs, int64_t endNs, Interval::Kind kind);
    void beginStep(const log::NvtxRecord& record);
    void endStep(const log::NvtxRecord& record);
    void measure(MeasuredStep& step) const;

    const NameTest isStep_, isCollective_;
    LatestValues<Text, maxNames> names_;  // by string; only remarkable ones
    uint32_t stepThread_ = 0;
    std::optional<MeasuredStep> open_;
    log::NvtxRecord openedBy_{};
    std::deque<MeasuredStep> ended_;
    std::vector<Interval> work_;  // by start when steps are measured, else by arrival
    int64_t longestWorkNs_ = 0;   // in `work_`
    std::array<bool, remarkableCallCount> calls_{};
    std::deque<log::LevelRecord> levels_;  // the latest
    int64_t nextNumber_ = 0, progressNs_ = 0, longestStepNs_ = 0, latestWorkNs_ = 0, latestClockNs_ = 0;
    int64_t latestNs_ = INT64_MAX / 4;
};

}  // namespace lanescope::capture
