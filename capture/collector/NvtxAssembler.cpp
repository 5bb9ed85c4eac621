// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/NvtxAssembler.h"

namespace lanescope::capture {

using log::NvtxEvent;
using log::NvtxRecord;

namespace {

NvtxInterval intervalOf(const NvtxRecord& record, std::span<const std::byte> extended) {
    NvtxInterval interval{record, {}, 0, std::nullopt, 0};
    if (!extended.empty()) {
        interval.extended.assign(extended.begin(), extended.end());
        interval.schemaId = record.schemaId;
    }
    return interval;
}

}  // namespace

void NvtxAssembler::add(const NvtxRecord& record, std::span<const std::byte> extended) {
    switch (record.event) {
        case NvtxEvent::Push:
            push(intervalOf(record, extended));
            break;
        case NvtxEvent::Pop:
            pop(record, extended);
            break;
        case NvtxEvent::Start:
            start(intervalOf(record, extended));
            break;
        case NvtxEvent::End:
            end(record);
            break;
        case NvtxEvent::Mark:
            sink_(intervalOf(record, extended));
            break;
    }
}

void NvtxAssembler::finish() {
    for (auto& [key, stack] : stacks_)
        for (const NvtxInterval& open : stack) sink_(open);
    stacks_.clear();
    for (const auto& [id, open] : started_) sink_(open);
    started_.clear();
    lostBeginnings_ += earlyEnds_.size();
    earlyEnds_.clear();
}

NvtxAssembler::Stack& NvtxAssembler::stackOf(const NvtxRecord& record) {
    return stacks_[{record.threadId, record.domain}];
}

/// Ranges of a level above `level` had ended when `shownBy` was called, though nobody told.
void NvtxAssembler::closeAbove(Stack& stack, int32_t level, const NvtxRecord& shownBy) {
    while (!stack.empty() && stack.back().begin.level > level) {
        NvtxInterval& lost = stack.back();
        lost.endNs = shownBy.timestampNs;
        lost.endThreadId = shownBy.threadId;
        sink_(lost);
        stack.pop_back();
        ++guessedEnds_;
    }
}

void NvtxAssembler::push(NvtxInterval interval) {
    Stack& stack = stackOf(interval.begin);
    closeAbove(stack, interval.begin.level - (interval.begin.level > INT32_MIN), interval.begin);
    stack.push_back(std::move(interval));
}

void NvtxAssembler::pop(const NvtxRecord& record, std::span<const std::byte> extended) {
    Stack& stack = stackOf(record);
    closeAbove(stack, record.level, record);
    if (stack.empty() || stack.back().begin.level != record.level) {
        ++lostBeginnings_;
        return;
    }
    NvtxInterval& closed = stack.back();
    closed.endNs = record.timestampNs;
    closed.endThreadId = record.threadId;
    if (closed.extended.empty() && !extended.empty()) {
        closed.extended.assign(extended.begin(), extended.end());
        closed.schemaId = record.schemaId;
    }
    sink_(closed);
    stack.pop_back();
}

void NvtxAssembler::start(NvtxInterval interval) {
    const uint64_t id = interval.begin.rangeId;
    if (const auto early = earlyEnds_.find(id); early != earlyEnds_.end()) {
        interval.endNs = early->second.timestampNs;
        interval.endThreadId = early->second.threadId;
        earlyEnds_.erase(early);
        sink_(interval);
        return;
    }
    const auto [place, isNew] = started_.try_emplace(id, std::move(interval));
    if (!isNew) {  // The id is used again, so the end of its first use was lost.
        sink_(place->second);
        place->second = std::move(interval);
    }
}

void NvtxAssembler::end(const NvtxRecord& record) {
    const auto open = started_.find(record.rangeId);
    if (open == started_.end()) {
        // The two threads' calls may stand in the log in another order than they were made.
        earlyEnds_[record.rangeId] = {record.timestampNs, record.threadId};
        return;
    }
    open->second.endNs = record.timestampNs;
    open->second.endThreadId = record.threadId;
    sink_(open->second);
    started_.erase(open);
}

}  // namespace lanescope::capture
