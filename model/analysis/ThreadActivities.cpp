// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/ThreadActivities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>
#include <utility>

#include "model/analysis/RunContext.h"
#include "model/format/factNames.h"
#include "model/format/threadStates.h"
#include "model/numbers/Statistics.h"
#include "model/trace/processes.h"
#include "model/trace/stacks.h"

namespace lanescope::analysis {

namespace {

/// Python functions on a stack that reveal a thread's activity: those that compile code, not compiled ones.
struct KnownFunction {
    std::string_view file;      ///< End of its file.
    std::string_view function;  ///< Part of its name.
    ThreadWork work;
};
constexpr KnownFunction knownFunctions[]{
    {"/torch/_dynamo/convert_frame.py", "", ThreadWork::Dynamo},
    {"/torch/_inductor/compile_fx.py", "", ThreadWork::Inductor},
    {"/triton/compiler/compiler.py", "", ThreadWork::Triton},
    {"/jax/_src/compiler.py", "", ThreadWork::Jax},
    {"/torch/utils/data/dataloader.py", "", ThreadWork::TorchData},
    {"/torch/optim/optimizer.py", "", ThreadWork::TorchOptimizer},
    {"/torch/serialization.py", "save", ThreadWork::Saving},
    {"/safetensors/torch.py", "save", ThreadWork::Saving},
    {"/callbacks/model_checkpoint.py", "save", ThreadWork::Saving},
    {"/distributed/checkpoint/state_dict_saver.py", "save", ThreadWork::Saving},
};

/// Divisor of the time between samples. Shorter times on a core, or waiting for a core, are ignored.
constexpr int64_t negligibleDivisor = 10;

/// Returns the work by the outermost of such frames.
ThreadWork workOf(const Trace& trace, uint32_t stack) {
    if (stack < trace.stacks.size() && trace.strings.at(trace.stacks.function[stack]) == garbageCollectionFrame)
        return ThreadWork::GarbageCollection;
    auto work = ThreadWork::Unknown;
    bool isInFunction = false;  // A launcher may import the whole program, whose functions are no import.
    for (uint32_t frame = stack; frame < trace.stacks.size(); frame = outerStack(trace, frame)) {
        const std::string_view file = trace.strings.at(trace.stacks.file[frame]);
        const std::string_view function = trace.strings.at(trace.stacks.function[frame]);
        // Modules that are imported inside such a function are loaded once: that is not its work.
        if (file.ends_with("importlib._bootstrap>") && function.starts_with("_find_and_load") && !isInFunction)
            return ThreadWork::Importing;
        isInFunction = isInFunction || (!isLibraryFile(file) && function != "<module>");
        for (const KnownFunction& each : knownFunctions)
            if (file.ends_with(each.file) && contains(function, each.function)) work = each.work;
    }
    return work;
}

FrameRef ownFrameRef(const Trace& trace, uint32_t stack) { return frameRef(trace, ownFrame(trace, stack)); }

}  // namespace

std::string timesText(const Trace& trace, const ThreadTimes& times, int64_t wholeNs) {
    std::vector<ThreadState> states;
    constexpr double minShownPercent = 3;
    const auto percent = [&](ThreadState state) {
        return wholeNs > 0 ? 100 * static_cast<double>(times.of(state)) / static_cast<double>(wholeNs) : 0.0;
    };
    for (size_t state = 1; state < threadStateCount; ++state)
        if (percent(static_cast<ThreadState>(state)) >= minShownPercent)
            states.push_back(static_cast<ThreadState>(state));
    std::ranges::stable_sort(states, std::ranges::greater(), [&](ThreadState each) { return times.of(each); });
    std::string text;
    for (const ThreadState state : states)
        text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", percent(state), nameOf(state).meaning);
    if (times.stack != noIndex && !text.empty()) text += "; at " + frameText(trace, ownFrame(trace, times.stack));
    if (times.holder != noIndex && !text.empty()) {
        text += "; the GIL has the " + threadRef(trace, times.holder).text();
        if (times.holderStack != noIndex) text += " at " + frameText(trace, ownFrame(trace, times.holderStack));
    }
    return text;
}

std::string lineOf(const IdleCause& cause, const CodePlace& launched) {
    const FrameRef& frame = cause.activity.frame;
    if (!frame.isEmpty()) return fmt::format("{}:{}", frame.file, frame.line);
    // Functions at one line may differ, as a generator expression has its own.
    return cause.kind == CauseKind::None ? std::string() : launched.line.substr(0, launched.line.rfind(" in "));
}

std::vector<std::string_view> compilerFiles() {
    std::vector<std::string_view> files;
    for (const KnownFunction& each : knownFunctions)
        if (isCompiling(each.work)) files.push_back(each.file);
    return files;
}

Intervals ThreadActivities::notAwaitingData(uint32_t thread, TimeRange range) const {
    if (states_.isEmpty(thread)) return {};
    Intervals awaiting;
    states_.forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
        switch (trace_.cpuStates.state[row]) {
            case ThreadState::Poll:
            case ThreadState::Disk:
            case ThreadState::Lock:
            case ThreadState::Child: awaiting.push_back({piece.startNs, piece.endNs, 0}); break;
            default: break;
        }
    });
    const Intervals whole{{range.startNs, range.endNs, 0}};
    return without(whole, withoutOverlaps(std::move(awaiting)));
}

