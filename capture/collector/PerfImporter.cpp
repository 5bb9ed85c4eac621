// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/PerfImporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "capture/collector/TraceWriter.h"
#include "capture/collector/symbolNames.h"
#include "capture/perf/perfAttributes.h"
#include "model/format/GlobalId.h"
#include "model/format/health.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Threads.h"

namespace lanescope::capture {

namespace {

constexpr int64_t nearNs = 20'000'000;
constexpr size_t mostFrames = 256, mostRuns = 50'000'000;

}  // namespace

PythonLooks PythonLooks::read(const Database& database) {
    PythonLooks looks;
    constexpr const auto& t = tables::threadStates;
    constexpr const auto& s = tables::stacks;
    // Tables without rows are there until the trace is closed; what cannot be read leaves stacks
    // without Python.
    auto frames = database.prepare(fmt::format("SELECT {}, {}, {}, {}, {} FROM {}", s.id.name,
                                               s.parentId.name, s.functionId.name, s.fileId.name,
                                               s.line.name, s.tableName()));
    while (frames) {
        const auto row = frames->step();
        if (!row || !*row) break;
        looks.frames_.emplace(frames->integer(0), Frame{frames->integer(1), frames->integer(2),
                                                        frames->integer(3), frames->integer(4)});
    }
    if (looks.frames_.empty()) return looks;
    auto runs = database.prepare(
        fmt::format("SELECT {0}, \"start\", \"end\", {1} FROM {2} WHERE {1} IS NOT NULL",
                    t.globalTid.name, t.callchainId.name, t.tableName()));
    size_t count = 0;
    while (runs && count++ < mostRuns) {
        const auto row = runs->step();
        if (!row || !*row) break;
        looks.runs_[runs->integer(0)].push_back(
            {runs->integer(1), runs->integer(2), runs->integer(3)});
    }
    for (auto& [thread, all] : looks.runs_) std::ranges::sort(all, {}, &Run::startNs);
    return looks;
}

std::span<const PythonLooks::Frame> PythonLooks::at(int64_t globalTid, int64_t timeNs) {
    found_.clear();
    const auto known = runs_.find(globalTid);
    if (known == runs_.end()) return {};
    const std::vector<Run>& runs = known->second;
    const auto next = std::ranges::upper_bound(runs, timeNs, {}, &Run::startNs);
    const auto distance = [&](const Run& run) {
        // A damaged log's times may lie further apart than fits with a sign.
        const auto apart = [](int64_t from, int64_t to) {
            return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
        };
        if (timeNs < run.startNs) return apart(timeNs, run.startNs);
        return timeNs > run.endNs ? apart(run.endNs, timeNs) : uint64_t{0};
    };
    const Run* nearest = next == runs.end() ? nullptr : &*next;
    if (next != runs.begin() &&
        (nearest == nullptr || distance(*std::prev(next)) <= distance(*nearest)))
        nearest = &*std::prev(next);
    if (nearest == nullptr || distance(*nearest) > uint64_t{nearNs}) return {};
    for (int64_t at = nearest->stack; at != 0 && found_.size() < mostFrames;) {
        const auto frame = frames_.find(at);
        if (frame == frames_.end()) break;
        found_.push_back(frame->second);
        at = frame->second.parent;
    }
    return found_;
}

namespace {

constexpr size_t mostThreads = 200'000, mostChainBytes = size_t{256} << 20;
/// That no sample fell into: a shell starts as many as it has lines to run.
constexpr size_t mostUnsampled = 500;
/// Of the stacks, that should reach the beginning of their thread.
constexpr double fewWhole = 50;
/// Of the time on a core: of threads that no sample fell into.
constexpr double muchUnsampled = 5;
/// Of a program whose events the kernel ended as it began.
constexpr int64_t hardlyAnyNs = 1'000'000;
constexpr int64_t mostSwitches = 50'000'000;

/// Of two times of 0 and more, at most what a number holds.
int64_t together(int64_t a, int64_t b) {
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/// "su, sudo and 3 others".
std::string namesOf(const std::set<std::string>& names) {
    constexpr size_t most = 5;
    std::string text;
    size_t at = 0;
    for (const std::string& name : names) {
        // One more is as short as to say that there is one.
        if (at == most && names.size() > most + 1)
            return text + fmt::format(" and {} others", names.size() - most);
        const bool isLast = ++at == names.size();
        text += (text.empty() ? "" : isLast ? " and " : ", ") + (name.empty() ? "a program" : name);
    }
    return text;
}

/// Whether it is the function in which the interpreter runs what is written in Python: all of it
/// up to the next call of C, from 3.11 on.
bool isEvaluator(std::string_view function) {
    return function.starts_with("_PyEval_EvalFrame") || function.starts_with("_TAIL_CALL_") ||
           function.starts_with("_PyEval_Vector");
}

}  // namespace

/// What has to be known before the first stack can be followed.
class PerfImporter::FirstPass : public PerfVisitor {
  public:
    using Thread = std::pair<uint32_t, uint32_t>;

