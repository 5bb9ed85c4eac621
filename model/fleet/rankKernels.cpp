// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "model/fleet/RankDetails.h"

namespace lanescope::fleet {

namespace {

struct Sum {
    int64_t count = 0, totalNs = 0, mostNs = 0;

    void add(int64_t durationNs) {
        ++count;
        totalNs += durationNs;
        mostNs = std::max(mostNs, durationNs);
    }
};

/// Gives each name that takes long a column, all others the last one.
struct NameColumns {
    std::vector<uint32_t> columnOf;  ///< By name.
    std::vector<StringIndex> names;  ///< By column, without the last.
};

NameColumns columnsFor(const std::vector<int64_t>& totalNs) {
    NameColumns made;
    std::vector<StringIndex> order;
    for (StringIndex name = 0; name < totalNs.size(); ++name)
        if (totalNs[name] > 0) order.push_back(name);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return totalNs[a] > totalNs[b]; });
    if (order.size() > mostKernelNames) order.resize(mostKernelNames);
    made.columnOf.assign(totalNs.size(), static_cast<uint32_t>(order.size()));
    for (uint32_t column = 0; column < order.size(); ++column)
        made.columnOf[order[column]] = column;
    made.names = std::move(order);
    return made;
}

/// Calls `visit(row, name)` for each kernel of the worker.
template <class Visit>
void forEachKernel(const Trace& trace, const WorkerSteps& worker, Visit visit) {
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        const Stream& stream = trace.streams[trace.kernels.stream[row]];
        if (stream.process == worker.process && stream.gpu == worker.gpu)
            visit(row, trace.launchConfigs[trace.kernels.config[row]].shortName);
    }
}

int64_t durationOf(const Trace& trace, uint32_t row) {
    return TimeRange{trace.kernels.startNs[row], trace.kernels.endNs[row]}.durationNs();
}

}  // namespace

void addKernels(const Trace& trace, const LaunchRows& launches, const WorkerSteps& steps,
                uint32_t worker, std::vector<StepKernels>& out) {
    std::vector<int64_t> totalNs(trace.strings.size(), 0);
    forEachKernel(trace, steps,
                  [&](uint32_t row, StringIndex name) { totalNs[name] += durationOf(trace, row); });
    const NameColumns columns = columnsFor(totalNs);
    const size_t width = columns.names.size() + 1;
    const size_t stepCount = steps.steps.size();
    const size_t most = std::max<size_t>(mostKernelRows / width, 1);
    const size_t stretch = std::max<size_t>((stepCount + most - 1) / most, 1);
    std::vector<Sum> sums((stepCount + stretch - 1) / stretch * width);
    forEachKernel(trace, steps, [&](uint32_t row, StringIndex name) {
        const uint32_t call = launches.ofKernel[row];
        const uint32_t step = steps.stepOf(
            trace.kernels.startNs[row],
            call == noIndex ? std::nullopt : std::optional<int64_t>(trace.apiCalls.startNs[call]));
        if (step != noIndex)
            sums[step / stretch * width + columns.columnOf[name]].add(durationOf(trace, row));
    });
    for (size_t cell = 0; cell < sums.size(); ++cell) {
        const Sum& sum = sums[cell];
        if (sum.count == 0) continue;
        const size_t first = cell / width * stretch;
        const size_t column = cell % width;
        out.push_back({worker,
                       column < columns.names.size()
                           ? std::string(trace.strings.at(columns.names[column]))
                           : std::string(),
                       static_cast<uint32_t>(first),
                       static_cast<uint32_t>(std::min(stretch, stepCount - first)), sum.count,
                       sum.totalNs, sum.mostNs});
    }
}

}  // namespace lanescope::fleet
