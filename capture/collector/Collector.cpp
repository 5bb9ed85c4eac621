// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/Collector.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <new>
#include <set>

#include "capture/collector/PerfImporter.h"
#include "capture/collector/compiledCode.h"
#include "capture/collector/liveJournal.h"
#include "capture/log/clocks.h"
#include "capture/log/logDoor.h"
#include "capture/options/AgentOptions.h"
#include "model/format/OutputFile.h"
#include "model/format/ReadWatch.h"
#include "model/format/factNames.h"
#include "model/format/tables/Session.h"

namespace lanescope::capture {

namespace {

/// Minimum size of the disk reserve. A smaller reserve is of no use.
constexpr uint64_t minUsefulBytes = 64 << 10;
/// Size of writes that reserve space on file systems without reservation. There the reserve does not grow.
constexpr size_t blockBytes = 1 << 20;
constexpr int64_t nsPerSecond = 1'000'000'000;

bool isUnsupported(int problem) { return problem == EOPNOTSUPP || problem == ENOSYS || problem == EINVAL; }

/// Blocks read from one log before the next log follows, and between two commits.
constexpr size_t blocksPerTurn = 16;

/// Returns the host in "<host>.<rank>.<pid>.log"; the host may contain dots itself.
std::string hostOf(std::string name) {
    for (int part = 0; part < 3; ++part) {
        const size_t dot = name.rfind('.');
        if (dot == std::string::npos) return {};
        name.resize(dot);
    }
    return name;
}

/// Returns "box.-.4242" for "box.-.4242.log" and for "box.-.4242.2.log", the log of the same process after an exec.
std::string nameOfProcess(const std::string& log) {
    const auto isNumber = [](const std::string& text) {
        return text.size() > 1 && text.find_first_not_of("0123456789", 1) == std::string::npos;
    };
    const std::filesystem::path name = std::filesystem::path(log).stem(), before = name.stem();
    const std::filesystem::path rank = before.stem().extension();
    const bool hasNumber = isNumber(name.extension().string()) && isNumber(before.extension().string()) &&
                           (rank == ".-" || isNumber(rank.string()));
    return (hasNumber ? before : name).string();
}

/// Returns the process of a log by its name and start, since process ids are reused.
std::string processOf(const std::string& log, const LogImporter& importer) {
    return fmt::format("{} {}", nameOfProcess(log), importer.property(facts::processStart));
}

std::string textOrEmptyIfZero(int64_t number) { return number != 0 ? std::to_string(number) : std::string(); }

}  // namespace

DiskReserve::DiskReserve(std::shared_ptr<const Folder> runFolder) : runFolder_(std::move(runFolder)) {
    file_ = runFolder_->createFile(fileName);
    for (uint64_t bytes = minBytes; file_ >= 0 && bytes >= minUsefulBytes && bytes_ == 0; bytes /= 2)
        if (!grow(bytes)) static_cast<void>(::ftruncate(file_, 0) == 0);
}

DiskReserve::~DiskReserve() { release(); }

bool DiskReserve::grow(uint64_t bytes) {
    if (::fallocate(file_, 0, 0, static_cast<off_t>(bytes)) == 0) {
        bytes_ = bytes;
        return true;
    }
    if (!isUnsupported(errno) || bytes > minBytes) return false;
    const std::vector<char> zeros(std::min<size_t>(bytes, blockBytes));
    for (uint64_t at = 0; at < bytes; at += zeros.size())
        if (!writeAllAt(file_, zeros.data(), zeros.size(), at)) return false;
    bytes_ = bytes;
    return true;
}

void DiskReserve::cover(uint64_t logBytes, int64_t ns) {
    if (file_ < 0 || bytes_ < minBytes || ns <= 0) return;
    const double perSecond = static_cast<double>(logBytes) * nsPerSecond / static_cast<double>(ns);
    const uint64_t wanted = std::min(minBytes + static_cast<uint64_t>(2 * perSecond), maxBytes);
    // The program may need the rest of the disk, such as for a checkpoint.
    struct statvfs disk {};
    if (wanted <= bytes_ || ::fstatvfs(file_, &disk) != 0) return;
    const uint64_t more = wanted - bytes_;
    if (uint64_t{disk.f_bavail} * disk.f_frsize < 4 * more || grow(wanted)) return;
    // A failed call keeps the part that it got.
    static_cast<void>(::ftruncate(file_, static_cast<off_t>(bytes_)) == 0);
}

void DiskReserve::release() {
    if (file_ < 0) return;
    file_.reset();
    static_cast<void>(runFolder_->removeFile(fileName));
}

Collector::Collector(std::shared_ptr<const Folder> runFolder, std::filesystem::path output, RunInfo info)
    : runFolder_(std::move(runFolder)), output_(std::move(output)), info_(std::move(info)), gpus_(info_.machine) {}

Result<std::unique_ptr<Collector>> Collector::begin(std::shared_ptr<const Folder> runFolder,
                                                    std::filesystem::path output, RunInfo info, Journal journal) {
    std::unique_ptr<Collector> collector(new Collector(std::move(runFolder), std::move(output), std::move(info)));
    Result<Folder> folder = Folder::openNamed(collector->output_.parent_path());
    if (!folder) return fail(folder.error());
    collector->outputFolder_ = std::move(*folder);
    if (auto begun = collector->beginTrace(journal); !begun) return fail(begun.error());
    return collector;
}

Result<void> Collector::beginTrace(Journal journal) {
    const std::filesystem::path partial = partialPath();
    if (auto removed = removeUnfinished(partial); !removed) return removed;
    auto trace = TraceWriter::create(partial, journal);
    if (!trace) {
        static_cast<void>(removeUnfinished(partial));  // The part that a full disk left.
        return fail(trace.error());
    }
    trace_ = std::move(*trace);
    liveTrace_ = partial;
    if (journal == Journal::Live) reserve_.emplace(runFolder_);
    trace_->setSourceFolders({info_.workingDirectory, info_.homeDirectory});
    return {};
}

/// Removes everything that was made of the logs so far. The logs stay.
void Collector::discardTrace() {
    logs_.clear();
    samplerLogs_.clear();
    unreadable_.clear();
    hosts_.clear();
    lastCounter_ = 0;
    gpus_ = GpuInventory(info_.machine);
    if (!trace_) return;
    trace_->database().keepLogOnClose();
    trace_.reset();
    static_cast<void>(removeUnfinished(partialPath()));
}

Collector::~Collector() {
    if (isNamed_) return;
    try {
        discardTrace();
    } catch (const std::exception&) {
        // Without memory its path cannot be built, and the file stays.
    }
}

std::filesystem::path Collector::presentOutput() const { return outputFolder_->presentPath() / output_.filename(); }

std::filesystem::path Collector::partialPath() const {
    return presentOutput().string() + std::string(unfinishedEnding);
}

void Collector::setMachine(Machine machine) {
    gpus_ = GpuInventory(machine);
    info_.machine = std::move(machine);
}

void Collector::poll() {
    if (brokenBy_) return;
    try {
        if (auto done = importLogs(); !done) brokenBy_ = done.error();
    } catch (const std::bad_alloc&) {
        brokenBy_ = outOfMemory_;
    }
}

Result<void> Collector::importLogs() {
    findLogs();
    bool isMore = true;
    while (isMore) {
        isMore = false;
        for (auto& [name, log] : logs_)
            if (log->poll(blocksPerTurn) > 0) isMore = true;
        for (auto& [name, log] : samplerLogs_)
            if (log->poll(blocksPerTurn) > 0) isMore = true;
        if (auto done = trace_->commit(); !done) return done;
    }
    uint64_t bytes = 0;
    for (const auto& [path, log] : logs_) bytes += log->bytesRead();
    for (const auto& [path, log] : samplerLogs_) bytes += log->bytesRead();
    const int64_t nowNs = log::monotonicNs();
    if (reserve_ && polledNs_ > 0) reserve_->cover(bytes - bytesRead_, nowNs - polledNs_);
    polledNs_ = nowNs;
    bytesRead_ = bytes;
    return {};
}

void Collector::noteProgramEnd() {
    int64_t bytes = 0;
    for (const std::string& name : runFolder_->names())
        if (name.find(".log") != std::string::npos)
            bytes += static_cast<int64_t>(runFolder_->fileBytes(name).value_or(0));
    bytesUnreadAtEnd_ = std::max<int64_t>(0, bytes - static_cast<int64_t>(bytesRead_.load()));
}

void Collector::findLogs() {
    for (const std::string& name : log::logNames(runFolder_->names()))
        if (!logs_.contains(name) && !samplerLogs_.contains(name) && !unreadable_.contains(name)) addLog(name);
}

void Collector::addLog(const std::string& name) {
    const uint32_t host = hostNumber(name);
    const auto keep = [&](auto opened, auto& logs) {
        if (opened)
            logs.emplace(name, std::move(*opened));
        else
            unreadable_.emplace(name, opened.error());
    };
    if (SamplerImporter::isSamplerLog(name))
        keep(SamplerImporter::open(runFolder_, name, *trace_, gpus_, info_.startRealtimeNs, host, lastCounter_),
             samplerLogs_);
    else
        keep(LogImporter::open(runFolder_, name, *trace_, gpus_, info_.startRealtimeNs, host), logs_);
}

void Collector::note(HealthCode code, std::string_view sentence) { notes_.push_back({code, std::string(sentence)}); }

void Collector::addLostLog(int pid, int error, std::string program) {
    lostLogs_.push_back({std::to_string(pid), std::move(program), error});
}

void Collector::property(std::string_view name, std::string_view value) { properties_.emplace_back(name, value); }

void Collector::finishSamplers(CollectedRun& run) {
    std::set<int64_t> logged;
    for (const auto& [path, log] : logs_)
        if (log->hasContent()) logged.insert(log->processId());
    for (auto& [name, log] : samplerLogs_) {
        log->finish(hosts_.size() > 1 ? hostOf(name) : std::string(), logged, info_.goesOn);
        if (log->isNotAllRead()) ++run.logsNotAllRead;
        run.threadStates += log->threadStates();
    }
}

/// Imports the perf logs, after the Python stacks of samples are in the trace.
void Collector::importPerfLogs(CollectedRun& run) {
    std::optional<PerfImporter> importer;
    for (const std::string& name : runFolder_->names()) {
        if (!PerfImporter::isPerfLog(name)) continue;
        if (!importer) importer.emplace(*trace_, info_.startRealtimeNs);
        if (const auto counts = importer->import(*runFolder_, name, hostNumber(name)))
            run.threadStates += counts->switches + counts->samples;
        else
            trace_->health(Severity::Error, HealthCode::LogUnreadable, counts.error().sentence);
    }
}

uint32_t Collector::hostNumber(const std::string& logName) {
    const auto next = static_cast<uint32_t>(hosts_.size());
    return hosts_.try_emplace(hostOf(logName), next).first->second;
}

std::vector<uint32_t> Collector::openProcesses() const {
    std::vector<uint32_t> open;
    for (const auto& [path, log] : logs_)
        if (!log->isComplete() && log->pid() != 0) open.push_back(log->pid());
    return open;
}

std::vector<WindowProgress> Collector::windowProgress() const {
    std::vector<WindowProgress> progress;
    for (const auto& [path, log] : logs_) {
        const std::vector<ProcessWindows::Window>& windows = log->ownWindows().all();
        if (windows.empty()) continue;
        const bool isOpen = !windows.back().endNs;
        progress.push_back({log->pid(), windows.size(), windows.size() - (isOpen ? 1 : 0)});
    }
    return progress;
}

void Collector::cut(std::vector<uint32_t> running, int64_t atRealtimeNs) {
    running_ = std::move(running);
    truncationRealtimeNs_ = atRealtimeNs;
}

Result<CollectedRun> Collector::finish(std::optional<MainProcess> mainProcess, bool overwrite,
                                       const ClosingSteps& closing) {
    Result<CollectedRun> run = fail(outOfMemory_);
    reserve_.reset();
    if (trace_ && partialPath() != liveTrace_)
        brokenBy_ = {
            fmt::format("{}: no longer the folder in which the recording began.", output_.parent_path().string())};
    // A full disk has room again once the unfinished trace is removed; the summary and the index need some of it.
    ClosingSteps none;
    none.skipped = closing.skipped;
    const ClosingSteps* const attempts[] = {&closing, &closing, &none};
    for (size_t attempt = 0; attempt < std::size(attempts) && !run && !isNamed_; ++attempt) {
        try {
            if (attempt > 0) {
                discardTrace();
                brokenBy_.reset();
                if (auto begun = beginTrace(Journal::None); !begun) brokenBy_ = begun.error();
            }
            if (trace_) poll();
            run = brokenBy_ ? fail(*brokenBy_) : complete(mainProcess, overwrite, *attempts[attempt]);
            if (run && attempts[attempt] == &none && none.skipped) none.skipped(run->trace, ClosingSkip::NoRoom);
        } catch (const std::bad_alloc&) {
            run = fail(outOfMemory_);
        }
    }
    return run;
}

Result<CollectedRun> Collector::complete(std::optional<MainProcess> mainProcess, bool overwrite,
                                         const ClosingSteps& closing) {
    CollectedRun run{.trace = presentOutput(), .logs = logCount()};
    int64_t durationNs = 0;
    const LogImporter* lastOfMain = nullptr;  // A program that ran another by exec leaves several.
    for (const auto& [name, log] : logs_)
        if (mainProcess && mainProcess->pid == log->pid() &&
            (lastOfMain == nullptr || log->begunRealtimeNs() > lastOfMain->begunRealtimeNs()))
            lastOfMain = log.get();
    // A process begins another log after an exec.
    std::map<std::string, int64_t> lastBegunNs;
    int64_t firstBegunNs = INT64_MAX;
    for (const auto& [name, log] : logs_) {
        int64_t& begunNs = lastBegunNs[processOf(name, *log)];
        begunNs = std::max(begunNs, log->begunRealtimeNs());
        firstBegunNs = std::min(firstBegunNs, log->begunRealtimeNs());
    }
    for (auto& [name, log] : logs_) {
        std::optional<int> status;
        if (mainProcess && mainProcess->pid == log->pid()) status = mainProcess->exitStatus;
        LogImporter::KnownEnd known{status, log.get() == lastOfMain ? mainProcess->endRealtimeNs : 0};
        known.hasExeced = lastBegunNs[processOf(name, *log)] > log->begunRealtimeNs();
        const bool isCut = std::ranges::find(running_, log->pid()) != running_.end();
        known.stillRan = isCut || (info_.goesOn && ::kill(static_cast<pid_t>(log->pid()), 0) == 0);
        if (isCut) known.seenNs = truncationRealtimeNs_;
        log->finish(known);
        if (log->isNotAllRead()) ++run.logsNotAllRead;
        if (!log->hasContent()) continue;
        ++run.processes;
        if (log->wasTruncated()) ++run.processesTruncated;
        run.counts += log->counts();
        durationNs = std::max(durationNs, log->endNs());
    }
    finishSamplers(run);
    importPerfLogs(run);
    if (auto written = writeCodeOfLines(*trace_, firstBegunNs); !written) return fail(written.error());
    for (auto& [path, log] : logs_)
        if (log->hasContent()) log->nameOtherThreads();
    run.logsNotAllRead += unreadable_.size();
    for (const auto& [code, sentence] : notes_) trace_->health(Severity::Info, code, sentence);
    for (const auto& [name, value] : properties_) trace_->property(name, value);
    for (const auto& [name, error] : unreadable_)
        trace_->health(Severity::Error, HealthCode::LogUnreadable, error.sentence);
    writeRun(durationNs);
    writeMissingDriver();
    writeMissingRanks();
    writeTruncation();
    run.processesWithoutLog = writeLostLogs();
    writeReusedIds();
    writeMissingWriters();
    writeVersions();
    writeClocksThatWereSet();
    if (auto done = trimToRecordedWindows(); !done) return fail(done.error());
    if (bytesUnreadAtEnd_ >= 0) run.logBytesUnreadAtExit = bytesUnreadAtEnd_.load();
    if (run.logBytesUnreadAtExit)
        trace_->property(facts::logBytesUnreadAtExit, std::to_string(*run.logBytesUnreadAtExit));
    if (mainProcess) trace_->property(facts::exitStatus, std::to_string(mainProcess->exitStatus));
    run.warnings = trace_->warnings();
    const bool hasSamples = !samplerLogs_.empty();
    logs_.clear();  // Frees memory for closing.
    samplerLogs_.clear();
    // Thread states are worth a trace even if the agent recorded nothing of the program.
    const bool isWorthClosing = run.processes > 0 || hasSamples;
    if (auto done = trace_->finish(isWorthClosing ? closing.add : nullptr); !done) return fail(done.error());
    trace_.reset();
    if (auto done = settleJournal(partialPath()); !done) return fail(done.error());
    if (auto whole = checkWhole(partialPath()); !whole) return fail(whole.error());
    isNamed_ = true;  // From here on the file is whole and worth keeping, whatever its name.
    if (isWorthClosing && closing.settled) closing.settled(partialPath(), presentOutput());
    if (auto done = nameFile(overwrite); !done) return fail(done.error());
    if (!isWorthClosing && closing.skipped) closing.skipped(presentOutput(), ClosingSkip::NothingRecorded);
    return run;
}

void Collector::writeRun(int64_t durationNs) {
    const std::time_t seconds = info_.startRealtimeNs / 1'000'000'000;
    const std::optional<int64_t> monotonic =
        info_.startMonotonicNs != 0 ? std::optional(info_.startMonotonicNs) : std::nullopt;
    std::tm utc{}, local{};
    gmtime_r(&seconds, &utc);
    localtime_r(&seconds, &local);
    constexpr const auto& start = tables::sessionStart;
    trace_->add(start, start.utcEpochNs = info_.startRealtimeNs,
                start.utcTime = fmt::format("{:%Y-%m-%dT%H:%M:%S}", utc),
                start.localTime = fmt::format("{:%Y-%m-%dT%H:%M:%S}", local), start.systemClockNs = monotonic);
    constexpr const auto& session = tables::analysisDetails;
    trace_->add(session, session.globalVid = globalPid(0), session.duration = durationNs, session.startTime = 0,
                session.stopTime = durationNs);
    gpus_.write(*trace_);
    // Most machines were never measured: a missing file is normal.
    const Result<std::filesystem::path> roofs =
        info_.roofsFile.empty() ? MeasuredPeaks::defaultFile() : std::filesystem::path(info_.roofsFile);
    if (roofs)
        if (const auto measured = MeasuredPeaks::load(*roofs)) gpus_.write(*trace_, *measured);

    const std::pair<std::string_view, std::string> known[] = {
        {facts::commandLine, fmt::format("{}", fmt::join(info_.commandLine, " "))},
        {facts::workingDirectory, info_.workingDirectory},
        {facts::homeDirectory, info_.homeDirectory},
        {facts::host, info_.host},
        {facts::operatingSystem, info_.hostFacts.operatingSystem},
        {facts::kernel, info_.hostFacts.kernel},
        {facts::cpu, info_.hostFacts.cpu},
        {facts::cpuCount, textOrEmptyIfZero(info_.hostFacts.cpuCount)},
        {facts::hostMemoryBytes, textOrEmptyIfZero(info_.hostFacts.memoryBytes)},
        {facts::lanescopeVersion, info_.version},
        {facts::recordOptions, info_.options},
        {facts::driverVersion, info_.machine.driverVersion},
        {facts::driverCudaVersion, info_.machine.cudaVersion},
    };
    for (const auto& [name, value] : known) {
        if (value.empty()) continue;
        trace_->property(name, value);
        constexpr const auto& meta = tables::captureMetaData;
        trace_->add(meta, meta.name = name, meta.value = value);
    }
    for (const auto& [host, number] : hosts_)
        if (!host.empty() && hosts_.size() > 1) trace_->property(numberedFactName(facts::host, number), host);
}

/// Reports why CUDA activity was impossible. A trace recovered without facts of the machine reports nothing.
void Collector::writeMissingDriver() {
    const bool isKnown = !info_.host.empty();
    const bool usedCuda = std::ranges::any_of(logs_, [](const auto& each) { return each.second->usedCuda(); });
    if (!isKnown || !info_.recordsCuda || !info_.machine.driverVersion.empty() || usedCuda) return;
    trace_->health(Severity::Warning, HealthCode::NoDriver,
                   "No NVIDIA driver was found on this machine; only NVTX was recorded, no CUDA activity.");
}

/// Skipped for one of several recordings of a launch, which has its own rank only.
void Collector::writeMissingRanks() {
    std::vector<RankFacts> present;
    for (const auto& [path, log] : logs_) {
        const std::optional<RankFacts> facts = log->rankFacts();
        if (facts && (facts->rank != info_.rank || facts->worldSize != info_.worldSize)) present.push_back(*facts);
    }
    if (const auto sentence = missingRanksSentence(present))
        trace_->health(Severity::Warning, HealthCode::RanksMissing, *sentence);
}

void Collector::writeTruncation() {
    if (running_.empty()) return;
    const int64_t truncationNs = truncationRealtimeNs_ - info_.startRealtimeNs;
    const size_t count = running_.size();
    trace_->health(Severity::Warning, HealthCode::ProcessesCut,
                   fmt::format("{} of the run still ran and {} truncated at {:.1f} s. Use --wait all to wait for {}.",
                               count == 1 ? "1 process" : fmt::format("{} processes", count), count == 1 ? "is" : "are",
                               static_cast<double>(truncationNs) / 1e9, count == 1 ? "it" : "them"),
                   {}, truncationNs, static_cast<int64_t>(count));
}

/// Reports the processes that could not write a log and left a sign.
size_t Collector::writeLostLogs() {
    constexpr size_t maxReported = 100;
    size_t count = 0;
    const auto report = [&](const LostLog& lost) {
        if (++count > maxReported) return;
        const std::string program = std::filesystem::path(lost.program).filename().string();
        trace_->health(Severity::Error, HealthCode::ProcessWithoutLog,
                       fmt::format("Process {} ({}): used NVTX or CUDA, but could not write its log: {}.", lost.pid,
                                   program.empty() ? "-" : program, std::strerror(lost.error)));
    };
    for (const std::string& name : runFolder_->names()) {
        if (!name.ends_with(log::lostLogEnding)) continue;
        const std::optional<std::string> target = runFolder_->linkTarget(name);
        const std::string pid = std::filesystem::path(name).stem().extension().string();
        if (!target || pid.size() < 2) continue;
        const size_t space = target->find(' ');
        report({pid.substr(1), space == std::string::npos ? std::string() : target->substr(space + 1),
                std::atoi(target->c_str())});
    }
    for (const LostLog& lost : lostLogs_) report(lost);
    return count;
}

/// Reports process ids that the kernel gave to several processes, which a trace shows as one. A process that runs
/// another program by exec keeps its id and its start.
void Collector::writeReusedIds() {
    std::map<std::pair<uint32_t, uint32_t>, std::set<std::string_view>> startsOf;
    size_t reused = 0, processes = 0;
    for (const auto& [name, log] : logs_)
        if (const std::string_view start = log->property(facts::processStart); !start.empty() && log->hasContent())
            startsOf[{hostNumber(name), log->pid()}].insert(start);
    for (const auto& [id, starts] : startsOf) {
        if (starts.size() < 2) continue;
        ++reused;
        processes += starts.size();
    }
    trace_->healthCount(
        Severity::Warning, HealthCode::ProcessIdsReused, reused,
        fmt::format(
            "{} process {} used by {} processes one after the other. Processes with the same id are shown as one.",
            reused, reused == 1 ? "id was" : "ids were", processes));
}

void Collector::writeMissingWriters() {
    const auto count = std::ranges::count_if(logs_, [](const auto& each) { return each.second->lackedWriter(); });
    trace_->healthCount(Severity::Warning, HealthCode::WriterMissing, count,
                        fmt::format("{} could not start a thread to write {} (limit of threads or processes?). Events "
                                    "were kept in memory, up to 1 MiB per thread, and written at exit.",
                                    count == 1 ? "1 process" : fmt::format("{} processes", count),
                                    count == 1 ? "its log" : "their logs"));
}

/// Unknown records of the agent are skipped, so a version difference is only a hint.
void Collector::writeVersions() {
    for (const auto& [path, log] : logs_) {
        const std::string_view agent = log->property(facts::agentVersion);
        if (agent.empty() || info_.version.empty() || agent == info_.version) continue;
        trace_->health(
            Severity::Info, HealthCode::VersionsDiffer,
            fmt::format("The agent has version {}, and lanescope {}: data that only one of them supports is missing.",
                        agent, info_.version));
        return;
    }
}

/// Once per host, for the process that detected it first. Samplers report it themselves.
void Collector::writeClocksThatWereSet() {
    if (std::ranges::any_of(samplerLogs_, [](const auto& each) { return each.second->reportedClockSet(); })) return;
    std::map<std::string, LogImporter::ClockSetting> settings;
    for (const auto& [name, log] : logs_)
        if (const auto setting = log->clockSetting()) {
            const auto [known, isNew] = settings.try_emplace(hostOf(name), *setting);
            if (!isNew && setting->timeNs < known->second.timeNs) known->second = *setting;
        }
    for (const auto& [host, setting] : settings)
        trace_->health(
            Severity::Info, HealthCode::ClockSet,
            fmt::format("The clock of {} was set {:.3f} s {} at {:.1f} s. Times in this trace are not affected.",
                        host.empty() ? "this machine" : host, static_cast<double>(std::abs(setting.byNs)) / 1e9,
                        setting.byNs < 0 ? "back" : "ahead", static_cast<double>(setting.timeNs) / 1e9),
            {}, setting.timeNs);
}

Result<void> Collector::nameFile(bool overwrite) {
    if (overwrite)
        if (auto removed = removeSideFiles(presentOutput()); !removed) return removed;
    const std::string name = output_.filename().string();
    return publishFile(*outputFolder_, name + std::string(unfinishedEnding), name,
                       overwrite ? IfExists::Replace : IfExists::Fail);
}

Result<void> Collector::trimToRecordedWindows() {
    RecordedWindows windows;
    for (const auto& [path, log] : logs_) {
        const auto ranges = log->windows();
        if (!ranges) continue;
        std::vector<TimeRange>& all = windows[log->processId()];
        all.insert(all.end(), ranges->begin(), ranges->end());
        std::ranges::sort(all, {}, &TimeRange::startNs);
    }
    const Result<int64_t> trimmed = trimToWindows(trace_->database(), windows);
    if (!trimmed) return fail(trimmed.error());
    trace_->healthCount(
        Severity::Info, HealthCode::LaunchedOutsideWindows, *trimmed,
        fmt::format("{} GPU operations were skipped: they were launched before their process started recording.",
                    *trimmed));
    return trimThreads(windows);
}

/// Trims thread data to the windows. Threads of processes without windows of their own, such as
/// data loaders, are kept while any process recorded.
Result<void> Collector::trimThreads(RecordedWindows& windows) {
    std::vector<TimeRange> recordedByAny;
    for (auto& [process, ranges] : windows) {
        recordedByAny.insert(recordedByAny.end(), ranges.begin(), ranges.end());
        ranges = joined(ranges);
    }
    agent::AgentOptions options;
    agent::readOptionText(info_.options, options);
    if (options.windows.trigger == agent::WindowTrigger::Time) {
        const int64_t startNs = options.windows.delayNs;
        recordedByAny.push_back(
            {startNs, options.windows.durationNs > 0 ? startNs + options.windows.durationNs : maxTimestampNs});
    }
    if (windows.empty() && recordedByAny.empty()) return {};
    recordedByAny = joined(std::move(recordedByAny));
    std::set<int64_t> logged;
    for (const auto& [path, log] : logs_)
        if (log->hasContent()) logged.insert(log->processId());
    const Result<int64_t> skipped =
        trimThreadsToWindows(trace_->database(), [&](int64_t process) -> const std::vector<TimeRange>* {
            const auto own = windows.find(process);
            if (own != windows.end()) return &own->second;
            return logged.contains(process) ? nullptr : &recordedByAny;
        });
    if (!skipped) return fail(skipped.error());
    trace_->healthCount(
        Severity::Info, HealthCode::Windows, *skipped,
        fmt::format("{} thread states, context switches and samples outside the requested windows were omitted.",
                    *skipped));
    return {};
}

}  // namespace lanescope::capture
