// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/pythonLoops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/format/text.h"
#include "model/numbers/MixedMap.h"
#include "model/numbers/Statistics.h"
#include "model/text/kernelFamilies.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

constexpr size_t minIterations = 3;
/// A branch with less than this share of a thread's launches, or of their GPU time, is not searched.
constexpr double minBranchShare = 0.05;
/// A step loop has at least `minAlikeIterations` iterations that launch as much as the median, within `alikeFactor`.
constexpr double minAlikeIterations = 0.7, alikeFactor = 2;
/// Relative difference of the visits of a line from the number of iterations, up to which it belongs to each of them.
constexpr double regularTolerance = 0.1;
/// Minimum GPU time of a loop, as a share of the loop with most GPU time, as for ranges.
constexpr double minShareOfLargestLoop = 0.5;
/// Minimum share of all launches inside of the only call of a model.
constexpr double minShareOfOnlyCall = 0.5;
/// Maximum share of GPU time, and of launches per visit, of lines that only interrupt a repeated call, as logging does.
constexpr double maxInterruptingShare = 0.01, maxInterruptingLaunches = 3;
/// A graph that one line launches is the unit if other lines of the loop are visited this many times less often.
constexpr size_t minRepeatedGraphs = 4;
/// Maximum number of frames from the outermost to a loop. A loop further inside is a library's.
constexpr int maxDepth = 96;

/// Functions through which a framework calls a module of a model.
struct ModuleCall {
    std::string_view file;  ///< Part of its path.
    std::string_view function;
};
constexpr std::array moduleCalls{
    ModuleCall{"torch/nn/modules/module.py", "_call_impl"},
    ModuleCall{"torch/nn/modules/module.py", "_slow_forward"},
    ModuleCall{"flax/linen/module.py", "_call_wrapped_method"},
    ModuleCall{"flax/nnx/", "__call__"},
    ModuleCall{"haiku/_src/module.py", "wrapped"},
    ModuleCall{"keras/src/layers/layer.py", "__call__"},
    ModuleCall{"keras/engine/base_layer.py", "__call__"},
};

/// Modules that call others from one line, so that their calls and those of the others look alike.
constexpr ModuleCall container{"torch/nn/modules/container.py", "forward"};

bool isCall(const ModuleCall& call, std::string_view file, std::string_view function) {
    return contains(file, call.file) && contains(function, call.function);
}

bool isModuleCall(std::string_view file, std::string_view function) {
    return std::ranges::any_of(moduleCalls, [&](const ModuleCall& call) { return isCall(call, file, function); });
}

/// Paths of frames as a tree. A node is a function entered from a line of its parent's function, or that line itself.
class FrameTree {
  public:
    using Id = uint32_t;
    static constexpr Id root = 0;

    struct Node {
        Id parent = root;
        int depth = 0;
        bool isInModule = false;   ///< A call of a module, or a frame within one.
        bool isContainer = false;  ///< Calls other modules one after the other from one line.
        uint32_t line = 0;         ///< Line of the parent's function; 0 if unknown.
        uint32_t frame = noIndex;  ///< Row of `Trace::stacks`: the parent's function at that line.
        StringIndex function = 0;  ///< Name of the function, without stacks.
    };

    FrameTree() : nodes_(1) {}

    /// Returns the child by `edge`, which identifies a line and a function; adds it as described by `added`.
    Id child(Id parent, uint64_t edge, Node added) {
        const auto [known, isNew] = children_.try_emplace({parent, edge}, static_cast<Id>(nodes_.size()));
        if (!isNew) return known->second;
        added.parent = parent;
        added.depth = nodes_[parent].depth + 1;
        added.isInModule = added.isInModule || nodes_[parent].isInModule;
        nodes_.push_back(added);
        return known->second;
    }
    const Node& at(Id id) const { return nodes_[id]; }
    /// Returns the ancestor at a depth, the node itself if it is not deeper.
    Id ancestor(Id id, int depth) const {
        while (nodes_[id].depth > depth) id = nodes_[id].parent;
        return id;
    }

  private:
    std::vector<Node> nodes_;
    std::map<std::pair<Id, uint64_t>, Id> children_;
};

