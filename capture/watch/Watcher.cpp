// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/Watcher.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "capture/collector/SamplerImporter.h"
#include "capture/record/RunFolder.h"
#include "model/format/files.h"

namespace lanescope::capture {

namespace {

using log::RecordingLevel;

constexpr int64_t secondNs = 1'000'000'000;
/// Work in flight at a trigger arrives with the next flush and write.
constexpr int64_t settlingNs = 3 * secondNs / 2;
constexpr int64_t maxStepsNs = 60 * secondNs;  // without steps, or if they are slow
constexpr int64_t hourNs = 3600 * secondNs;
constexpr int64_t minHangNs = 60 * secondNs;
constexpr int64_t stepsOfHang = 10;
constexpr int64_t measureAgainNs = 600 * secondNs;
constexpr int64_t measuringShare = 20;  // the next measurement begins after this multiple of the last one's time
constexpr int64_t keptAfterEndNs = 600 * secondNs;        // hang reports name ended processes
constexpr int64_t minHangBeforeStepsNs = 300 * secondNs;  // compilers run between the first kernels
constexpr int64_t metricsPeriodNs = 5 * secondNs;
constexpr int64_t threadsPeriodNs = 2 * secondNs;
constexpr size_t maxEntries = 1 << 14, maxLate = 1 << 14;
constexpr uint32_t maxGpus = 1024;

/// A zombie has ended, though its launcher may not have noticed.
bool isAlive(uint32_t pid) {
    const std::string line = readSystemFile(fmt::format("/proc/{}/stat", pid)).value_or(std::string());
    const size_t nameEnd = line.rfind(") ");
    return nameEnd != std::string::npos && nameEnd + 2 < line.size() && line[nameEnd + 2] != 'Z' &&
           line[nameEnd + 2] != 'X';
}

std::string timeName() {
    const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    return fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(now));
}

std::string inMilliseconds(int64_t ns) { return fmt::format("{:.3g} ms", static_cast<double>(ns) / 1e6); }

}  // namespace

struct Watcher::Process {
    explicit Process(log::LogReader opened, const WatchOptions& options)
        : reader(std::move(opened)), meter(options.isStep, options.isCollective) {}

    log::LogReader reader;
    StepMeter meter;
    StepTriggers triggers;
    ProcessProgress progress;
    std::optional<ThreadPlaces> threads;  ///< While there is no progress.
    bool hasEnded = false;                ///< By its last record.
    bool isUnreadable = false;
    int64_t diedNs = 0;  ///< Monotonic time at which its end was seen without an end record; 0 before.
    bool isDeathReported = false;
    std::map<uint32_t, std::pair<std::string, double>> gpus;  ///< UUID, and active Hz at the peak.
    std::set<uint32_t> usedGpus;

    uint32_t pid() const { return reader.header() ? reader.header()->pid : 0; }
};

std::string Watcher::inRank(const Process& process) {
    return process.progress.rank() >= 0 ? fmt::format(" of rank {}", process.progress.rank()) : std::string();
}

Watcher::Watcher(std::shared_ptr<const Folder> logs, RunInfo info, WatchFolder output, WatchOptions options,
                 std::unique_ptr<WatchEntry> entry)
    : logs_(std::move(logs)),
      info_(std::move(info)),
      output_(std::move(output)),
      options_(std::move(options)),
      entry_(std::move(entry)),
      controller_(options_.isAsleep ? -1 : options_.budgetPercent),
      level_(options_.isAsleep ? RecordingLevel::Asleep : RecordingLevel::All) {
    setLevel(level_);
}

Watcher::~Watcher() = default;

void Watcher::poll() {
    try {
        pollOnce();
    } catch (const std::exception&) {
        // Without memory this round is skipped; the ring has everything.
    }
}

