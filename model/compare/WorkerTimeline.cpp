// SPDX-License-Identifier: Apache-2.0
#include "model/compare/WorkerTimeline.h"

#include "model/compare/IdleCauses.h"

namespace lanescope::compare {

WorkerTimeline::WorkerTimeline(const RunContext& run, const WorkerSteps& steps)
    : work_(workOf(run, workerOf(steps), table_)) {
    std::array<Stretches, stepPartCount> ofPart;
    ofPart.fill(Stretches(run.trace.memory.get()));
    const auto claim = [&ofPart](StepPart part, const Stretch& stretch) {
        ofPart[static_cast<size_t>(part)].push_back(stretch);
    };
    for (const GpuWork& work : work_) {
        if (work.movingFromNs > work.startNs)
            claim(StepPart::WaitingForRanks, {work.startNs, work.movingFromNs, work.waiting});
        if (work.movingFromNs < work.endNs || work.movingFromNs == work.startNs)
            claim(work.part, {work.movingFromNs, work.endNs, work.contributor});
    }
    IdleCauses causes(run, steps, work_, table_);
    for (size_t index = 0; index < stepPartCount; ++index) {
        const auto part = static_cast<StepPart>(index);
        claims_[index] =
            isIdle(part) ? causes.claims(part) : withoutOverlaps(std::move(ofPart[index]));
    }
    nothing_ = causes.unknownCause();
}

void WorkerTimeline::split(const std::vector<TimeRange>& windows, const Sink& sink) const {
    splitInTime(windows, [&sink](const Piece& piece) {
        sink(piece.window, piece.part, piece.range.durationNs(), piece.contributor);
    });
}

void WorkerTimeline::splitInTime(const std::vector<TimeRange>& windows,
                                 const std::function<void(const Piece&)>& sink) const {
    FreeTime time(windows, work_.get_allocator().memory());
    for (size_t index = 0; index < stepPartCount; ++index)
        time.take(claims_[index],
                  [&](uint32_t window, int64_t startNs, int64_t endNs, uint32_t contributor) {
                      sink({window, {startNs, endNs}, static_cast<StepPart>(index), contributor});
                  });
    for (const Stretch& left : time.left())
        sink({left.label, {left.startNs, left.endNs}, StepPart::OtherIdle, nothing_});
}

}  // namespace lanescope::compare