ThreadActivities::Core ThreadActivities::coreIn(uint32_t row) const {
    const CpuStateTable& states = trace_.cpuStates;
    const int64_t wholeNs = states.endNs[row] - states.startNs[row];
    const int64_t delayNs = states.delayNs[row];
    const ThreadState state = states.state[row];
    if (state == ThreadState::Runnable)
        return states.cpuNs[row] > wholeNs / negligibleDivisor ? Core::Alternating : Core::None;
    // A thread that also waits is described by its waits unless it wanted a core most of the time.
    const bool wantsAlways = state == ThreadState::Running && delayNs > wholeNs / negligibleDivisor &&
                             delayNs + states.cpuNs[row] > wholeNs - wholeNs / negligibleDivisor;
    return wantsAlways || delayNs > wholeNs / 2 ? Core::Alternating : Core::Given;
}

ThreadActivity ThreadActivities::made(uint32_t row, StatePrecision precision) const {
    const CpuStateTable& states = trace_.cpuStates;
    const ThreadState state = states.state[row];
    const uint32_t stack = states.stack[row];
    ThreadActivity made;
    if (state == ThreadState::Unknown || precision == StatePrecision::Nothing) return made;
    const Core core = coreIn(row);
    if (core == Core::Alternating) {
        // A thread without a core stays where it is.
        const bool isThere = (state == ThreadState::Running || state == ThreadState::Runnable) &&
                             precision == StatePrecision::Whole && stack != noIndex;
        if (isThere) made.frame = ownFrameRef(trace_, stack);
        if (isThere) made.work = workOf(trace_, stack);
        made.observation = Observation::WithoutCore;
        made.state = ThreadState::Runnable;
        return made;
    }
    made.state = state;
    if (states.holder[row] != noIndex) made.holder = threadRef(trace_, states.holder[row]);
    // The place in samples is not the place between them.
    made.observation = Observation::Alternating;
    // Compiling, saving and importing take longer than the time between samples.
    if (const ThreadWork work = stack == noIndex ? ThreadWork::Unknown : workOf(trace_, stack);
        isCompiling(work) || work == ThreadWork::Saving || work == ThreadWork::Importing)
        made.work = work;
    if (precision == StatePrecision::Alternating) return made;
    made.observation = Observation::State;
    // A thread without a core gets none whatever its activity.
    if (stack != noIndex && core == Core::Given) made.frame = ownFrameRef(trace_, stack);
    if (stack != noIndex && state == ThreadState::Running) made.work = workOf(trace_, stack);
    if (states.holder[row] != noIndex && states.holderStack[row] != noIndex)
        made.holderFrame = ownFrameRef(trace_, states.holderStack[row]);
    return made;
}

ThreadActivities::Id ThreadActivities::idOf(uint32_t row, StatePrecision precision) {
    const CpuStateTable& states = trace_.cpuStates;
    const auto [known, isNew] = known_.try_emplace(
        {states.state[row], precision, coreIn(row), states.stack[row], states.holder[row], states.holderStack[row]},
        unknown);
    if (!isNew) return known->second;
    ThreadActivity activity = made(row, precision);
    if (activity.observation == Observation::None) return unknown;
    const auto [id, isFirst] = ids_.try_emplace(activity, static_cast<Id>(activities_.size()));
    if (isFirst) activities_.push_back(std::move(activity));
    return known->second = id->second;
}

std::vector<bool> stacksOfLoader(const Trace& trace) {
    std::vector<bool> isOfLoader(trace.stacks.size());
    for (uint32_t stack = 0; stack < isOfLoader.size(); ++stack) {
        const uint32_t outer = outerStack(trace, stack);
        const std::string_view file = trace.strings.at(trace.stacks.file[stack]);
        isOfLoader[stack] = (outer != noIndex && isOfLoader[outer]) || isTorchDataFile(file);
    }
    return isOfLoader;
}