void Watcher::pollOnce() {
    readLogs();
    takeSteps(false);
    takeRequests();
    findEnds();
    findHang();
    continueTrace(false);
    if (nowNs() < nextMetricsNs_) return;
    nextMetricsNs_ = nowNs() + metricsPeriodNs;
    output_.writeMetrics(log::nameOf(level_), isHangReported_);
}

void Watcher::findLogs() {
    for (const std::string& name : log::logNames(logs_->names())) {
        if (processes_.contains(name) || samplers_.contains(name)) continue;
        auto reader = log::LogReader::open(logs_, name);
        if (reader && SamplerImporter::isSamplerLog(name))
            samplers_.emplace(name, std::pair(std::move(*reader), TensorReadings()));
        else if (reader)
            processes_.emplace(name, std::make_unique<Process>(std::move(*reader), options_));
    }
}

void Watcher::readLogs() {
    findLogs();
    // A log that cannot be read has no more readings.
    for (auto& [name, each] : samplers_) static_cast<void>(each.first.poll(each.second));
    for (auto& [name, each] : processes_) {
        Process& process = *each;
        if (process.isUnreadable) continue;
        process.meter.setLatest(eventNs() + secondNs);
        const auto receive = [&]<class... Parts>(const auto& record,
                                                 const Parts&... tail) requires(sizeof...(Parts) <= 1) {
            using Record = std::remove_cvref_t<decltype(record)>;
            if constexpr (std::is_invocable_v<StepMeter&, const Record&, const Parts&...>)
                process.meter(record, tail...);
            if constexpr (std::is_invocable_v<ProcessProgress&, const Record&, const Parts&...>)
                process.progress(record, tail...);
            if constexpr (std::is_same_v<Record, log::NcclOperationRecord>) addEntry(process, record);
            if constexpr (std::is_same_v<Record, log::EndRecord>) process.hasEnded = true;
            if constexpr (std::is_same_v<Record, log::DeviceRecord>)
                if (record.deviceId < maxGpus)
                    process.gpus[record.deviceId] = {formatGpuUuid(record.uuid),
                                                     options_.peakActiveHz(process.progress.text(record.name), record)};
            // A context without work, as on GPU 0, is no use of the GPU.
            if constexpr (std::is_same_v<Record, log::KernelRecord> || std::is_same_v<Record, log::GraphRecord>)
                if (record.deviceId < maxGpus) process.usedGpus.insert(record.deviceId);
        };
        process.isUnreadable = !process.reader.poll(receive);
    }
}

/// Keeps the entries into a collective until all ranks have entered it, for the lateness of the last one.
void Watcher::addEntry(Process& process, const log::NcclOperationRecord& record) {
    if (record.event != log::NcclEvent::Task || record.sequence < 0 || record.peer >= 0) return;
    const int32_t ranks = process.progress.rankCount(record.communicator);
    if (ranks < 2) return;
    // String ids differ between processes; the function's name distinguishes collectives of one sequence.
    const uint32_t function =
        static_cast<uint32_t>(std::hash<std::string_view>{}(process.progress.text(record.function)));
    const auto key = std::pair(record.communicator, std::pair(function, record.sequence));
    auto& entries = entries_[key];
    entries.emplace_back(static_cast<int32_t>(process.progress.rank()), record.timestampNs);
    if (entries.size() >= static_cast<size_t>(ranks)) {
        std::ranges::sort(entries, {}, [](const auto& entry) { return entry.second; });
        const auto& [rank, lastNs] = entries.back();
        late_.push_back({lastNs, rank, lastNs - entries[entries.size() - 2].second});
        if (late_.size() > maxLate) late_.pop_front();
        entries_.erase(key);
    }
    // Communicators of other hosts never complete here.
    if (entries_.size() > maxEntries) entries_.clear();
}

