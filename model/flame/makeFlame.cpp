// SPDX-License-Identifier: Apache-2.0
#include "model/flame/makeFlame.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "model/analysis/StepSelection.h"
#include "model/analysis/stepRanges.h"
#include "model/format/checksums.h"
#include "model/format/text.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/processes.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope {

FlameTree::FlameTree() {
    nodes_.push_back({.name = nameNumber("all"), .frame = {.kind = FrameKind::All}});
    rows_ = {0};
    rowEnds_ = {1};
}

uint32_t FlameTree::nameNumber(std::string_view text) {
    const auto [found, isNew] = numberOf_.try_emplace(std::string(text), static_cast<uint32_t>(names_.size()));
    if (isNew) names_.emplace_back(text);
    return found->second;
}

uint32_t FlameTree::child(uint32_t parent, uint32_t name, const Frame& frame, bool isMade) {
    const uint64_t key = uint64_t{parent} << 32 | name;
    if (!isMade) {
        const auto known = childOf_.find(key);
        return known == childOf_.end() ? noIndex : known->second;
    }
    const auto [found, isNew] = childOf_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
    if (isNew) nodes_.push_back({.name = name, .parent = parent, .depth = nodes_[parent].depth + 1, .frame = frame});
    return found->second;
}

void FlameTree::addTime(uint32_t node, int64_t ns) {
    if (ns > 0) nodes_[node].selfNs = saturatingSum(nodes_[node].selfNs, ns);
}

void FlameTree::add(const std::vector<std::string>& frames, int64_t ns) {
    if (ns <= 0) return;
    uint32_t at = 0;
    for (const std::string& frame : frames) {
        const bool isLast = &frame == &frames.back();
        at = child(at, nameNumber(frame),
                   {.kind = isLast ? FrameKind::Work : FrameKind::Function,
                    .category = isLast ? SliceCategory::Kernel : SliceCategory::CpuFrame});
    }
    addTime(at, ns);
}

void FlameTree::arrange() {
    sumUp();
    orderRows();
}

void FlameTree::sumUp() {
    for (Node& node : nodes_) {
        node.totalNs = node.selfNs;
        node.childCount = 0;
    }
    for (auto index = static_cast<uint32_t>(nodes_.size()); index-- > 1;) {
        Node& parent = nodes_[nodes_[index].parent];
        parent.totalNs = saturatingSum(parent.totalNs, nodes_[index].totalNs);
        ++parent.childCount;
    }
}

/// Groups children within each depth, in the order of their parents, which is by start.
void FlameTree::orderRows() {
    std::vector<std::vector<uint32_t>> byDepth;
    for (uint32_t index = 0; index < nodes_.size(); ++index) {
        const uint32_t depth = nodes_[index].depth;
        if (depth >= byDepth.size()) byDepth.resize(depth + 1);
        byDepth[depth].push_back(index);
    }
    rows_.clear();
    rowEnds_.clear();
    std::vector<uint32_t> placeOf(nodes_.size(), 0);  // Position within its depth.
    for (std::vector<uint32_t>& row : byDepth) {
        std::ranges::sort(row, [&](uint32_t a, uint32_t b) {
            const Node &one = nodes_[a], &other = nodes_[b];
            if (one.parent != other.parent && one.parent != noIndex) return placeOf[one.parent] < placeOf[other.parent];
            if (one.totalNs != other.totalNs) return one.totalNs > other.totalNs;
            return names_[one.name] < names_[other.name];
        });
        uint32_t parent = noIndex;
        int64_t nowNs = 0;
        for (uint32_t place = 0; place < row.size(); ++place) {
            Node& node = nodes_[row[place]];
            placeOf[row[place]] = place;
            if (node.parent != noIndex && node.parent != parent) {
                parent = node.parent;
                nowNs = nodes_[parent].startNs;
                nodes_[parent].firstChild = static_cast<uint32_t>(rows_.size()) + place;
            }
            node.startNs = nowNs;
            nowNs = saturatingSum(nowNs, node.totalNs);
        }
        rows_.insert(rows_.end(), row.begin(), row.end());
        rowEnds_.push_back(static_cast<uint32_t>(rows_.size()));
    }
}

