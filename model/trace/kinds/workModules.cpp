// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/workModules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "model/format/parseNumber.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/flows.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// Returns the stack of a row of `table`, if the trace has it.
PythonPlace placeIn(const Trace& trace, const auto& table, uint32_t row) {
    if (row >= table.size() || table.stack[row] >= trace.stacks.size()) return {};
    return {table.stack[row], table.isStackLent[row] != 0, false};
}

/// Returns the place of the capture of a node; none if `node` is `noIndex`.
PythonPlace placeOfNode(const Trace& trace, uint32_t node) {
    PythonPlace place = placeIn(trace, trace.graphNodes, node);
    place.isCaptured = place.stack != noIndex;
    return place;
}

/// Sets place, thread and node of work with a known call.
void setPlace(const Trace& trace, LaunchedWork& work) {
    if (work.call != noIndex) {
        work.place = placeIn(trace, trace.apiCalls, work.call);
        work.thread = trace.apiCalls.thread[work.call];
    }
    const uint32_t node = graphNodeOf(trace, work.work);
    work.node = node == noIndex ? noIndex : capturedNode(trace, node);
    if (const PythonPlace captured = placeOfNode(trace, work.node); captured.stack != noIndex) {
        work.place = captured;
        work.thread = trace.graphNodes.thread[work.node];
    }
}

constexpr std::array<std::pair<std::string_view, StackTerm::Part>, 4> prefixes{
    {{"line:", StackTerm::Part::Line},
     {"file:", StackTerm::Part::File},
     {"function:", StackTerm::Part::Function},
     {"module:", StackTerm::Part::Module}}};

bool isBlank(char letter) { return letter == ' ' || letter == '\t'; }

/// Removes and returns the next word; the part after a colon may be quoted.
std::string takeWord(std::string_view& text) {
    std::string word;
    while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
    while (!text.empty() && !isBlank(text.front())) {
        const char letter = text.front();
        text.remove_prefix(1);
        const size_t end = text.find('"');
        if (letter == '"' && word.ends_with(':') && end != std::string_view::npos) {
            word += text.substr(0, end);
            text.remove_prefix(end + 1);
        } else {
            word += letter;
        }
    }
    return word;
}

/// Parses "train.py:212", "train.py" or "212".
void setLine(StackTerm& term, std::string_view asked) {
    const size_t colon = asked.rfind(':');
    const auto line = parseNumber<uint32_t>(colon == std::string_view::npos ? asked : asked.substr(colon + 1));
    if (line) term.line = *line;
    if (!line)
        term.text = asked;
    else if (colon != std::string_view::npos)
        term.text = asked.substr(0, colon);
}

std::optional<StackTerm> termOf(std::string_view word) {
    const std::string lowered = lowerCase(std::string(word));
    for (const auto& [prefix, part] : prefixes) {
        if (!lowered.starts_with(prefix)) continue;
        const std::string_view asked = std::string_view(lowered).substr(prefix.size());
        // In a C++ name a second colon follows.
        if (asked.empty() || asked.front() == ':') return std::nullopt;
        StackTerm term{.part = part, .text = {}};
        if (part == StackTerm::Part::Line)
            setLine(term, asked);
        else
            term.text = asked;
        return term;
    }
    return std::nullopt;
}

/// Returns true if a path is `end`, or ends in a folder or file of that name.
bool endsInPath(const std::string& path, std::string_view end) {
    return path.ends_with(end) && (end.empty() || path.size() == end.size() || end.front() == '/' ||
                                   path[path.size() - end.size() - 1] == '/');
}

bool isAbout(const Trace& trace, uint32_t frame, const StackTerm& term) {
    if (term.part == StackTerm::Part::Function)
        return contains(lowerCase(std::string(trace.strings.at(trace.stacks.function[frame]))), term.text);
    const std::string path = lowerCase(std::string(trace.strings.at(trace.stacks.file[frame])));
    if (term.part == StackTerm::Part::File) return contains(path, term.text);
    return (term.line == 0 || trace.stacks.line[frame] == term.line) && endsInPath(path, term.text);
}

/// A track has the ranges of one domain.
bool hasPythonFunctionsOnly(const Trace& trace, const Track& track) {
    for (const Lane& lane : track.lanes)
        if (lane.size() > 0 && lane.event.front().kind() == EventKind::Nvtx)
            return isFunctionDomain(trace.strings.at(trace.nvtx.domain[lane.event.front().row()]));
    return false;
}

bool isModule(std::string_view text) { return text.starts_with(moduleRangePrefix); }

