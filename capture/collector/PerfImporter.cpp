// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/PerfImporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "capture/collector/symbolNames.h"
#include "capture/perf/perfAttributes.h"
#include "model/format/GlobalId.h"
#include "model/format/health.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Threads.h"

namespace lanescope::capture {

namespace {

constexpr int64_t nearNs = 20'000'000;
constexpr size_t maxFrames = 256, maxRuns = 50'000'000;

constexpr size_t maxThreads = 200'000, maxChainBytes = size_t{256} << 20;
/// Maximum number of reported threads without samples: a shell starts many.
constexpr size_t maxUnsampled = 500;
/// Minimum percentage of stacks that reach the beginning of their thread.
constexpr double minWholePercent = 50;
/// Maximum percentage of the time on a core in threads without samples.
constexpr double maxUnsampledPercent = 5;
/// Time on a core of a program whose events the kernel ended at its start.
constexpr int64_t minCoreNs = 1'000'000;
constexpr int64_t maxSwitches = 50'000'000;

/// Returns the sum of two non-negative times, clamped to the maximum.
int64_t cappedSum(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

/// Returns "su, sudo and 3 others".
std::string namesOf(const std::set<std::string>& names) {
    constexpr size_t maxNames = 5;
    std::string text;
    size_t at = 0;
    for (const std::string& name : names) {
        // One more name is as short as "and 1 other".
        if (at == maxNames && names.size() > maxNames + 1)
            return text + fmt::format(" and {} others", names.size() - maxNames);
        const bool isLast = ++at == names.size();
        text += (text.empty() ? "" : isLast ? " and " : ", ") + (name.empty() ? "a program" : name);
    }
    return text;
}

/// Returns true if it is the interpreter's function that runs Python code: up to the next call of C, from 3.11 on.
bool isEvaluator(std::string_view function) {
    return function.starts_with("_PyEval_EvalFrame") || function.starts_with("_TAIL_CALL_") ||
           function.starts_with("_PyEval_Vector");
}

}  // namespace

PythonSamples PythonSamples::read(const Database& database) {
    PythonSamples samples;
    constexpr const auto& t = tables::threadStates;
    constexpr const auto& s = tables::stacks;
    // Tables without rows exist until the trace is closed. Without readable rows, stacks have no Python frames.
    static_cast<void>(forEachRow(database,
                                 fmt::format("SELECT {}, {}, {}, {}, {} FROM {}", s.id.name, s.parentId.name,
                                             s.functionId.name, s.fileId.name, s.line.name, s.tableName()),
                                 [&](const Statement& row) {
                                     samples.frames_.emplace(row.integer(0), Frame{row.integer(1), row.integer(2),
                                                                                   row.integer(3), row.integer(4)});
                                 }));
    if (samples.frames_.empty()) return samples;
    static_cast<void>(
        forEachRow(database,
                   fmt::format("SELECT {0}, \"start\", \"end\", {1} FROM {2} WHERE {1} IS NOT NULL LIMIT {3}",
                               t.globalTid.name, t.callchainId.name, t.tableName(), maxRuns),
                   [&](const Statement& row) {
                       samples.runs_[row.integer(0)].push_back({row.integer(1), row.integer(2), row.integer(3)});
                   }));
    for (auto& [thread, all] : samples.runs_) std::ranges::sort(all, {}, &Run::startNs);
    return samples;
}

std::span<const PythonSamples::Frame> PythonSamples::at(int64_t globalTid, int64_t timeNs) {
    found_.clear();
    const auto known = runs_.find(globalTid);
    if (known == runs_.end()) return {};
    const std::vector<Run>& runs = known->second;
    const auto next = std::ranges::upper_bound(runs, timeNs, {}, &Run::startNs);
    const auto distance = [&](const Run& run) {
        // The times of a corrupt log may differ by more than a signed number holds.
        const auto gapNs = [](int64_t from, int64_t to) {
            return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
        };
        if (timeNs < run.startNs) return gapNs(timeNs, run.startNs);
        return timeNs > run.endNs ? gapNs(run.endNs, timeNs) : uint64_t{0};
    };
    const Run* nearest = next == runs.end() ? nullptr : &*next;
    if (next != runs.begin() && (nearest == nullptr || distance(*std::prev(next)) <= distance(*nearest)))
        nearest = &*std::prev(next);
    if (nearest == nullptr || distance(*nearest) > uint64_t{nearNs}) return {};
    for (int64_t at = nearest->stack; at != 0 && found_.size() < maxFrames;) {
        const auto frame = frames_.find(at);
        if (frame == frames_.end()) break;
        found_.push_back(frame->second);
        at = frame->second.parent;
    }
    return found_;
}

/// First pass, which collects the facts needed to unwind the first stack.
class PerfImporter::FirstPass : public PerfVisitor {
  public:
    using Thread = std::pair<uint32_t, uint32_t>;