std::span<const uint32_t> FlameTree::childrenOf(uint32_t node) const {
    return std::span(rows_).subspan(nodes_[node].childCount == 0 ? 0 : nodes_[node].firstChild,
                                    nodes_[node].childCount);
}

std::span<const uint32_t> FlameTree::row(uint32_t depth) const {
    if (depth >= rowEnds_.size()) return {};
    const uint32_t begin = depth == 0 ? 0 : rowEnds_[depth - 1];
    return std::span(rows_).subspan(begin, rowEnds_[depth] - begin);
}

uint32_t FlameTree::firstSplit() const {
    uint32_t node = 0;
    while (nodes_[node].childCount > 0) {
        const uint32_t longest = childrenOf(node).front();
        const bool hasNearlyAll = nodes_[longest].totalNs >= totalNs() - totalNs() / 100;
        if (!hasNearlyAll || nodes_[longest].childCount == 0) break;
        node = longest;
    }
    return node;
}

std::vector<uint32_t> FlameTree::pathTo(uint32_t node) const {
    std::vector<uint32_t> path;
    for (; node != noIndex; node = nodes_[node].parent) path.push_back(node);
    std::reverse(path.begin(), path.end());
    return path;
}

FlameMatches matchFrames(const FlameTree& tree, const std::function<bool(std::string_view name)>& matches) {
    const std::vector<bool> isNameMatch = mapped(tree.names(), matches);
    FlameMatches found;
    found.isMatch.resize(tree.nodes().size(), false);
    std::vector<bool> isWithin(tree.nodes().size(), false);
    // The root is no frame of a stack.
    for (uint32_t index = 1; index < tree.nodes().size(); ++index) {
        const FlameTree::Node& node = tree.nodes()[index];
        const bool isCounted = isWithin[node.parent];
        isWithin[index] = isCounted;
        if (!isNameMatch[node.name]) continue;
        found.isMatch[index] = true;
        isWithin[index] = true;
        ++found.frames;
        if (!isCounted) found.ns = saturatingSum(found.ns, node.totalNs);
    }
    return found;
}