namespace {

/// Returns for each thread if it was ever seen in PyTorch's loader.
std::vector<bool> threadsSeenLoading(const Trace& trace) {
    std::vector<bool> isSeen(trace.threads.size());
    const CpuStateTable& states = trace.cpuStates;
    if (states.size() == 0) return isSeen;
    const std::vector<bool> isOfLoader = stacksOfLoader(trace);
    for (uint32_t row = 0; row < states.size(); ++row)
        if (states.stack[row] < isOfLoader.size() && isOfLoader[states.stack[row]]) isSeen[states.thread[row]] = true;
    return isSeen;
}

/// Returns the processes that a process works for: those that started it, directly or via others,
/// but not via another rank, which its own child processes serve.
std::vector<uint32_t> startersOf(const Trace& trace, const std::vector<uint32_t>& parents, uint32_t process) {
    // In a corrupt file two processes may have started each other.
    constexpr size_t maxGenerations = 16;
    std::vector<uint32_t> line{process}, starters;
    for (uint32_t at = parents[process];
         at != noIndex && line.size() <= maxGenerations && std::ranges::find(line, at) == line.end();
         at = parents[at]) {
        const std::optional<int> rank = trace.processes[at].rank;
        const bool isOfOther = std::ranges::any_of(line, [&](uint32_t each) {
            const std::optional<int>& other = trace.processes[each].rank;
            return rank && other && *rank != *other;
        });
        if (!isOfOther) starters.push_back(at);
        line.push_back(at);
    }
    return starters;
}

/// Minimum share of the steps of a reported wait for a core. Every thread waits for one now and then.
constexpr double minWaitShare = 0.01;

/// Computes the part of a range that is in steps.
class TimeInSteps {
  public:
    explicit TimeInSteps(std::span<const TimeRange> steps) : steps_(steps) {
        int64_t sumNs = 0;
        for (const TimeRange& step : steps) {
            beforeNs_.push_back(sumNs);
            sumNs = saturatingSum(sumNs, step.durationNs());
        }
        beforeNs_.push_back(sumNs);
    }
    int64_t allNs() const { return beforeNs_.back(); }
    int64_t in(TimeRange range) const { return before(range.endNs) - before(range.startNs); }

  private:
    /// Returns the time in steps before `ns`.
    int64_t before(int64_t ns) const {
        const auto next =
            std::ranges::partition_point(steps_, [ns](const TimeRange& each) { return each.startNs < ns; });
        const auto count = static_cast<size_t>(next - steps_.begin());
        if (count == 0) return 0;
        const int64_t beyondNs = std::max<int64_t>(steps_[count - 1].endNs - ns, 0);
        return beforeNs_[count] - beyondNs;
    }

    const std::span<const TimeRange> steps_;
    std::vector<int64_t> beforeNs_;  ///< Time in steps before each, and in all.
};

/// Returns the time in such a state for which a thread was runnable without a core, as counted by the kernel.
double withoutCoreNs(const CpuStateTable& states, uint32_t row) {
    const auto wholeNs = static_cast<double>(states.endNs[row] - states.startNs[row]);
    const double ranNs = std::clamp(static_cast<double>(states.cpuNs[row]), 0.0, wholeNs);
    const double delayNs = std::clamp(static_cast<double>(states.delayNs[row]), 0.0, wholeNs - ranNs);
    return states.state[row] == ThreadState::Runnable ? wholeNs - ranNs : delayNs;
}

/// Share of the time between samples by which the kernel's count may be too low.
constexpr int64_t missedDivisor = 10;

class RanAndWaited {
  public:
    RanAndWaited(const RunContext& run, const WorkerTimeline& timeline)
        : trace_(run.trace), states_(run.states), timeline_(timeline) {
        for (WorkList::Reader work(timeline.work()); !work.isAtEnd(); work.next())
            if (work->call != noIndex) addLaunch(work->call);
        for (const Contributor& each : timeline.contributors()) facts_.push_back(factsOf(each));
        const CpuStateTable& states = trace_.cpuStates;
        for (uint32_t row = 0; row < states.size(); ++row)
            if (states.stack[row] != noIndex) pythonNs_[states.thread[row]] += states.cpuNs[row];
    }