    void visit(const PerfSample& sample) override {
        ++samplesOf[sample.place.process];
        if (OnCore* const thread = of(sample.place)) thread->isSampled = true;
    }
    void visit(const PerfSwitch& change) override {
        if (begun_.insert(change.place.process).second) byBegin.push_back(change.place.process);
        OnCore* const known = of(change.place);
        if (!known) return;
        OnCore& thread = *known;
        const int64_t timeNs = std::max<int64_t>(change.place.timeNs, 0);
        if (!change.isIn && thread.sinceNs && timeNs > *thread.sinceNs)
            thread.ns = together(thread.ns, timeNs - *thread.sinceNs);
        thread.sinceNs.reset();
        if (change.isIn) thread.sinceNs = timeNs;
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
        // It is called as its parent is until it is told otherwise.
        const auto parent = names.find({fork.parentProcess, fork.parentThread});
        if (parent != names.end() && names.size() < mostThreads)
            names.try_emplace(Thread(fork.place.process, fork.place.thread), parent->second);
    }
    void visit(const PerfName& name) override {
        spaces.add(name);
        // It has a core, or it could not do so.
        if (OnCore* const thread = name.isExec ? of(name.place) : nullptr)
            if (!thread->sinceNs) thread->sinceNs = std::max<int64_t>(name.place.timeNs, 0);
        Executed* const run = name.isExec ? runOf(name.place.process) : nullptr;
        if (run && (!run->isKnown || run->beginNs <= name.place.timeNs)) {
            run->isKnown = true;
            run->beginNs = name.place.timeNs;
            run->name = name.name;
        }
        const Thread which(name.place.process, name.place.thread);
        if (names.size() < mostThreads || names.contains(which))
            names.insert_or_assign(which, std::string(name.name));
    }
    void lost(uint64_t count) override { lostRecords += std::min<uint64_t>(count, UINT32_MAX); }
    void throttled() override { ++throttles; }

    /// How long threads had a core, and how long those that no sample fell into, in ns.
    std::pair<int64_t, int64_t> coreNs() const {
        int64_t allNs = 0, unsampledNs = 0;
        for (const auto& [thread, each] : onCore_) {
            allNs = together(allNs, each.ns);
            if (!each.isSampled) unsampledNs = together(unsampledNs, each.ns);
        }
        return {allNs, unsampledNs};
    }

    /// Programs of which the kernel told nothing from the moment on at which they were executed, as
    /// it does of those with other rights: not even that their own file was mapped.
    std::set<std::string> programsLost() const {
        std::set<std::string> programs;
        if (lostRecords > 0) return programs;
        for (const auto& [process, run] : executed_)
            if (run.isKnown && run.endNs >= run.beginNs && run.mappedNs < run.beginNs)
                programs.insert(run.name);
        return programs;
    }

    AddressSpaces spaces;
    std::vector<uint32_t> byBegin;  ///< Processes by their first switch.
    std::unordered_map<uint32_t, int64_t> samplesOf;
    std::map<Thread, std::string> names;
    uint64_t lostRecords = 0, throttles = 0;
    int64_t notTold = 0;  ///< Samples and switches of threads beyond `mostThreads`.

  private:
    struct OnCore {
        std::optional<int64_t> sinceNs;
        int64_t ns = 0;
        bool isSampled = false;
    };
    /// Null for one more than are told apart; those that are go on being.
    OnCore* of(const PerfPlace& place) {
        const Thread which(place.process, place.thread);
        const auto known = onCore_.find(which);
        if (known != onCore_.end()) return &known->second;
        if (onCore_.size() < mostThreads) return &onCore_[which];
        ++notTold;
        return nullptr;
    }