namespace {

constexpr double width = 1200;
constexpr double rowHeight = 18;
constexpr double head = 26;
constexpr double letter = 6.6;  ///< Approximate letter width of the font below.
constexpr double narrowest = 0.33;

/// Returns the first letters within `bytes` bytes, without splitting a letter.
std::string_view firstOf(std::string_view text, size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

/// GPU work is blue, other frames have warm colours; equal names have equal colours.
std::string colorOf(const FlameTree& tree, uint32_t index) {
    Fnv1a sum;
    sum.add(tree.nameOf(index));
    const auto hash = static_cast<unsigned>(sum.value() % 40);
    switch (tree.nodes()[index].frame.kind) {
        case FrameKind::All: return "#d8dde3";
        case FrameKind::Work: return fmt::format("hsl({}, 62%, 72%)", 195 + hash / 2);
        default: return fmt::format("hsl({}, 78%, 76%)", 18 + hash);
    }
}

/// Writer of the picture of a frame and its child frames.
class Writer {
  public:
    Writer(const FlameTree& tree, uint32_t root, const TextSink& sink)
        : tree_(tree), root_(tree.nodes()[root]), sink_(sink) {}

    void write(std::string_view title) {
        const double height = head + rowHeight * rowCount() + 6;
        sink_(
            fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                        "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" "
                        "height=\"{1}\" fill=\"#ffffff\"/>\n<text x=\"6\" y=\"17\" font-weight=\"bold\">{2}</text>\n",
                        width, height, markupEscaped(title)));
        writeRows();
        sink_("</svg>\n");
    }

  private:
    /// Returns the frames of a depth within the picture, of any width.
    std::span<const uint32_t> row(uint32_t depth) const {
        const std::span<const uint32_t> all = tree_.row(depth);
        const auto begin = std::ranges::partition_point(
            all, [this](uint32_t each) { return tree_.nodes()[each].startNs < root_.startNs; });
        const auto end = std::partition_point(
            begin, all.end(), [this](uint32_t each) { return tree_.nodes()[each].startNs < root_.endNs(); });
        return {begin, end};
    }
    uint32_t rowCount() const {
        uint32_t count = 1;
        while (!row(root_.depth + count).empty()) ++count;
        return count;
    }
    void writeRows() {
        for (uint32_t depth = root_.depth; depth <= tree_.depth(); ++depth)
            for (const uint32_t each : row(depth))
                if (widthOf(tree_.nodes()[each]) >= narrowest && !writeFrame(each)) return;
    }
    double share(int64_t ns) const {
        return root_.totalNs > 0 ? static_cast<double>(ns) / static_cast<double>(root_.totalNs) : 0;
    }
    double widthOf(const FlameTree::Node& node) const { return tree_.isEmpty() ? width : width * share(node.totalNs); }
    bool writeFrame(uint32_t index) {
        const FlameTree::Node& node = tree_.nodes()[index];
        const double wide = widthOf(node);
        const double x = width * share(node.startNs - root_.startNs);
        const double y = head + rowHeight * (node.depth - root_.depth);
        std::string text = fmt::format(
            "<g><title>{}: {} ({:.1f} %)</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" "
            "fill=\"{}\"/>",
            markupEscaped(tree_.nameOf(index)), formatDuration(node.totalNs), 100 * share(node.totalNs), x, y,
            wide > 1 ? wide - 0.5 : wide, rowHeight - 1, colorOf(tree_, index));
        const auto letters = static_cast<size_t>(wide / letter);
        if (letters >= 3) {
            const std::string valid = validUtf8(tree_.nameOf(index));
            const std::string_view shown = firstOf(valid, letters);
            text += fmt::format("<text x=\"{:.2f}\" y=\"{}\">{}</text>", x + 3, y + 13, markupEscaped(shown));
        }
        return sink_(text + "</g>\n");
    }

    const FlameTree& tree_;
    const FlameTree::Node& root_;
    const TextSink& sink_;
};

std::string frameOf(const Thread& thread) {
    return thread.name.empty() ? fmt::format("[thread {}]", thread.tid) : fmt::format("[{}]", thread.name);
}

int64_t countedNs(const LaunchedWork& work, const std::optional<TimeRange>& range) {
    return (range ? work.times.intersected(*range) : work.times).durationNs();
}

/// Adds GPU work in the range to the tree, each below the node that `placeOf` returns.
void addWork(const Trace& trace, std::optional<TimeRange> range, FlameTree& tree, auto placeOf) {
    WorkNames works(trace, tree);
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        const int64_t ns = countedNs(work, range);
        if (ns <= 0) return;
        const uint32_t place = placeOf(work);
        tree.addTime(tree.child(place, works.numberOf(work.work), works.frameOf(work.work)), ns);
    });
    tree.arrange();
}

FlameTree flameOfStacks(const Trace& trace, FlameBase base, std::optional<TimeRange> range) {
    FlameTree tree;
    StackPlaces places(trace, base, tree);
    addWork(trace, range, tree, [&](const LaunchedWork& work) {
        const uint32_t place = places.of(work.place.stack);
        if (!work.place.isLent) return place;
        return tree.child(place, tree.nameNumber(frameOf(trace.threads[work.thread])), {.kind = FrameKind::Thread});
    });
    return tree;
}

FlameTree flameOfModules(const Trace& trace, std::optional<TimeRange> range) {
    FlameTree tree;
    WorkModules modules(trace);
    std::vector<uint32_t> nodeOf;  // by module
    addWork(trace, range, tree, [&](const LaunchedWork& work) {
        const uint32_t module = modules.of(work);
        if (module == noIndex) return tree.child(0, tree.nameNumber("(no module)"), {.kind = FrameKind::Unknown});
        // Outer modules precede inner ones.
        for (auto next = static_cast<uint32_t>(nodeOf.size()); next < modules.modules().size(); ++next) {
            const Module& each = modules.modules()[next];
            const std::string name =
                each.type.empty() || each.type == each.name ? each.name : fmt::format("{} ({})", each.name, each.type);
            nodeOf.push_back(tree.child(each.outer == noIndex ? 0 : nodeOf[each.outer], tree.nameNumber(name), {}));
        }
        return nodeOf[module];
    });
    return tree;
}

/// Appends a name for folded text, where semicolons separate frames and line ends separate paths.
void append(std::string& line, std::string_view name) {
    if (!line.empty()) line += ';';
    std::string frame = printable(name);
    std::ranges::replace(frame, ';', ':');
    line += frame;
}

