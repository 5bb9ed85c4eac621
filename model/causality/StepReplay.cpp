// SPDX-License-Identifier: Apache-2.0
#include "model/causality/StepReplay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "model/format/Memory.h"
#include "model/format/optionValues.h"
#include "model/format/parseNumber.h"
#include "model/numbers/Statistics.h"
#include "model/text/apiCalls.h"
#include "model/text/formatValue.h"
#include "model/text/kernelFamilies.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/stacks.h"

namespace lanescope::causality {

namespace {

struct SubjectName {
    std::string_view identifier;
    bool mayHaveName, needsName;
};
constexpr std::array<SubjectName, subjectCount> subjects{{{"kernel", true, true},
                                                          {"family", true, true},
                                                          {"kernels", false, false},
                                                          {"nccl", false, false},
                                                          {"copy", true, false},
                                                          {"memset", false, false},
                                                          {"launch", false, false},
                                                          {"sync", false, false},
                                                          {"allocation", false, false},
                                                          {"host", false, false},
                                                          {"loader", false, false},
                                                          {"line", true, true},
                                                          {"rank", true, true}}};

std::string subjectList() {
    std::string list;
    for (const SubjectName& each : subjects)
        list += fmt::format("{}{}{}", list.empty() ? "" : ", ", each.identifier, each.needsName ? ":NAME" : "");
    return list;
}

Result<Change> parseSubject(std::string_view text) {
    const size_t colon = text.find(':');
    const std::string_view subject = text.substr(0, colon);
    const std::string_view name = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    for (size_t index = 0; index < subjects.size(); ++index) {
        const SubjectName& known = subjects[index];
        if (known.identifier != subject) continue;
        if (known.needsName && name.empty()) return fail("{}: the name is missing. Write '{}:NAME'.", text, subject);
        if (!known.mayHaveName && !name.empty())
            return fail("{}: '{}' has no names. Write '{}'.", text, subject, subject);
        return Change{static_cast<Subject>(index), std::string(name)};
    }
    return fail("{}: unknown. Use one of {}.", text, subjectList());
}

bool isCollective(const Trace& trace, const NodeGroup& group) { return trace.launchConfigs.isCollective(group.name); }

/// A change with its name resolved in a trace.
class Selector {
  public:
    Selector(const Trace& trace, const Change& change) : trace_(trace), change_(change) {
        for (const Process& process : trace.processes)
            isOfRank_.push_back(process.rank && std::to_string(*process.rank) == change.name);
    }

    bool selects(const NodeGroup& group) const {
        const NodeKind kind = group.kind;
        if (change_.addedNs != 0 && kind != NodeKind::Call) return false;
        const bool isKernel = kind == NodeKind::Kernel;
        const bool isCall = kind == NodeKind::Call || kind == NodeKind::Return;
        switch (change_.subject) {
            case Subject::Kernel:
                return (isKernel || kind == NodeKind::Collective) &&
                       (isNamed(trace_.launchConfigs.demangledName(group.name)) ||
                        isNamed(trace_.launchConfigs.shortName(group.name)));
            case Subject::Family: {
                if (!isKernel || isCollective(trace_, group)) return false;
                const KernelFamily family =
                    kernelClass(trace_.strings.at(trace_.launchConfigs.demangledName(group.name))).family;
                return identifier(family) == change_.name || lanescope::name(family) == change_.name;
            }
            case Subject::Kernels: return kind == NodeKind::Graph || (isKernel && !isCollective(trace_, group));
            case Subject::Nccl: return kind == NodeKind::Collective || (isKernel && isCollective(trace_, group));
            case Subject::Copy:
                return kind == NodeKind::Copy &&
                       (change_.name.empty() || name(static_cast<MemcpyKind>(group.name)) == change_.name);
            case Subject::Memset: return kind == NodeKind::Memset;
            case Subject::Launch: return kind == NodeKind::Call && isLaunch(classOf(group));
            case Subject::Sync:
                return kind == NodeKind::Return ? !group.isLoading
                                                : isCall && classOf(group) == CallClass::Synchronization;
            case Subject::Allocation: return isCall && !group.isLoading && classOf(group) == CallClass::Allocation;
            case Subject::Host: return kind == NodeKind::Host && !group.isLoading && !group.isUnknown;
            case Subject::Loader:
                // A faster loader leaves the time in which a thread receives the batch.
                return group.isLoading && (kind != NodeKind::Return || change_.isRemoved);
            case Subject::Line: return isOfLine(group.stack);
            case Subject::Rank:
                return (kind == NodeKind::Host || isCall) && group.process < isOfRank_.size() &&
                       isOfRank_[group.process];
        }
        return false;
    }