    void visit(const PerfSample& sample) override {
        ++samplesOf[sample.place.process];
        if (OnCore* const thread = of(sample.place)) thread->isSampled = true;
    }
    void visit(const PerfSwitch& change) override {
        if (begun_.insert(change.place.process).second) byBegin.push_back(change.place.process);
        OnCore* const thread = of(change.place);
        if (!thread) return;
        const int64_t timeNs = std::max<int64_t>(change.place.timeNs, 0);
        if (!change.isIn && thread->sinceNs && timeNs > *thread->sinceNs)
            thread->ns = cappedSum(thread->ns, timeNs - *thread->sinceNs);
        thread->sinceNs.reset();
        if (change.isIn) thread->sinceNs = timeNs;
    }
    void visit(const PerfMapping& mapping) override {
        spaces.add(mapping);
        if (Executed* const run = runOf(mapping.place.process))
            run->mappedNs = std::max(run->mappedNs, mapping.place.timeNs);
    }
    void ended(const PerfPlace& place) override {
        if (Executed* const run = place.process == place.thread ? runOf(place.process) : nullptr)
            run->endNs = std::max(run->endNs, place.timeNs);
    }
    void visit(const PerfFork& fork) override {
        spaces.add(fork);
        // It has its parent's name until it gets another.
        const auto parent = names.find({fork.parentProcess, fork.parentThread});
        if (parent != names.end() && names.size() < maxThreads)
            names.try_emplace(Thread(fork.place.process, fork.place.thread), parent->second);
    }
    void visit(const PerfName& name) override {
        spaces.add(name);
        if (OnCore* const thread = name.isExec ? of(name.place) : nullptr)
            if (!thread->sinceNs) thread->sinceNs = std::max<int64_t>(name.place.timeNs, 0);
        Executed* const run = name.isExec ? runOf(name.place.process) : nullptr;
        if (run && (!run->isKnown || run->beginNs <= name.place.timeNs)) {
            run->isKnown = true;
            run->beginNs = name.place.timeNs;
            run->name = name.name;
        }
        const Thread which(name.place.process, name.place.thread);
        if (names.size() < maxThreads || names.contains(which)) names.insert_or_assign(which, std::string(name.name));
    }
    void lost(uint64_t count) override { lostRecords += std::min<uint64_t>(count, UINT32_MAX); }
    void throttled() override { ++throttles; }

    /// Returns the time of threads on a core, and that of threads without samples, in ns.
    std::pair<int64_t, int64_t> coreNs() const {
        int64_t allNs = 0, unsampledNs = 0;
        for (const auto& [thread, each] : onCore_) {
            allNs = cappedSum(allNs, each.ns);
            if (!each.isSampled) unsampledNs = cappedSum(unsampledNs, each.ns);
        }
        return {allNs, unsampledNs};
    }

    /// Returns the programs for which the kernel reported nothing since their exec, not even the
    /// mapping of their own file. That is the case for programs with other rights.
    std::set<std::string> programsLost() const {
        std::set<std::string> programs;
        if (lostRecords > 0) return programs;
        for (const auto& [process, run] : executed_)
            if (run.isKnown && run.endNs >= run.beginNs && run.mappedNs < run.beginNs) programs.insert(run.name);
        return programs;
    }

    AddressSpaces spaces;
    std::vector<uint32_t> byBegin;  ///< Processes by their first switch.
    std::unordered_map<uint32_t, int64_t> samplesOf;
    std::map<Thread, std::string> names;
    uint64_t lostRecords = 0, throttles = 0;
    int64_t notReported = 0;  ///< Samples and switches of threads beyond `maxThreads`.

  private:
    struct OnCore {
        std::optional<int64_t> sinceNs;
        int64_t ns = 0;
        bool isSampled = false;
    };
    /// Returns the value of a key, or null for a new one beyond the limit.
    template <class Map>
    static typename Map::mapped_type* knownOrNew(Map& map, const typename Map::key_type& key) {
        return map.size() < maxThreads || map.contains(key) ? &map[key] : nullptr;
    }
    OnCore* of(const PerfPlace& place) {
        OnCore* const thread = knownOrNew(onCore_, {place.process, place.thread});
        if (!thread) ++notReported;
        return thread;
    }