struct Launch {
    int64_t startNs = 0, endNs = 0;  ///< Of the call.
    int64_t gpuNs = 0;
    FrameTree::Id node = FrameTree::root;
    uint64_t graphNode = 0;    ///< First kernel node of the launched CUDA graph; 0 without.
    bool isOptimizer = false;  ///< Launches work of an optimizer.
};
using Launches = LargeVector<Launch>;
/// Indices of the launches of a frame.
using Rows = LargeVector<uint32_t>;

/// Launching calls by thread, each with its frames.
class LaunchesOfThreads {
  public:
    explicit LaunchesOfThreads(const Trace& trace)
        : trace_(trace), ofThread_(trace.threads.size(), Launches(trace.memory.get())) {
        sumWork();
        hasStacks_ = trace.stacks.size() > 0 ? addStacks() : false;
        if (!hasStacks_) addFunctions();
    }

    const FrameTree& tree() const { return tree_; }
    const Launches& of(uint32_t thread) const { return ofThread_[thread]; }

  private:
    void sumWork() {
        gpuNs_ = LargeVector<int64_t>(trace_.apiCalls.size(), -1, trace_.memory.get());
        const LaunchRows calls(trace_);
        isOptimizer_.resize(trace_.apiCalls.size());
        std::vector<bool> areOptimizers;
        for (uint32_t config = 0; config < trace_.launchConfigs.size(); ++config)
            areOptimizers.push_back(kernelClass(trace_.strings.at(trace_.launchConfigs.demangledName(config))).family ==
                                    KernelFamily::Optimizer);
        graphNode_.resize(trace_.apiCalls.size());
        for (uint32_t row = 0; row < trace_.kernels.size(); ++row) {
            const uint32_t call = calls.ofKernel[row];
            if (call == noIndex) continue;
            if (areOptimizers[trace_.kernels.config[row]]) isOptimizer_[call] = true;
            if (graphNode_[call] == 0) graphNode_[call] = trace_.kernels.graphNode[row];
        }
        const auto add = [this](const auto& table, const LargeVector<uint32_t>& callOf) {
            for (uint32_t row = 0; row < table.size(); ++row) {
                if (callOf[row] == noIndex) continue;
                int64_t& ns = gpuNs_[callOf[row]];
                ns = saturatingSum(std::max<int64_t>(ns, 0), table.endNs[row] - table.startNs[row]);
            }
        };
        add(trace_.kernels, calls.ofKernel);
        add(trace_.memcpys, calls.ofMemcpy);
        add(trace_.memsets, calls.ofMemset);
        add(trace_.graphs, calls.ofGraph);
    }

    void add(uint32_t call, FrameTree::Id node) {
        const ApiTable& calls = trace_.apiCalls;
        ofThread_[calls.thread[call]].push_back(
            {calls.startNs[call], calls.endNs[call], gpuNs_[call], node, graphNode_[call], isOptimizer_[call]});
    }

    bool addStacks() {
        const StackTable& stacks = trace_.stacks;
        // By row: the node of its function, and that of its line as the place of a launch.
        std::vector<FrameTree::Id> functions(stacks.size()), lines(stacks.size());
        MixedMap<uint64_t, uint32_t> functionIds;
        for (uint32_t row = 0; row < stacks.size(); ++row) {
            const uint32_t outer = outerStack(trace_, row);
            const uint64_t key = uint64_t{stacks.file[row]} << 32 | stacks.function[row];
            const uint32_t function =
                functionIds.try_emplace(key, static_cast<uint32_t>(functionIds.size() + 1)).first->second;
            const FrameTree::Id parent = outer == noIndex ? FrameTree::root : functions[outer];
            // Frames further inside count as the one at the limit.
            if (tree_.at(parent).depth >= maxDepth) {
                functions[row] = parent;
                lines[row] = lines[outer];
                continue;
            }
            const uint64_t line = outer == noIndex ? 0 : stacks.line[outer];
            const std::string_view file = trace_.strings.at(stacks.file[row]);
            const std::string_view name = trace_.strings.at(stacks.function[row]);
            functions[row] = tree_.child(parent, line << 32 | function,
                                         {.isInModule = isModuleCall(file, name),
                                          .isContainer = isCall(container, file, name),
                                          .line = static_cast<uint32_t>(line),
                                          .frame = outer,
                                          .function = stacks.function[row]});
            lines[row] =
                tree_.child(functions[row], uint64_t{stacks.line[row]} << 32, {.line = stacks.line[row], .frame = row});
        }
        bool isAny = false;
        for (uint32_t call = 0; call < trace_.apiCalls.size(); ++call) {
            const uint32_t stack = trace_.apiCalls.stack[call];
            if (gpuNs_[call] < 0 || stack >= stacks.size() || trace_.apiCalls.isStackLent[call] != 0) continue;
            add(call, lines[stack]);
            isAny = true;
        }
        return isAny;
    }

