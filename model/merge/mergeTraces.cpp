// SPDX-License-Identifier: Apache-2.0
#include "model/merge/mergeTraces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/analysis/StepSelection.h"
#include "model/format/factNames.h"
#include "model/merge/fitClocks.h"
#include "model/merge/placeParts.h"
#include "model/text/formatValue.h"
#include "model/text/programOf.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

constexpr size_t maxRanks = 4096;
constexpr TimeRange allTime{-maxTimestampNs, maxTimestampNs};

std::string numbersText(const std::vector<int>& numbers) {
    std::string text;
    for (size_t first = 0; first < numbers.size();) {
        size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        text += text.empty() ? "" : ", ";
        text += first == last ? fmt::format("{}", numbers[first]) : fmt::format("{}-{}", numbers[first], numbers[last]);
        first = last + 1;
    }
    return text;
}

/// Returns the chosen processes: by trace, a flag for each of its processes.
Result<std::vector<std::vector<bool>>> chosenProcesses(std::span<const TracePtr> traces, const TraceExcerpt& cut) {
    std::vector<std::vector<bool>> chosen;
    std::set<int> there;
    for (const TracePtr& trace : traces) {
        std::vector<bool>& ofTrace = chosen.emplace_back();
        for (const Process& process : trace->processes) {
            const std::optional<int> rank = rankOf(*trace, process);
            if (rank) there.insert(*rank);
            ofTrace.push_back(cut.ranks.empty() || (rank && std::ranges::binary_search(cut.ranks, *rank)));
        }
    }
    std::vector<int> missing;
    for (const int rank : cut.ranks)
        if (!there.contains(rank)) missing.push_back(rank);
    if (missing.empty()) return chosen;
    if (there.empty())
        return fail("--ranks: no trace has a rank, so rank {} cannot be chosen. Remove --ranks.", numbersText(missing));
    return fail("--ranks: no trace of rank {}. Available ranks: {}.", numbersText(missing),
                numbersText({there.begin(), there.end()}));
}

/// Finds start and end of the steps on the CPU and on the GPU, by the clock of the trace, for each
/// chosen process that has any of them.
void findSpans(const Trace& trace, const std::vector<bool>& chosen, StepRange steps, const ClockMap& clock,
               TimeRange& whole, int64_t& most) {
    StepSelection selection{.keepsWarmUp = true};
    const Result<RunSteps> found = findSteps(trace, selection);
    if (!found) return;
    for (const WorkerSteps& worker : found->workers) {
        if (worker.process >= chosen.size() || !chosen[worker.process]) continue;
        most = std::max(most, worker.foundCount);
        const auto isAsked = [steps](const StepSpan& step) {
            return step.number >= steps.first && step.number <= steps.last;
        };
        if (!std::ranges::any_of(worker.steps, isAsked)) continue;
        for (const StepSpan& step : worker.steps) {
            if (!isAsked(step) && step.number != steps.last + 1) continue;
            for (const TimeRange each : {step.range, step.onCpu, step.launches})
                if (!each.isEmpty()) whole = whole.united(clock.at(each));
        }
    }
}