/// Returns the class of "Attention.forward", which PyTorch's function for calls of modules called.
std::string_view classOf(const Trace& trace, uint32_t stack) {
    const uint32_t outer = outerStack(trace, stack);
    if (outer == noIndex ||
        !isTorchModuleCall(trace.strings.at(trace.stacks.file[outer]), trace.strings.at(trace.stacks.function[outer])))
        return {};
    const std::string_view function = trace.strings.at(trace.stacks.function[stack]);
    const size_t method = function.rfind('.');
    if (method == std::string_view::npos || function.substr(method) != ".forward") return {};
    const std::string_view type = function.substr(0, method);
    return type.substr(type.rfind('.') + 1);
}

}  // namespace

uint32_t graphNodeOf(const Trace& trace, EventRef kernel) {
    if (kernel.kind() != EventKind::Kernel || kernel.row() >= trace.kernels.size() || trace.graphNodes.size() == 0)
        return noIndex;
    const uint64_t node = trace.kernels.graphNode[kernel.row()];
    if (node == 0) return noIndex;
    return graphNodeRow(trace, trace.streams[trace.kernels.stream[kernel.row()]].process, node);
}

PythonPlace pythonPlace(const Trace& trace, EventRef event) {
    if (event.kind() == EventKind::Nvtx) return placeIn(trace, trace.nvtx, event.row());
    if (event.kind() == EventKind::Projection && event.row() < trace.projections.size())
        return placeIn(trace, trace.nvtx, trace.projections.nvtx[event.row()]);
    const PythonPlace captured = placeOfNode(trace, graphNodeOf(trace, event));
    if (captured.stack != noIndex) return captured;
    const EventRef call = event.kind() == EventKind::Api ? event : trace.launchingCall(event);
    if (call.kind() != EventKind::Api) return {};
    return placeIn(trace, trace.apiCalls, call.row());
}

std::string pythonLine(const Trace& trace, EventRef event) {
    const PythonPlace place = pythonPlace(trace, event);
    if (place.stack == noIndex) return {};
    const std::string text = frameText(trace, ownFrame(trace, place.stack));
    if (place.isCaptured) return (place.isLent ? "called at capture from: " : "called at capture: ") + text;
    return place.isLent ? "called from " + text : text;
}

LaunchedWork launchedWork(const Trace& trace, EventRef work) {
    const EventRef call = work.kind() == EventKind::Api ? work : trace.launchingCall(work);
    LaunchedWork made{.work = work, .times = trace.rangeOf(work)};
    if (call.kind() == EventKind::Api) made.call = call.row();
    setPlace(trace, made);
    if (made.call == noIndex) made.place = pythonPlace(trace, work);
    return made;
}

void forEachLaunchedWork(const Trace& trace, const std::function<void(const LaunchedWork&)>& visit) {
    std::array<std::vector<uint32_t>, EventRef::kindLimit> callOf;
    forEachKind([&](auto each) {
        if constexpr (each.isGpuWork) callOf[static_cast<size_t>(each.kind)].assign(each.size(trace), noIndex);
    });
    forEachLaunch(trace, [&](uint32_t call, EventRef work) {
        std::vector<uint32_t>& calls = callOf[static_cast<size_t>(work.kind())];
        if (work.row() < calls.size()) calls[work.row()] = call;
    });
    forEachKind([&](auto each) {
        if constexpr (each.isGpuWork) {
            const std::vector<uint32_t>& calls = callOf[static_cast<size_t>(each.kind)];
            for (uint32_t row = 0; row < calls.size(); ++row) {
                LaunchedWork work{EventRef(each.kind, row), each.rangeOf(trace, row), each.gpuOf(trace, row),
                                  calls[row]};
                setPlace(trace, work);
                visit(work);
            }
        }
    });
}

std::vector<uint32_t> ownPlaces(const Trace& trace) {
    const uint32_t count = trace.stacks.size();
    std::vector<uint32_t> own(count, noIndex);
    std::map<StringIndex, bool> areLibraries;
    const auto isOwn = [&](uint32_t stack) {
        const StringIndex file = trace.stacks.file[stack];
        const auto [known, isNew] = areLibraries.try_emplace(file, false);
        if (isNew) known->second = isLibraryFile(trace.strings.at(file));
        return !known->second;
    };
    // Outer frames were processed before.
    for (uint32_t stack = 0; stack < count; ++stack) {
        const uint32_t outer = outerStack(trace, stack);
        own[stack] = isOwn(stack) ? stack : outer == noIndex ? noIndex : own[outer];
    }
    std::map<FramePlace, uint32_t> firstOf;
    for (uint32_t stack = 0; stack < count; ++stack) {
        const uint32_t frame = own[stack] == noIndex ? stack : own[stack];
        own[stack] = firstOf.try_emplace(placeOf(trace, frame), frame).first->second;
    }
    return own;
}