constexpr std::string_view noStack = "(no Python stack)";

std::string processName(const Process& process) {
    return process.rank ? fmt::format("{} (rank {}, PID {})", process.name, *process.rank, process.pid)
                        : fmt::format("{} (PID {})", process.name, process.pid);
}

std::string threadName(const Thread& thread) {
    return thread.name.empty() ? fmt::format("thread {}", thread.tid)
                               : fmt::format("{} (TID {})", thread.name, thread.tid);
}

}  // namespace

void writeFlameSvg(const FlameTree& tree, uint32_t root, std::string_view title, const TextSink& sink) {
    Writer(tree, root, sink).write(title);
}

std::string_view describe(FlameBase base) {
    return enumText(
        base, {"GPU time by Python line", "GPU time by Python function", "GPU time by range", "GPU time by module"});
}

bool hasBase(const Trace& trace, FlameBase base) {
    if (base == FlameBase::Modules) return !WorkModules(trace).isEmpty();
    return base == FlameBase::Ranges ? trace.nvtx.size() > 0 : trace.stacks.size() > 0;
}

FlameTree makeFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range) {
    if (base == FlameBase::Modules) return flameOfModules(trace, range);
    return base == FlameBase::Ranges ? makeRangeTree(trace, {.range = range}).tree : flameOfStacks(trace, base, range);
}

void writeFolded(const FlameTree& tree, uint32_t root, const TextSink& sink) {
    std::map<std::string, int64_t> lines;
    std::vector<bool> isWithin(tree.nodes().size(), false);
    for (uint32_t index = root; index < tree.nodes().size(); ++index) {
        const FlameTree::Node& node = tree.nodes()[index];
        isWithin[index] = index == root || isWithin[node.parent];
        if (!isWithin[index] || node.selfNs <= 0) continue;
        std::string line;
        for (const uint32_t frame : tree.pathTo(index))
            if (frame != 0) append(line, tree.nameOf(frame));
        lines[line] = saturatingSum(lines[line], tree.nodes()[index].selfNs);
    }
    for (const auto& [line, ns] : lines)
        if (!sink(fmt::format("{} {}\n", line, ns))) return;
}

uint32_t StackPlaces::of(uint32_t stack) {
    if (stack >= trace_.stacks.size())
        return tree_.child(root_, tree_.nameNumber(noStack), {.kind = FrameKind::Unknown});
    std::vector<uint32_t> missing;
    uint32_t at = stack;
    while (at != noIndex && !places_.contains(at)) {
        missing.push_back(at);
        at = outerStack(trace_, at);
    }
    uint32_t place = at == noIndex ? root_ : places_[at];
    for (auto frame = missing.rbegin(); frame != missing.rend(); ++frame)
        place = places_[*frame] = within(place, *frame);
    return place;
}

uint32_t StackPlaces::within(uint32_t outer, uint32_t frame) {
    const std::string_view file = trace_.strings.at(trace_.stacks.file[frame]);
    const bool isLibrary = trace_.stacks.file[frame] != 0 && isLibraryFile(file);
    return tree_.child(outer, tree_.nameNumber(nameOf(frame, file)),
                       {.kind = isLibrary ? FrameKind::LibraryFunction : FrameKind::Function, .stack = frame});
}

std::string StackPlaces::nameOf(uint32_t frame, std::string_view file) const {
    const std::string_view function = trace_.strings.at(trace_.stacks.function[frame]);
    if (trace_.stacks.file[frame] == 0) return std::string(function);
    return base_ == FlameBase::Lines ? fmt::format("{} ({})", function, placeText(trace_, frame))
                                     : fmt::format("{} ({})", function, file.substr(file.rfind('/') + 1));
}