    void find(const std::vector<TimeRange>& windows) {
        timeline_.splitInTime(windows, [this](const WorkerTimeline::Piece& piece) {
            if (facts_[piece.contributor].isPlaceUnknown) addPlaces(piece);
            if (facts_[piece.contributor].isPlaceKnown) addCallers(piece);
            if (facts_[piece.contributor].isGil) addGil(piece);
            if (piece.part != StepPart::LaunchBound) return;
            const bool goesOn = !interval_.empty() && facts_[piece.contributor].isOutside &&
                                interval_.back().range.endNs == piece.range.startNs;
            if (!goesOn) addStretch();
            interval_.push_back(piece);
            if (!facts_[piece.contributor].isOutside) addStretch();
        });
        addStretch();
    }

    void tell(std::vector<Contributor>& contributors) const {
        for (const auto& [row, spent] : spentIn_) {
            const double waitedShare = waitedShareOf(row, spent);
            for (const auto& [contributor, own] : spent) {
                Contributor& each = contributors[contributor];
                const auto waitedNs = static_cast<int64_t>(waitedShare * static_cast<double>(own.ns));
                each.waitedNs += waitedNs;
                each.workedNs += static_cast<int64_t>(static_cast<double>(own.ns - waitedNs) *
                                                      static_cast<double>(own.longNs) / static_cast<double>(own.ns));
            }
        }
        for (const auto& [contributor, count] : longCounts_) contributors[contributor].longCount = count;
        for (const auto& [contributor, seen] : seenIn_) contributors[contributor].launched = seen.place(trace_);
        for (const auto& [contributor, ns] : gilNs_) contributors[contributor].gilNs = static_cast<int64_t>(ns);
    }

  private:
    struct Facts {
        bool isOutside = false;       ///< Outside calls.
        bool isCounted = false;       ///< The kernel's count determines if it ran.
        bool isGil = false;           ///< It was seen to wait for the GIL.
        bool isPlaceUnknown = false;  ///< It alternately ran and waited.
        bool isPlaceKnown = false;    ///< It was seen at a line in host code.
    };
    struct Spent {
        int64_t ns = 0;
        int64_t longNs = 0;  ///< Time in long intervals.
    };
    using SpentBy = std::map<ContributorTable::Id, Spent>;

    /// Places of a thread, of the holder of the lock that it awaits, of the callers of its function, and of the Python
    /// thread of its process, by the time that samples stand for.
    struct Seen {
        using Places = std::map<FramePlace, std::pair<int64_t, uint32_t>>;  ///< Time and a frame.
        Places own, holders, callers, meanwhile;
        /// By the lines of the launches before and after: time and a frame of each.
        std::map<std::pair<FramePlace, FramePlace>, std::array<int64_t, 3>> between;
        uint32_t python = noIndex;
        int64_t ns = 0;
        int64_t otherNs = 0;  ///< With samples of another time.

        static void add(const Trace& trace, Places& places, uint32_t stack, int64_t ns) {
            if (stack == noIndex) return;
            const uint32_t frame = ownFrame(trace, stack);
            auto& [sumNs, any] = places[placeOf(trace, frame)];
            sumNs += ns;
            any = frame;
        }
        /// Returns the line of more than half of the time with a stack, or else such a function: "at serve.py:42 in
        /// collect", "in collect (serve.py)". Empty without either, or if stacks are known for less than a quarter.
        /// `knownNs` is the time with a stack that is not in `places`.
        CodePlace most(const Trace& trace, const Places& places, int64_t knownNs = 0) const {
            std::map<std::pair<StringIndex, StringIndex>, int64_t> functions;
            for (const auto& [place, spent] : places) knownNs += spent.first;
            if (4 * knownNs < ns) return {};
            for (const auto& [place, spent] : places) {
                if (const std::string line = frameText(trace, spent.second); 2 * spent.first > knownNs)
                    return {"at " + line, line};
                int64_t& sumNs = functions[{place.function, place.file}];
                sumNs += spent.first;
                const FrameRef frame = frameRef(trace, spent.second);
                if (2 * sumNs > knownNs) return {fmt::format("in {} ({})", frame.function, frame.file)};
            }
            return {};
        }
        /// Returns the launches around more than half of the time, at one or two places: "between the launches at
        /// train.py:10 in main and train.py:30 in sample". Empty without them.
        std::string launches(const Trace& trace) const {
            std::vector<std::array<int64_t, 3>> longest = mapped(between, [](const auto& each) { return each.second; });
            std::ranges::sort(longest, std::ranges::greater());
            longest.resize(std::min<size_t>(longest.size(), longest.empty() || 2 * longest[0][0] > ns ? 1 : 2));
            int64_t sumNs = 0;
            std::string text;
            for (const auto& [ownNs, before, after] : longest) {
                const std::string first = frameText(trace, uint32_t(before)), last = frameText(trace, uint32_t(after));
                const std::string both =
                    first == last ? "launches at " + last : fmt::format("the launches at {} and {}", first, last);
                text += (text.empty() ? "between " : ", and between ") + both;
                sumNs += ownNs;
            }
            return 2 * sumNs > ns ? text : std::string();
        }
        CodePlace place(const Trace& trace) const {
            const CodePlace at = most(trace, own, otherNs), holder = most(trace, holders),
                            called = most(trace, callers);
            const std::string around = launches(trace);
            CodePlace made{holder.empty() ? "" : "the holder mostly " + holder.text,
                           holder.line.empty() ? at.line : holder.line, called.line};
            const auto add = [&made](const std::string& more) { made.text += (made.empty() ? "" : ", ") + more; };
            if (!at.empty()) add("seen mostly " + at.text);
            if (!around.empty()) add(around);
            if (!called.line.empty()) add("called " + called.text);
            if (const CodePlace there = most(trace, meanwhile); !there.empty())
                add(fmt::format("while {} was {}", threadRef(trace, python).textWithArticle(), there.text));
            return made;
        }
    };