TypedTerms splitTerms(std::string_view typed) {
    TypedTerms parted;
    bool hasTerm = false;
    for (std::string_view left = typed; !left.empty();) {
        const std::string word = takeWord(left);
        if (word.empty()) break;
        if (const std::optional<StackTerm> term = termOf(word)) {
            parted.stack.push_back(*term);
            hasTerm = true;
            continue;
        }
        if (!parted.rest.empty()) parted.rest += ' ';
        parted.rest += word;
    }
    // Text without a term is kept exactly as typed.
    if (!hasTerm) parted.rest = typed;
    return parted;
}

StackFilter::StackFilter(const Trace& trace, const std::vector<StackTerm>& terms)
    : trace_(trace), isAny_(terms.empty()) {
    if (isAny_) return;
    const uint32_t count = trace.stacks.size();
    holds_.assign(count, true);
    for (const StackTerm& term : terms) {
        if (term.part == StackTerm::Part::Module) {
            modules_.push_back(term.text);
            if (!modulesOf_) modulesOf_ = std::make_unique<WorkModules>(trace);
            continue;
        }
        isAnyStack_ = false;
        // Many frames share a place, and callers precede their callees.
        std::map<FramePlace, bool> known;
        std::vector<bool> hasFrame(count, false);
        for (uint32_t stack = 0; stack < count; ++stack) {
            const auto [place, isNew] = known.try_emplace(placeOf(trace, stack), false);
            if (isNew) place->second = isAbout(trace, stack, term);
            const uint32_t outer = outerStack(trace, stack);
            hasFrame[stack] = place->second || (outer != noIndex && hasFrame[outer]);
            holds_[stack] = holds_[stack] && hasFrame[stack];
        }
    }
}

StackFilter::~StackFilter() = default;

bool StackFilter::holds(EventRef event) const {
    if (!isAnyStack_) {
        const uint32_t stack = pythonPlace(trace_, event).stack;
        if (stack >= holds_.size() || !holds_[stack]) return false;
    }
    if (modules_.empty()) return true;
    const uint32_t index = modulesOf_->of(event);
    if (index == noIndex) return false;
    const Module& module = modulesOf_->modules()[index];
    const std::string text = lowerCase(module.path + " " + module.type);
    return std::ranges::all_of(modules_, [&](const std::string& asked) { return contains(text, asked); });
}

OpenRanges::OpenRanges(const Trace& trace, bool hasPythonFunctions)
    : tracksOf_(trace.threads.size()), leaderOf_(trace.processes.size(), noIndex) {
    std::vector<size_t> maxRanges(trace.processes.size(), 0);
    std::vector<size_t> count(trace.threads.size(), 0);
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::ThreadNvtx) continue;
        if (!hasPythonFunctions && hasPythonFunctionsOnly(trace, track)) continue;
        tracksOf_[track.subject].push_back(&track);
        for (const Lane& lane : track.lanes) count[track.subject] += lane.size();
        const uint32_t process = trace.threads[track.subject].process;
        if (count[track.subject] <= maxRanges[process]) continue;
        maxRanges[process] = count[track.subject];
        leaderOf_[process] = track.subject;
    }
}

std::vector<uint32_t> OpenRanges::at(uint32_t thread, int64_t timeNs) const {
    struct Open {
        int64_t startNs, durationNs;
        uint32_t row;
    };
    std::vector<Open> open;
    for (const Track* track : tracksOf_[thread]) {
        for (const Lane& lane : track->lanes) {
            const uint32_t slice = lane.firstEndingAt(timeNs + 1);
            if (slice >= lane.size() || lane.startNs[slice] > timeNs) continue;
            const EventRef range = lane.event[slice];
            if (range.kind() != EventKind::Nvtx) continue;
            open.push_back({lane.startNs[slice], lane.durationNs[slice], range.row()});
        }
    }
    std::ranges::stable_sort(open, {}, [](const Open& each) { return std::pair(each.startNs, -each.durationNs); });
    return mapped(open, &Open::row);
}

WorkModules::WorkModules(const Trace& trace) : trace_(trace), ranges_(trace, true) {
    findInStacks();
    const NvtxTable& ranges = trace.nvtx;
    std::vector<bool> isKnown(trace.strings.size(), false);
    for (uint32_t row = 0; row < ranges.size() && !hasRanges_; ++row)
        for (const StringIndex text : {ranges.text[row], ranges.category[row]})
            if (!isKnown[text]) {
                isKnown[text] = true;
                hasRanges_ = hasRanges_ || isModule(trace.strings.at(text));
            }
}