    struct Executed {
        int64_t beginNs = INT64_MIN, mappedNs = INT64_MIN, endNs = INT64_MIN;
        bool isKnown = false;  ///< The exec has been read. Records of other cores may be read earlier.
        std::string name;
    };
    Executed* runOf(uint32_t process) { return knownOrNew(executed_, process); }

    std::map<Thread, OnCore> onCore_;
    std::set<uint32_t> begun_;
    std::map<uint32_t, Executed> executed_;  ///< The last program of each process.
};

class PerfImporter::SecondPass : public PerfVisitor {
  public:
    SecondPass(PerfImporter& importer, PerfStacks& stacks, const std::set<int64_t>& processes, int64_t offsetNs)
        : importer_(importer), stacks_(stacks), processes_(processes), offsetNs_(offsetNs) {}

    void visit(const PerfSample& sample) override {
        const NativeStack native = stacks_.of(sample);
        if (native.functions.empty()) return;
        Counts& counts = importer_.counts_;
        ++counts.samples;
        if (native.isWhole) ++counts.whole;
        const int64_t thread = threadOf(sample.place), timeNs = timeOf(sample.place);
        mergePythonFrames(native, thread, timeNs);
        constexpr const auto& t = tables::sampleEvents;
        importer_.trace_.add(t, t.id = importer_.chain(frames_), t.start = timeNs, t.cpu = sample.place.core,
                             t.globalTid = thread);
        seen.insert(thread);
    }

    void visit(const PerfSwitch& change) override {
        if (!processes_.contains(globalPid(change.place.process, importer_.host_))) return;
        if (importer_.counts_.switches >= maxSwitches) {
            ++tooMany;
            return;
        }
        add(change);
    }

    /// Recording begins when the program is executed: its first thread has a core then.
    void visit(const PerfName& name) override {
        const bool isKnown = processes_.contains(globalPid(name.place.process, importer_.host_));
        if (!name.isExec || !isKnown || seen.contains(threadOf(name.place))) return;
        add({name.place, true, false});
    }

    std::set<int64_t> seen;  ///< Threads that were written.
    int64_t tooMany = 0;     ///< Switches that are skipped.

  private:
    void add(const PerfSwitch& change) {
        ++importer_.counts_.switches;
        const int64_t thread = threadOf(change.place);
        constexpr const auto& t = tables::scheduleEvents;
        std::optional<int64_t> preempted;
        if (!change.isIn) preempted = change.isPreempted ? 1 : 0;
        importer_.trace_.add(t, t.start = timeOf(change.place), t.cpu = change.place.core,
                             t.isSchedIn = change.isIn ? 1 : 0, t.globalTid = thread, t.isPreempted = preempted);
        seen.insert(thread);
    }

    int64_t threadOf(const PerfPlace& place) const { return globalTid(place.process, place.thread, importer_.host_); }
    int64_t timeOf(const PerfPlace& place) const {
        return static_cast<int64_t>(static_cast<uint64_t>(place.timeNs) + static_cast<uint64_t>(offsetNs_));
    }

    /// Replaces everything from the innermost to the outermost run of the interpreter by the Python stack. The
    /// assignment of Python functions to the runs is unknown, and the frames between them are the interpreter's own.
    void mergePythonFrames(const NativeStack& native, int64_t thread, int64_t timeNs) {
        frames_.clear();
        size_t first = native.functions.size(), last = 0;
        for (size_t at = 0; at < native.functions.size(); ++at) {
            importer_.nativeFrame(stacks_, native.functions[at]);
            if (!importer_.isEvaluator_[native.functions[at]]) continue;
            first = std::min(first, at);
            last = at;
        }
        std::span<const PythonSamples::Frame> python;
        if (first < native.functions.size()) {
            ++importer_.counts_.inPython;
            python = importer_.pythonSamples_.at(thread, timeNs);
            if (!python.empty()) ++importer_.counts_.withPython;
        }
        for (size_t at = 0; at < native.functions.size(); ++at) {
            if (python.empty() || at < first || at > last)
                frames_.push_back(importer_.nativeFrame(stacks_, native.functions[at]));
            else if (at == first)
                for (const PythonSamples::Frame& frame : python)
                    frames_.push_back({frame.function, frame.file, frame.line});
        }
    }

