// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/WorkerTimeline.h"

#include "model/analysis/IdleCauses.h"

namespace lanescope::analysis {

WorkerTimeline::WorkerTimeline(const RunContext& run, const WorkerSteps& steps, int64_t sinceNs)
    : work_(workOf(run, workerOf(steps), table_)) {
    claims_.fill(Intervals(run.trace.memory.get()));
    const auto claim = [this](StepPart part, const LabelledInterval& stretch) {
        claims_[static_cast<size_t>(part)].push_back(stretch);
    };
    for (WorkList::Reader work(work_); !work.isAtEnd(); work.next()) {
        if (work->movingFromNs > work->startNs)
            claim(StepPart::WaitingForRanks, {work->startNs, work->movingFromNs, work->waiting});
        if (work->movingFromNs < work->endNs || work->movingFromNs == work->startNs)
            claim(work->part, {work->movingFromNs, work->endNs, work->contributor});
    }
    for (Intervals& claims : claims_) claims = withoutOverlaps(std::move(claims));
    IdleCauses causes(run, steps, work_, table_, sinceNs);
    for (size_t index = 0; index < stepPartCount; ++index)
        if (const auto part = static_cast<StepPart>(index); isIdle(part)) claims_[index] = causes.claims(part);
    nothing_ = causes.unknownCause();
}

void WorkerTimeline::split(const std::vector<TimeRange>& windows, const Sink& sink) const {
    splitInTime(windows, [&sink](const Piece& piece) {
        sink(piece.window, piece.part, piece.range.durationNs(), piece.contributor);
    });
}

void WorkerTimeline::splitInTime(const std::vector<TimeRange>& windows,
                                 const std::function<void(const Piece&)>& sink) const {
    UnassignedTime time(windows, work_.memory());
    for (size_t index = 0; index < stepPartCount; ++index)
        time.take(claims_[index], [&](uint32_t window, int64_t startNs, int64_t endNs, uint32_t contributor) {
            sink({window, {startNs, endNs}, static_cast<StepPart>(index), contributor});
        });
    for (Intervals::Reader left(time.left()); !left.isAtEnd(); left.next())
        sink({left->label, {left->startNs, left->endNs}, StepPart::OtherIdle, nothing_});
}

RunWorkers::RunWorkers(const Trace& trace, const RunSteps& steps)
    : run_(std::make_shared<const RunContext>(trace, steps)) {
    for (const WorkerSteps& worker : steps.workers)
        if (!worker.steps.empty()) workers_.push_back(worker);
}

Result<RunWorkers> RunWorkers::of(const Trace& trace, const StepSelection& selection) {
    const Result<RunSteps> steps = findSteps(trace, selection);
    if (!steps) return fail(steps.error());
    return RunWorkers(trace, *steps);
}

const WorkerSteps* RunWorkers::find(uint32_t pid, int64_t gpuId) const {
    const auto found = std::ranges::find_if(workers_, [&](const WorkerSteps& each) {
        return trace().processes[each.process].pid == pid && trace().gpus[each.gpu].id == gpuId;
    });
    return found == workers_.end() ? nullptr : &*found;
}

WorkerTimeline RunWorkers::timelineOf(const WorkerSteps& worker) const { return WorkerTimeline(*run_, worker); }

const Trace& RunWorkers::trace() const { return run_->trace; }

std::vector<TimeRange> rangesOf(const WorkerSteps& worker) { return mapped(worker.steps, &StepSpan::range); }

PartTimeline::PartTimeline(const WorkerTimeline& timeline, TimeRange range) : range_(range) {
    for (const Contributor& each : timeline.contributors()) parts_.push_back(each.part);
    if (range.isEmpty()) return;
    struct Piece {
        int64_t startNs;
        uint32_t contributor;
    };
    std::vector<Piece> pieces;
    timeline.splitInTime({range}, [&pieces](const WorkerTimeline::Piece& piece) {
        pieces.push_back({piece.range.startNs, piece.contributor});
    });
    std::ranges::sort(pieces, {}, &Piece::startNs);
    startNs_.reserve(pieces.size());
    contributors_.reserve(pieces.size());
    for (const Piece& piece : pieces) {
        startNs_.push_back(piece.startNs);
        contributors_.push_back(piece.contributor);
    }
    StepParts sum;
    for (size_t piece = 0; piece < startNs_.size(); ++piece) {
        if (piece % blockSize == 0) before_.push_back(sum);
        sum[parts_[contributors_[piece]]] += endOf(piece) - startNs_[piece];
    }
    before_.shrink_to_fit();
}

StepParts PartTimeline::sumBefore(int64_t timeNs) const {
    const size_t last = pieceAt(timeNs);
    StepParts sum = before_[last / blockSize];
    for (size_t piece = last / blockSize * blockSize; piece < last; ++piece)
        sum[parts_[contributors_[piece]]] += endOf(piece) - startNs_[piece];
    sum[parts_[contributors_[last]]] += timeNs - startNs_[last];
    return sum;
}

void PartTimeline::columns(TimeRange asked, size_t count, std::vector<StepParts>& sums) const {
    sums.assign(count, {});
    if (startNs_.empty()) return;
    const double widthNs = static_cast<double>(asked.durationNs()) / static_cast<double>(count);
    const auto edge = [&](size_t column) {
        return std::clamp(asked.startNs + static_cast<int64_t>(widthNs * static_cast<double>(column)), range_.startNs,
                          range_.endNs);
    };
    StepParts before = sumBefore(edge(0));
    for (size_t column = 0; column < count; ++column) {
        if (edge(column + 1) <= edge(column)) continue;
        const StepParts after = sumBefore(edge(column + 1));
        for (size_t part = 0; part < stepPartCount; ++part) sums[column].ns[part] = after.ns[part] - before.ns[part];
        before = after;
    }
}

}  // namespace lanescope::analysis
