// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/rooflineRows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/analysis/StepSelection.h"
#include "model/bandwidth/tensorUse.h"
#include "model/numbers/Statistics.h"

namespace lanescope::analysis {

namespace {

/// A reading counts for an interval if it lies in it but for this share, as steps of busy GPUs leave tiny gaps.
constexpr double minWithinShare = 0.95;
/// Minimum share of the steps' time with readings. Below it, readings of the whole run count.
constexpr double minStepsShare = 0.5;
/// Maximum rate, faster than any GPU, so that sums of corrupt values stay finite.
constexpr double maxPerSecond = 1e18;

int64_t rounded(double value) { return std::llround(std::clamp(value, 0.0, maxPerSecond)); }

/// Mean of activity times clock over readings.
struct ActivityMean {
    double weighted = 0;
    int64_t ns = 0, readings = 0, longestNs = 0;

    void add(const TensorReading& reading) {
        const int64_t here = reading.range.durationNs();
        weighted += reading.activity * reading.clockHz * static_cast<double>(here);
        ns += here;
        ++readings;
        longestNs = std::max(longestNs, here);
    }
    double activeHz() const { return ns > 0 ? weighted / static_cast<double>(ns) : 0; }
};

/// Returns the time of `range` in the steps; `first` is a step at or before it, and moves on.
int64_t timeInSteps(TimeRange range, std::span<const TimeRange> steps, size_t& first) {
    while (first < steps.size() && steps[first].endNs <= range.startNs) ++first;
    int64_t ns = 0;
    for (size_t step = first; step < steps.size() && steps[step].startNs < range.endNs; ++step)
        ns += std::max<int64_t>(0, steps[step].intersected(range).durationNs());
    return ns;
}

bool isWithin(int64_t insideNs, TimeRange reading) {
    return static_cast<double>(insideNs) >= minWithinShare * static_cast<double>(reading.durationNs());
}

void addCounters(const Trace& trace, const UseQuery& query, UseInSteps& made) {
    made.activePerSecond.resize(query.steps.size());
    if (query.steps.empty()) return;
    ComputeUse& use = made.use;
    const Gpu& gpu = trace.gpus[query.gpu];
    const double perClock =
        flopsPerActiveClockOfSm(gpu.computeMajor, gpu.computeMinor, use.precision) * static_cast<double>(gpu.smCount);
    const TimeRange whole{query.steps.front().startNs, query.steps.back().endNs};
    const TensorReadings read = tensorReadings(trace, query.gpu, whole);
    if (read.readings.empty() || perClock <= 0) return;

    ActivityMean ofSteps, ofRun;
    std::vector<ActivityMean> ofStep(query.steps.size());
    std::vector<bool> isRead(query.steps.size());
    size_t first = 0;
    const int64_t stepsNs = sumOf(query.steps, &TimeRange::durationNs);
    for (const TensorReading& reading : read.readings) {
        // A part of a reading at either end is a mean of other times, too.
        if (static_cast<double>(reading.range.durationNs()) < minWithinShare * static_cast<double>(reading.wholeNs))
            continue;
        if (isWithin(whole.intersected(reading.range).durationNs(), reading.range)) ofRun.add(reading);
        if (!isWithin(timeInSteps(reading.range, query.steps, first), reading.range)) continue;
        ofSteps.add(reading);
        for (size_t step = first; step < query.steps.size() && query.steps[step].startNs < reading.range.endNs;
             ++step) {
            isRead[step] = true;
            if (isWithin(query.steps[step].intersected(reading.range).durationNs(), reading.range))
                ofStep[step].add(reading);
        }
    }
    const bool isOfSteps = static_cast<double>(ofSteps.ns) >= minStepsShare * static_cast<double>(stepsNs);
    const ActivityMean& mean = isOfSteps ? ofSteps : ofRun;
    if (mean.ns <= 0) return;
    use.sampler = read.sampler;
    use.activePerSecond = rounded(mean.activeHz() * perClock);
    use.readings = mean.readings;
    use.readingNs = mean.longestNs;
    use.knownNs = mean.ns;
    use.readSteps = isOfSteps ? std::ranges::count(isRead, true) : 0;
    use.isShared = query.isShared;
    for (size_t step = 0; step < query.steps.size(); ++step)
        if (static_cast<double>(ofStep[step].ns) >=
            minReadShare * static_cast<double>(std::max<int64_t>(1, query.steps[step].durationNs())))
            made.activePerSecond[step] = rounded(ofStep[step].activeHz() * perClock);
}

/// Returns the precision of most model operations of a worker; empty without any.
std::string precisionOfMost(const ShapedCalls& calls, const UseQuery& query) {
    std::map<std::string_view, double> sums;
    for (const ShapedCall& call : calls.calls) {
        const ShapedGroup& group = calls.groups[call.group];
        if (group.process == query.process && group.gpu == query.gpu && !group.precision.empty())
            sums[group.precision] += group.modelFlops();
    }
    const auto most = std::ranges::max_element(sums, {}, [](const auto& each) { return each.second; });
    return most == sums.end() || most->second <= 0 ? std::string() : std::string(most->first);
}

/// Kernels of a worker with known and unknown work in the steps that have shapes.
void addKernelTimes(const Trace& trace, const ShapedCalls& calls, const UseQuery& query,
                    const std::vector<bool>& hasShapes, ComputeUse& use) {
    const KernelTable& kernels = trace.kernels;
    auto known = calls.knownKernels.begin();
    size_t step = 0;
    for (uint32_t row = 0; row < kernels.size(); ++row) {
        while (known != calls.knownKernels.end() && *known < row) ++known;
        const bool isKnown = known != calls.knownKernels.end() && *known == row;
        const Stream& stream = trace.streams[kernels.stream[row]];
        if (stream.process != query.process || stream.gpu != query.gpu) continue;
        while (step < query.steps.size() && query.steps[step].endNs <= kernels.startNs[row]) ++step;
        if (step == query.steps.size()) break;
        if (kernels.startNs[row] < query.steps[step].startNs || !hasShapes[step] ||
            trace.launchConfigs.isCollective(kernels.config[row]))
            continue;
        const int64_t ns = kernels.endNs[row] - kernels.startNs[row];
        use.kernelNs = saturatingSum(use.kernelNs, ns);
        if (isKnown) use.knownKernelNs = saturatingSum(use.knownKernelNs, ns);
    }
}

void addShapes(const Trace& trace, const ShapedCalls& calls, const UseQuery& query, UseInSteps& made) {
    if (calls.isEmpty() || query.steps.empty()) return;
    std::vector<bool> hasShapes(query.steps.size());
    std::map<uint32_t, ShapedWork> byGroup;
    double model = 0, repeated = 0;
    for (const ShapedCall& call : calls.calls) {
        const ShapedGroup& group = calls.groups[call.group];
        if (group.process != query.process || group.gpu != query.gpu) continue;
        const uint32_t step = query.stepOf(call.onGpu.startNs, call.launchedNs);
        if (step >= query.steps.size()) continue;
        hasShapes[step] = hasShapes[step] || group.work.isModelWork();
        model += group.modelFlops();
        repeated += group.repeatedFlops();
        const auto [found, isNew] = byGroup.try_emplace(call.group);
        if (isNew) found->second = describe(trace, group);
        ++found->second.count;
        found->second.kernelNs = saturatingSum(found->second.kernelNs, call.kernelNs);
    }
    ComputeUse& use = made.use;
    use.countedSteps = std::ranges::count(hasShapes, true);
    if (use.countedSteps > 0) {
        for (size_t step = 0; step < query.steps.size(); ++step)
            if (hasShapes[step]) use.countedNs += query.steps[step].durationNs();
        use.modelPerStep = rounded(model / static_cast<double>(use.countedSteps));
        use.repeatedPerStep = rounded(repeated / static_cast<double>(use.countedSteps));
        addKernelTimes(trace, calls, query, hasShapes, use);
    }
    for (auto& [group, work] : byGroup) made.shaped.push_back(std::move(work));
    std::ranges::stable_sort(made.shaped, std::ranges::greater(), &ShapedWork::aboveRoofNs);
    if (made.shaped.size() > maxShapedWorks) made.shaped.resize(maxShapedWorks);
}

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
        std::ranges::stable_sort(made.rows, std::ranges::greater(), [](const RooflineRow& row) {
            return std::tuple(row.work.roofNs > 0, row.aboveRoofPerStepNs.value_or(0), row.work.aboveRoofNs(),
                              row.work.kernelNs);
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

ShapedWork describe(const Trace& trace, const ShapedGroup& group) {
    ShapedWork work;
    work.kind = group.work.kind;
    work.operation = group.work.operation;
    work.shape = group.work.shape;
    work.precision = group.precision;
    work.place = placeOf(trace, group);
    work.kernel = trace.strings.at(trace.launchConfigs.demangledName(trace.kernels.config[group.kernel.row()]));
    work.isRecomputed = group.isRecomputed;
    work.flops = rounded(group.executedFlops());
    work.bytes = rounded(group.work.bytes);
    const RoofTime roof = roofTime(group.work, group.executedFlops(), computeRoof(trace, group.gpu, group.precision),
                                   memoryRoof(trace, group.gpu));
    work.roofNs = rounded(roof.ns);
    work.isMemoryBound = roof.isMemoryBound;
    work.isMeasured = roof.isMeasured;
    return work;
}

UseInSteps computeUse(const Trace& trace, const ShapedCalls& calls, const UseQuery& query) {
    UseInSteps made;
    ComputeUse& use = made.use;
    use.precision = precisionOfMost(calls, query);
    if (use.precision.empty()) use.precision = query.precision;
    if (use.precision.empty()) use.precision = "bf16";
    const Gpu& gpu = trace.gpus[query.gpu];
    use.sheetPerSecond =
        rounded(datasheetFlopsPerSecond(gpu.name, gpu.computeMajor, gpu.computeMinor, gpu.smCount, use.precision));
    if (const RoofRate roof = computeRoof(trace, query.gpu, use.precision); roof.isMeasured)
        use.measuredPerSecond = rounded(roof.perSecond);
    addShapes(trace, calls, query, made);
    // Tensor cores work for none of the others.
    const bool isOfTensorCores = use.precision != "fp32" && use.precision != "fp64";
    if (isOfTensorCores)
        addCounters(trace, query, made);
    else
        made.activePerSecond.resize(query.steps.size());
    if (use.source() == MfuSource::None && made.shaped.empty()) use = {};
    return made;
}

double RooflineRow::flopsPerSecond() const { return perSecond(work.flops, work.count, work.kernelNs); }

double RooflineRow::bytesPerSecond() const { return perSecond(work.bytes, work.count, work.kernelNs); }

double RooflineRow::intensity() const {
    return work.bytes > 0 ? static_cast<double>(work.flops) / static_cast<double>(work.bytes) : 0;
}

Roofline rooflineOf(const Trace& trace, std::optional<TimeRange> range) { return RowMaker(trace, range).make(); }

}  // namespace lanescope::analysis
