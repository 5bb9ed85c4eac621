// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/StepMeter.h"

#include <algorithm>
#include <utility>

namespace lanescope::capture {

namespace {

/// GPU work arrives with a flush, each 250 ms, and the next write.
constexpr int64_t arrivalNs = 1'000'000'000;
constexpr size_t maxTextBytes = 64;
constexpr int32_t outOfMemory = 2;  // in cudaError_t and CUresult

/// Length of the union of intervals, added by their starts.
class Union {
  public:
    void add(int64_t startNs, int64_t endNs) {
        totalNs_ += std::max<int64_t>(endNs - std::max(startNs, reachedNs_), 0);
        reachedNs_ = std::max(reachedNs_, endNs);
    }
    int64_t totalNs() const { return totalNs_; }

  private:
    int64_t totalNs_ = 0, reachedNs_ = INT64_MIN;
};

}  // namespace

StepMeter::StepMeter(NameTest isStep, NameTest isCollective)
    : isStep_(std::move(isStep)), isCollective_(std::move(isCollective)) {}

void StepMeter::operator()(const log::StringRecord& record, std::string_view text) {
    uint8_t name = 0;
    if (isStep_(text)) name |= Step;
    if (isCollective_(text)) name |= Collective;
    if (text == "ncclCommAbort" || text == "ncclCommRevoke") name |= Abort;
    if (text == "lanescope:dump") name |= Request;
    if (text.starts_with("cudaMalloc") || text.starts_with("cuMemAlloc") || text.starts_with("cuMemCreate"))
        name |= Allocation;
    if (name != 0) names_.set(record.id, {name, (name & Step) != 0 ? std::string(text.substr(0, maxTextBytes)) : ""});
}

uint8_t StepMeter::kindsOf(uint32_t id) {
    const Text* const found = names_.find(id);
    return found ? found->kinds : uint8_t{0};
}

void StepMeter::operator()(const log::NvtxRecord& record, std::span<const std::byte>) {
    using enum log::NvtxEvent;
    if (!isPossible(record.timestampNs, record.timestampNs)) return;
    if (record.event == Push || record.event == Start || record.event == Mark) {
        const uint8_t name = kindsOf(record.text);
        if ((name & Abort) != 0) note(RemarkableCall::NcclAborted);
        if ((name & Request) != 0) note(RemarkableCall::Requested);
        if (record.event != Mark && (name & Step) != 0) beginStep(record);
    } else if (open_) {
        endStep(record);
    }
}

void StepMeter::beginStep(const log::NvtxRecord& record) {
    if (stepThread_ == 0) stepThread_ = record.threadId;
    if (record.threadId != stepThread_) return;
    if (open_) {
        // A range of a step within a step belongs to it, unless the outer one lost its end.
        const bool isInside = openedBy_.event == log::NvtxEvent::Push
                                  ? record.event != log::NvtxEvent::Push || record.domain != openedBy_.domain ||
                                        record.level > openedBy_.level
                                  : record.event != log::NvtxEvent::Start;
        if (isInside) return;
    }
    open_ = MeasuredStep{};
    open_->startNs = record.timestampNs;
    if (const Text* const text = names_.find(record.text)) open_->name = text->step;
    openedBy_ = record;
}

void StepMeter::endStep(const log::NvtxRecord& record) {
    const bool isPop = record.event == log::NvtxEvent::Pop && openedBy_.event == log::NvtxEvent::Push &&
                       record.threadId == openedBy_.threadId && record.domain == openedBy_.domain &&
                       record.level <= openedBy_.level;
    const bool isEnd = record.event == log::NvtxEvent::End && openedBy_.event == log::NvtxEvent::Start &&
                       record.rangeId == openedBy_.rangeId;
    if (!isPop && !isEnd) return;
    MeasuredStep step = *std::exchange(open_, std::nullopt);
    step.endNs = std::max(record.timestampNs, step.startNs);
    step.number = nextNumber_++;
    progressNs_ = std::max(progressNs_, step.endNs);
    longestStepNs_ = std::max(longestStepNs_, step.durationNs());
    if (ended_.size() < maxSteps) ended_.push_back(std::move(step));
}

void StepMeter::operator()(const log::KernelRecord& record) {
    addWork(record.startNs, record.endNs,
            (kindsOf(record.name) & Collective) != 0 ? Interval::Collective : Interval::Kernel);
}

void StepMeter::operator()(const log::MemcpyRecord& record) { addWork(record.startNs, record.endNs, Interval::Copy); }

void StepMeter::operator()(const log::GraphRecord& record) { addWork(record.startNs, record.endNs, Interval::Graph); }

void StepMeter::operator()(const log::ApiRecord& record) {
    if (record.returnValue != outOfMemory || (kindsOf(record.name) & Allocation) == 0) return;
    note(RemarkableCall::OutOfMemory);
}

void StepMeter::operator()(const log::ClockRecord& record) {
    if (record.realtimeNs <= latestNs_) latestClockNs_ = std::max(latestClockNs_, record.realtimeNs);
}

void StepMeter::operator()(const log::DroppedRecord& record) {
    if (record.what == Loss::NvtxCalls) open_.reset();
}

void StepMeter::operator()(const log::LevelRecord& record) {
    if (record.level == log::RecordingLevel::Asleep) open_.reset();
    if (!levels_.empty() && levels_.back().timestampNs == record.timestampNs) return;  // repeated in each part
    levels_.push_back(record);
    if (levels_.size() > maxLevels) levels_.pop_front();
}

log::RecordingLevel StepMeter::levelAt(int64_t ns) const {
    log::RecordingLevel level = log::RecordingLevel::All;
    for (const log::LevelRecord& each : levels_)
        if (each.timestampNs <= ns) level = each.level;
    return level;
}

int64_t StepMeter::appliedSinceNs(log::RecordingLevel level) const {
    return !levels_.empty() && levels_.back().level == level ? levels_.back().timestampNs : INT64_MAX;
}

void StepMeter::addWork(int64_t startNs, int64_t endNs, Interval::Kind kind) {
    if (!isPossible(startNs, endNs)) return;
    latestWorkNs_ = std::max(latestWorkNs_, endNs);
    // Without steps the work itself is the progress.
    if (nextNumber_ == 0) progressNs_ = std::max(progressNs_, endNs);
    if (work_.size() >= maxWork) return;
    work_.push_back({startNs, endNs, kind});
    longestWorkNs_ = std::max(longestWorkNs_, endNs - startNs);
}

std::vector<RemarkableCall> StepMeter::takeCalls() {
    std::vector<RemarkableCall> taken;
    for (size_t call = 0; call < calls_.size(); ++call)
        if (std::exchange(calls_[call], false)) taken.push_back(static_cast<RemarkableCall>(call));
    return taken;
}

std::vector<MeasuredStep> StepMeter::take(bool isLast) {
    std::vector<MeasuredStep> steps;
    std::ranges::sort(work_, {}, &Interval::startNs);
    while (!ended_.empty() && (isLast || std::max(latestClockNs_, latestWorkNs_) >= ended_.front().endNs + arrivalNs)) {
        measure(ended_.front());
        steps.push_back(std::move(ended_.front()));
        ended_.pop_front();
    }
    // Work before the oldest step that is still to be measured is of no use.
    int64_t neededNs = latestWorkNs_ - 2 * arrivalNs;
    if (!ended_.empty()) neededNs = std::min(neededNs, ended_.front().startNs);
    if (open_) neededNs = std::min(neededNs, open_->startNs);
    std::erase_if(work_, [neededNs](const Interval& each) { return each.endNs < neededNs; });
    longestWorkNs_ = 0;
    for (const Interval& each : work_) longestWorkNs_ = std::max(longestWorkNs_, each.endNs - each.startNs);
    return steps;
}

void StepMeter::measure(MeasuredStep& step) const {
    Union busy, communication, others, copies;
    auto at = std::ranges::lower_bound(work_, step.startNs - longestWorkNs_, {}, &Interval::startNs);
    for (; at != work_.end() && at->startNs < step.endNs; ++at) {
        if (at->endNs <= step.startNs) continue;
        step.graphs += at->kind == Interval::Graph;
        step.kernels += at->kind <= Interval::Collective && at->startNs >= step.startNs;
        const int64_t startNs = std::max(at->startNs, step.startNs), endNs = std::min(at->endNs, step.endNs);
        busy.add(startNs, endNs);
        (at->kind == Interval::Collective ? communication : others).add(startNs, endNs);
        if (at->kind == Interval::Copy) copies.add(startNs, endNs);
    }
    step.busyNs = busy.totalNs();
    step.communicationNs = communication.totalNs();
    step.exposedNs = busy.totalNs() - others.totalNs();
    step.copyNs = copies.totalNs();
}

}  // namespace lanescope::capture