    PerfImporter& importer_;
    PerfStacks& stacks_;
    const std::set<int64_t>& processes_;
    const int64_t offsetNs_;
    std::vector<Frame> frames_;
};

PerfImporter::PerfImporter(TraceWriter& trace, int64_t sessionStartNs)
    : trace_(trace), sessionStartNs_(sessionStartNs), pythonSamples_(PythonSamples::read(trace.database())) {}

bool PerfImporter::isPerfLog(std::string_view name) { return name.ends_with(perfLogEnding); }

const PerfImporter::Frame& PerfImporter::nativeFrame(const PerfStacks& stacks, uint32_t function) {
    if (function >= native_.size()) {
        native_.resize(function + 1);
        isEvaluator_.resize(function + 1);
    }
    if (!native_[function]) {
        const NativeFunction& known = stacks.function(function);
        const std::string name = known.isNamed ? demangled(known.name) : known.name;
        native_[function] = {trace_.intern(name), trace_.intern(known.file), 0};
        isEvaluator_[function] = known.isNamed && isEvaluator(known.name);
    }
    return *native_[function];
}

int64_t PerfImporter::chain(const std::vector<Frame>& frames) {
    static_assert(std::has_unique_object_representations_v<Frame>);
    std::string key(reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(Frame));
    if (const auto known = chains_.find(key); known != chains_.end()) return known->second;
    const int64_t id = ++lastChain_;
    // Forgotten entries are written again when they recur.
    constexpr size_t ofEach = 100;
    if (chainBytes_ > maxChainBytes) chains_.clear();
    chainBytes_ = (chains_.empty() ? 0 : chainBytes_) + key.size() + ofEach;
    chains_.emplace(std::move(key), id);
    constexpr const auto& t = tables::samplingCallchains;
    int64_t depth = 0;
    for (const Frame& frame : frames)
        trace_.add(t, t.id = id, t.symbol = frame.function, t.module = frame.file, t.stackDepth = depth++,
                   t.line = nullIfZero(frame.line));
    return id;
}

Result<PerfImporter::Counts> PerfImporter::import(const Folder& folder, const std::string& name, uint32_t host,
                                                  bool usesLibDw, int64_t unwindBudgetNs) {
    auto file = PerfLogFile::open(folder, name);
    if (!file) return fail(file.error());
    host_ = host;
    counts_ = {};
    native_.clear();
    isEvaluator_.clear();
    FirstPass first;
    const uint64_t oddBytes = file->read(first);
    first.spaces.seal();
    std::set<int64_t> processes;
    constexpr const auto& p = tables::processes;
    static_cast<void>(forEachRow(trace_.database(), fmt::format("SELECT {} FROM {}", p.globalPid.name, p.tableName()),
                                 [&](const Statement& row) { processes.insert(row.integer(0)); }));
    const auto addProcess = [&](uint32_t process) {
        if (!processes.insert(globalPid(process, host_)).second) return;
        const auto name = first.names.find({process, process});
        trace_.add(p, p.globalPid = globalPid(process, host_), p.pid = process,
                   p.name = name == first.names.end() ? std::string() : name->second);
    };
    for (const auto& [process, samples] : first.samplesOf) addProcess(process);
    // The first one is the command itself; others count if their time on a core is known.
    size_t skipped = 0;
    for (const uint32_t process : first.byBegin) {
        const bool isKnown = processes.contains(globalPid(process, host_));
        if (!isKnown && processes.size() - first.samplesOf.size() >= maxUnsampled)
            ++skipped;
        else
            addProcess(process);
    }
    PerfStacks stacks(first.spaces, usesLibDw, unwindBudgetNs);
    // The file may contain any value; times are calculated with the same care.
    const auto offsetNs = static_cast<int64_t>(static_cast<uint64_t>(file->head().eventOffsetNs) -
                                               static_cast<uint64_t>(sessionStartNs_));
    SecondPass second(*this, stacks, processes, offsetNs);
    static_cast<void>(file->read(second));
    for (const auto& [thread, name] : first.names) {
        constexpr int lesser = -1;
        const int64_t id = globalTid(thread.first, thread.second, host_);
        if (second.seen.contains(id) && !trace_.hasName(id)) trace_.nameThread(id, trace_.intern(name), lesser);
    }
    writeWarnings(*file, first, stacks, oddBytes);
    writeSkipped(skipped, second.tooMany);
    return counts_;
}

void PerfImporter::writeWarnings(const PerfLogFile& file, const FirstPass& first, const PerfStacks& stacks,
                                 uint64_t oddBytes) {
    const auto percent = [](int64_t part, int64_t whole) {
        return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
    };
    std::string how =
        fmt::format("{} CPU samples and {} context switches from the kernel's perf events{}", counts_.samples,
                    counts_.switches, file.head().seesKernel != 0 ? "" : ", without kernel threads");
    how += counts_.samples == 0
               ? std::string(".")
               : fmt::format(
                     "; {:.1f} % of the stacks are complete, unwound by {}.", percent(counts_.whole, counts_.samples),
                     stacks.hasLibDw() ? std::string("libdw")
                                       : fmt::format("frame pointers, which not all code has: {}", LibDw::absence()));
    if (counts_.inPython > 0 && pythonSamples_.isEmpty())
        how += " Python functions are missing, because threads were not sampled (--no-threads).";
    else if (counts_.inPython > 0)
        how += fmt::format(
            " {:.1f} % of the stacks in Python have Python functions, from the nearest thread sample within 20 ms.",
            percent(counts_.withPython, counts_.inPython));
    if (file.end() && file.end()->wallNs > 0)
        how += fmt::format(" Writing them took {:.2f} % of a core.", percent(file.end()->cpuNs, file.end()->wallNs));
    const bool isShort = counts_.samples > 0 && percent(counts_.whole, counts_.samples) < minWholePercent;
    if (isShort)
        how += fmt::format(
            " The other stacks have only their innermost functions: stacks deeper than {} KiB are truncated, and code "
            "without unwind tables and frame pointers (-fno-omit-frame-pointer) cannot be unwound.",
            PerfSettings{}.stackBytes / 1024);
    const auto [coreNs, unsampledNs] = first.coreNs();
    const bool isHardlyAny = counts_.samples == 0 && coreNs < minCoreNs;
    const bool isMissed = !isHardlyAny && percent(unsampledNs, coreNs) >= maxUnsampledPercent;
    const std::set<std::string> lost = first.programsLost();
    if (!lost.empty())
        how += fmt::format(
            " Data of {} is missing: {} another user's rights (set-uid, for example sudo or su), where the kernel ends "
            "perf events. Record the program that {} starts, as that user.",
            namesOf(lost), lost.size() == 1 ? "it has" : "they have", lost.size() == 1 ? "it" : "each");
    else if (isHardlyAny)
        how += " Threads were hardly ever running.";
    if (isMissed)
        how += fmt::format(
            " {:.1f} % of {:.3f} s of CPU time belong to threads without samples, which ran for less than about {:.0f} "
            "ms each; their functions are unknown.",
            percent(unsampledNs, coreNs), static_cast<double>(coreNs) / 1e9,
            static_cast<double>(file.head().periodNs) / 1e6);
    if (first.notReported > 0)
        how += fmt::format(
            " {} samples and context switches of threads beyond the first {} are not included in these sums.",
            first.notReported, maxThreads);
    const bool isUncertain = isShort || isMissed || isHardlyAny || !lost.empty();
    trace_.health(isUncertain ? Severity::Warning : Severity::Info, HealthCode::CpuSamples, how, {}, {},
                  counts_.samples);
    counts_.lost += static_cast<int64_t>(first.lostRecords);
    trace_.healthCount(Severity::Warning, HealthCode::SamplesDropped, counts_.lost,
                       fmt::format("Lost {} CPU samples and context switches (kernel buffers full).", counts_.lost));
    trace_.healthCount(Severity::Info, HealthCode::SamplesDropped, first.throttles,
                       fmt::format("The kernel paused CPU sampling {} times (too slow).", first.throttles));
    if (!file.end())
        trace_.health(Severity::Warning, HealthCode::LogCut,
                      "The file of CPU samples and context switches has no end (lanescope was killed, or the disk was "
                      "full); later data is missing.");
    if (file.end() && file.end()->bytesNotKept > 0)
        trace_.health(
            Severity::Warning, HealthCode::SamplesLimit,
            fmt::format(
                "The file of CPU samples is full: {} MB of samples and context switches are missing at the end.",
                file.end()->bytesNotKept / 1'000'000));
    trace_.healthCount(Severity::Info, HealthCode::SamplesDropped, stacks.outOfTime(),
                       fmt::format("The stacks of {} samples were unwound by frame pointers only (libdw too slow).",
                                   stacks.outOfTime()));
    if (oddBytes > 0 || first.spaces.skipped() > 0)
        trace_.health(Severity::Info, HealthCode::LogOddRecords,
                      fmt::format("Skipped {} bytes and {} entries of the file of CPU samples (invalid).", oddBytes,
                                  first.spaces.skipped()));
}

void PerfImporter::writeSkipped(size_t processes, int64_t switches) {
    trace_.healthCount(
        Severity::Info, HealthCode::SamplesLimit, processes,
        fmt::format("Skipped {} processes without samples, with the context switches of their threads (limit {}).",
                    processes, maxUnsampled));
    trace_.healthCount(Severity::Warning, HealthCode::SamplesLimit, switches,
                       fmt::format("Skipped {} context switches at the end (limit {}).", switches, maxSwitches));
}

}  // namespace lanescope::capture