/// Returns the kept time, by the clock of the whole.
Result<TimeRange> windowOf(std::span<const TracePtr> traces, std::span<const PartPlacement> placements,
                           const std::vector<std::vector<bool>>& chosen, const TraceExcerpt& cut) {
    if (!cut.steps) return allTime;
    TimeRange whole{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    int64_t most = 0;
    for (size_t part = 0; part < traces.size(); ++part)
        if (std::ranges::find(chosen[part], true) != chosen[part].end())
            findSpans(*traces[part], chosen[part], *cut.steps, placements[part].clock, whole, most);
    if (!whole.isEmpty()) return whole;
    return fail("--steps {}-{}: no rank has these steps. The longest has {} steps, counted from 0.", cut.steps->first,
                cut.steps->last, most);
}

/// Alignment of the clocks of several traces to the first, and its evidence.
struct AlignedClocks {
    struct Clock {
        ClockMethod method = ClockMethod::BaseTime;
        ClockMap map;                      ///< From its own time to that of the first.
        int64_t errorNs = -1;              ///< Maximum error; -1 if unknown.
        uint32_t moments = 0;              ///< Shared events used.
        bool isAsSet = false;              ///< It agrees with the first without correction, within the known precision.
        std::optional<TimeRange> slackNs;  ///< As `FittedClock::slackNs`.
        std::vector<ClockSetting> settings;  ///< As `FittedClock::settings`; by its own time.
    };
    std::vector<Clock> clocks;    ///< As `PlacedParts::clocks`.
    std::vector<int64_t> zeroNs;  ///< Time 0 of each trace, by its own clock.
    int64_t startUtcNs = 0;       ///< Time 0 of the first clock; 0 if unknown.
    int64_t wholeZeroNs = 0;      ///< Start of the whole, by the first clock.
    uint32_t causalTimes = 0, violations = 0;
    bool hasCollectives = false, hasMessages = false;  ///< Among the shared events.
    bool isTimeOfDayKnown = true;                      ///< For every trace.
};

constexpr int64_t dayNs = int64_t{86'400} * 1'000'000'000;
/// Minimum common times of a clock. A fit of fewer may be chance.
constexpr uint32_t minTimes = 3;

/// Sets `zeroNs` from the times of day of the files, relative to the earliest. A file without a
/// time of day begins with the first of the others.
Result<void> readTimesOfDay(std::span<const TracePtr> traces, bool isAsked, AlignedClocks& out) {
    int64_t earliest = std::numeric_limits<int64_t>::max(), latest = 0;
    size_t first = 0, last = 0;
    for (size_t index = 0; index < traces.size(); ++index) {
        const int64_t startNs = traces[index]->startUtcNs;
        out.isTimeOfDayKnown &= startNs > 0;
        if (startNs <= 0) continue;
        if (startNs < earliest) first = index;
        if (startNs > latest) last = index;
        earliest = std::min(earliest, startNs);
        latest = std::max(latest, startNs);
    }
    const bool isAnyKnown = latest > 0;
    if (isAnyKnown && isAsked && latest - earliest > dayNs)
        return fail("{} was recorded {} days after {}: probably different jobs. To merge anyway, use --align start.",
                    traces[last]->title, (latest - earliest) / dayNs, traces[first]->title);
    out.startUtcNs = isAnyKnown ? earliest : 0;
    const int64_t firstEventNs = isAnyKnown ? traces[first]->range.startNs : traces.front()->range.startNs;
    for (const TracePtr& trace : traces)
        out.zeroNs.push_back(trace->startUtcNs > 0 ? trace->startUtcNs - earliest
                                                   : firstEventNs - trace->range.startNs);
    return {};
}

void beginTogether(std::span<const TracePtr> traces, const PlacedParts& placed, AlignedClocks& out) {
    const int64_t firstNs = traces.front()->range.startNs + out.zeroNs.front();
    for (size_t index = 0; index < traces.size(); ++index) {
        AlignedClocks::Clock& clock = out.clocks[placed.parts[index].clock];
        clock.method = ClockMethod::Start;
        out.zeroNs[index] = firstNs - traces[index]->range.startNs;
    }
}

/// Returns true if times of day agree within the known precision; then they are kept.
bool isAsSet(const FittedClock& clock, std::span<const ClockedTrace> traces, uint32_t number) {
    const auto agrees = [&](int64_t timeNs) { return std::abs(clock.map.at(timeNs) - timeNs) <= clock.errorNs; };
    return std::ranges::all_of(traces, [&](const ClockedTrace& each) {
        return each.clock != number ||
               (agrees(each.trace->range.startNs + each.zeroNs) && agrees(each.trace->range.endNs + each.zeroNs));
    });
}

/// Returns true, and uses the fit, if it determines each clock.
bool takeFit(const std::vector<CommonTime>& moments, ClockMethod method, std::span<const ClockedTrace> traces,
             AlignedClocks& out) {
    const ClockFit fit = fitClocks(static_cast<uint32_t>(out.clocks.size()), moments);
    for (size_t clock = 1; clock < fit.clocks.size(); ++clock)
        if (fit.clocks[clock].moments < minTimes) return false;
    for (uint32_t number = 1; number < fit.clocks.size(); ++number) {
        const FittedClock& from = fit.clocks[number];
        AlignedClocks::Clock& to = out.clocks[number];
        to = {method, from.map, from.errorNs, from.moments, false, from.slackNs, from.settings};
        to.isAsSet = out.isTimeOfDayKnown && from.settings.empty() && isAsSet(from, traces, number);
        if (to.isAsSet) to.map = {};
    }
    // The first clock is the reference; if it was set, as it ran before.
    if (const FittedClock& first = fit.clocks.front(); !first.settings.empty())
        out.clocks.front() = {method, first.map, first.errorNs, first.moments, false, std::nullopt, first.settings};
    out.causalTimes = fit.causalTimes;
    out.violations = fit.violations;
    return true;
}

/// Aligns the clocks of the traces to the first. Errors are those of `mergeTraces`.
Result<AlignedClocks> alignClocks(std::span<const TracePtr> traces, const PlacedParts& placed,
                                  std::optional<ClockMethod> method) {
    AlignedClocks out;
    out.clocks.resize(placed.clocks.size());
    const bool isByStart = method == ClockMethod::Start;
    if (auto read = readTimesOfDay(traces, !isByStart, out); !read) return fail(read.error());
    if (isByStart) {
        beginTogether(traces, placed, out);
        return out;
    }
    std::vector<ClockedTrace> clocked;
    for (size_t index = 0; index < traces.size(); ++index)
        clocked.push_back({traces[index].get(), placed.parts[index].clock, out.zeroNs[index]});
    if (method == ClockMethod::BaseTime || placed.clocks.size() < 2) return out;
    if (!method || method == ClockMethod::Collectives) {
        std::vector<CommonTime> moments = commonCollectives(clocked);
        std::vector<CommonTime> messages = commonMessages(clocked);
        out.hasCollectives = !moments.empty();
        out.hasMessages = !messages.empty();
        std::move(messages.begin(), messages.end(), std::back_inserter(moments));
        if (takeFit(moments, ClockMethod::Collectives, clocked, out)) return out;
    }
    if (!method || method == ClockMethod::Steps)
        if (takeFit(commonSteps(clocked), ClockMethod::Steps, clocked, out)) return out;
    if (method)
        return fail("--align: too few common {} to synchronize clocks. Remove --align, or use base-time or start.",
                    *method == ClockMethod::Steps ? "steps" : "collectives and messages");
    return out;
}

/// Returns true if both contain the same recording, as copies and links of a file do.
bool areCopies(const Trace& one, const Trace& other) {
    const auto isSame = [](const Process& a, const Process& b) {
        return a.globalPid == b.globalPid && a.rank == b.rank && a.facts->bootId == b.facts->bootId;
    };
    return one.kernels.size() + one.apiCalls.size() + one.nvtx.size() > 0 && one.startUtcNs == other.startUtcNs &&
           one.facts.host == other.facts.host && std::ranges::equal(one.processes, other.processes, isSame) &&
           one.kernels.startNs == other.kernels.startNs && one.kernels.endNs == other.kernels.endNs &&
           one.apiCalls.startNs == other.apiCalls.startNs && one.nvtx.startNs == other.nvtx.startNs &&
           one.nvtx.endNs == other.nvtx.endNs;
}

/// Copies would count twice.
Result<void> checkNoCopies(std::span<const TracePtr> traces) {
    std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<const Trace*>> alike;
    for (const TracePtr& trace : traces) {
        auto& others = alike[{trace->startUtcNs, trace->range.startNs, trace->range.endNs}];
        for (const Trace* other : others)
            if (areCopies(*other, *trace))
                return fail("{} and {} contain the same recording. Name one of them.", other->path.string(),
                            trace->path.string());
        others.push_back(trace.get());
    }
    return {};
}

std::set<int> ranksOf(const Trace& trace) {
    std::set<int> ranks;
    for (const Process& process : trace.processes)
        if (const std::optional<int> rank = rankOf(trace, process)) ranks.insert(*rank);
    return ranks;
}

/// Returns the time from one trace to the other on the clocks of their hosts; 0 if they overlap, nullopt if unknown.
std::optional<int64_t> distanceNs(const Trace& one, const Trace& other) {
    if (one.startUtcNs == 0 || other.startUtcNs == 0) return std::nullopt;
    const auto timeOf = [](const Trace& trace) {
        return TimeRange{trace.startUtcNs + trace.range.startNs, trace.startUtcNs + trace.range.endNs};
    };
    const TimeRange a = timeOf(one), b = timeOf(other);
    return std::max<int64_t>({0, a.startNs - b.endNs, b.startNs - a.endNs});
}

std::string bootOf(const Trace& trace) {
    for (const Process& process : trace.processes)
        if (!process.facts->bootId.empty()) return process.facts->bootId;
    return {};
}

/// Hosts of one name are distinguished by their boots.
bool areOfTwoHosts(const Trace& one, const Trace& other) {
    if (!bootOf(one).empty() && !bootOf(other).empty() && bootOf(one) != bootOf(other)) return true;
    return !one.facts.host.empty() && !other.facts.host.empty() && one.facts.host != other.facts.host;
}

std::string distanceText(std::optional<int64_t> ns) {
    return ns && *ns > 0 ? fmt::format(", {} between them", formatDuration(*ns)) : std::string();
}

/// A rank runs once in a job.
Result<void> checkRanks(std::span<const TracePtr> traces) {
    std::map<int, std::vector<const Trace*>> ofRank;
    for (const TracePtr& trace : traces) {
        if (trace->producerKind == ProducerKind::NcclInspector) continue;
        for (const int rank : ranksOf(*trace)) {
            for (const Trace* other : ofRank[rank]) {
                const std::optional<int64_t> distance = distanceNs(*other, *trace);
                if (areOfTwoHosts(*other, *trace) && distance.value_or(0) == 0) continue;
                return fail(
                    "{0} and {1}: both contain rank {2}{3}. Merge one trace of each rank. To compare two runs, use "
                    "\"lanescope compare {0} {1}\".",
                    other->path.string(), trace->path.string(), rank, distanceText(distance));
            }
            ofRank[rank].push_back(trace.get());
        }
    }
    return {};
}

/// The processes of one run overlap. The clocks of two hosts may disagree.
Result<void> checkRuns(std::span<const TracePtr> traces) {
    std::map<std::string, std::vector<const Trace*>> ofProgram;
    for (const TracePtr& trace : traces) {
        const std::string program = programOf(commandLineOf(*trace));
        if (program.empty() || !ranksOf(*trace).empty()) continue;
        for (const Trace* other : ofProgram[program]) {
            const std::optional<int64_t> distance = distanceNs(*other, *trace);
            if (!distance || *distance == 0 || areOfTwoHosts(*other, *trace)) continue;
            return fail("{0} and {1}: two runs of one program{2}. To compare them, use \"lanescope compare {0} {1}\".",
                        other->path.string(), trace->path.string(), distanceText(distance));
        }
        ofProgram[program].push_back(trace.get());
    }
    return {};
}

/// Returns a sentence that names the first two traces of different programs (`programOf`); empty if there are none.
std::string differentPrograms(std::span<const TracePtr> traces) {
    const Trace* first = nullptr;
    std::string known;
    for (const TracePtr& trace : traces) {
        const std::string program = programOf(commandLineOf(*trace));
        if (program.empty() || program == known) continue;
        if (first != nullptr)
            return fmt::format(
                "{} and {} are of different programs (\"{}\" and \"{}\"{}): check that they belong together.",
                first->title, trace->title, known, program, distanceText(distanceNs(*first, *trace)));
        first = trace.get();
        known = program;
    }
    return {};
}

/// Checks that traces can be parts of one run: no recording is in two of them, no rank is in two of them, and no
/// program without ranks ran twice, one after the other. The records of NCCL Inspector of a rank are not its trace. A
/// rank on two hosts at the same time may be a rank of each host. The error names both files. O(n log n) in the traces.
Result<void> checkTogether(std::span<const TracePtr> traces) {
    if (Result<void> distinct = checkNoCopies(traces); !distinct) return distinct;
    if (Result<void> ranks = checkRanks(traces); !ranks) return ranks;
    return checkRuns(traces);
}

std::string_view plural(ClockMethod method, const AlignedClocks& clocks) {
    if (method == ClockMethod::Steps) return "steps";
    if (!clocks.hasMessages) return "collectives";
    return clocks.hasCollectives ? "collectives and messages" : "messages";
}

/// Names of the traces' files.
using FileNames = std::map<const Trace*, std::string>;

/// Combines the descriptions of several traces, without events.
class Descriptions {
  public:
    /// `names` are those of files whose notes do not yet contain their name.
    Descriptions(std::span<const TracePtr> traces, const PlacedParts& placed, const AlignedClocks& clocks,
                 const FileNames& names, const TraceExcerpt& cut, TraceBuilder& builder)
        : traces_(traces), placed_(placed), clocks_(clocks), names_(names), excerpt_(cut), builder_(builder) {}

    /// `isTaken` is true for traces that contribute to the whole.
    void write(const std::vector<PartPlacement>& placements, const std::vector<bool>& isTaken) {
        describeRun();
        for (const TracePtr& trace : traces_)
            for (const auto& each : notesOf(*trace)) ++timesNoted_[each];
        for (size_t index = 0; index < traces_.size(); ++index)
            if (isTaken[index])
                takeFrom(*traces_[index], placements[index], clocks_.clocks[placed_.parts[index].clock]);
        for (const auto& [name, count] : counts_) builder_.count(name, count.first, count.second);
        noteClocks();
        if (std::string other = differentPrograms(traces_); !other.empty())
            builder_.note({Severity::Warning, HealthCode::ProgramsDiffer, std::move(other)});
        if (excerpt_.steps && excerpt_.steps->first > 0)
            builder_.note({Severity::Info, HealthCode::Windows,
                           fmt::format("Only {0} of the run: steps are renumbered from 0. Step 0 is step {1} of the "
                                       "run, for the rank that starts it first.",
                                       describe({{}, excerpt_.steps}), excerpt_.steps->first)});
    }

  private:
    void describeRun() {
        TraceDescription& whole = builder_.description();
        whole.facts = traces_.front()->facts;
        whole.facts.hosts = placed_.hosts;
        if (excerpt_.steps)
            whole.facts.cutSteps = excerpt_.steps->last - excerpt_.steps->first + 1;
        else if (std::ranges::any_of(traces_, [&whole](const TracePtr& trace) {
                     return trace->facts.cutSteps != whole.facts.cutSteps;
                 }))
            whole.facts.cutSteps.reset();
        for (const TracePtr& trace : traces_) {
            if (whole.producer.find(trace->producer) == std::string::npos)
                whole.producer += (whole.producer.empty() ? "" : " and ") + trace->producer;
            if (trace->facts.host != whole.facts.host) whole.facts.host.clear();
            if (trace != traces_.front()) takeSamplers(*trace);
        }
        if (!whole.facts.host.empty()) return;
        for (SamplerFacts& sampler : whole.facts.samplers)
            if (sampler.host.empty()) sampler.host = traces_.front()->facts.host;
    }

    /// Names each by its host; if another has that host, also by its rank or file, and by a number
    /// if that is not unique.
    void takeSamplers(const Trace& trace) {
        std::vector<SamplerFacts>& all = builder_.description().facts.samplers;
        for (SamplerFacts sampler : trace.facts.samplers) {
            if (sampler.host.empty()) sampler.host = trace.facts.host;
            const auto isKnown = [&](const std::string& name) {
                return std::ranges::any_of(all, [&](const SamplerFacts& each) {
                    return (each.host.empty() ? traces_.front()->facts.host : each.host) == name;
                });
            };
            if (isKnown(sampler.host)) sampler.host += ", " + calledOf(trace);
            const std::string name = sampler.host;
            for (size_t number = 2; isKnown(sampler.host); ++number)
                sampler.host = fmt::format("{} ({})", name, number);
            all.push_back(std::move(sampler));
        }
    }

    /// Returns "rank 1" for a trace of one rank.
    static std::string calledOf(const Trace& trace) {
        std::set<int> ranks;
        for (const Process& process : trace.processes)
            if (process.rank) ranks.insert(*process.rank);
        return ranks.size() == 1 ? fmt::format("rank {}", *ranks.begin()) : trace.title;
    }

    void takeFrom(const Trace& part, const PartPlacement& placement, const AlignedClocks::Clock& clock) {
        TraceDescription& whole = builder_.description();
        const auto gpuId = [&](int64_t id) {
            for (size_t gpu = 0; gpu < part.gpus.size(); ++gpu)
                if (part.gpus[gpu].id == id && hasGpu(placement.gpuIds[gpu])) return placement.gpuIds[gpu];
            return noGpuId;
        };
        for (GpuFacts facts : part.gpuFacts) {
            facts.gpu = gpuId(facts.gpu);
            const bool isKnown =
                std::ranges::any_of(whole.gpuFacts, [&facts](const GpuFacts& each) { return each.gpu == facts.gpu; });
            if (facts.gpu != noGpuId && !isKnown) whole.gpuFacts.push_back(std::move(facts));
        }
        takeLinks(part.interconnect, gpuId);
        for (const EventCount& count : part.counts) {
            auto& [total, untimed] = counts_[count.name];
            total += count.total;
            untimed += count.untimed;
        }
        for (HealthNote note : part.health) takeNote(std::move(note), part, placement);
        for (const int64_t globalPid : placement.globalPids)
            if (Process* const process = processOf(globalPid)) describeProcess(*process, part, clock);
    }

    // An excerpt lacks some GPUs and processes.
    bool hasGpu(int64_t id) const {
        const auto& gpus = builder_.trace().gpus;
        return std::ranges::any_of(gpus, [id](const Gpu& gpu) { return gpu.id == id; });
    }
    Process* processOf(int64_t globalPid) {
        const std::span<Process> all = builder_.processes();
        if (processes_.size() != all.size())
            for (size_t index = 0; index < all.size(); ++index) processes_.try_emplace(all[index].globalPid, index);
        const auto found = processes_.find(globalPid);
        return found == processes_.end() ? nullptr : &all[found->second];
    }

    void takeLinks(const Interconnect& from, auto gpuId) {
        Interconnect& to = builder_.description().interconnect;
        const auto take = [&](auto& list, auto each, bool isOfPair) {
            each.gpu = gpuId(each.gpu);
            if constexpr (requires { each.peer; }) {
                if (isOfPair) each.peer = gpuId(each.peer);
                // A fact about two GPUs is no fact about one.
                if (isOfPair && each.peer == noGpuId) return;
            }
            const bool isThere = std::ranges::find(list, each) != list.end();
            if (each.gpu != noGpuId && !isThere) list.push_back(std::move(each));
        };
        for (const LinkPeak& each : from.peaks) take(to.peaks, each, each.peer != noGpuId);
        for (const Roof& each : from.roofs) take(to.roofs, each, false);
        for (const GpuConnection& each : from.connections) take(to.connections, each, true);
        for (const GpuAffinity& each : from.affinities) take(to.affinities, each, false);
    }

    void takeNote(HealthNote note, const Trace& part, const PartPlacement& placement) {
        if (isRecomputed(note.code)) return;
        for (size_t index = 0; index < part.processes.size(); ++index)
            if (note.globalPid == part.processes[index].globalPid) {
                note.globalPid = placement.globalPids[index];
                break;
            }
        if (note.timeNs) note.timeNs = placement.clock.at(*note.timeNs);
        const auto name = names_.find(&part);
        std::string files = name == names_.end() ? "" : name->second + ": ";
        // A fact of several files is reported once.
        if (isOfEveryFile(note)) {
            size_t& times = timesNoted_[{note.code, note.sentence}];
            const size_t count = std::exchange(times, 0);
            if (count == 0) return;
            if (count == traces_.size()) files.clear();
            if (count < traces_.size() && count > 1)
                files = fmt::format("{} and {} other file{}: ", name->second, count - 1, count == 2 ? "" : "s");
        }
        note.sentence = files + note.sentence;
        builder_.note(std::move(note));
    }

    using NoteSet = std::set<std::pair<HealthCode, std::string>>;

    static NoteSet notesOf(const Trace& part) {
        NoteSet notes;
        for (const HealthNote& note : part.health) notes.emplace(note.code, note.sentence);
        return notes;
    }

    void describeProcess(Process& process, const Trace& part, const AlignedClocks::Clock& clock) {
        if (part.processes.size() == 1) process.rank = rankOf(part, part.processes.front());
        if (process.facts->host.empty()) process.facts.edit().host = part.facts.host;
        const auto say = [&process](const char* name, std::string value) {
            process.facts.edit().others.push_back({name, std::move(value)});
        };
        say("file", part.title);
        if (!excerpt_.isWhole()) say("cut", describe(excerpt_));
        say("clock.method", std::string(identifier(clock.method)));
        if (clock.errorNs < 0) return;
        say("clock.offsetNs", fmt::format("{}", clock.map.offsetNs));
        say("clock.driftPpm", fmt::format("{:.4f}", clock.map.driftNsPerNs * 1e6));
        process.facts.edit().clockErrorNs = clock.errorNs;
        for (size_t number = 0; number < clock.settings.size(); ++number) {
            const ClockLine& line = clock.map.later[number].line;
            say("clock.set",
                fmt::format("{} {} {} {} {:.4f}", clock.settings[number].byNs,
                            wholeTime(clock, clock.settings[number].afterNs),
                            wholeTime(clock, clock.settings[number].beforeNs), line.offsetNs, line.driftNsPerNs * 1e6));
        }
    }

    /// Returns the time of the whole at which a clock shows `timeNs`.
    int64_t wholeTime(const AlignedClocks::Clock& clock, int64_t timeNs) const {
        return clock.map.at(timeNs) - clocks_.wholeZeroNs;
    }

    void noteClocks() {
        const auto& names = placed_.clocks;
        const bool isByStart = clocks_.clocks.front().method == ClockMethod::Start;
        if (names.size() == 1 && traces_.size() > 1 && !isByStart)
            builder_.note(
                {Severity::Info, HealthCode::ClocksAligned,
                 fmt::format("All files were recorded on {}, so their times are of one clock.", names.front())});
        if (isByStart && traces_.size() > 1)
            builder_.note({Severity::Warning, HealthCode::ClocksNotAligned,
                           "The files were aligned by their first events; their times cannot be compared."});
        uint32_t unknown = 0;
        for (size_t clock = 1; clock < names.size() && !isByStart; ++clock)
            unknown += noteClock(names.front(), names[clock], clocks_.clocks[clock]) ? 0 : 1;
        for (size_t clock = 0; clock < names.size(); ++clock)
            for (const ClockSetting& each : clocks_.clocks[clock].settings)
                noteSetting(names[clock], clocks_.clocks[clock], each);
        if (unknown > 0)
            builder_.note({Severity::Warning, HealthCode::ClocksNotAligned,
                           clocks_.isTimeOfDayKnown
                               ? fmt::format("The clocks of {} files or hosts were not synchronized: no common "
                                             "collectives or steps. Times are as accurate as the clocks were set.",
                                             unknown + 1)
                               : "Some files have no start time and no common collectives or steps; they start where "
                                 "the first file starts."});
        builder_.noteSome(clocks_.violations, Severity::Warning, HealthCode::ClocksContradicted,
                          fmt::format("In {} of {} collectives a rank ends before the last one starts: clocks ran "
                                      "unevenly, or files do not belong together.",
                                      clocks_.violations, clocks_.causalTimes));
    }

    /// Returns false if nothing is known of it.
    bool noteClock(const std::string& reference, const std::string& name, const AlignedClocks::Clock& clock) {
        if (clock.errorNs < 0) return false;
        std::string sentence =
            clock.isAsSet
                ? fmt::format("The clock of {} agrees with that of {}, by {} {}: within {}.", name, reference,
                              clock.moments, plural(clock.method, clocks_), formatDuration(clock.errorNs))
                : fmt::format(
                      "The clock of {} was synchronized with that of {} by {} {}: {}{} and {:+.3f} ppm, within {}.",
                      name, reference, clock.moments, plural(clock.method, clocks_), clock.map.offsetNs < 0 ? "-" : "+",
                      formatDuration(std::abs(clock.map.offsetNs)), clock.map.driftNsPerNs * 1e6,
                      formatDuration(clock.errorNs));
        builder_.note(Severity::Info, HealthCode::ClocksAligned, std::move(sentence), clock.moments);
        return true;
    }

    void noteSetting(const std::string& name, const AlignedClocks::Clock& clock, const ClockSetting& setting) {
        const int64_t fromNs = wholeTime(clock, setting.afterNs);
        const int64_t toNs = wholeTime(clock, setting.beforeNs);
        builder_.note({Severity::Info, HealthCode::ClockSet,
                       fmt::format("The clock of {} was set by {}{} between {} and {}: it is fitted separately before "
                                   "and after, and is unknown in between.",
                                   name, setting.byNs < 0 ? "-" : "+", formatDuration(std::abs(setting.byNs)),
                                   formatTimestamp(fromNs), formatTimestamp(toNs)),
                       std::nullopt, fromNs, 1});
    }

    std::span<const TracePtr> traces_;
    const PlacedParts& placed_;
    const AlignedClocks& clocks_;
    const FileNames& names_;
    const TraceExcerpt& excerpt_;
    TraceBuilder& builder_;
    std::map<std::string, std::pair<int64_t, int64_t>> counts_;
    std::map<std::pair<HealthCode, std::string>, size_t> timesNoted_;  ///< Traces with a note; 0 once it is reported.
    std::unordered_map<int64_t, size_t> processes_;                    ///< By packed id, filled on demand.
};

/// Returns placements from the times of each trace to those of the whole, which begins with the first of them.
std::vector<PartPlacement> placementsOf(std::span<const TracePtr> traces, PlacedParts& placed, AlignedClocks& clocks) {
    std::vector<PartPlacement> placements;
    int64_t wholeZeroNs = std::numeric_limits<int64_t>::max();
    for (size_t index = 0; index < traces.size(); ++index) {
        PlacedParts::Part& part = placed.parts[index];
        ClockMap map = clocks.clocks[part.clock].map;
        map.countFrom(clocks.zeroNs[index]);
        wholeZeroNs = std::min(wholeZeroNs, map.at(0));
        placements.push_back({map, part.globalPids, part.gpuIds});
    }
    for (PartPlacement& placement : placements) placement.clock.shift(-wholeZeroNs);
    clocks.wholeZeroNs = wholeZeroNs;
    if (clocks.startUtcNs > 0) clocks.startUtcNs += wholeZeroNs;
    return placements;
}

}  // namespace

Result<std::vector<int>> parseRanks(std::string_view text) {
    constexpr int64_t greatest = 1 << 24;
    const auto refused = [text] {
        return fail("\"{}\" is not a list of ranks; use for example 0,17,517 or 0-7.", printable(text));
    };
    std::set<int> ranks;
    for (size_t from = 0; from <= text.size();) {
        const size_t comma = std::min(text.find(',', from), text.size());
        const std::optional<StepRange> span = parseStepRange(text.substr(from, comma - from));
        if (!span || span->last > greatest) return refused();
        if (span->last - span->first >= static_cast<int64_t>(maxRanks))
            return fail("--ranks: at most {} ranks per trace.", maxRanks);
        for (int64_t rank = span->first; rank <= span->last; ++rank) ranks.insert(static_cast<int>(rank));
        if (ranks.size() > maxRanks) return fail("--ranks: at most {} ranks per trace.", maxRanks);
        from = comma + 1;
    }
    return std::vector<int>(ranks.begin(), ranks.end());
}

std::string describe(const TraceExcerpt& cut) {
    std::string text;
    if (!cut.ranks.empty()) text = fmt::format("rank{} {}", cut.ranks.size() > 1 ? "s" : "", numbersText(cut.ranks));
    if (!cut.steps) return text;
    if (!text.empty()) text += ", ";
    return text + (cut.steps->first == cut.steps->last ? fmt::format("step {}", cut.steps->first)
                                                       : fmt::format("steps {}-{}", cut.steps->first, cut.steps->last));
}

std::optional<int> rankOf(const Trace& trace, const Process& process) {
    if (process.rank || trace.processes.size() != 1) return process.rank;
    return rankInName(trace.title);
}

Result<std::vector<bool>> excerptParts(std::span<const TracePtr> traces, std::span<const PartPlacement> placements,
                                       const TraceExcerpt& cut, TraceBuilder& builder) {
    const auto chosen = chosenProcesses(traces, cut);
    if (!chosen) return fail(chosen.error());
    const Result<TimeRange> window = windowOf(traces, placements, *chosen, cut);
    if (!window) return fail(window.error());
    std::vector<bool> isTaken(traces.size());
    for (size_t part = 0; part < traces.size(); ++part)
        for (size_t index = 0; index < traces[part]->processes.size(); ++index) {
            if (!(*chosen)[part][index]) continue;
            const uint32_t process = builder.process(placements[part].globalPids[index]);
            if (process == noIndex) continue;  // adding the trace reports that there are too many
            builder.processes()[process].windows = {*window};
            isTaken[part] = true;
        }
    return isTaken;
}

std::string_view identifier(ClockMethod method) {
    return enumText(method, {"base-time", "collectives", "steps", "start"});
}

Result<TraceBuilder> mergeTraces(std::span<const TracePtr> traces, const MergeOptions& options,
                                 const std::stop_token& stop) {
    if (traces.empty()) return fail("There is no trace to merge.");
    if (const Result<void> together = checkTogether(traces); !together) return fail(together.error());
    Result<PlacedParts> placed = placeParts(traces);
    if (!placed) return fail(placed.error());
    Result<AlignedClocks> clocks = alignClocks(traces, *placed, options.method);
    if (!clocks) return fail(clocks.error());
    const std::vector<PartPlacement> placements = placementsOf(traces, *placed, *clocks);
    TraceBuilder builder(std::make_shared<LargeMemory>());
    std::vector<bool> isTaken(traces.size(), true);
    if (!options.cut.isWhole()) {
        auto taken = excerptParts(traces, placements, options.cut, builder);
        if (!taken) return fail(taken.error());
        isTaken = std::move(*taken);
    }
    for (size_t index = 0; index < traces.size(); ++index)
        if (isTaken[index] && !builder.addTrace(*traces[index], placements[index]))
            return fail("With {} the merged trace would be too large. Merge fewer.", traces[index]->path.string());
    Interconnect& links = builder.description().interconnect;
    std::ranges::stable_sort(links.sampledRanges, {}, [](const SampledRange& each) { return each.range.startNs; });
    std::ranges::stable_sort(links.gpuProcesses, {}, &GpuProcessUse::timeNs);
    builder.description().startUtcNs = clocks->startUtcNs;
    // A trace joined from several files is none of these, and has their names already.
    FileNames names;
    const std::vector<std::string> ofAll = shortNames(traces);
    for (size_t index = 0; index < traces.size() && traces.size() > 1; ++index)
        names.emplace(traces[index].get(), ofAll[index]);
    Descriptions(traces, *placed, *clocks, names, options.cut, builder).write(placements, isTaken);
    if (!builder.finish(options.threads, stop)) return fail("Merging was cancelled.");
    return builder;
}

}  // namespace lanescope
