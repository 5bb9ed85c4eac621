// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/LogImporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

#include "capture/collector/TraceWriter.h"
#include "model/format/parseNumber.h"
#include "model/format/tables/Session.h"

namespace lanescope::capture {

void ProcessWindows::add(const log::WindowRecord& record) {
    areThere_ = true;
    if (record.isBegin == 0) {
        // Without a beginning, the length of the window is unknown.
        if (latest_ && !windows_[*latest_].endNs)
            windows_[*latest_].endNs = std::max(windows_[*latest_].startNs, record.timestampNs);
        return;
    }
    const auto known = placeOf_.find(record.index);
    if (known != placeOf_.end() && windows_[known->second].startNs == record.timestampNs) {
        latest_ = known->second;
        return;
    }
    if (!windows_.empty() && !windows_.back().endNs)
        windows_.back().endNs = std::max(windows_.back().startNs, record.timestampNs);
    latest_.reset();
    if (windows_.size() >= maxCount) return;
    latest_ = windows_.size();
    placeOf_[record.index] = windows_.size();
    windows_.push_back({record.index, record.timestampNs, std::nullopt});
}

namespace {

constexpr const char* reason = "used neither CUDA nor NVTX, exited early, or lacked the environment of this run";
/// A larger world is a mistake in the environment.
constexpr int64_t maxWorldSize = 1'000'000;
constexpr size_t maxNamedRanges = 8;

/// Returns the numbers below `size` that are not in `present`, as "2, 3, 5 to 7".
std::string listOfMissing(const std::set<int64_t>& present, int64_t size) {
    std::string list;
    size_t named = 0;
    for (int64_t rank = 0; rank < size; ++rank) {
        if (present.contains(rank)) continue;
        int64_t last = rank;
        while (last + 1 < size && !present.contains(last + 1)) ++last;
        if (!list.empty()) list += ", ";
        if (++named > maxNamedRanges) return list + "...";
        list += last == rank       ? fmt::format("{}", rank)
                : last == rank + 1 ? fmt::format("{}, {}", rank, last)
                                   : fmt::format("{} to {}", rank, last);
        rank = last;
    }
    return list;
}

/// Maximum clock readings kept per process; one per second suffices for many hours.
constexpr size_t maxClocks = 100'000;
constexpr size_t maxNotes = 1000;
constexpr size_t maxGaps = 10'000;

}  // namespace

std::optional<std::string> missingRanksSentence(const std::vector<RankFacts>& present) {
    // A launcher inside another makes two worlds; the one with the most ranks is the training.
    std::map<int64_t, std::set<int64_t>> ranksOfWorld;
    for (const RankFacts& each : present)
        if (each.worldSize > 1 && each.worldSize <= maxWorldSize && each.rank < each.worldSize)
            ranksOfWorld[each.worldSize].insert(each.rank);
    const auto world = std::ranges::max_element(ranksOfWorld, {}, [](const auto& each) { return each.second.size(); });
    if (world == ranksOfWorld.end()) return std::nullopt;
    const auto& [size, ranks] = *world;
    const auto found = static_cast<int64_t>(ranks.size());
    if (found >= size) return std::nullopt;

    // Ranks of other hosts are not expected here.
    std::map<std::string, int64_t> sizeOfHost;
    bool isLocalSizeKnown = true;
    for (const RankFacts& each : present) {
        if (each.worldSize != size) continue;
        if (each.localWorldSize)
            sizeOfHost[each.host] = *each.localWorldSize;
        else
            isLocalSizeKnown = false;
    }
    int64_t expected = 0;
    for (const auto& [host, localSize] : sizeOfHost) expected += localSize;
    if (!isLocalSizeKnown || expected <= 0 || expected >= size) {
        const bool isOne = size - found == 1;
        return fmt::format("{} {} of {} left no record: {} {}.", isOne ? "Rank" : "Ranks", listOfMissing(ranks, size),
                           size, isOne ? "it" : "they", reason);
    }
    if (found >= expected) return std::nullopt;
    return fmt::format("Only {} of the {} ranks on this host left a record.", found, expected);
}

Result<std::unique_ptr<LogImporter>> LogImporter::open(std::shared_ptr<const Folder> folder, const std::string& name,
                                                       TraceWriter& trace, GpuInventory& gpus, int64_t sessionStartNs,
                                                       uint32_t host) {
    auto reader = log::LogReader::open(std::move(folder), name);
    if (!reader) return fail(reader.error());
    return std::unique_ptr<LogImporter>(new LogImporter(std::move(*reader), trace, gpus, sessionStartNs, host));
}

LogImporter::LogImporter(log::LogReader reader, TraceWriter& trace, GpuInventory& gpus, int64_t sessionStartNs,
                         uint32_t host)
    : reader_(std::move(reader)),
      process_{trace, LogStrings(trace), LogStacks(trace), sessionStartNs, host, 0},
      activity_(process_, gpus),
      memory_(process_),
      nvtx_(process_),
      nccl_(process_) {}

size_t LogImporter::poll(size_t maxBlocks) {
    if (problem_) return 0;
    if (!reader_.header()) {
        // Ids need the process number, so the header is read before any record.
        if (auto read = reader_.poll([] {}, 0); !read) problem_ = read.error();
        if (!reader_.header()) return 0;
        process_.pid = reader_.header()->pid;
    }
    const auto receive = [this](const auto& record, const auto&... tail) -> void {
        if constexpr (requires { add(record, tail...); }) add(record, tail...);
        addWhereAccepted(record, process_, activity_, memory_, nvtx_, nccl_, windows_);
    };
    const Result<size_t> blocks = reader_.poll(receive, maxBlocks);
    if (!blocks) {
        problem_ = blocks.error();
        return 0;
    }
    // Readers of the unfinished trace need the names early.
    if (*blocks > 0 && !isNamed_ && counts().events() > 0 && !property(facts::program).empty()) writeName();
    nvtx_.writeNames();
    return *blocks;
}

void LogImporter::add(const log::NvtxRecord& record, std::span<const std::byte> extended) {
    latestNvtxNs_ = std::max(latestNvtxNs_, record.timestampNs);
    nvtx_.add(record, extended);
}

void LogImporter::add(const log::ThreadNameRecord& record) { threadNames_[record.threadId] = record.name; }

void LogImporter::add(const log::DroppedRecord& record) {
    dropped_[record.what] += record.count;
    if (gaps_.size() >= maxGaps) return;
    const int64_t since = latestBefore(record.what);
    gaps_.push_back({record.what,
                     {since == 0 ? record.timestampNs : std::min(since, record.timestampNs), record.timestampNs},
                     record.count});
}

void LogImporter::add(const log::LevelRecord& record) {
    // Each file of the log repeats the latest one.
    if (!levels_.empty() && record.timestampNs <= levels_.back().timestampNs) return;
    if (levels_.size() < maxGaps) levels_.push_back(record);
    if (record.level == log::RecordingLevel::Asleep) nvtx_.forgetOpenRanges();
}

int64_t LogImporter::latestBefore(Loss what) const {
    if (what == Loss::NvtxCalls) return latestNvtxNs_;
    if (what == Loss::CudaActivity) return activity_.latestNs();
    return std::max(latestNvtxNs_, activity_.latestNs());
}

void LogImporter::add(const log::ClockRecord& record) {
    if (!clocks_.empty() && !clockSetting_) {
        // Maximum drift of a slewed clock, and maximum delay of a reading.
        constexpr int64_t slewPerSecond = 1000, lateNs = 2'000'000;
        const log::ClockRecord& last = clocks_.back();
        const auto difference = [](int64_t a, int64_t b) {
            return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
        };
        const int64_t passedNs = difference(record.monotonicNs, last.monotonicNs);
        const int64_t byNs = difference(difference(record.realtimeNs, last.realtimeNs), passedNs);
        constexpr int64_t maxNs = int64_t{1} << 62;
        const bool areRead =
            record.monotonicNs != 0 && last.monotonicNs != 0 && passedNs >= 0 && byNs > -maxNs && byNs < maxNs;
        if (areRead && std::abs(byNs) > lateNs + passedNs / slewPerSecond)
            clockSetting_ = ClockSetting{process_.time(timeOf(record)), byNs};
    }
    if (clocks_.size() < maxClocks)
        clocks_.push_back(record);
    else
        clocks_.back() = record;
}

int64_t LogImporter::timeOf(const log::ClockRecord& clock) const {
    const auto& header = reader_.header();
    if (clock.monotonicNs == 0 || !header || header->monotonicNs == 0) return clock.realtimeNs;
    return static_cast<int64_t>(static_cast<uint64_t>(clock.monotonicNs) - static_cast<uint64_t>(header->monotonicNs) +
                                static_cast<uint64_t>(header->realtimeNs));
}

void LogImporter::add(const log::NoteRecord& record) {
    // Each file of a ring repeats them.
    const auto isSame = [&](const log::NoteRecord& other) {
        return other.timestampNs == record.timestampNs &&
               process_.strings.text(other.sentence) == process_.strings.text(record.sentence);
    };
    if (notes_.size() < maxNotes && std::ranges::none_of(notes_, isSame)) notes_.push_back(record);
}

ImportCounts LogImporter::counts() const {
    ImportCounts counts = activity_.counts();
    counts += memory_.counts();
    counts.of(ImportedKind::Nvtx) = nvtx_.ranges();
    // Both count the same operations, unless NCCL's NVTX ranges or its plugin were off.
    counts.of(ImportedKind::Nccl) = std::max(nvtx_.ncclOperations(), nccl_.operations());
    return counts;
}

int64_t LogImporter::latestNs() const {
    const int64_t latest = reader_.progress().latestTimeNs;
    return clocks_.empty() ? latest : std::max(latest, timeOf(clocks_.back()));
}

int64_t LogImporter::endNs() const {
    const int64_t latest = end_ ? end_->timestampNs : std::max(latestNs(), known_.seenNs);
    return latest != 0 ? process_.time(latest) : 0;
}

bool LogImporter::hasContent() const {
    return counts().events() > 0 || nccl_.operations() > 0 || activity_.sawDevice() || !notes_.empty() ||
           !dropped_.empty() || problem_ || reader_.isCorrupt() ||
           (!reader_.header() && reader_.bytesNotUnderstood() > 0);
}

std::string_view LogImporter::property(std::string_view name) const {
    const auto found = process_.properties.find(name);
    return found == process_.properties.end() ? std::string_view{} : found->second;
}

std::optional<RankFacts> LogImporter::rankFacts() const {
    const auto rank = parseNumber<int>(property(facts::rank));
    const auto worldSize = parseNumber<int>(property(facts::worldSize));
    if (!rank || !worldSize) return std::nullopt;
    return RankFacts{*rank, *worldSize, parseNumber<int>(property(facts::localWorldSize)),
                     std::string(property(facts::host))};
}

std::string LogImporter::shownName() const {
    const std::filesystem::path program(property(facts::program));
    if (program.empty()) return std::to_string(process_.pid);
    return fmt::format("{} ({})", process_.pid, program.filename().string());
}

void LogImporter::report(Severity severity, HealthCode code, std::string_view sentence, std::optional<int64_t> timeNs,
                         std::optional<int64_t> count) {
    process_.trace.health(severity, code, fmt::format("Process {}: {}", shownName(), sentence), process_.processId(),
                          timeNs, count);
}

void LogImporter::finish(const KnownEnd& known) {
    known_ = known;
    brokenErrno_ = reader_.brokenErrno();
    nvtx_.finish();
    nccl_.finish();
    if (!hasContent()) return;
    if (reader_.header()) writeProcess();
    writeWarnings();
}

void LogImporter::writeName() {
    constexpr const auto& process = tables::processes;
    process_.trace.add(process, process.globalPid = process_.processId(), process.pid = process_.pid,
                       process.name = property(facts::program));
    isNamed_ = true;
}

void LogImporter::writeProcess() {
    TraceWriter& trace = process_.trace;
    const int64_t id = process_.processId();
    if (!isNamed_) writeName();
    // The kind of end of a forked child without an END record is unknown.
    std::optional<bool> endedNormally;
    if (end_ || wasTruncated()) endedNormally = end_.has_value();
    constexpr const auto& state = tables::processStates;
    trace.add(state, state.globalPid = id, state.rank = parseNumber<int>(property(facts::rank)),
              state.startNs = process_.time(reader_.header()->realtimeNs), state.endNs = endNs(),
              state.endedNormally = endedNormally, state.exitStatus = known_.exitStatus, state.logFile = reader_.name(),
              state.localRank = parseNumber<int>(property(facts::localRank)),
              state.worldSize = parseNumber<int>(property(facts::worldSize)));
    for (const auto& [name, value] : process_.properties)
        if (name != facts::processStart) trace.property(name, value, id);
    if (end_ && end_->reason == log::EndReason::Signal)
        trace.property(facts::endSignal, std::to_string(end_->signal), id);
    constexpr int ownName = 0;
    for (const auto& [thread, name] : threadNames_)
        trace.nameThread(process_.threadId(thread), process_.strings.traceId(name), ownName);
    constexpr const auto& clocks = tables::clocks;
    for (const log::ClockRecord& clock : clocks_)
        trace.add(clocks, clocks.globalPid = id, clocks.realtimeNs = clock.realtimeNs,
                  clocks.monotonicNs = clock.monotonicNs, clocks.cuptiNs = clock.cuptiNs);
    writeWindows();
    writeLevels();
    writeGaps();
}

void LogImporter::nameOtherThreads() {
    const std::string_view program = property(facts::program);
    if (program.empty()) return;
    for (const uint32_t thread : process_.threads) {
        if (const int64_t id = globalTid(process_.pid, thread, process_.host); !process_.trace.hasName(id))
            process_.trace.nameThread(id, process_.trace.intern(program), tables::substitutePriority);
    }
}

std::optional<std::vector<TimeRange>> LogImporter::windows() const {
    if (!windows_.areThere()) return std::nullopt;
    std::vector<TimeRange> ranges;
    for (const ProcessWindows::Window& window : windows_.all()) {
        const int64_t startNs = process_.boundedTime(window.startNs);
        const int64_t stopNs =
            window.endNs ? process_.boundedTime(*window.endNs) : std::clamp(endNs(), -maxTimestampNs, maxTimestampNs);
        ranges.push_back({startNs, std::max(startNs, stopNs)});
    }
    std::ranges::sort(ranges, {}, &TimeRange::startNs);
    return ranges;
}

void LogImporter::writeWindows() {
    if (!windows_.areThere()) return;
    constexpr const auto& t = tables::windows;
    for (const ProcessWindows::Window& window : windows_.all()) {
        std::optional<int64_t> end;
        if (window.endNs) end = process_.boundedTime(*window.endNs);
        process_.trace.add(t, t.globalPid = process_.processId(), t.index = window.index,
                           t.startNs = process_.boundedTime(window.startNs), t.endNs = end);
    }
    double recordedSeconds = 0;
    const std::vector<TimeRange> ranges = *windows();
    for (const TimeRange& range : ranges) recordedSeconds += static_cast<double>(range.durationNs()) / 1e9;
    const size_t count = windows_.all().size();
    report(Severity::Info, HealthCode::Windows,
           count == 0 ? std::string("nothing recorded, no window started.")
                      : fmt::format("recorded in {} window{}, {:.3f} s in all. Its activity outside the windows is not "
                                    "in the trace.",
                                    count, count == 1 ? "" : "s", recordedSeconds),
           {}, static_cast<int64_t>(count));
}

/// Writes a gap for each time at a level that does not record a kind, and a note.
void LogImporter::writeLevels() {
    using log::RecordingLevel;
    double seconds = 0;
    for (const auto& [what, from] : {std::pair{Loss::NvtxCalls, RecordingLevel::Steps},
                                     {Loss::CudaActivity, RecordingLevel::Kernels},
                                     {Loss::CudaCalls, RecordingLevel::All}}) {
        for (size_t at = 0; at < levels_.size(); ++at) {
            if (levels_[at].level >= from) continue;
            const int64_t startNs = process_.boundedTime(std::max(levels_[at].timestampNs, begunRealtimeNs()));
            while (at + 1 < levels_.size() && levels_[at + 1].level < from) ++at;
            const int64_t stopNs = at + 1 < levels_.size() ? process_.boundedTime(levels_[at + 1].timestampNs)
                                                           : std::clamp(endNs(), -maxTimestampNs, maxTimestampNs);
            if (stopNs <= startNs) continue;
            if (what == Loss::CudaCalls) seconds += static_cast<double>(stopNs - startNs) / 1e9;
            constexpr const auto& t = tables::gaps;
            process_.trace.add(t, t.globalPid = process_.processId(), t.what = what, t.startNs = startNs,
                               t.endNs = stopNs, t.count = 0);
        }
    }
    if (seconds == 0) return;
    report(Severity::Info, HealthCode::RecordingLevels,
           fmt::format("recorded at a lower level for {:.1f} s. CUDA calls of that time are missing, at the lowest "
                       "levels also GPU work and NVTX.",
                       seconds));
}

void LogImporter::writeGaps() {
    constexpr const auto& t = tables::gaps;
    for (const Gap& gap : gaps_)
        process_.trace.add(t, t.globalPid = process_.processId(), t.what = gap.what,
                           t.startNs = process_.time(gap.range.startNs), t.endNs = process_.time(gap.range.endNs),
                           t.count = gap.count);
}

void LogImporter::writeWarnings() {
    // That of a missing writer is written once for all processes.
    for (const log::NoteRecord& note : notes_)
        if (!isOfWriter(note))
            process_.trace.healthOfLog(severityFrom(static_cast<int64_t>(note.severity)),
                                       process_.strings.text(note.code), process_.strings.text(note.sentence),
                                       process_.processId(), process_.time(note.timestampNs),
                                       nullIfZero(int64_t{note.count}));
    writeRingBegin();
    if (reader_.header()) writeEnd();
    writeLosses();
    reportMemoryCorruption();
    reportLogCorruption(reader_, problem_, process_.trace,
                        reader_.header() ? std::optional(process_.processId()) : std::nullopt);
    if (nccl_.operations() > 0 && nvtx_.ncclOperations() == 0 && property(facts::nvtx) != facts::off)
        report(Severity::Info, HealthCode::NcclNvtxOff,
               "NCCL announced no operations by NVTX (NCCL_NVTX_DISABLE=1?). Data of its profiler plugin is shown.");
}

bool LogImporter::lackedWriter() const {
    return std::ranges::any_of(notes_, [this](const log::NoteRecord& note) { return isOfWriter(note); });
}

bool LogImporter::isOfWriter(const log::NoteRecord& note) const {
    return process_.strings.text(note.code) == identifier(HealthCode::WriterMissing);
}

/// Returns the clause about the events that a process without an end may lack.
std::string LogImporter::lossAtEnd() const {
    if (lackedWriter()) return "no thread could write its log, so its events are missing";
    // A clock is written each second, and all events twice a second, unless writing hangs or fails.
    constexpr int64_t maxUnwrittenNs = 2'500'000'000;
    if (const int64_t missingNs = known_.seenNs - latestNs(); known_.seenNs > 0 && missingNs > maxUnwrittenNs)
        return fmt::format("its log ends {:.1f} s earlier, so later events are missing (writing hung or failed)",
                           static_cast<double>(missingNs) / 1e9);
    return known_.seenNs > 0 || !wasTruncated()
               ? "up to 0.5 s may be missing"
               : "up to 0.5 s may be missing, and more if its log could not be written";
}

/// Writes the time from which a ring has events, if its first files are gone.
void LogImporter::writeRingBegin() {
    if (reader_.firstPart() == 0 || !reader_.header()) return;
    const int64_t beginNs = process_.time(reader_.header()->realtimeNs);
    report(Severity::Info, HealthCode::RingBegin,
           fmt::format("recorded into a ring; its events before {:.1f} s are not in the trace.",
                       static_cast<double>(beginNs) / 1e9),
           beginNs);
}

/// Writes the end of the process, unless it is unremarkable.
void LogImporter::writeEnd() {
    const double endSeconds = static_cast<double>(endNs()) / 1e9;
    const auto reportEnd = [&](Severity severity, HealthCode code, std::string_view sentence) {
        report(severity, code, sentence, endNs());
    };
    if (end_ && end_->reason == log::EndReason::LogFull) {
        reportEnd(Severity::Error, HealthCode::LogFull,
                  fmt::format("logging stopped at {:.1f} s (disk full, or --max-size reached).", endSeconds));
    } else if (end_ && end_->reason == log::EndReason::Signal) {
        reportEnd(
            Severity::Info, HealthCode::ProcessEndedBySignal,
            fmt::format("terminated by signal {} at {:.1f} s; its recording is complete.", end_->signal, endSeconds));
    } else if (!end_ && brokenErrno_ != 0) {
        reportEnd(Severity::Error, HealthCode::LogFull,
                  fmt::format("logging stopped at {:.1f} s, because its log could not be written ({}).", endSeconds,
                              std::strerror(brokenErrno_)));
    } else if (wasTruncated()) {
        std::string reason = "killed, crashed, still running, or log not written";
        if (const auto status = known_.exitStatus)
            reason = *status > 128 ? fmt::format("terminated by signal {}", *status - 128)
                                   : std::string("exit without exit handlers");
        reportEnd(Severity::Warning, HealthCode::ProcessEndedAbnormally,
                  fmt::format("no exit record after {:.1f} s ({}); {}.", endSeconds, reason, lossAtEnd()));
    } else if (known_.hasExeced && !end_) {
        reportEnd(Severity::Info, HealthCode::ProcessBecameAnother,
                  fmt::format("replaced by another program with exec at {:.1f} s, which has its own log; {}.",
                              endSeconds, lossAtEnd()));
    } else if (known_.stillRan && !end_) {
        reportEnd(Severity::Info, HealthCode::ProcessStillRan,
                  fmt::format("still running at {:.1f} s, when the recording ended.", endSeconds));
    } else if (!end_) {
        reportEnd(Severity::Info, HealthCode::ForkedChildEnded,
                  fmt::format("forked, exited at {:.1f} s without exit handlers (usual for workers); {}.", endSeconds,
                              lossAtEnd()));
    }
}

void LogImporter::writeLosses() {
    for (const auto& [what, count] : dropped_)
        report(Severity::Warning, HealthCode::EventsDropped,
               fmt::format("lost {} {} ({}).", count, nounOf(what, count), nameOf(what).cause), {},
               static_cast<int64_t>(count));
    const ImportCounts all = counts();
    for (int kind = 0; kind < importedKindCount; ++kind) {
        const int64_t untimed = all.untimed[static_cast<size_t>(kind)];
        reportCount(Severity::Warning, HealthCode::Untimed, untimed,
                    fmt::format("CUPTI reported no times for {} of {} {}; they are counted but not drawn.", untimed,
                                all.total[static_cast<size_t>(kind)], pluralName(static_cast<ImportedKind>(kind))));
    }
    const NvtxAssembler& nvtx = nvtx_.assembler();
    // Ranges that began in the removed files of a ring are no loss.
    const uint64_t uncertain = nvtx.guessedEnds() + (reader_.firstPart() > 0 ? 0 : nvtx.lostBeginnings());
    reportCount(Severity::Warning, HealthCode::NvtxUnmatched, uncertain,
                fmt::format("{} NVTX ranges without their start or end.", uncertain));
}

void LogImporter::reportMemoryCorruption() {
    reportCount(Severity::Info, HealthCode::ManagedMemoryThrashed, memory_.thrashings(),
                fmt::format("managed memory thrashed {} times (processors took the same pages from each other).",
                            memory_.thrashings()));
    reportCount(Severity::Info, HealthCode::ManagedMemoryThrottled, memory_.throttlings(),
                fmt::format("the driver throttled processors {} times to reduce thrashing of managed memory.",
                            memory_.throttlings()));
    const uint64_t moves = memory_.movesForFaults();
    const bool isInPart = memory_.gpuFaults() == 0;
    reportCount(Severity::Warning, HealthCode::UnifiedMemoryInPart, isInPart ? moves : 0,
                fmt::format("managed memory is incomplete. {} moves to a GPU followed page "
                            "faults that CUPTI did not report; the real traffic may be higher.",
                            moves));
    reportCount(
        Severity::Info, HealthCode::UnifiedMemoryInPart, isInPart ? 0 : moves,
        "managed memory may be incomplete. The driver buffers few of these events and drops the rest uncounted.");
    reportCount(Severity::Warning, HealthCode::MemoryOddRecords, memory_.oddRecords(),
                fmt::format("skipped {} invalid memory records.", memory_.oddRecords()));
}

}  // namespace lanescope::capture