void Watcher::takeSteps(bool isLast) {
    for (auto& [name, process] : processes_) {
        for (const MeasuredStep& step : process->meter.take(isLast)) {
            if (controlledLog_.empty()) controlledLog_ = name;
            addStep(*process, step);
            if (name != controlledLog_ || making_) continue;
            const bool wasMeasuring = controller_.isMeasuring();
            if (wasMeasuring && measuringSinceNs_ == 0) measuringSinceNs_ = step.startNs;
            if (controller_.add(step.startNs, step.endNs, process->meter.appliedSinceNs(controller_.level())))
                setLevel(controller_.level());
            if (wasMeasuring && !controller_.isMeasuring()) {
                nextMeasureNs_ = nowNs() + std::max(measureAgainNs, measuringShare * (step.endNs - measuringSinceNs_));
                measuringSinceNs_ = 0;
                for (const auto& [other, each] : processes_) each->triggers.forget();
                reportLevel();
            }
        }
        const std::string where = fmt::format("process {}{}.", process->pid(), inRank(*process));
        const Trigger triggers[] = {
            {WatchCause::Mark, "mark-", "The program made the mark lanescope:dump."},
            {WatchCause::NcclAbort, "nccl-abort-", "NCCL was aborted by " + where},
            {WatchCause::OutOfMemory, "out-of-memory-", "An allocation of GPU memory failed in " + where}};
        for (const RemarkableCall call : process->meter.takeCalls()) {
            const Trigger& trigger = triggers[static_cast<size_t>(call)];
            makeTrace({trigger.cause, trigger.name + timeName(), trigger.sentence});
        }
    }
    if (!controller_.isMeasuring() && options_.budgetPercent >= 0 && level_ != RecordingLevel::Asleep &&
        nowNs() >= nextMeasureNs_ && !making_ && controller_.measureAgain())
        setLevel(controller_.level());
}

void Watcher::reportLevel() const {
    std::string costs;
    for (const LevelController::Cost& each : controller_.costs())
        costs += fmt::format("{}{} costs {:.2f} % of the step ({:.2f} to {:.2f} %)", costs.empty() ? "" : ", ",
                             log::nameOf(each.level), each.percent, each.lowPercent, each.highPercent);
    options_.report(fmt::format("Recording level: {}. Measured: {}. Budget: {} %.", log::nameOf(controller_.level()),
                                costs, options_.budgetPercent));
}

/// Adds the mean of the GPUs that the process uses, if all were read during the whole step.
void Watcher::addTensorUse(const Process& process, const MeasuredStep& step, StepContext& context) const {
    double activity = 0, mfu = 0;
    int64_t readNs = 0;
    for (const uint32_t used : process.usedGpus) {
        const auto gpu = process.gpus.find(used);
        std::optional<TensorUse> use;
        for (const auto& [name, each] : samplers_)
            if (!use && gpu != process.gpus.end()) use = each.second.useOf(gpu->second.first, step.startNs, step.endNs);
        if (!use) return;
        activity += use->activity;
        mfu += gpu->second.second > 0 ? use->activeHz / gpu->second.second : NAN;
        readNs = std::max(readNs, use->readNs);
    }
    if (process.usedGpus.empty()) return;
    const auto count = static_cast<double>(process.usedGpus.size());
    context.tensorActivity = activity / count;
    context.mfu = mfu / count;
    context.readSteps =
        std::max<int64_t>(1, std::llround(static_cast<double>(readNs) / static_cast<double>(step.durationNs())));
}