FlameTree makeThreadFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range) {
    FlameTree tree;
    const CpuStateTable& states = trace.cpuStates;
    std::vector<bool> isSampled(trace.threads.size(), false);
    for (uint32_t row = 0; row < states.size(); ++row)
        if (states.source[row] == StateSource::Samples) isSampled[states.thread[row]] = true;
    std::vector<std::unique_ptr<StackPlaces>> places(trace.threads.size());
    for (uint32_t row = 0; row < states.size(); ++row) {
        const StateSource source = states.source[row];
        const uint32_t number = states.thread[row];
        // Calls overlap with sampled states, and samples are better for running threads.
        if (source == StateSource::Calls || isAgentThread(trace.threads[number])) continue;
        if (isSampled[number] && source != StateSource::Samples && !isWaiting(states.state[row])) continue;
        TimeRange times{states.startNs[row], states.endNs[row]};
        if (range) times = times.intersected(*range);
        if (times.durationNs() <= 0) continue;
        if (!places[number]) {
            const Thread& thread = trace.threads[number];
            const uint32_t process = tree.child(0, tree.nameNumber(processName(trace.processes[thread.process])),
                                                {.kind = FrameKind::Thread});
            places[number] = std::make_unique<StackPlaces>(
                trace, base, tree,
                tree.child(process, tree.nameNumber(threadName(thread)), {.kind = FrameKind::Thread}));
        }
        uint32_t place = places[number]->of(states.stack[row]);
        const bool mixed = isMixed(trace, row);
        if (states.state[row] != ThreadState::Running || mixed)
            place = tree.child(place, tree.nameNumber(fmt::format("[{}]", stateText(states.state[row], mixed))),
                               {.kind = FrameKind::Work, .category = kinds::CpuState::categoryOf(trace, row)});
        tree.addTime(place, times.durationNs());
    }
    tree.arrange();
    return tree;
}

namespace {

/// Work with equal keys has the same name.
uint64_t keyOf(const Trace& trace, kinds::Kernel, uint32_t row) { return trace.kernels.config[row]; }
uint64_t keyOf(const Trace& trace, kinds::Memcpy, uint32_t row) {
    return static_cast<uint64_t>(trace.memcpys.kind[row]);
}
uint64_t keyOf([[maybe_unused]] const Trace& trace, auto kind, [[maybe_unused]] uint32_t row) {
    if constexpr (requires { kind.nameKey(trace, row); })
        return kind.nameKey(trace, row);
    else
        return 0;  // One name for the whole kind.
}

/// Copies are named as a search finds them.
std::string textOf(const Trace& trace, kinds::Memcpy, uint32_t row) {
    return std::string(searchName(trace.memcpys.kind[row]));
}
std::string textOf(const Trace&, kinds::Memset, uint32_t) { return "memset"; }
std::string textOf(const Trace& trace, auto kind, uint32_t row) { return kind.nameOf(trace, row); }

constexpr std::string_view noRange = "(no range)";
/// Names of PyTorch's backward threads, and of the nodes of the backward (`emit_nvtx`).
constexpr std::string_view autogradThread = "pt_autograd";
constexpr std::string_view autogradRange = "autograd::engine::evaluate_function";

bool isOperator(const Trace& trace, uint32_t range) {
    const std::string_view domain = trace.strings.at(trace.nvtx.domain[range]);
    if (domain == operatorDomain || domain == xlaOperationDomain) return true;
    return isOperationRange(trace.strings.at(trace.nvtx.text[range]));
}

class TreeMaker {
  public:
    TreeMaker(const Trace& trace, const RangeTreeOptions& options)
        : trace_(trace),
          options_(options),
          open_(trace, options.hasPythonFunctions),
          families_(trace),
          works_(trace, made_.tree),
          isCounted_(trace.nvtx.size(), false) {
        families_.addAll();
        made_.counts.resize(1);
        findSteps();
    }

    RangeTree make() {
        forEachLaunchedWork(trace_, [this](const LaunchedWork& work) { add(work); });
        made_.tree.arrange();
        sumUp();
        return std::move(made_);
    }

  private:
    void findSteps() {
        StepSelection selection{.rangeName = options_.stepName};
        Result<RunSteps> found = lanescope::findSteps(trace_, selection);
        if (!found || found->source == StepSource::WholeRun) return;
        steps_ = std::move(*found);
        isStepText_.assign(trace_.strings.size(), 0);
        for (uint32_t index = 0; index < steps_.workers.size(); ++index) {
            const WorkerSteps& worker = steps_.workers[index];
            workerOf_.try_emplace(uint64_t{worker.process} << 32 | worker.gpu, index);
            if (worker.stepThread != noIndex) stepThreadOf_.try_emplace(worker.process, worker.stepThread);
            for (const StepSpan& step : worker.steps)
                if (isStepCounted(step)) ++made_.steps;
        }
    }
    /// Returns false for a step that is partly outside of the range, because its duration is incomplete.
    bool isStepCounted(const StepSpan& step) const {
        return !options_.range || options_.range->intersected(step.range) == step.range;
    }
    /// Returns true if a single range is a step, not only a part of one.
    bool hasRanges() const { return steps_.source == StepSource::NvtxRange && steps_.rangesPerStep == 1; }

