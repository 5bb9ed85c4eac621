// SPDX-License-Identifier: Apache-2.0
#include "model/merge/mergeTraces.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/assemble/TraceBuilder.h"
#include "model/merge/alignClocks.h"
#include "model/merge/checkTogether.h"
#include "model/merge/placeParts.h"
#include "model/text/formatValue.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

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
                           fmt::format("Only {0} of the run: steps are renumbered from 0. Step 0 "
                                       "is step {1} of the run, for the rank that starts it first.",
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
            const bool isKnown = std::any_of(whole.gpuFacts.begin(), whole.gpuFacts.end(),
                                             [&facts](const GpuFacts& each) { return each.gpu == facts.gpu; });
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
        return std::any_of(gpus.begin(), gpus.end(), [id](const Gpu& gpu) { return gpu.id == id; });
    }
    Process* processOf(int64_t globalPid) {
        const std::span<Process> all = builder_.processes();
        if (processes_.size() != all.size())
            for (size_t index = 0; index < all.size(); ++index) processes_.try_emplace(all[index].globalPid, index);
        const auto found = processes_.find(globalPid);
        return found == processes_.end() ? nullptr : &all[found->second];
    }

    template <class GpuId>
    void takeLinks(const Interconnect& from, GpuId gpuId) {
        Interconnect& to = builder_.description().interconnect;
        const auto take = [&](auto& list, auto each, bool isOfPair) {
            each.gpu = gpuId(each.gpu);
            if constexpr (requires { each.peer; }) {
                if (isOfPair) each.peer = gpuId(each.peer);
                // A fact about two GPUs is no fact about one.
                if (isOfPair && each.peer == noGpuId) return;
            }
            const bool isThere = std::find(list.begin(), list.end(), each) != list.end();
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
                               : "Some files have no start time and no common collectives or steps; they "
                                 "start where the first file starts."});
        if (clocks_.violations > 0)
            builder_.note({Severity::Warning, HealthCode::ClocksContradicted,
                           fmt::format("In {} of {} collectives a rank ends before the last one starts: "
                                       "clocks ran unevenly, or files do not belong together.",
                                       clocks_.violations, clocks_.causalTimes),
                           std::nullopt, std::nullopt, clocks_.violations});
    }

    /// Returns false if nothing is known of it.
    bool noteClock(const std::string& reference, const std::string& name, const AlignedClocks::Clock& clock) {
        if (clock.errorNs < 0) return false;
        std::string sentence =
            clock.isAsSet ? fmt::format("The clock of {} agrees with that of {}, by {} {}: within {}.", name, reference,
                                        clock.moments, plural(clock.method, clocks_), formatDuration(clock.errorNs))
                          : fmt::format(
                                "The clock of {} was synchronized with that of {} by {} {}: {}{} and {:+.3f} "
                                "ppm, within {}.",
                                name, reference, clock.moments, plural(clock.method, clocks_),
                                clock.map.offsetNs < 0 ? "-" : "+", formatDuration(std::abs(clock.map.offsetNs)),
                                clock.map.driftNsPerNs * 1e6, formatDuration(clock.errorNs));
        builder_.note({Severity::Info, HealthCode::ClocksAligned, std::move(sentence), std::nullopt, std::nullopt,
                       clock.moments});
        return true;
    }

    void noteSetting(const std::string& name, const AlignedClocks::Clock& clock, const ClockSetting& setting) {
        const int64_t fromNs = wholeTime(clock, setting.afterNs);
        const int64_t toNs = wholeTime(clock, setting.beforeNs);
        builder_.note({Severity::Info, HealthCode::ClockSet,
                       fmt::format("The clock of {} was set by {}{} between {} and {}: it is fitted "
                                   "separately before and after, and is unknown in between.",
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

std::string_view identifier(ClockMethod method) {
    switch (method) {
        case ClockMethod::BaseTime: return "base-time";
        case ClockMethod::Collectives: return "collectives";
        case ClockMethod::Steps: return "steps";
        case ClockMethod::Start: break;
    }
    return "start";
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