uint32_t WorkModules::child(uint32_t outer, std::string_view name, std::string_view type, std::string_view rangePath) {
    const auto [known, isNew] =
        indexOf_.try_emplace({outer, std::string(name), std::string(type)}, static_cast<uint32_t>(modules_.size()));
    if (isNew) {
        std::string path = outer == noIndex ? std::string() : modules_[outer].path + ".";
        path += name;
        modules_.push_back({outer, std::string(name), std::string(type), std::move(path), std::string(rangePath)});
    }
    return known->second;
}

void WorkModules::findInStacks() {
    const StackTable& stacks = trace_.stacks;
    for (uint32_t stack = 0; stack < stacks.size() && !areRecorded_; ++stack) areRecorded_ = stacks.module[stack] != 0;
    ofStack_.assign(stacks.size(), noIndex);
    for (uint32_t stack = 0; stack < stacks.size(); ++stack) {
        const uint32_t outer = outerStack(trace_, stack);
        uint32_t around = outer == noIndex ? noIndex : ofStack_[outer];
        const std::string_view module = trace_.strings.at(stacks.module[stack]);
        const std::string_view type = areRecorded_ ? module.substr(0, module.find(' ')) : classOf(trace_, stack);
        std::string path(type.size() < module.size() ? module.substr(type.size() + 1) : type);
        if (path == replacedModule && around != noIndex) {
            // As in the model without torch.compile.
            const Module& compiled = modules_[around];
            path = compiled.outer == noIndex ? std::string(type) : compiled.name;
            around = compiled.outer;
        }
        ofStack_[stack] = type.empty() ? around : child(around, path, type);
    }
}

uint32_t WorkModules::inRanges(uint32_t thread, int64_t timeNs, bool isForward) {
    uint32_t module = noIndex;
    const NvtxTable& ranges = trace_.nvtx;
    const std::vector<uint32_t> open = ranges_.at(thread, timeNs);
    for (const uint32_t row : open) {
        std::string_view text = trace_.strings.at(ranges.text[row]);
        const std::string_view category = trace_.strings.at(ranges.category[row]);
        if (isModule(category)) {
            if (text.ends_with(backwardSuffix)) text.remove_suffix(backwardSuffix.size());
            // Names of ranges have the whole path, except that of the model.
            std::string_view name = text;
            const std::string_view around = module == noIndex ? std::string_view() : modules_[module].rangePath;
            if (!around.empty() && name.starts_with(around) && name.substr(around.size()).starts_with("."))
                name.remove_prefix(around.size() + 1);
            const bool isInner = module != noIndex;
            module =
                child(module, name, category.substr(moduleRangePrefix.size()), isInner ? text : std::string_view());
        } else if (isModule(text)) {
            const std::string_view name = text.substr(moduleRangePrefix.size());
            module = child(module, name, name.substr(0, name.rfind('_')));
        }
    }
    if (module != noIndex || isForward) return module;
    for (auto row = open.rbegin(); row != open.rend(); ++row)
        for (const EventRef forward : forwardOf(trace_, {EventKind::Nvtx, *row}))
            return inRanges(ranges.thread[forward.row()], ranges.startNs[forward.row()], true);
    return noIndex;
}

uint32_t WorkModules::of(const LaunchedWork& work) {
    const uint32_t stack = work.place.isLent ? noIndex : work.place.stack;
    if (ofStack(stack) != noIndex) return ofStack(stack);
    if (!hasRanges_ || work.call == noIndex) return noIndex;
    const GraphNodeTable& nodes = trace_.graphNodes;
    const ApiTable& calls = trace_.apiCalls;
    const std::pair<uint32_t, int64_t> at = work.node != noIndex
                                                ? std::pair(nodes.thread[work.node], nodes.timeNs[work.node])
                                                : std::pair(calls.thread[work.call], calls.startNs[work.call]);
    if (at != last_) lastModule_ = inRanges(at.first, at.second, false);
    last_ = at;
    return lastModule_;
}

std::string compiledOperators(const Trace& trace, EventRef work) {
    for (const uint32_t frame : framesOf(trace, pythonPlace(trace, work).stack))
        if (trace.stacks.operators[frame] != 0) return std::string(trace.strings.at(trace.stacks.operators[frame]));
    return {};
}

}  // namespace lanescope
