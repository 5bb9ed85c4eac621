// SPDX-License-Identifier: Apache-2.0
#include "model/explain/rankLens.h"

#include <algorithm>

namespace lanescope::explain {

using namespace compare;

namespace {

constexpr double strongestFrom = 0.99;  // quantile

template <class Visit>
void forEachStep(const RunSummary& run, Visit visit) {
    for (const WorkerSummary& worker : run.workers)
        for (const StepSummary& step : worker.steps) visit(step);
}

}  // namespace

std::string name(const LensMeasure& measure) {
    switch (measure.kind) {
        case LensMeasure::Kind::OwnTime:
            return "own time";
        case LensMeasure::Kind::Time:
            return "time";
        case LensMeasure::Kind::Part:
            break;
    }
    return std::string(compare::name(measure.part));
}

int64_t valueOf(const StepSummary& step, const LensMeasure& measure) {
    switch (measure.kind) {
        case LensMeasure::Kind::OwnTime:
            return step.wallNs - step.parts[StepPart::WaitingForRanks] -
                   step.parts[StepPart::ExposedCommunication];
        case LensMeasure::Kind::Time:
            return step.wallNs;
        case LensMeasure::Kind::Part:
            break;
    }
    return step.parts[measure.part];
}

std::vector<LensMeasure> measuresOf(const RunSummary& run) {
    std::vector<LensMeasure> measures{{LensMeasure::Kind::OwnTime, {}},
                                      {LensMeasure::Kind::Time, {}}};
    StepParts any;
    forEachStep(run, [&any](const StepSummary& step) {
        for (size_t part = 0; part < stepPartCount; ++part) any.ns[part] |= step.parts.ns[part];
    });
    for (size_t part = 0; part < stepPartCount; ++part)
        if (any.ns[part] != 0)
            measures.push_back({LensMeasure::Kind::Part, static_cast<StepPart>(part)});
    return measures;
}

double LensScale::shareOf(int64_t ns) const {
    if (highNs <= lowNs) return 0;
    return std::clamp(static_cast<double>(ns - lowNs) / static_cast<double>(highNs - lowNs), 0.0,
                      1.0);
}

LensScale scaleOf(const RunSummary& run, const LensMeasure& measure) {
    std::vector<int64_t> values;
    forEachStep(run, [&](const StepSummary& step) { values.push_back(valueOf(step, measure)); });
    if (values.empty()) return {};
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(
                                         strongestFrom * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    LensScale scale{*std::min_element(values.begin(), values.end()), *at};
    // Few steps, of which one stands out: else all would be alike.
    if (scale.highNs == scale.lowNs) scale.highNs = *std::max_element(values.begin(), values.end());
    return scale;
}

}  // namespace lanescope::explain
