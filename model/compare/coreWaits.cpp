// SPDX-License-Identifier: Apache-2.0
#include "model/compare/coreWaits.h"

#include <algorithm>
#include <vector>

#include "model/values/Statistics.h"

namespace lanescope::compare {

namespace {

/// Of the time of the steps. Every thread waits for a core now and then.
constexpr double leastWaitShare = 0.01;

/// How much of a range lies in steps.
class TimeInSteps {
  public:
    explicit TimeInSteps(std::span<const TimeRange> steps) : steps_(steps) {
        int64_t sumNs = 0;
        for (const TimeRange& step : steps) {
            beforeNs_.push_back(sumNs);
            sumNs = saturatingSum(sumNs, step.durationNs());
        }
        beforeNs_.push_back(sumNs);
    }
    int64_t allNs() const { return beforeNs_.back(); }
    int64_t in(TimeRange range) const { return before(range.endNs) - before(range.startNs); }

  private:
    /// Of the time before that moment.
    int64_t before(int64_t ns) const {
        const auto next = std::ranges::partition_point(
            steps_, [ns](const TimeRange& each) { return each.startNs < ns; });
        const auto count = static_cast<size_t>(next - steps_.begin());
        if (count == 0) return 0;
        const int64_t beyondNs = std::max<int64_t>(steps_[count - 1].endNs - ns, 0);
        return beforeNs_[count] - beyondNs;
    }

    const std::span<const TimeRange> steps_;
    std::vector<int64_t> beforeNs_;  ///< In steps before each, and in all.
};

/// For how long in such a state a thread wanted a core and had none, as the kernel counted.
double withoutCoreNs(const CpuStateTable& states, uint32_t row) {
    const auto wholeNs = static_cast<double>(states.endNs[row] - states.startNs[row]);
    const double ranNs = std::clamp(static_cast<double>(states.cpuNs[row]), 0.0, wholeNs);
    const double delayNs =
        std::clamp(static_cast<double>(states.delayNs[row]), 0.0, wholeNs - ranNs);
    return states.state[row] == ThreadState::Runnable ? wholeNs - ranNs : delayNs;
}

}  // namespace

std::optional<CoreWaits> coreWaits(const Trace& trace, const StatesOfThreads& states,
                                   std::span<const uint32_t> threads,
                                   std::span<const TimeRange> steps) {
    const CpuStateTable& table = trace.cpuStates;
    const TimeInSteps time(steps);
    if (time.allNs() == 0) return std::nullopt;
    const TimeRange whole{steps.front().startNs, steps.back().endNs};
    std::optional<CoreWaits> waits;
    for (const uint32_t thread : threads) {
        if (!states.isCounted(thread)) continue;
        double waitedNs = 0;
        states.forEachIn(thread, whole, [&](uint32_t row, TimeRange piece) {
            const int64_t ns = time.in(piece);
            if (ns <= 0) return;
            if (!waits) waits.emplace();
            waitedNs += withoutCoreNs(table, row) * static_cast<double>(ns) /
                        static_cast<double>(table.endNs[row] - table.startNs[row]);
        });
        const auto ns = static_cast<int64_t>(waitedNs);
        if (ns == 0 || waitedNs < leastWaitShare * static_cast<double>(time.allNs())) continue;
        ++waits->threads;
        waits->ns = saturatingSum(waits->ns, ns);
    }
    return waits;
}

}  // namespace lanescope::compare
