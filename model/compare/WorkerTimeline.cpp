// SPDX-License-Identifier: Apache-2.0
#include "model/compare/WorkerTimeline.h"

#include "model/compare/IdleCauses.h"

namespace lanescope::compare {

WorkerTimeline::WorkerTimeline(const RunContext& run, const WorkerId& worker,
                               const std::vector<TimeRange>& steps)
    : work_(workOf(run, worker, table_)) {
    std::array<std::vector<Stretch>, stepPartCount> ofPart;
    for (const GpuWork& work : work_)
        ofPart[static_cast<size_t>(work.part)].push_back(
            {work.startNs, work.endNs, work.contributor});
    for (size_t part = 0; part < stepPartCount; ++part)
        claims_[part] = withoutOverlaps(std::move(ofPart[part]));
    IdleCauses causes(run, worker, steps, work_, table_);
    for (const StepPart part : {StepPart::DataLoading, StepPart::Synchronization,
                                StepPart::LaunchBound, StepPart::OtherIdle})
        claims_[static_cast<size_t>(part)] = causes.claims(part);
    nothing_ = causes.unknownCause();
}

void WorkerTimeline::split(const std::vector<TimeRange>& windows, const Sink& sink) const {
    FreeTime time(windows);
    for (size_t index = 0; index < stepPartCount; ++index)
        time.take(claims_[index],
                  [&](uint32_t window, int64_t startNs, int64_t endNs, uint32_t contributor) {
                      sink(window, static_cast<StepPart>(index), endNs - startNs, contributor);
                  });
    for (const Stretch& left : time.left())
        sink(left.label, StepPart::OtherIdle, left.endNs - left.startNs, nothing_);
}

}  // namespace lanescope::compare
