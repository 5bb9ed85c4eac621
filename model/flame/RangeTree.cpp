// SPDX-License-Identifier: Apache-2.0
#include "model/flame/RangeTree.h"

#include <algorithm>
#include <set>

#include "model/analysis/StepSelection.h"
#include "model/analysis/stepRanges.h"
#include "model/numbers/Statistics.h"
#include "model/text/knownRangeName.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

/// Work with equal keys has the same name.
uint64_t keyOf(const Trace& trace, kinds::Kernel, uint32_t row) { return trace.kernels.config[row]; }
uint64_t keyOf(const Trace& trace, kinds::Memcpy, uint32_t row) {
    return static_cast<uint64_t>(trace.memcpys.kind[row]);
}
template <class Kind>
uint64_t keyOf([[maybe_unused]] const Trace& trace, Kind, [[maybe_unused]] uint32_t row) {
    if constexpr (requires { Kind::nameKey(trace, row); })
        return Kind::nameKey(trace, row);
    else
        return 0;  // One name for the whole kind.
}

/// Copies are named as a search finds them.
std::string textOf(const Trace& trace, kinds::Memcpy, uint32_t row) {
    return std::string(searchName(trace.memcpys.kind[row]));
}
std::string textOf(const Trace&, kinds::Memset, uint32_t) { return "memset"; }
template <class Kind>
std::string textOf(const Trace& trace, Kind, uint32_t row) {
    return Kind::nameOf(trace, row);
}

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
        StepSelection selection;
        selection.rangeName = options_.stepName;
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