    /// Files of torch.profiler have the Python functions as ranges, without the lines of their calls.
    void addFunctions() {
        struct Open {
            int64_t endNs;
            FrameTree::Id node;
            StringIndex text;
        };
        std::vector<std::vector<Open>> open(trace_.threads.size());
        struct Known {
            uint64_t edge = 0;
            bool isModule = false, isContainer = false;
        };
        std::vector<Known> known(trace_.strings.size());
        std::map<std::string, uint64_t> edges;
        const auto close = [](std::vector<Open>& ofThread, int64_t nowNs) {
            while (!ofThread.empty() && ofThread.back().endNs <= nowNs) ofThread.pop_back();
        };
        uint32_t call = 0;
        const auto addCallsUntil = [&](int64_t endNs) {
            for (; call < trace_.apiCalls.size() && trace_.apiCalls.startNs[call] < endNs; ++call) {
                if (gpuNs_[call] < 0) continue;
                std::vector<Open>& ofThread = open[trace_.apiCalls.thread[call]];
                close(ofThread, trace_.apiCalls.startNs[call]);
                if (!ofThread.empty())
                    add(call, tree_.child(ofThread.back().node, 0, {.function = ofThread.back().text}));
            }
        };
        bool isAny = false;
        for (uint32_t row = 0; row < trace_.nvtx.size(); ++row) {
            if (trace_.strings.at(trace_.nvtx.domain[row]) != pythonDomain) continue;
            isAny = true;
            addCallsUntil(trace_.nvtx.startNs[row]);
            const StringIndex text = trace_.nvtx.text[row];
            Known& function = known[text];
            if (function.edge == 0) {
                const std::string_view name = trace_.strings.at(text);
                const bool isProfiledModule = name.starts_with(moduleRangePrefix);
                function.isModule = isProfiledModule || isModuleCall(name, name);
                function.isContainer = isCall(container, name, name);
                // Instances of a class are numbered.
                const std::string kind = isProfiledModule ? rangePattern(name) : std::string(name);
                function.edge = edges.try_emplace(kind, edges.size() + 1).first->second;
            }
            std::vector<Open>& ofThread = open[trace_.nvtx.thread[row]];
            close(ofThread, trace_.nvtx.startNs[row]);
            const FrameTree::Id parent = ofThread.empty() ? FrameTree::root : ofThread.back().node;
            if (tree_.at(parent).depth < maxDepth)
                ofThread.push_back(
                    {trace_.nvtx.endNs[row],
                     tree_.child(
                         parent, function.edge,
                         {.isInModule = function.isModule, .isContainer = function.isContainer, .function = text}),
                     text});
        }
        if (isAny) addCallsUntil(INT64_MAX);
    }

    const Trace& trace_;
    LargeVector<int64_t> gpuNs_;  ///< By call; negative for calls that launch nothing.
    // By call, as in `Launch`.
    std::vector<bool> isOptimizer_;
    std::vector<uint64_t> graphNode_;
    FrameTree tree_;
    std::vector<Launches> ofThread_;
    bool hasStacks_ = false;
};

/// Consecutive launches of one line.
struct Visit {
    FrameTree::Id token = FrameTree::root;
    uint32_t first = 0, last = 0;  ///< Indices of launches of the thread.
    uint32_t count = 0;
};

struct Totals {
    size_t visits = 0, launches = 0, firstVisit = 0;
    int64_t gpuNs = 0;
    bool hasOptimizer = false;
};
using TotalsOf = std::map<FrameTree::Id, Totals>;

/// A loop of one thread.
struct ThreadLoop {
    FrameTree::Id anchor = FrameTree::root;  ///< The line that launches most of an iteration.
    std::vector<StepMark> marks;
};