void Watcher::addStep(Process& process, const MeasuredStep& step) {
    StepContext context{static_cast<int32_t>(process.progress.rank()), process.pid(),
                        log::nameOf(process.meter.levelAt(step.startNs))};
    std::map<int32_t, int64_t> lateNs;
    for (const Late& late : late_)
        if (late.atNs >= step.startNs && late.atNs < step.endNs) lateNs[late.rank] += late.ns;
    for (const auto& [rank, ns] : lateNs)
        if (ns > context.lateNs) context.lateRank = rank, context.lateNs = ns;
    addTensorUse(process, step, context);
    // Steps at another level are shorter or longer, which is no change of the program.
    const bool isForced = making_ && making_->steps > 0;
    const bool isCompared = !controller_.isMeasuring() && !isForced && process.meter.levelAt(step.startNs) == level_;
    std::optional<StepTriggers::Event> event;
    if (isCompared) {
        event = process.triggers.add(step.durationNs());
        context.medianNs = process.triggers.medianNs();
        context.isSlow = event && event->kind == StepTriggers::Kind::SlowStep;
    }
    output_.addStep(step, context);
    if (!event) return;
    const std::string rank = inRank(process);
    if (event->kind == StepTriggers::Kind::SlowStep)
        makeTrace({WatchCause::SlowStep, fmt::format("slow-step-{}", step.number),
                   fmt::format("Step {} ({}){} took {}; the median is {}.", step.number, step.name, rank,
                               inMilliseconds(event->stepNs), inMilliseconds(event->medianNs))});
    else
        makeTrace(
            {WatchCause::LevelChange, fmt::format("level-change-{}", step.number),
             fmt::format("Steps{} take {} since step {}; before, they took {}.", rank, inMilliseconds(event->stepNs),
                         step.number - static_cast<int64_t>(StepTriggers::newCount) + 1,
                         inMilliseconds(event->medianNs))});
}

void Watcher::takeRequests() {
    std::vector<WatchRequest> requests = capture::takeRequests(*logs_);
    if (output_.takeDumpFile()) requests.push_back({"file dump", 0, true});
    for (const WatchRequest& request : requests)
        makeTrace({WatchCause::Request, "request-" + timeName(),
                   request.reason.empty() ? "A trace was requested."
                                          : fmt::format("A trace was requested: {}.", request.reason),
                   request});
}

void Watcher::findEnds() {
    std::vector<std::string> over;
    for (auto& [name, each] : processes_) {
        Process& process = *each;
        const int64_t lastNs = process.progress.lastEventNs();
        const bool isOver = process.hasEnded || process.diedNs != 0;
        if (isOver && eventNs() - lastNs > std::max(options_.ringNs, keptAfterEndNs)) over.push_back(name);
        if (isOver && name == controlledLog_) {
            controlledLog_.clear();
            controller_.restartBlock();
        }
        if (process.hasEnded || process.pid() == 0 || process.isDeathReported) continue;
        if (process.diedNs == 0 && isAlive(process.pid())) continue;
        if (process.diedNs == 0) process.diedNs = nowNs();
        // The end of the program has a reason of its own.
        if (nowNs() - process.diedNs < secondNs) continue;
        process.isDeathReported = true;
        // Forked workers often leave by _exit; a rank has steps or a communicator.
        if (process.meter.stepCount() == 0 && !process.progress.hasCommunicators()) continue;
        makeTrace({WatchCause::ProcessDied, "process-died-" + timeName(),
                   fmt::format("Process {}{} ended without its exit handlers.", process.pid(), inRank(process))});
    }
    for (const std::string& name : over) forget(name);
}

/// Removes the ring of an ended process, which only the process itself would bound.
void Watcher::forget(const std::string& log) {
    for (const std::string& name : logs_->names())
        if (const auto part = log::logPart(name); part && part->log == log) static_cast<void>(logs_->removeFile(name));
    processes_.erase(log);
}

