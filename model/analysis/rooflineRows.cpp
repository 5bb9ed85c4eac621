// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/rooflineRows.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/analysis/StepSelection.h"
#include "model/analysis/useInSteps.h"
#include "model/numbers/Statistics.h"

namespace lanescope::analysis {

namespace {

double perSecond(int64_t each, int64_t count, int64_t ns) {
    return ns > 0 ? static_cast<double>(each) * static_cast<double>(count) * 1e9 / static_cast<double>(ns) : 0;
}

/// Row under construction, and its part within steps.
struct RowSum {
    RooflineRow row;
    int64_t inSteps = 0, inStepsNs = 0;
};

/// Steps of a process on a GPU, and those with shapes.
struct ShapedSteps {
    const WorkerSteps* steps = nullptr;
    std::set<uint32_t> seen;
};

class RowMaker {
  public:
    RowMaker(const Trace& trace, std::optional<TimeRange> range)
        : trace_(trace), range_(range), calls_(shapedCalls(trace)) {}

    Roofline make() {
        Roofline made;
        if (calls_.isEmpty()) return made;
        if (const auto found = findSteps(trace_); found && !range_) steps_ = *found;
        if (steps_.source != StepSource::WholeRun)
            for (const WorkerSteps& each : steps_.workers) shaped_[{each.process, each.gpu}].steps = &each;
        for (const ShapedCall& call : calls_.calls) take(call);
        // A row is of one GPU.
        std::map<uint32_t, int64_t> stepsOf;
        for (const auto& [worker, shaped] : shaped_) stepsOf[worker.second] += static_cast<int64_t>(shaped.seen.size());
        for (auto& [key, sum] : sums_) {
            const int64_t steps = stepsOf[sum.row.gpu];
            if (steps > 0 && sum.row.work.roofNs > 0) {
                ShapedWork inSteps = sum.row.work;
                inSteps.count = sum.inSteps;
                inSteps.kernelNs = sum.inStepsNs;
                sum.row.aboveRoofPerStepNs = inSteps.aboveRoofNs() / steps;
            }
            made.rows.push_back(std::move(sum.row));
        }
        std::ranges::stable_sort(made.rows, [](const RooflineRow& a, const RooflineRow& b) {
            const auto key = [](const RooflineRow& row) {
                return std::tuple(row.work.roofNs > 0, row.aboveRoofPerStepNs.value_or(0), row.work.aboveRoofNs(),
                                  row.work.kernelNs);
            };
            return key(a) > key(b);
        });
        addRoofs(made);
        addKernels(made);
        return made;
    }

  private:
    bool isIn(int64_t startNs) const { return !range_ || (startNs >= range_->startNs && startNs < range_->endNs); }

    void take(const ShapedCall& call) {
        if (!isIn(call.onGpu.startNs)) return;
        const ShapedGroup& group = calls_.groups[call.group];
        const std::tuple key(group.work.operation, group.work.shape, group.precision, group.gpu, group.frame,
                             group.isLent, group.isRecomputed);
        const auto [found, isNew] = sums_.try_emplace(key);
        RowSum& sum = found->second;
        if (isNew) {
            sum.row.work = describe(trace_, group);
            sum.row.gpu = group.gpu;
            sum.row.longest = group.kernel;
        }
        ++sum.row.work.count;
        sum.row.work.kernelNs = saturatingSum(sum.row.work.kernelNs, call.kernelNs);
        const auto worker = shaped_.find({group.process, group.gpu});
        if (worker == shaped_.end()) return;
        const uint32_t step = worker->second.steps->stepOf(call.onGpu.startNs, call.launchedNs);
        if (step == noIndex) return;
        worker->second.seen.insert(step);
        ++sum.inSteps;
        sum.inStepsNs = saturatingSum(sum.inStepsNs, call.kernelNs);
    }

    void addRoofs(Roofline& made) const {
        std::map<uint32_t, std::set<std::string>> precisions;
        for (const RooflineRow& row : made.rows) {
            std::set<std::string>& known = precisions[row.gpu];
            if (row.work.kind != OperatorKind::Elementwise && !row.work.precision.empty())
                known.insert(row.work.precision);
        }
        for (const auto& [gpu, names] : precisions) {
            GpuRoofs& roofs = made.roofs.emplace_back();
            roofs.gpu = gpu;
            roofs.memory = memoryRoof(trace_, gpu);
            for (const std::string& precision : names)
                if (const RoofRate rate = computeRoof(trace_, gpu, precision); rate.perSecond > 0)
                    roofs.compute.push_back({precision, rate});
            std::ranges::stable_sort(roofs.compute, std::ranges::greater(),
                                     [](const GpuRoofs::Compute& each) { return each.rate.perSecond; });
        }
    }

    void addKernels(Roofline& made) const {
        const KernelTable& kernels = trace_.kernels;
        for (uint32_t row = 0; row < kernels.size(); ++row)
            if (isIn(kernels.startNs[row]) && !trace_.launchConfigs.isCollective(kernels.config[row]))
                made.kernelNs = saturatingSum(made.kernelNs, kernels.endNs[row] - kernels.startNs[row]);
        for (const uint32_t row : calls_.knownKernels)
            if (isIn(kernels.startNs[row]))
                made.knownKernelNs = saturatingSum(made.knownKernelNs, kernels.endNs[row] - kernels.startNs[row]);
    }

    using Key = std::tuple<std::string, std::string, std::string_view, uint32_t, uint32_t, bool, bool>;

    const Trace& trace_;
    const std::optional<TimeRange> range_;
    const ShapedCalls calls_;
    RunSteps steps_;
    std::map<std::pair<uint32_t, uint32_t>, ShapedSteps> shaped_;  ///< By process and GPU.
    std::map<Key, RowSum> sums_;
};

}  // namespace

double RooflineRow::flopsPerSecond() const { return perSecond(work.flops, work.count, work.kernelNs); }

double RooflineRow::bytesPerSecond() const { return perSecond(work.bytes, work.count, work.kernelNs); }

double RooflineRow::intensity() const {
    return work.bytes > 0 ? static_cast<double>(work.flops) / static_cast<double>(work.bytes) : 0;
}

Roofline rooflineOf(const Trace& trace, std::optional<TimeRange> range) { return RowMaker(trace, range).make(); }

}  // namespace lanescope::analysis