    struct Executed {
        int64_t beginNs = INT64_MIN, mappedNs = INT64_MIN, endNs = INT64_MIN;
        bool isKnown = false;  ///< That it was executed: cores tell one after the other.
        std::string name;
    };
    /// Null for one more than are told apart.
    Executed* runOf(uint32_t process) {
        const auto known = executed_.find(process);
        if (known != executed_.end()) return &known->second;
        return executed_.size() < mostThreads ? &executed_[process] : nullptr;
    }

    std::map<Thread, OnCore> onCore_;
    std::set<uint32_t> begun_;
    std::map<uint32_t, Executed> executed_;  ///< The last program of each process.
};

class PerfImporter::SecondPass : public PerfVisitor {
  public:
    SecondPass(PerfImporter& importer, PerfStacks& stacks, const std::set<int64_t>& processes,
               int64_t offsetNs)
        : importer_(importer), stacks_(stacks), processes_(processes), offsetNs_(offsetNs) {}

    void visit(const PerfSample& sample) override {
        const NativeStack native = stacks_.of(sample);
        if (native.functions.empty()) return;
        Counts& counts = importer_.counts_;
        ++counts.samples;
        if (native.isWhole) ++counts.whole;
        const int64_t thread = threadOf(sample.place), timeNs = timeOf(sample.place);
        mix(native, thread, timeNs);
        constexpr const auto& t = tables::sampleEvents;
        importer_.trace_.add(t, t.id = importer_.chain(frames_), t.start = timeNs,
                             t.cpu = sample.place.core, t.globalTid = thread);
        seen.insert(thread);
    }