    /// Returns the step of the work; null if none.
    const StepSpan* stepOf(const LaunchedWork& work) const {
        const uint32_t process =
            visitKind(work.work.kind(), [&](auto each) { return each.processOf(trace_, work.work.row()); });
        std::optional<int64_t> launchedNs;
        if (work.call != noIndex) launchedNs = trace_.apiCalls.startNs[work.call];
        const auto worker = workerOf_.find(uint64_t{process} << 32 | work.gpu);
        if (worker == workerOf_.end()) return nullptr;
        const WorkerSteps& steps = steps_.workers[worker->second];
        const uint32_t step = steps.stepOf(work.times.startNs, launchedNs);
        return step == noIndex ? nullptr : &steps.steps[step];
    }

    bool isStep(uint32_t range) {
        const StringIndex text = trace_.nvtx.text[range];
        if (!hasRanges() || text >= isStepText_.size()) return false;
        constexpr uint8_t unknown = 0, no = 1, yes = 2;
        uint8_t& known = isStepText_[text];
        if (known == unknown) {
            const std::string_view name = trace_.strings.at(text);
            known = name == steps_.pattern || rangePattern(name) == steps_.pattern ? yes : no;
        }
        return known == yes;
    }

    /// Returns the ranges around the call, from outside inwards.
    std::vector<uint32_t> rangesOf(uint32_t call) {
        const uint32_t thread = trace_.apiCalls.thread[call];
        const int64_t timeNs = trace_.apiCalls.startNs[call];
        std::vector<uint32_t> own = open_.at(thread, timeNs);
        const uint32_t leader = leaderOf(trace_.threads[thread].process);
        if (leader == noIndex || leader == thread) return own;
        const auto isOfStep = [this](uint32_t range) { return isStep(range); };
        if (std::ranges::any_of(own, isOfStep)) return own;
        std::vector<uint32_t> around = open_.at(leader, timeNs);
        if (!own.empty() && !worksForAnother(call, own.front())) {
            const auto step = std::ranges::find_if(around, isOfStep);
            around.erase(step == around.end() ? around.begin() : step + 1, around.end());
        }
        around.insert(around.end(), own.begin(), own.end());
        return around;
    }
    /// Returns the thread with the steps of the process, else with most of its ranges.
    uint32_t leaderOf(uint32_t process) const {
        const auto stepThread = stepThreadOf_.find(process);
        return stepThread == stepThreadOf_.end() ? open_.leaderOf(process) : stepThread->second;
    }
    bool worksForAnother(uint32_t call, uint32_t outermost) const {
        const Thread& thread = trace_.threads[trace_.apiCalls.thread[call]];
        return trace_.apiCalls.isStackLent[call] != 0 || thread.name.starts_with(autogradThread) ||
               trace_.strings.at(trace_.nvtx.text[outermost]).starts_with(autogradRange);
    }

    /// Returns a frame within `parent`, or `parent` itself if the limit is reached.
    uint32_t within(uint32_t parent, uint32_t name, const FlameTree::Frame& frame) {
        const FlameTree& tree = made_.tree;
        const bool isFull =
            tree.nodes().size() >= RangeTree::maxNodes || tree.nodes()[parent].depth >= RangeTree::maxDepth;
        const uint32_t node = made_.tree.child(parent, name, frame, !isFull);
        if (node == noIndex) return parent;
        if (node >= made_.counts.size()) made_.counts.resize(node + 1);
        return node;
    }