/// Searches the frames of a thread.
class LoopSearch {
  public:
    LoopSearch(const FrameTree& tree, const Launches& launches) : tree_(tree), launches_(launches) {
        Rows rows(launches.get_allocator().memory());
        for (uint32_t row = 0; row < launches.size(); ++row) {
            rows.push_back(row);
            allNs_ = saturatingSum(allNs_, launches[row].gpuNs);
        }
        search(FrameTree::root, rows, false);
    }

    std::vector<ThreadLoop> loops;
    FrameTree::Id onlyCall = FrameTree::root;  ///< Frame of a module that was called once and launched most.

  private:
    void search(FrameTree::Id frame, const Rows& rows, bool isInLoop) {
        const FrameTree::Node& node = tree_.at(frame);
        if (node.depth >= maxDepth || (node.isInModule && isInLoop) || node.isContainer) return;
        std::vector<Visit> visits;
        TotalsOf totals;
        std::unordered_map<FrameTree::Id, FrameTree::Id> tokens;
        for (const uint32_t row : rows) {
            const auto [known, isNew] = tokens.try_emplace(launches_[row].node, FrameTree::root);
            if (isNew) known->second = tree_.ancestor(launches_[row].node, node.depth + 1);
            const FrameTree::Id token = known->second;
            Totals& all = totals[token];
            if (visits.empty() || visits.back().token != token) {
                if (all.visits++ == 0) all.firstVisit = visits.size();
                visits.push_back({token, row, row, 0});
            }
            visits.back().last = row;
            ++visits.back().count;
            ++all.launches;
            all.gpuNs = saturatingSum(all.gpuNs, launches_[row].gpuNs);
            all.hasOptimizer = all.hasOptimizer || launches_[row].isOptimizer;
        }
        const FrameTree::Id repeated = node.isInModule ? FrameTree::root : splitCalls(node.depth, rows, visits, totals);
        const bool isLoop = addLoop(visits, totals, repeated);
        if (node.isInModule && totals.size() > 1) {
            if (!isLoop && isShare(rows.size(), minShareOfOnlyCall)) onlyCall = frame;
            return;
        }
        for (const auto& [token, all] : totals) {
            const bool isMuch = isShare(all.launches, minBranchShare) ||
                                static_cast<double>(all.gpuNs) >= minBranchShare * static_cast<double>(allNs_);
            if (!isMuch) continue;
            Rows inner(launches_.get_allocator().memory());
            for (const uint32_t row : rows)
                if (launches_[row].node != token && tokens.at(launches_[row].node) == token) inner.push_back(row);
            if (!inner.empty()) search(token, inner, isInLoop || isLoop);
        }
    }

    bool isShare(size_t count, double share) const {
        return static_cast<double>(count) >= share * static_cast<double>(launches_.size());
    }

    /// Returns true if one line launches the same graph twice in a row: it was executed twice.
    bool isRepeatedGraph(uint32_t before, uint32_t row) const {
        return launches_[row].graphNode != 0 && launches_[row].graphNode == launches_[before].graphNode &&
               launches_[row].node == launches_[before].node;
    }