void Watcher::findHang() {
    if (options_.hangSeconds < 0 || level_ == RecordingLevel::Asleep) return;
    int64_t progressNs = 0, longestNs = 0, steps = 0;
    bool someRun = false;
    for (const auto& [name, process] : processes_) {
        const int64_t ownNs = std::max(process->meter.progressNs(), process->progress.lastGpuEndNs());
        progressNs = std::max(progressNs, ownNs);
        // Without GPU work in the log any event is progress.
        if (level_ < RecordingLevel::Kernels) progressNs = std::max(progressNs, process->progress.lastEventNs());
        longestNs = std::max(longestNs, process->meter.longestStepNs());
        steps += process->meter.stepCount();
        someRun = someRun || (ownNs > 0 && !process->hasEnded && process->diedNs == 0);
    }
    const int64_t defaultNs = std::max(steps > 0 ? minHangNs : minHangBeforeStepsNs, stepsOfHang * longestNs);
    const int64_t allowedNs = options_.hangSeconds > 0 ? static_cast<int64_t>(options_.hangSeconds * 1e9) : defaultNs;
    const int64_t atNs = eventNs();
    if (!someRun || atNs - progressNs < allowedNs / 2) {
        if (std::exchange(isUnfinishedWanted_, false)) setLevel(level_);
        isHangReported_ = false;
        for (const auto& [name, process] : processes_) process->threads.reset();
        return;
    }
    // Complete records of work that has ended may share a buffer with one that has not.
    if (!isUnfinishedWanted_) setLevel(level_, isUnfinishedWanted_ = true);
    // Places of threads are compared from half of the time on, for the time that each was in one place.
    if (isHangReported_ || nowNs() < nextThreadsNs_) return;
    nextThreadsNs_ = nowNs() + threadsPeriodNs;
    HangReport report;
    report.atNs = atNs;
    report.quietNs = atNs - progressNs;
    for (const auto& [name, process] : processes_) {
        ProcessState state = process->progress.state(process->pid(), atNs);
        state.recordsLaunches = level_ == RecordingLevel::All;
        if (!state.recordsLaunches) state.launch = {};
        if (!process->threads) process->threads.emplace(static_cast<pid_t>(process->pid()));
        process->threads->read(atNs, state);
        report.processes.push_back(std::move(state));
    }
    if (atNs - progressNs >= allowedNs) {
        isHangReported_ = true;
        const std::string name = fmt::format("hang-{}-{}", info_.host, timeName());
        output_.addHang(name, hangText(report), hangJson(report));
        makeTrace({WatchCause::Hang, name, hangSentence(report)});
    }
}

void Watcher::makeTrace(const Trigger& trigger) {
    constexpr size_t maxWaiting = 8;
    const int64_t presentNs = nowNs();
    std::deque<int64_t>& sameNs = tracesNs_[trigger.cause];
    while (!sameNs.empty() && sameNs.front() < presentNs - hourNs) sameNs.pop_front();
    const bool isAsked = trigger.cause == WatchCause::Request;
    if (making_) {
        // The trace in the making contains a slow step, unless its logs are complete.
        const bool isContained = trigger.cause == WatchCause::SlowStep && !making_->trace.isBeingMade();
        if (!isContained && waiting_.size() < maxWaiting) waiting_.push_back(trigger);
        return;
    }
    if (!isAsked && sameNs.size() >= static_cast<size_t>(options_.maxTracesPerHour)) {
        if (limitReported_.insert(trigger.cause).second)
            options_.report(trigger.sentence + " No trace: the limit of this hour is reached (--traces-per-hour).");
        return;
    }
    auto trace = PastTrace::begin(*logs_, info_, output_.freeTrace(trigger.name), trigger.request.hasPast,
                                  trigger.cause != WatchCause::Failed);
    if (!trace) return options_.report(trigger.sentence + " No trace: " + trace.error().sentence);
    if (!isAsked) sameNs.push_back(presentNs);
    limitReported_.erase(trigger.cause);
    output_.countTrace(trigger.cause);
    making_.emplace(Making{std::move(*trace), presentNs + settlingNs, 0, {}, trigger.sentence});
    if (trigger.request.steps > 0) {
        making_->deadlineNs = presentNs + maxStepsNs;
        making_->steps = trigger.request.steps;
        for (const auto& [log, process] : processes_) making_->before[log] = process->meter.stepCount();
        setLevel(RecordingLevel::All);
    }
}

