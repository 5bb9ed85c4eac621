// SPDX-License-Identifier: Apache-2.0
#include "model/causality/Change.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "model/format/Memory.h"
#include "model/format/optionValues.h"
#include "model/text/apiCalls.h"
#include "model/text/kernelFamilies.h"
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
            case Subject::Host: return kind == NodeKind::Host && !group.isLoading;
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

}  // namespace

std::string_view identifier(Subject subject) { return subjects[static_cast<size_t>(subject)].identifier; }

std::string Change::text() const {
    const std::string subjectText = fmt::format("{}{}{}", identifier(subject), name.empty() ? "" : ":", name);
    return isRemoved ? "no " + subjectText : fmt::format("{}={:g}", subjectText, factor);
}

Result<Change> parseScale(std::string_view text) {
    const size_t equals = text.rfind('=');
    if (equals == std::string_view::npos) return fail("{}: the factor is missing. Write '{}=0.5'.", text, text);
    const std::string_view number = text.substr(equals + 1);
    double factor = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), factor);
    constexpr double maxFactor = 1000;
    if (error != std::errc() || end != number.data() + number.size() || !(factor >= 0 && factor <= maxFactor))
        return fail("{}: '{}' is no factor. Use a number from 0 to {:g}.", text, number, maxFactor);
    Result<Change> change = parseSubject(text.substr(0, equals));
    if (change) change->factor = factor;
    return change;
}

Result<Change> parseRemoval(std::string_view text) {
    Result<Change> change = parseSubject(text);
    if (!change) return change;
    change->factor = 0;
    change->isRemoved = true;
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
            scales.ofGroup[group].isRemoved |= change.isRemoved;
        }
    }
    return scales;
}

}  // namespace lanescope::causality