    static Facts factsOf(const Contributor& each) {
        const IdleCause& cause = each.name.idle;
        const bool isPlaceUnknown =
            (cause.kind == CauseKind::OutsideCalls || cause.kind == CauseKind::BeforeBatchCopy) && cause.isObserved() &&
            cause.activity.frame.isEmpty();
        if (each.part != StepPart::LaunchBound) return {.isPlaceUnknown = isPlaceUnknown};
        const bool isOutside = cause.kind == CauseKind::OutsideCalls;
        return {isOutside, cause.isSeenRunning() || cause.runsAndWaits(), cause.activity.state == ThreadState::Gil,
                isPlaceUnknown, isOutside && !cause.activity.frame.isEmpty()};
    }

    void addPlaces(const WorkerTimeline::Piece& piece) {
        const uint32_t thread = awaitedThread(piece.range);
        if (thread == noIndex) return;
        Seen& seen = seenIn_[piece.contributor];
        seen.ns += piece.range.durationNs();
        const auto [before, after] = addBetween(seen, piece.range);
        states_.forEachIn(thread, piece.range, [&](uint32_t row, TimeRange within) {
            if (isBetween(trace_.cpuStates.stack[row], before, after))
                Seen::add(trace_, seen.own, trace_.cpuStates.stack[row], within.durationNs());
            else
                seen.otherNs += within.durationNs();
            addHolder(seen, row, within);
        });
    }

    /// Adds the lines of the launches around a piece, and returns their frames; `noIndex` if one is unknown.
    std::pair<uint32_t, uint32_t> addBetween(Seen& seen, TimeRange piece) const {
        const WorkList& work = timeline_.work();
        const size_t next = firstFrom(work, piece.endNs);
        if (next == 0 || next >= work.size()) return {noIndex, noIndex};
        const uint32_t before = frameOfLaunch(work[next - 1].call), after = frameOfLaunch(work[next].call);
        if (before == noIndex || after == noIndex) return {noIndex, noIndex};
        auto& [sumNs, one, other] = seen.between[{placeOf(trace_, before), placeOf(trace_, after)}];
        sumNs += piece.durationNs();
        one = before;
        other = after;
        return {before, after};
    }

    uint32_t frameOfLaunch(uint32_t call) const {
        if (call == noIndex || trace_.apiCalls.isStackLent[call]) return noIndex;
        const uint32_t stack = trace_.apiCalls.stack[call];
        return stack == noIndex ? noIndex : ownFrame(trace_, stack);
    }

    void addLaunch(uint32_t call) {
        ++launching_[trace_.apiCalls.thread[call]];
        const uint32_t stack = trace_.apiCalls.isStackLent[call] ? noIndex : trace_.apiCalls.stack[call];
        if (stack != noIndex && launchingStacks_.insert(stack).second)
            launchingFunctions_.insert(functionOf(ownFrame(trace_, stack)));
    }

    using Function = std::pair<StringIndex, StringIndex>;
    Function functionOf(uint32_t frame) const { return {trace_.stacks.function[frame], trace_.stacks.file[frame]}; }

    /// Returns false for a sample of another time than that between the launches: in a function that launches other
    /// work. The time between samples is longer than most waits.
    bool isBetween(uint32_t stack, uint32_t before, uint32_t after) const {
        if (stack == noIndex || before == noIndex) return true;
        const Function function = functionOf(ownFrame(trace_, stack));
        return function == functionOf(before) || function == functionOf(after) ||
               !launchingFunctions_.contains(function);
    }