    uint32_t withinRange(uint32_t parent, uint32_t range) {
        const FrameKind kind = isStep(range)               ? FrameKind::Step
                               : isOperator(trace_, range) ? FrameKind::Operator
                                                           : FrameKind::Range;
        const uint32_t family = families_.of(trace_.nvtx.text[range]);
        if (family >= nameOf_.size()) nameOf_.resize(family + 1, noIndex);
        if (nameOf_[family] == noIndex) nameOf_[family] = made_.tree.nameNumber(families_.nameOf(family));
        const uint32_t node = within(parent, nameOf_[family], {.kind = kind, .category = SliceCategory::Nvtx});
        if (node != parent && !isCounted_[range]) {
            isCounted_[range] = true;
            ++made_.counts[node].calls;
        }
        return node;
    }

    /// For steps that are not single ranges.
    uint32_t withinStep(const StepSpan& step) {
        if (stepName_ == noIndex) stepName_ = made_.tree.nameNumber(identifier(steps_.kind));
        const uint32_t node = within(0, stepName_, {.kind = FrameKind::Step, .category = SliceCategory::Nvtx});
        if (node != 0 && lastSteps_.insert(&step).second) ++made_.counts[node].calls;
        return node;
    }

    void add(const LaunchedWork& work) {
        const int64_t ns = (options_.range ? work.times.intersected(*options_.range) : work.times).durationNs();
        if (ns <= 0) return;
        const StepSpan* step = stepOf(work);
        uint32_t place = step != nullptr && !hasRanges() ? withinStep(*step) : 0;
        if (work.call != noIndex)
            for (const uint32_t range : rangesOf(work.call)) place = withinRange(place, range);
        if (work.node != noIndex) {
            const GraphNodeTable& nodes = trace_.graphNodes;
            // The step of the capture is another one.
            for (const uint32_t range : open_.at(nodes.thread[work.node], nodes.timeNs[work.node]))
                if (!isStep(range)) place = withinRange(place, range);
        }
        if (place == 0) place = within(0, made_.tree.nameNumber(noRange), {.kind = FrameKind::Unknown});
        const uint32_t node = within(place, works_.numberOf(work.work), works_.frameOf(work.work));
        if (node == place)
            ++made_.gathered;
        else
            ++made_.counts[node].calls;
        made_.tree.addTime(node, ns);
        if (step != nullptr && isStepCounted(*step)) addTo(made_.counts[node].inStepsNs, ns);
    }

    /// Saturates, because an index may contain any times.
    static void addTo(int64_t& sum, int64_t ns) { sum = saturatingSum(sum, ns); }

    /// Parents precede their children.
    void sumUp() {
        const std::vector<FlameTree::Node>& nodes = made_.tree.nodes();
        made_.counts.resize(nodes.size());
        for (auto node = static_cast<uint32_t>(nodes.size()); node-- > 1;)
            addTo(made_.counts[nodes[node].parent].inStepsNs, made_.counts[node].inStepsNs);
    }

    const Trace& trace_;
    const RangeTreeOptions& options_;
    const OpenRanges open_;
    RangeFamilies families_;
    RangeTree made_;
    WorkNames works_;
    RunSteps steps_;
    MixedMap<uint64_t, uint32_t> workerOf_;  ///< Workers of `steps_`, by process and GPU.
    MixedMap<uint32_t, uint32_t> stepThreadOf_;
    std::vector<uint8_t> isStepText_;  ///< By text: not examined, no step, step.
    std::vector<uint32_t> nameOf_;     ///< Name number of each family in the tree.
    uint32_t stepName_ = noIndex;
    std::set<const StepSpan*> lastSteps_;
    std::vector<bool> isCounted_;
};

}  // namespace

uint32_t WorkNames::numberOf(EventRef work) {
    return visitKind(work.kind(), [&](auto each) {
        const uint64_t key = keyOf(trace_, each, work.row()) << 8 | static_cast<uint64_t>(work.kind());
        const auto [known, isNew] = known_.try_emplace(key, 0);
        if (isNew) known->second = tree_.nameNumber(textOf(trace_, each, work.row()));
        return known->second;
    });
}

FlameTree::Frame WorkNames::frameOf(EventRef work) const {
    return visitKind(work.kind(), [&](auto each) {
        return FlameTree::Frame{.kind = FrameKind::Work, .category = each.categoryOf(trace_, work.row())};
    });
}

RangeTree makeRangeTree(const Trace& trace, const RangeTreeOptions& options) {
    return TreeMaker(trace, options).make();
}

}  // namespace lanescope
