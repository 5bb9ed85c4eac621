// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "capture/collector/Collector.h"
#include "capture/log/LogReader.h"
#include "capture/log/RecordingLevel.h"
#include "capture/log/clocks.h"
#include "capture/watch/HangReport.h"
#include "capture/watch/PastTrace.h"
#include "capture/watch/ProcessProgress.h"
#include "capture/watch/StepMeter.h"
#include "capture/watch/StepTriggers.h"
#include "capture/watch/TensorReadings.h"
#include "capture/watch/WatchFolder.h"
#include "capture/watch/threadPlaces.h"
#include "capture/watch/watchRequests.h"
#include "model/format/Result.h"
#include "model/format/Subprocess.h"

namespace lanescope::capture {

struct WatchOptions {
    std::string outputPattern;        ///< Folder for what a watch writes; empty: the first free default name.
    double budgetPercent = -1;        ///< Of the step; negative: everything is recorded.
    int64_t ringNs = 30'000'000'000;  ///< Length of the ring.
    bool isAsleep = false;            ///< Nothing is recorded until a request.
    double hangSeconds = 0;    ///< 0: ten times the longest step, 60 s at least; negative: hangs are not reported.
    int maxTracesPerHour = 6;  ///< Of one cause; requests are not limited.
    int maxTraces = 20;
    StepMeter::NameTest isStep, isCollective;
    /// Tensor activity times SM clock at the peak of a GPU, in Hz; 0 if unknown.
    std::function<double(std::string_view name, const log::DeviceRecord& gpu)> peakActiveHz = [](auto...) { return 0; };
    std::function<void(std::string_view sentence)> report;  ///< For the user, a line each.
    std::filesystem::path recoverProgram = ownProgram();    ///< Its command `recover` makes traces.
    std::function<int64_t()> monotonicNs = &log::monotonicNs, eventNs = &log::eventTimeNs;
};

/// Reader of a run's logs in `lanescope watch`: it measures steps, keeps the level of recording, and makes traces of
/// the ring on a trigger. See README. Methods as in `RunReader`.
class Watcher final : public RunReader {
  public:
    /// `entry` is kept as long as this object.
    Watcher(std::shared_ptr<const Folder> logs, RunInfo info, WatchFolder output, WatchOptions options,
            std::unique_ptr<WatchEntry> entry);
    ~Watcher() override;

    void setMachine(Machine) override {}
    void poll() override;
    std::vector<uint32_t> openProcesses() const override;
    std::vector<WindowProgress> windowProgress() const override { return {}; }
    void noteProgramEnd() override {}
    void cut(std::vector<uint32_t>, int64_t) override {}
    void addLostLog(int pid, int error, std::string program) override;
    void note(HealthCode, std::string_view sentence) override { options_.report(sentence); }
    void property(std::string_view, std::string_view) override {}
    Result<CollectedRun> finish(std::optional<MainProcess> program, bool overwrite, const ClosingSteps&) override;

  private:
    struct Process;
    struct Late {
        int64_t atNs;
        int32_t rank;
        int64_t ns;
    };
    struct Making {
        PastTrace trace;
        int64_t deadlineNs = 0;                 ///< Monotonic; further parts are linked until then.
        int64_t steps = 0;                      ///< Steps to wait for; 0: only the deadline counts.
        std::map<std::string, int64_t> before;  ///< Steps at the request, by log.
        std::string sentence;
    };

    int64_t nowNs() const { return options_.monotonicNs(); }
    int64_t eventNs() const { return options_.eventNs(); }
    /// Returns " of rank 3"; empty without a launcher.
    static std::string inRank(const Process& process);
    void pollOnce();
    void readLogs();
    void findLogs();
    void takeSteps(bool isLast);
    void reportLevel() const;
    void addStep(Process& process, const MeasuredStep& step);
    void addTensorUse(const Process& process, const MeasuredStep& step, StepContext& context) const;
    void addEntry(Process& process, const log::NcclOperationRecord& record);
    void takeRequests();
    void findEnds();
    void forget(const std::string& log);
    void findHang();
    /// Reason for a trace.
    struct Trigger {
        WatchCause cause;
        std::string name, sentence;
        WatchRequest request = {};
    };
    void makeTrace(const Trigger& trigger);
    void continueTrace(bool isLast);
    void setLevel(log::RecordingLevel level, bool wantsUnfinished = false);
    bool hasSteps(const Making& making) const;

    std::shared_ptr<const Folder> logs_;
    const RunInfo info_;
    WatchFolder output_;
    const WatchOptions options_;
    const std::unique_ptr<WatchEntry> entry_;
    std::map<std::string, std::unique_ptr<Process>> processes_;
    std::map<std::string, std::pair<log::LogReader, TensorReadings>> samplers_;
    std::map<std::pair<uint64_t, std::pair<uint32_t, int64_t>>, std::vector<std::pair<int32_t, int64_t>>> entries_;
    std::deque<Late> late_;
    LevelController controller_;
    std::string controlledLog_;  ///< The log whose steps the controller gets.
    log::RecordingLevel level_;
    std::optional<Making> making_;
    std::deque<Trigger> waiting_;  ///< Requests that came meanwhile.
    std::set<WatchCause> limitReported_;
    std::map<WatchCause, std::deque<int64_t>> tracesNs_;  ///< Times of the traces of the last hour.
    int64_t nextMeasureNs_ = 0, measuringSinceNs_ = 0;
    bool isHangReported_ = false, isUnfinishedWanted_ = false;
    int64_t nextThreadsNs_ = 0, nextMetricsNs_ = 0;
};

}  // namespace lanescope::capture