    /// Adds the lines of the program that called the function in which the thread was seen.
    void addCallers(const WorkerTimeline::Piece& piece) {
        const uint32_t thread = awaitedThread(piece.range);
        if (thread == noIndex) return;
        Seen& seen = seenIn_[piece.contributor];
        seen.ns += piece.range.durationNs();
        states_.forEachIn(thread, piece.range, [&](uint32_t row, TimeRange within) {
            const uint32_t stack = trace_.cpuStates.stack[row];
            const uint32_t outer = stack == noIndex ? noIndex : outerStack(trace_, ownFrame(trace_, stack));
            if (outer == noIndex) return;
            const uint32_t caller = ownFrame(trace_, outer);
            const StackTable& stacks = trace_.stacks;
            if (isLibraryFile(trace_.strings.at(stacks.file[caller])) ||
                trace_.strings.at(stacks.function[caller]) == "<module>")
                return;
            Seen::add(trace_, seen.callers, caller, within.durationNs());
        });
    }

    /// Returns the Python thread of the process of a thread that no sample saw in Python: the main thread, or else the
    /// one that ran longest. `noIndex` for a thread in Python, and if there is none.
    uint32_t pythonThreadOf(uint32_t thread) const {
        if (pythonNs_.contains(thread)) return noIndex;
        const uint32_t process = trace_.threads[thread].process;
        uint32_t most = noIndex;
        for (const auto& [other, ns] : pythonNs_) {
            if (trace_.threads[other].process != process) continue;
            if (trace_.threads[other].tid == trace_.processes[process].pid) return other;
            if (most == noIndex || ns > pythonNs_.at(most)) most = other;
        }
        return most;
    }

    /// A thread of a runtime has no place of its own. Long before its launch, the program's Python was elsewhere.
    void addMeanwhile(const WorkerTimeline::Piece& piece) {
        const uint32_t thread = awaitedThread(piece.range);
        const uint32_t python = thread == noIndex ? noIndex : pythonThreadOf(thread);
        if (python == noIndex) return;
        Seen& seen = seenIn_[piece.contributor];
        seen.python = python;
        states_.forEachIn(python, piece.range, [&](uint32_t row, TimeRange within) {
            Seen::add(trace_, seen.meanwhile, trace_.cpuStates.stack[row], within.durationNs());
        });
    }

    /// The stack of the holder is that of its own samples if that of the wait has none.
    void addHolder(Seen& seen, uint32_t row, TimeRange within) {
        const CpuStateTable& states = trace_.cpuStates;
        if (states.holder[row] == noIndex) return;
        if (states.holderStack[row] != noIndex)
            return Seen::add(trace_, seen.holders, states.holderStack[row], within.durationNs());
        states_.forEachIn(states.holder[row], within, [&](uint32_t held, TimeRange piece) {
            Seen::add(trace_, seen.holders, states.stack[held], piece.durationNs());
        });
    }

    void addGil(const WorkerTimeline::Piece& piece) {
        const uint32_t thread = awaitedThread(piece.range);
        if (thread == noIndex) return;
        states_.forEachIn(thread, piece.range, [&](uint32_t row, TimeRange within) {
            gilNs_[piece.contributor] += gilShareOf(row) * static_cast<double>(within.durationNs());
        });
    }

    /// A thread that copies a result now and then launches nothing that others wait for.
    bool launchesMuch(uint32_t thread) const {
        constexpr size_t minPercent = 5;
        const auto found = launching_.find(thread);
        return found != launching_.end() && 100 * found->second >= minPercent * timeline_.work().size();
    }

    /// Returns the share of a row in which its thread waited for the GIL of a thread without launches.
    double gilShareOf(uint32_t row) const {
        const CpuStateTable& states = trace_.cpuStates;
        const uint32_t holder = states.holder[row];
        const int64_t wholeNs = states.endNs[row] - states.startNs[row];
        if (states.state[row] != ThreadState::Gil || holder == noIndex || launchesMuch(holder) || wholeNs <= 0 ||
            states_.tells(row, 1) == StatesOfThreads::StatePrecision::Nothing)
            return 0;
        const auto ranNs = static_cast<double>(states.cpuNs[row] + states.delayNs[row]);
        return std::clamp(1 - ranNs / static_cast<double>(wholeNs), 0.0, 1.0);
    }