    /// A line in a loop has one visit for many calls if other lines launch only now and then. Splits the visits of the
    /// line with most GPU time: in a training whose other lines launch next to nothing, as for logging, where the
    /// function that it calls begins again after an update of weights; without updates where it launches a graph again
    /// and other lines launch much more rarely. Returns the line if its graphs are the iterations, else
    /// `FrameTree::root`.
    FrameTree::Id splitCalls(int depth, const Rows& rows, std::vector<Visit>& visits, TotalsOf& totals) const {
        const auto most = std::ranges::max_element(totals, {}, [](const auto& each) { return each.second.gpuNs; });
        if (most == totals.end() || most->second.visits < minIterations || tree_.at(most->first).frame == noIndex)
            return FrameTree::root;
        Totals others;  // lines of the same loop
        for (const auto& [token, all] : totals) {
            if (token == most->first || all.visits < minIterations) continue;
            others.visits = std::max(others.visits, all.visits);
            others.launches += all.launches;
            others.gpuNs = saturatingSum(others.gpuNs, all.gpuNs);
            others.hasOptimizer = others.hasOptimizer || all.hasOptimizer;
        }
        const auto visitCount = static_cast<double>(most->second.visits);
        const bool areInterruptions =
            static_cast<double>(others.launches) <= maxInterruptingLaunches * visitCount &&
            static_cast<double>(others.gpuNs) <= maxInterruptingShare * static_cast<double>(most->second.gpuNs);
        const bool isTraining = most->second.hasOptimizer;
        if (others.launches == 0 || others.hasOptimizer || (isTraining && !areInterruptions)) return FrameTree::root;
        const auto inner = [&](uint32_t row) { return tree_.ancestor(launches_[row].node, depth + 2); };
        std::set<FrameTree::Id> begins, ends;
        for (const Visit& each : visits) {
            if (each.token != most->first) continue;
            begins.insert(inner(each.first));
            ends.insert(inner(each.last));
        }
        std::vector<Visit> split;
        auto row = rows.begin();
        for (const Visit& each : visits) {
            const auto end = row + each.count;
            split.push_back({each.token, each.first, each.first, 1});
            bool hasUpdate = launches_[each.first].isOptimizer;
            for (++row; row != end; ++row) {
                const uint32_t before = split.back().last;
                const bool isNextCall = isTraining ? hasUpdate && inner(before) != inner(*row) &&
                                                         ends.contains(inner(before)) && begins.contains(inner(*row))
                                                   : isRepeatedGraph(before, *row);
                if (each.token == most->first && isNextCall) {
                    split.push_back({each.token, *row, *row, 0});
                    hasUpdate = false;
                }
                hasUpdate = hasUpdate || launches_[*row].isOptimizer;
                split.back().last = *row;
                ++split.back().count;
            }
        }
        const size_t splitVisits = most->second.visits + split.size() - visits.size();
        if (!isTraining && splitVisits < minRepeatedGraphs * others.visits) return FrameTree::root;
        most->second.visits = splitVisits;
        visits = std::move(split);
        for (auto& [token, all] : totals)
            all.firstVisit = static_cast<size_t>(std::ranges::find(visits, token, &Visit::token) - visits.begin());
        return isTraining ? FrameTree::root : most->first;
    }

    /// Iterations are the visits of `repeated`, or if that is the root of the line that launches most.
    bool addLoop(const std::vector<Visit>& visits, const TotalsOf& totals, FrameTree::Id repeated) {
        const auto anchor = repeated != FrameTree::root
                                ? totals.find(repeated)
                                : std::ranges::max_element(totals, {}, [](const auto& each) {
                                      return std::pair(each.second.visits >= minIterations, each.second.launches);
                                  });
        if (anchor == totals.end() || anchor->second.visits < minIterations) return false;
        const auto iterations = static_cast<double>(anchor->second.visits);
        const FrameTree::Id first = firstOf(totals, *anchor);
        ThreadLoop loop{anchor->first, {}};
        std::vector<int64_t> counts;
        for (const Visit& each : visits) {
            const TimeRange range{launches_[each.first].startNs, launches_[each.last].endNs};
            if (each.token == first) {
                loop.marks.push_back({range, {}, false});
                counts.push_back(0);
            }
            if (loop.marks.empty()) continue;
            StepMark& mark = loop.marks.back();
            if (static_cast<double>(totals.at(each.token).visits) >= (1 - regularTolerance) * iterations) {
                mark.range.endNs = std::max(mark.range.endNs, range.endNs);
                mark.isInterrupted = false;
                counts.back() += each.count;
            } else if (range.durationNs() > mark.range.durationNs()) {
                mark.isInterrupted = true;
            }
        }
        if (loop.marks.size() < minIterations || !areAlike(counts)) return false;
        loops.push_back(std::move(loop));
        return true;
    }

    /// Returns the line with which an iteration begins: the first of those that are visited as often as the anchor. The
    /// lines of a loop's body are visited in ascending order, though the first iteration may begin in its middle.
    FrameTree::Id firstOf(const TotalsOf& totals, const TotalsOf::value_type& anchor) const {
        const auto iterations = static_cast<double>(anchor.second.visits);
        const auto placeOf = [this](const TotalsOf::value_type& each) {
            return std::pair(tree_.at(each.first).line, each.second.firstVisit);
        };
        const TotalsOf::value_type* first = &anchor;
        for (const TotalsOf::value_type& each : totals)
            if (std::abs(static_cast<double>(each.second.visits) - iterations) <= regularTolerance * iterations &&
                placeOf(each) < placeOf(*first))
                first = &each;
        return first->first;
    }