  private:
    CallClass classOf(const NodeGroup& group) const { return callClassOf(trace_.strings.at(group.name)); }
    static bool isLaunch(CallClass kind) {
        return kind == CallClass::Launch || kind == CallClass::AsynchronousCopy ||
               kind == CallClass::AsynchronousMemset;
    }
    /// A part of the name is enough without wildcards.
    bool isNamed(StringIndex name) const {
        const std::string_view text = trace_.strings.at(name);
        return text.find(change_.name) != std::string_view::npos || matchesPattern(text, change_.name);
    }
    bool isOfLine(uint32_t frame) const {
        if (frame == noIndex) return false;
        const std::string place = placeText(trace_, frame);
        return place == change_.name || place.ends_with("/" + change_.name);
    }

    const Trace& trace_;
    const Change& change_;
    std::vector<bool> isOfRank_;
};

using Node = CausalGraph::Node;

size_t countWithin(const Column<int64_t>& starts, TimeRange range) {
    const auto at = [&](int64_t timeNs) { return std::ranges::lower_bound(starts, timeNs); };
    return static_cast<size_t>(at(range.endNs) - at(range.startNs));
}

size_t eventsWithin(const Trace& trace, TimeRange range) {
    return countWithin(trace.apiCalls.startNs, range) + countWithin(trace.kernels.startNs, range) +
           countWithin(trace.memcpys.startNs, range) + countWithin(trace.memsets.startNs, range) +
           countWithin(trace.graphs.startNs, range);
}

/// Minimum number of replayed steps. Fewer steps begin and end in the middle of work.
constexpr size_t minSteps = 6;

/// Returns the steps around the middle one with at most that many events, at least one step.
std::vector<TimeRange> middleSteps(const Trace& trace, const std::vector<TimeRange>& steps, size_t maxEvents) {
    if (steps.empty()) return {};
    size_t first = steps.size() / 2, end = first + 1, events = eventsWithin(trace, steps[first]);
    while (first > 0 || end < steps.size()) {
        const bool isBefore = end == steps.size() || (first > 0 && steps.size() / 2 - first < end - steps.size() / 2);
        const size_t next = isBefore ? first - 1 : end;
        events += eventsWithin(trace, steps[next]);
        if (events > maxEvents) break;
        isBefore ? --first : ++end;
    }
    return {steps.begin() + static_cast<std::ptrdiff_t>(first), steps.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

std::string_view identifier(Subject subject) { return subjects[static_cast<size_t>(subject)].identifier; }

std::string Change::partText() const {
    return fmt::format("{}{}{}", identifier(subject), name.empty() ? "" : ":", name);
}

std::string Change::text() const {
    const std::string subjectText = partText();
    if (addedNs != 0) return fmt::format("{}+{}", subjectText, formatDuration(addedNs));
    return isRemoved ? "no " + subjectText : fmt::format("{}={:g}", subjectText, factor);
}

Result<Change> parseScale(std::string_view text) {
    const size_t equals = text.rfind('=');
    if (equals == std::string_view::npos) return fail("{}: the factor is missing. Write '{}=0.5'.", text, text);
    const std::string_view number = text.substr(equals + 1);
    const auto factor = parseNumber<double>(number);
    constexpr double maxFactor = 1000;
    if (!factor || !(*factor >= 0 && *factor <= maxFactor))
        return fail("{}: '{}' is no factor. Use a number from 0 to {:g}.", text, number, maxFactor);
    Result<Change> change = parseSubject(text.substr(0, equals));
    if (change) change->factor = *factor;
    return change;
}

Result<Change> parseRemoval(std::string_view text) {
    Result<Change> change = parseSubject(text);
    if (!change) return change;
    change->factor = 0;
    change->isRemoved = true;
    return change;
}

Result<Change> parseAddition(std::string_view text) {
    const size_t equals = text.rfind('=');
    if (equals == std::string_view::npos) return fail("{}: the time is missing. Write '{}=20us'.", text, text);
    Result<Change> change = parseSubject(text.substr(0, equals));
    if (!change) return change;
    constexpr std::array ofCalls{Subject::Launch, Subject::Sync, Subject::Allocation, Subject::Line, Subject::Rank};
    if (std::ranges::find(ofCalls, change->subject) == ofCalls.end())
        return fail("{}: only calls take an added time. Use launch, sync, allocation, line:NAME or rank:NAME.", text);
    const std::optional<int64_t> ns = parseDuration(text.substr(equals + 1));
    if (!ns || *ns <= 0 || *ns > maxAddedNs)
        return fail("{}: '{}' is no time to add. Use, for example, 20us; at most {}.", text, text.substr(equals + 1),
                    formatDuration(maxAddedNs));
    change->addedNs = *ns;
    return change;
}

Scales scalesOf(const Trace& trace, const CausalGraph& graph, std::span<const Change> changes) {
    Scales scales{std::vector<Scale>(graph.groups.size()), std::vector<size_t>(changes.size()), {}};
    scales.kernels.resize(changes.size());
    for (size_t index = 0; index < changes.size(); ++index) {
        const Change& change = changes[index];
        const Selector selector(trace, change);
        for (size_t group = 0; group < graph.groups.size(); ++group) {
            if (!selector.selects(graph.groups[group])) continue;
            ++scales.selected[index];
            const NodeKind kind = graph.groups[group].kind;
            if (kind == NodeKind::Kernel || kind == NodeKind::Collective)
                scales.kernels[index].insert(trace.strings.at(trace.launchConfigs.shortName(graph.groups[group].name)));
            scales.ofGroup[group].factor *= change.factor;
            scales.ofGroup[group].addedNs += change.addedNs;
            scales.ofGroup[group].isRemoved |= change.isRemoved;
        }
    }
    return scales;
}

StepReplay::StepReplay(const CausalInput& input, const ReplayedWorker& worker, size_t maxEvents)
    : trace_(input.trace), selectedSteps_(worker.steps.size()) {
    const std::vector<TimeRange> steps = middleSteps(trace_, worker.steps, maxEvents);
    if (steps.empty()) return;
    // Calls before the first step launch its work, and work before it ends where it starts.
    constexpr int64_t maxTimeNs = int64_t{1} << 60;  // of a sound trace
    if (steps.front().startNs < -maxTimeNs || steps.back().endNs > maxTimeNs) return;
    const int64_t leadNs = steps.front().durationNs();
    window_ = {steps.front().startNs - leadNs, steps.back().endNs + 1};
    if (window_.startNs < -maxTimeNs || window_.endNs > maxTimeNs) return;
    // Steps of any size, and what comes before them.
    if (eventsWithin(trace_, window_) > 2 * maxEvents) return;
    graph_ = buildCausalGraph(input, window_);
    unchangedNs_ = graph_.replay();
    // For each edge of a step the work of the worker that ends last before it.
    std::vector<int64_t> edges;
    for (const TimeRange& step : steps) edges.insert(edges.end(), {step.startNs, step.endNs});
    std::vector<Node> lastBefore(edges.size(), noIndex);
    for (Node node = 0; node < graph_.size(); ++node) {
        const uint32_t stream = streamOf(trace_, graph_.event[node]);
        if (stream == noIndex || trace_.streams[stream].process != worker.process ||
            trace_.streams[stream].gpu != worker.gpu)
            continue;
        const auto edge = std::ranges::lower_bound(edges, graph_.endNs[node]);
        if (edge == edges.end()) continue;
        Node& last = lastBefore[static_cast<size_t>(edge - edges.begin())];
        if (last == noIndex || graph_.endNs[node] >= graph_.endNs[last]) last = node;
    }
    for (size_t edge = 1; edge < edges.size(); ++edge)
        if (lastBefore[edge] == noIndex) lastBefore[edge] = lastBefore[edge - 1];
    double recordedNs = 0, replayedNs = 0;
    // A pause before a step belongs to none. The first step may follow skipped ones.
    const auto pauseNs = [&](size_t step) {
        const Node before = lastBefore[2 * step];
        return before == noIndex ? INT64_MAX : steps[step].startNs - graph_.endNs[before];
    };
    int64_t maxPauseNs = -1;
    for (size_t step = 1; step < steps.size(); ++step)
        if (steps[step - 1].endNs == steps[step].startNs && pauseNs(step) != INT64_MAX)
            maxPauseNs = std::max(maxPauseNs, pauseNs(step));
    const auto follows = [&](size_t step) {
        return step > 0 ? steps[step - 1].endNs == steps[step].startNs : pauseNs(0) <= maxPauseNs;
    };
    size_t following = 0;
    for (size_t step = 0; step < steps.size(); ++step) following += follows(step);
    for (size_t step = 0; step < steps.size(); ++step) {
        if (2 * following >= steps.size() && !follows(step)) continue;
        const Step found{lastBefore[2 * step], lastBefore[2 * step + 1]};
        if (found.before == noIndex || found.last == noIndex || found.before == found.last) continue;
        steps_.push_back(found);
        recordedNs += static_cast<double>(graph_.endNs[found.last] - graph_.endNs[found.before]);
        replayedNs += static_cast<double>(unchangedNs_[found.last] - unchangedNs_[found.before]);
    }
    if (steps_.empty() || recordedNs <= 0) return;
    recordedNs_ = recordedNs / static_cast<double>(steps_.size());
    error_ = replayedNs / recordedNs - 1;
    findPath();
}

void StepReplay::findPath() {
    const int64_t fromNs = unchangedNs_[steps_.front().before];
    std::map<std::pair<uint32_t, int>, PathShare> shares;
    const auto add = [&](uint32_t group, std::optional<EdgeKind> delay, int64_t startNs, int64_t endNs) {
        const int64_t ns = endNs - std::max(startNs, fromNs);
        if (ns <= 0) return;
        PathShare& share = shares[{group, delay ? static_cast<int>(*delay) : -1}];
        share.group = group;
        share.delay = delay;
        share.ns += ns;
        ++share.count;
    };
    int64_t unknownNs = 0;
    const auto parts = graph_.pathTo(steps_.back().last, unchangedNs_, {}, fromNs);
    for (const CausalGraph::PathPart& part : parts) {
        const uint32_t group = graph_.group[part.node];
        add(group, std::nullopt, part.startNs, part.endNs);
        if (graph_.groups[group].isUnknown) unknownNs += part.endNs - std::max(part.startNs, fromNs);
        if (part.edge != SIZE_MAX)
            add(group, graph_.edgeKind[part.edge], unchangedNs_[graph_.from[part.edge]], part.startNs);
    }
    for (const auto& [key, share] : shares) path_.push_back(share);
    std::ranges::stable_sort(path_, std::greater(), &PathShare::ns);
    const auto wholeNs = static_cast<double>(unchangedNs_[steps_.back().last] - fromNs);
    unknownShare_ = wholeNs > 0 ? static_cast<double>(unknownNs) / wholeNs : 0;
}

std::vector<PathPiece> StepReplay::pathPieces() const {
    std::vector<PathPiece> pieces;
    if (steps_.empty()) return pieces;
    const Node before = steps_.front().before;
    const auto parts = graph_.pathTo(steps_.back().last, unchangedNs_, {}, unchangedNs_[before]);
    const auto isOfSameThread = [&](size_t part) {
        return parts[part].edge != SIZE_MAX && graph_.edgeKind[parts[part].edge] == EdgeKind::Thread;
    };
    // Latest first. A cause may go on after its effect has started, as a call does that launches.
    int64_t untilNs = graph_.endNs[steps_.back().last];
    for (size_t part = 0; part < parts.size(); ++part) {
        const Node node = parts[part].node;
        PathPiece piece{graph_.groups[graph_.group[node]], graph_.event[node], noIndex, {}};
        piece.range = {std::clamp(graph_.startNs[node], graph_.endNs[before], untilNs),
                       std::clamp(graph_.endNs[node], graph_.endNs[before], untilNs)};
        untilNs = piece.range.startNs;
        if (piece.event.kind() == EventKind::Api)
            piece.thread = trace_.apiCalls.thread[piece.event.row()];
        else if (part > 0 && isOfSameThread(part - 1))
            piece.thread = pieces.back().thread;
        pieces.push_back(piece);
    }
    // The thread of code after a call is that of the call.
    for (size_t part = parts.size(); part-- > 1;)
        if (isOfSameThread(part - 1) && pieces[part - 1].thread == noIndex)
            pieces[part - 1].thread = pieces[part].thread;
    std::erase_if(pieces, [](const PathPiece& each) { return each.range.isEmpty(); });
    std::ranges::reverse(pieces);
    return pieces;
}

std::vector<Slope> StepReplay::slopes() const {
    std::vector<Slope> slopes;
    if (steps_.empty()) return slopes;
    std::vector<double> ownNs(graph_.groups.size());
    const size_t first = firstForecastStep();
    const int64_t fromNs = graph_.endNs[steps_[first].before];
    for (Node node = 0; node < graph_.size(); ++node)
        if (graph_.startNs[node] >= fromNs) ownNs[graph_.group[node]] += static_cast<double>(graph_.ownNs[node]);
    std::set<std::pair<Subject, std::string>> parts;
    for (const Subject whole : {Subject::Kernels, Subject::Nccl, Subject::Memset, Subject::Launch, Subject::Sync,
                                Subject::Allocation, Subject::Host, Subject::Loader})
        parts.emplace(whole, std::string());
    const auto countedSteps = static_cast<double>(steps_.size() - first);
    constexpr double minShare = 0.01;
    std::map<std::string, double> lines;
    for (size_t index = 0; index < ownNs.size(); ++index) {
        const NodeGroup& group = graph_.groups[index];
        if (group.kind == NodeKind::Kernel) {
            const StringIndex kernel = trace_.launchConfigs.demangledName(group.name);
            parts.emplace(Subject::Family, identifier(kernelClass(trace_.strings.at(kernel)).family));
        }
        if (group.kind == NodeKind::Copy) parts.emplace(Subject::Copy, name(static_cast<MemcpyKind>(group.name)));
        if (group.stack != noIndex) lines[placeText(trace_, group.stack)] += ownNs[index];
        const std::optional<int> rank = trace_.processes[group.process].rank;
        if (rank && trace_.processes.size() > 1) parts.emplace(Subject::Rank, std::to_string(*rank));
    }
    for (const auto& [line, ns] : lines)
        if (ns >= minShare * recordedNs_ * countedSteps) parts.emplace(Subject::Line, line);
    for (const auto& [subject, partName] : parts) {
        Slope slope{.part = {subject, partName}};
        const Selector selector(trace_, slope.part);
        for (size_t group = 0; group < ownNs.size(); ++group)
            if (selector.selects(graph_.groups[group])) slope.ownNs += ownNs[group] / countedSteps;
        if (slope.ownNs >= minShare * recordedNs_) slopes.push_back(std::move(slope));
    }
    std::ranges::stable_sort(slopes, std::greater(), &Slope::ownNs);
    if (slopes.size() > maxSlopes) slopes.resize(maxSlopes);
    for (Slope& each : slopes) {
        Change change = each.part;
        change.factor = 0.9;
        each.savedNs = forecast({&change, 1}).savedNs();
        change.factor = 0;
        change.isRemoved = true;
        each.removedNs = forecast({&change, 1}).savedNs();
    }
    std::ranges::stable_sort(slopes, std::greater(), &Slope::savedNs);
    return slopes;
}

std::string StepReplay::stepsText() const {
    return fmt::format("{}{} step{}", steps_.size(),
                       steps_.size() == selectedSteps_ ? "" : fmt::format(" of {}", selectedSteps_),
                       selectedSteps_ == 1 ? "" : "s");
}

std::string StepReplay::refusal() const {
    if (steps_.empty()) return "No step has GPU work with recorded causes.";
    if (steps_.size() < minSteps)
        return fmt::format(
            "Too few steps ({}) for a forecast: the lead of the CPU over the GPU is unknown. Choose {} or more.",
            steps_.size(), minSteps);
    if (unexplained() <= maxUnexplained) return {};
    return fmt::format("The recorded causes do not explain this step: {:.1f} % unexplained on the {}.",
                       100 * unexplained(), unknownShare_ > std::abs(error_) ? "main thread" : "GPU");
}

/// The lead of a thread over the GPU changes during the first steps.
size_t StepReplay::firstForecastStep() const { return steps_.size() >= minSteps ? steps_.size() / 2 : 0; }

Forecast StepReplay::forecast(std::span<const Change> changes) const {
    Forecast made{recordedNs_, recordedNs_};
    if (steps_.empty()) return made;
    const Scales scales = scalesOf(trace_, graph_, changes);
    const std::vector<int64_t> ends = graph_.replay(scales.ofGroup);
    std::vector<int64_t> differences;
    for (size_t step = firstForecastStep(); step < steps_.size(); ++step) {
        const auto [before, last] = steps_[step];
        differences.push_back(ends[last] - ends[before] - (unchangedNs_[last] - unchangedNs_[before]));
    }
    const Statistics statistics = statisticsOf(differences);
    made.stepNs = recordedNs_ + statistics.average;
    if (statistics.count > 1)
        made.marginNs = studentTFor(0.95, statistics.count - 1) * statistics.standardDeviation /
                        std::sqrt(static_cast<double>(statistics.count));
    made.marginNs += std::abs(error_) * made.stepNs;
    return made;
}

}  // namespace lanescope::causality