    /// Adds the activity of the thread from one call to the next, across all samples.
    void addStretch() {
        if (interval_.empty()) return;
        const bool isLong = facts_[interval_.front().contributor].isOutside &&
                            interval_.back().range.endNs - interval_.front().range.startNs >= minWorkNs;
        std::map<ContributorTable::Id, int64_t> spent;
        for (const WorkerTimeline::Piece& piece : interval_) {
            if (facts_[piece.contributor].isCounted) add(piece, isLong);
            if (isLong) spent[piece.contributor] += piece.range.durationNs();
            if (isLong && facts_[piece.contributor].isPlaceUnknown) addMeanwhile(piece);
        }
        if (isLong)
            ++longCounts_[std::ranges::max_element(spent, {}, [](const auto& each) { return each.second; })->first];
        interval_.clear();
    }

    void add(const WorkerTimeline::Piece& piece, bool isLong) {
        const uint32_t thread = awaitedThread(piece.range);
        if (thread == noIndex) return;
        states_.forEachIn(thread, piece.range, [&](uint32_t row, TimeRange within) {
            Spent& spent = spentIn_[row][piece.contributor];
            spent.ns += within.durationNs();
            if (isLong) spent.longNs += within.durationNs();
        });
    }

    /// Returns the thread that launches the work after the gap.
    uint32_t awaitedThread(TimeRange piece) const {
        const WorkList& work = timeline_.work();
        const size_t next = firstFrom(work, piece.endNs);
        const uint32_t call = next < work.size() ? work[next].call : noIndex;
        return call == noIndex ? noIndex : trace_.apiCalls.thread[call];
    }

    double waitedShareOf(uint32_t row, const SpentBy& spent) const {
        const int64_t allNs = sumOf(spent, [](const auto& each) { return each.second.ns; });
        const std::optional<int64_t> ranNs = maxRunNs(row);
        if (!ranNs) return 0;
        int64_t waitedNs = allNs - *ranNs;
        if (waitedNs <= missedNs(row)) {
            // It did not run while it waited for a core.
            const CpuStateTable& states = trace_.cpuStates;
            waitedNs = allNs - (states.endNs[row] - states.startNs[row] - states.delayNs[row]);
        }
        if (waitedNs <= 0 || allNs <= 0) return 0;
        // The kernel may count more than the time between two samples.
        return std::min(1.0, static_cast<double>(waitedNs) / static_cast<double>(allNs));
    }

    int64_t missedNs(uint32_t row) const {
        const CpuStateTable& states = trace_.cpuStates;
        if (states.source[row] != StateSource::StateSamples) return 0;
        const int64_t missed = (states.endNs[row] - states.startNs[row]) / missedDivisor;
        return states.state[row] == ThreadState::Running ? missed + maxTickNs : missed;
    }

    /// Returns nullopt if unknown.
    std::optional<int64_t> maxRunNs(uint32_t row) const {
        const CpuStateTable& states = trace_.cpuStates;
        const TimeRange range{states.startNs[row], states.endNs[row]};
        const ThreadState state = states.state[row];
        int64_t ranNs = states.cpuNs[row];
        if (states_.tells(row, 1) == StatesOfThreads::StatePrecision::Nothing) return std::nullopt;
        if (state != ThreadState::Lock && state != ThreadState::Gil) return ranNs;
        for (const auto& [other, count] : launching_) {
            if (other == states.thread[row]) continue;
            if (states_.isEmpty(other)) return std::nullopt;
            const ThreadTimes times = states_.during(other, range);
            ranNs += times.of(ThreadState::Running) + times.of(ThreadState::Unknown);
        }
        return ranNs;
    }

    const Trace& trace_;
    const StatesOfThreads& states_;
    const WorkerTimeline& timeline_;
    std::map<uint32_t, size_t> launching_;  ///< Work by the thread that launched it.
    std::unordered_set<uint32_t> launchingStacks_;
    std::set<Function> launchingFunctions_;
    std::vector<Facts> facts_;  ///< By contributor.
    std::vector<WorkerTimeline::Piece> interval_;
    std::map<uint32_t, SpentBy> spentIn_;  ///< By row of the states.
    std::map<ContributorTable::Id, Seen> seenIn_;
    std::map<ContributorTable::Id, double> gilNs_;
    std::map<ContributorTable::Id, int64_t> longCounts_;
    std::map<uint32_t, int64_t> pythonNs_;  ///< Running time of each thread in samples with a Python stack.
};

}  // namespace