    static bool areAlike(const std::vector<int64_t>& counts) {
        std::vector<int64_t> sorted = counts;
        const double median = medianOf(sorted);
        const auto alike = std::ranges::count_if(counts, [median](int64_t count) {
            const auto each = static_cast<double>(count);
            return alikeFactor * each >= median && each <= alikeFactor * median;
        });
        return static_cast<double>(alike) >= minAlikeIterations * static_cast<double>(counts.size());
    }

    const FrameTree& tree_;
    const Launches& launches_;
    int64_t allNs_ = 0;
};

/// Collects the loops of all threads by their line.
class LoopsByLine {
  public:
    LoopsByLine(const Trace& trace, const std::vector<WorkerLaunches>& workers) : trace_(trace), workers_(workers) {}

    void add(uint32_t thread, const FrameTree& tree, ThreadLoop loop) {
        const uint32_t process = trace_.threads[thread].process;
        const std::string line = textOf(tree, loop.anchor);
        PythonLoop& all = byLine_[line];
        all.line = line;
        all.depth = tree.at(loop.anchor).depth;
        const auto own = std::ranges::find(all.processes, process, &StepMarks::process);
        if (own == all.processes.end())
            all.processes.push_back({process, thread, std::move(loop.marks)});
        else if (own->marks.size() < loop.marks.size())
            *own = {process, thread, std::move(loop.marks)};
    }

    /// Returns the loops with most of the work, outermost first.
    std::vector<PythonLoop> finish() {
        std::vector<PythonLoop> found;
        int64_t largestNs = 0;
        for (auto& [line, loop] : byLine_) {
            measure(loop);
            if (!loop.isLate) continue;
            largestNs = std::max(largestNs, loop.gpuNs);
            found.push_back(std::move(loop));
        }
        std::erase_if(found, [largestNs](const PythonLoop& loop) {
            return static_cast<double>(loop.gpuNs) < minShareOfLargestLoop * static_cast<double>(largestNs);
        });
        std::ranges::stable_sort(found, {}, &PythonLoop::depth);
        return found;
    }

  private:
    std::string textOf(const FrameTree& tree, FrameTree::Id node) const {
        const FrameTree::Node& at = tree.at(node);
        if (at.frame != noIndex) return frameText(trace_, at.frame);
        return std::string(trace_.strings.at(at.function));
    }

    void measure(PythonLoop& loop) const {
        std::ranges::sort(loop.processes, {}, &StepMarks::process);
        for (const StepMarks& marks : loop.processes) {
            loop.count = std::max(loop.count, marks.marks.size());
            for (const WorkerLaunches& worker : workers_) {
                if (worker.process() != marks.process) continue;
                for (const StepMark& mark : marks.marks)
                    loop.gpuNs = saturatingSum(loop.gpuNs, worker.gpuNs(mark.range));
                loop.isLate = loop.isLate || marks.marks.back().range.endNs >= worker.halfLaunchedNs();
            }
        }
    }

    const Trace& trace_;
    const std::vector<WorkerLaunches>& workers_;
    std::map<std::string, PythonLoop> byLine_;
};

}  // namespace

PythonLoops findPythonLoops(const Trace& trace, const std::vector<WorkerLaunches>& launches) {
    PythonLoops result;
    const auto isPython = [&trace](StringIndex domain) { return trace.strings.at(domain) == pythonDomain; };
    if (trace.stacks.size() == 0 && std::ranges::none_of(trace.nvtx.domain, isPython)) return result;
    const LaunchesOfThreads threads(trace);
    LoopsByLine byLine(trace, launches);
    size_t mostLaunches = 0;
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
        if (threads.of(thread).empty()) continue;
        LoopSearch search(threads.tree(), threads.of(thread));
        for (ThreadLoop& loop : search.loops) byLine.add(thread, threads.tree(), std::move(loop));
        if (search.onlyCall == FrameTree::root || threads.of(thread).size() <= mostLaunches) continue;
        mostLaunches = threads.of(thread).size();
        result.onlyCall = trace.strings.at(threads.tree().at(search.onlyCall).function);
    }
    result.loops = byLine.finish();
    if (!result.loops.empty()) result.onlyCall.clear();
    return result;
}

}  // namespace lanescope