bool Watcher::hasSteps(const Making& making) const {
    int ready = 0;
    for (const auto& [log, process] : processes_) {
        const auto before = making.before.find(log);
        const int64_t made = process->meter.stepCount() - (before == making.before.end() ? 0 : before->second);
        if (made > 0 && made < making.steps && !process->hasEnded) return false;
        if (made >= making.steps) ++ready;
    }
    return making.steps > 0 && ready > 0;
}

void Watcher::continueTrace(bool isLast) {
    if (!making_) return;
    Making& making = *making_;
    const int64_t presentNs = nowNs();
    if (!making.trace.isBeingMade()) {
        making.trace.extend(*logs_);
        if (hasSteps(making)) {
            making.steps = 0;
            making.deadlineNs = presentNs + settlingNs;
        }
        if (!isLast && presentNs < making.deadlineNs) return;
        if (making.steps > 0)
            making.sentence += isLast ? " The program ended before all requested steps."
                                      : " Not all requested steps came within 60 s.";
        setLevel(options_.isAsleep ? RecordingLevel::Asleep : controller_.level());
        making.trace.make(options_.recoverProgram);
    }
    const std::optional<bool> isMade = making.trace.outcome(isLast);
    if (!isMade) return;
    if (*isMade) output_.keepTrace(making.trace.trace(), static_cast<size_t>(options_.maxTraces));
    options_.report(*isMade ? fmt::format("{} Trace: {}", making.sentence, making.trace.trace().string())
                            : fmt::format("{} No trace was made. Check the free space of {}.", making.sentence,
                                          output_.path().string()));
    making_.reset();
    if (waiting_.empty()) return;
    const Trigger next = std::move(waiting_.front());
    waiting_.pop_front();
    makeTrace(next);
}

void Watcher::setLevel(RecordingLevel level, bool wantsUnfinished) {
    level_ = level;
    UniqueFd file = logs_->openFile(log::levelFileName, Folder::Access::Write);
    if (file < 0) file = logs_->createFile(log::levelFileName);
    const char text[2] = {static_cast<char>('0' + static_cast<int>(level)), wantsUnfinished ? 'u' : ' '};
    // Without the file the processes record everything.
    if (file >= 0) static_cast<void>(writeAllAt(file, text, sizeof text, 0));
}

std::vector<uint32_t> Watcher::openProcesses() const {
    std::vector<uint32_t> pids;
    for (const auto& [name, process] : processes_)
        if (!process->hasEnded && !process->isUnreadable && process->pid() != 0) pids.push_back(process->pid());
    return pids;
}

void Watcher::addLostLog(int, int error, std::string program) {
    options_.report(fmt::format("{} could not write a log: {}.", program, std::strerror(error)));
}

Result<CollectedRun> Watcher::finish(std::optional<MainProcess> program, bool, const ClosingSteps&) {
    readLogs();
    takeSteps(true);
    while (making_) continueTrace(true);
    // Ctrl-C and SIGTERM are no failures, and a host that is taken away leaves little time.
    const bool isAskedToEnd = program && (program->exitStatus == 128 + SIGINT || program->exitStatus == 128 + SIGTERM);
    if (program && program->exitStatus != 0 && !isAskedToEnd) {
        makeTrace({WatchCause::Failed, "failed-" + timeName(),
                   program->exitStatus > 128 ? fmt::format("Signal {} ended the program.", program->exitStatus - 128)
                                             : fmt::format("The program ended with status {}.", program->exitStatus)});
        while (making_) continueTrace(true);
    }
    output_.writeMetrics(log::nameOf(level_), false);
    if (processes_.empty())
        options_.report("Nothing was recorded: no process used CUDA or NVTX.");
    else if (std::ranges::none_of(processes_, [](const auto& each) { return each.second->meter.stepCount() > 0; }))
        options_.report("No steps were found. Mark them, or name their range with --step-range.");
    CollectedRun run;
    run.trace = output_.path();
    run.logs = processes_.size();
    run.processes = static_cast<int>(processes_.size());
    return run;
}

}  // namespace lanescope::capture