LoaderThreads::LoaderThreads(const Trace& trace) : started_(trace.processes.size()), own_(trace.processes.size()) {
    const std::vector<uint32_t> parents = parentProcesses(trace);
    const std::vector<bool> isSeen = threadsSeenLoading(trace);
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
        const Thread& each = trace.threads[thread];
        const bool isNamed = isDataLoadingName(each.name);
        if (isNamed) own_[each.process].push_back(thread);
        if (!isNamed && !isSeen[thread]) continue;
        for (const uint32_t process : startersOf(trace, parents, each.process)) started_[process].push_back(thread);
    }
}

LoaderTimes loaderTimes(const StatesOfThreads& states, std::span<const uint32_t> loaders,
                        std::span<const TimeRange> steps) {
    LoaderTimes all;
    // In a corrupt file each may have the same state for the maximum time.
    const auto add = [](int64_t& sum, int64_t ns) { sum = saturatingSum(sum, ns); };
    for (const uint32_t thread : loaders) {
        if (states.isEmpty(thread)) continue;
        LoaderTimes one;
        for (const TimeRange& step : steps) {
            const ThreadTimes times = states.during(thread, step);
            one.knownNs += times.knownNs() - times.of(ThreadState::Unknown);
            one.ranNs += times.of(ThreadState::Running);
            one.noCoreNs += times.of(ThreadState::Runnable);
            one.inputNs += times.of(ThreadState::Poll) + times.of(ThreadState::Disk);
        }
        if (one.knownNs == 0) continue;
        ++all.threads;
        add(all.knownNs, one.knownNs);
        add(all.ranNs, one.ranNs);
        add(all.noCoreNs, one.noCoreNs);
        add(all.inputNs, one.inputNs);
    }
    return all;
}

std::optional<CoreWaits> coreWaits(const Trace& trace, const StatesOfThreads& states, std::span<const uint32_t> threads,
                                   std::span<const TimeRange> steps) {
    const CpuStateTable& table = trace.cpuStates;
    const TimeInSteps time(steps);
    if (time.allNs() == 0) return std::nullopt;
    const TimeRange whole{steps.front().startNs, steps.back().endNs};
    std::optional<CoreWaits> waits;
    for (const uint32_t thread : threads) {
        if (!states.isCounted(thread)) continue;
        double waitedNs = 0;
        states.forEachIn(thread, whole, [&](uint32_t row, TimeRange piece) {
            const int64_t ns = time.in(piece);
            if (ns <= 0) return;
            if (!waits) waits.emplace();
            waitedNs += withoutCoreNs(table, row) * static_cast<double>(ns) /
                        static_cast<double>(table.endNs[row] - table.startNs[row]);
        });
        const auto ns = static_cast<int64_t>(waitedNs);
        if (ns == 0 || waitedNs < minWaitShare * static_cast<double>(time.allNs())) continue;
        ++waits->threads;
        waits->ns = saturatingSum(waits->ns, ns);
    }
    return waits;
}

RestBetween restBetween(const RunContext& run, std::span<const TimeRange> steps, const WorkList& work) {
    const Trace& trace = run.trace;
    ProvenWaits proved(trace, run.states);
    int64_t busyUntilNs = INT64_MIN;
    WorkList::Reader next(work);
    for (size_t step = 1; step < steps.size(); ++step) {
        const TimeRange pause{steps[step - 1].endNs, steps[step].startNs};
        for (; !next.isAtEnd() && next->startNs < pause.endNs; next.next())
            busyUntilNs = std::max(busyUntilNs, next->endNs);
        const TimeRange idle{std::max(pause.startNs, busyUntilNs), pause.endNs};
        if (idle.durationNs() <= 0 || next.isAtEnd() || next->call == noIndex) continue;
        proved.add(trace.apiCalls.thread[next->call], idle);
    }
    ThreadActivities activities(trace, run.states);
    RestBetween rest;
    std::map<IdleCause, int64_t> waits;
    proved.forEachRow([&](uint32_t row, int64_t waitedNs) {
        if (waitedNs <= 0) return;
        rest.ns += waitedNs;
        IdleCause cause{.thread = threadRef(trace, trace.cpuStates.thread[row]), .activity = activities.seenIn(row)};
        waits[cause] += waitedNs;
    });
    const auto most = std::ranges::max_element(waits, {}, [](const auto& each) { return each.second; });
    if (most != waits.end()) rest.most = most->first;
    return rest;
}

void addRanAndWaited(const RunContext& run, const WorkerTimeline& timeline, const std::vector<TimeRange>& windows,
                     std::vector<Contributor>& contributors) {
    if (run.trace.cpuStates.size() == 0) return;
    RanAndWaited found(run, timeline);
    found.find(windows);
    found.tell(contributors);
}

}  // namespace lanescope::analysis