    void visit(const PerfSwitch& change) override {
        if (!processes_.contains(globalPid(change.place.process, importer_.host_))) return;
        if (importer_.counts_.switches >= mostSwitches) {
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

    std::set<int64_t> seen;  ///< Threads that something was written of.
    int64_t tooMany = 0;     ///< Switches that are left out.

  private:
    void add(const PerfSwitch& change) {
        ++importer_.counts_.switches;
        const int64_t thread = threadOf(change.place);
        constexpr const auto& t = tables::scheduleEvents;
        std::optional<int64_t> preempted;
        if (!change.isIn) preempted = change.isPreempted ? 1 : 0;
        importer_.trace_.add(t, t.start = timeOf(change.place), t.cpu = change.place.core,
                             t.isSchedIn = change.isIn ? 1 : 0, t.globalTid = thread,
                             t.isPreempted = preempted);
        seen.insert(thread);
    }

    int64_t threadOf(const PerfPlace& place) const {
        return globalTid(place.process, place.thread, importer_.host_);
    }
    int64_t timeOf(const PerfPlace& place) const {
        return static_cast<int64_t>(static_cast<uint64_t>(place.timeNs) +
                                    static_cast<uint64_t>(offsetNs_));
    }

    /// All from the innermost run of the interpreter to the outermost becomes what is written in
    /// Python: which of its functions the runs are apart is not known, and what lies between them
    /// is the interpreter's own.
    void mix(const NativeStack& native, int64_t thread, int64_t timeNs) {
        frames_.clear();
        size_t first = native.functions.size(), last = 0;
        for (size_t at = 0; at < native.functions.size(); ++at) {
            importer_.nativeFrame(stacks_, native.functions[at]);
            if (!importer_.isEvaluator_[native.functions[at]]) continue;
            first = std::min(first, at);
            last = at;
        }
        std::span<const PythonLooks::Frame> python;
        if (first < native.functions.size()) {
            ++importer_.counts_.inPython;
            python = importer_.looks_.at(thread, timeNs);
            if (!python.empty()) ++importer_.counts_.withPython;
        }
        for (size_t at = 0; at < native.functions.size(); ++at) {
            if (python.empty() || at < first || at > last)
                frames_.push_back(importer_.nativeFrame(stacks_, native.functions[at]));
            else if (at == first)
                for (const PythonLooks::Frame& frame : python)
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
    : trace_(trace), sessionStartNs_(sessionStartNs), looks_(PythonLooks::read(trace.database())) {}

bool PerfImporter::isPerfLog(const std::filesystem::path& path) {
    return path.extension() == perfLogEnding;
}

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
    const auto known = chains_.find(key);
    if (known != chains_.end()) return known->second;
    const int64_t id = ++lastChain_;
    // What is forgotten is written again where it comes again.
    constexpr size_t ofEach = 100;
    if (chainBytes_ > mostChainBytes) chains_.clear();
    chainBytes_ = (chains_.empty() ? 0 : chainBytes_) + key.size() + ofEach;
    chains_.emplace(std::move(key), id);
    constexpr const auto& t = tables::samplingCallchains;
    int64_t depth = 0;
    for (const Frame& frame : frames)
        trace_.add(t, t.id = id, t.symbol = frame.function, t.module = frame.file,
                   t.stackDepth = depth++, t.line = unlessZero(frame.line));
    return id;
}

Result<PerfImporter::Counts> PerfImporter::import(const std::filesystem::path& path, uint32_t host,
                                                  bool usesLibDw, int64_t patienceNs) {
    auto file = PerfLogFile::open(path);
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
    auto known = trace_.database().prepare(
        fmt::format("SELECT {} FROM {}", p.globalPid.name, p.tableName()));
    while (known) {
        const auto row = known->step();
        if (!row || !*row) break;
        processes.insert(known->integer(0));
    }
    const auto know = [&](uint32_t process) {
        if (!processes.insert(globalPid(process, host_)).second) return;
        const auto name = first.names.find({process, process});
        trace_.add(p, p.globalPid = globalPid(process, host_), p.pid = process,
                   p.name = name == first.names.end() ? std::string() : name->second);
    };
    for (const auto& [process, samples] : first.samplesOf) know(process);
    // The command itself is the first, and others of which the time on a core is known.
    size_t leftOut = 0;
    for (const uint32_t process : first.byBegin) {
        const bool isKnown = processes.contains(globalPid(process, host_));
        if (!isKnown && processes.size() - first.samplesOf.size() >= mostUnsampled)
            ++leftOut;
        else
            know(process);
    }
    PerfStacks stacks(first.spaces, usesLibDw, patienceNs);
    // The file may say any; times are told with as much care.
    const auto offsetNs = static_cast<int64_t>(static_cast<uint64_t>(file->head().eventOffsetNs) -
                                               static_cast<uint64_t>(sessionStartNs_));
    SecondPass second(*this, stacks, processes, offsetNs);
    static_cast<void>(file->read(second));
    for (const auto& [thread, name] : first.names) {
        constexpr int lesser = -1;
        const int64_t id = globalTid(thread.first, thread.second, host_);
        if (second.seen.contains(id) && !trace_.hasName(id))
            trace_.nameThread(id, trace_.intern(name), lesser);
    }
    writeHealth(*file, first, stacks, oddBytes);
    writeLeftOut(leftOut, second.tooMany);
    return counts_;
}

void PerfImporter::writeHealth(const PerfLogFile& file, const FirstPass& first,
                               const PerfStacks& stacks, uint64_t oddBytes) {
    const auto percent = [](int64_t part, int64_t whole) {
        return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
    };
    std::string how = fmt::format(
        "{} samples of threads on a core and {} switches of threads were recorded by the kernel's "
        "perf events{}",
        counts_.samples, counts_.switches,
        file.head().seesKernel != 0 ? "" : ", without samples of threads in the kernel");
    how +=
        counts_.samples == 0
            ? std::string(".")
            : fmt::format(
                  "; {:.1f} % of the stacks reach the beginning of their thread, followed by {}.",
                  percent(counts_.whole, counts_.samples),
                  stacks.hasLibDw() ? std::string("libdw")
                                    : fmt::format("frame pointers, which not all code has: {}",
                                                  LibDw::absence()));
    if (counts_.inPython > 0 && looks_.isEmpty())
        how +=
            " Functions of Python are not among them, as nobody looked at threads (--no-threads).";
    else if (counts_.inPython > 0)
        how += fmt::format(
            " {:.1f} % of the stacks in Python have its functions, of the look from outside that "
            "was nearest, within 20 ms.",
            percent(counts_.withPython, counts_.inPython));
    if (file.end() && file.end()->wallNs > 0)
        how += fmt::format(" Writing them down took {:.2f} % of a core.",
                           percent(file.end()->cpuNs, file.end()->wallNs));
    const bool isShort = counts_.samples > 0 && percent(counts_.whole, counts_.samples) < fewWhole;
    if (isShort)
        how += fmt::format(
            " Of the others only the innermost functions are known: a stack of which more than "
            "{} KiB are in use is cut there, and code without unwind tables and frame pointers "
            "(-fno-omit-frame-pointer) cannot be followed.",
            PerfSettings{}.stackBytes / 1024);
    const auto [coreNs, unsampledNs] = first.coreNs();
    const bool isHardlyAny = counts_.samples == 0 && coreNs < hardlyAnyNs;
    const bool isMissed = !isHardlyAny && percent(unsampledNs, coreNs) >= muchUnsampled;
    const std::set<std::string> lost = first.programsLost();
    if (!lost.empty())
        how += fmt::format(
            " Of what {} did nothing is known: {} another user's rights (set-uid, as sudo and su), "
            "where the kernel ends perf events. Record what {} starts, as that user.",
            namesOf(lost), lost.size() == 1 ? "it has" : "they have",
            lost.size() == 1 ? "it" : "each");
    else if (isHardlyAny)
        how += " They saw hardly any time on a core.";
    if (isMissed)
        how += fmt::format(
            " {:.1f} % of the {:.3f} s that threads had a core are of threads that no sample fell "
            "into, as each had one for less than some {:.0f} ms: what they did is not known.",
            percent(unsampledNs, coreNs), static_cast<double>(coreNs) / 1e9,
            static_cast<double>(file.head().periodNs) / 1e6);
    if (first.notTold > 0)
        how += fmt::format(
            " {} samples and switches are of threads beyond the first {}, whose time on a core is "
            "not in these sums.",
            first.notTold, mostThreads);
    const bool isDoubtful = isShort || isMissed || isHardlyAny || !lost.empty();
    trace_.health(isDoubtful ? Severity::Warning : Severity::Info, HealthCode::CpuSamples, how, {},
                  {}, counts_.samples);
    counts_.lost += static_cast<int64_t>(first.lostRecords);
    if (counts_.lost > 0)
        trace_.health(Severity::Warning, HealthCode::SamplesDropped,
                      fmt::format("{} samples and switches of threads were lost, because the "
                                  "kernel's buffers were full.",
                                  counts_.lost),
                      {}, {}, counts_.lost);
    if (first.throttles > 0)
        trace_.health(Severity::Info, HealthCode::SamplesDropped,
                      fmt::format("The kernel paused samples of threads {} times, because they "
                                  "took it too long.",
                                  first.throttles),
                      {}, {}, static_cast<int64_t>(first.throttles));
    if (!file.end())
        trace_.health(Severity::Warning, HealthCode::LogCut,
                      "The file of samples and switches of threads has no end, as the recorder was "
                      "ended or its disk was full: what came after it is missing.");
    if (file.end() && file.end()->bytesNotKept > 0)
        trace_.health(Severity::Warning, HealthCode::SamplesLimit,
                      fmt::format("The file of samples of threads had no more room: {} MB of "
                                  "samples and switches are missing at the end.",
                                  file.end()->bytesNotKept / 1'000'000));
    if (stacks.outOfTime() > 0)
        trace_.health(Severity::Info, HealthCode::SamplesDropped,
                      fmt::format("The stacks of {} samples were followed by frame pointers only, "
                                  "since libdw took too long for all.",
                                  stacks.outOfTime()),
                      {}, {}, static_cast<int64_t>(stacks.outOfTime()));
    if (oddBytes > 0 || first.spaces.leftOut() > 0)
        trace_.health(Severity::Info, HealthCode::LogOddRecords,
                      fmt::format("{} bytes and {} entries of the file of samples made no sense "
                                  "and were left out.",
                                  oddBytes, first.spaces.leftOut()));
}

void PerfImporter::writeLeftOut(size_t processes, int64_t switches) {
    if (processes > 0)
        trace_.health(Severity::Info, HealthCode::SamplesLimit,
                      fmt::format("{} processes that no sample fell into are left out, with the "
                                  "switches of their threads: more than {} are not kept.",
                                  processes, mostUnsampled),
                      {}, {}, static_cast<int64_t>(processes));
    if (switches > 0)
        trace_.health(
            Severity::Warning, HealthCode::SamplesLimit,
            fmt::format("{} switches of threads at the end are left out: more than {} are "
                        "not kept.",
                        switches, mostSwitches),
            {}, {}, switches);
}

}  // namespace lanescope::capture
