// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/Windows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "capture/log/clocks.h"

namespace lanescope::agent {

namespace {

int64_t afterDelay(const WindowOptions& options, int64_t startNs) {
    return (options.baseNs > 0 ? options.baseNs : startNs) + options.delayNs;
}

}  // namespace

Windows::Windows(const WindowOptions& options, int64_t startNs)
    : options_(options), earliestNs_(afterDelay(options, startNs)) {}

bool Windows::beginWindow(int64_t ns) {
    const bool isEnough = options_.repeat > 0 && opened_ >= options_.repeat;
    if (isOpen_ || isEnough || ns < earliestNs_) return false;
    windows_.push_back({ns, never, opened_++});
    if (windows_.size() > maxRememberedWindows) windows_.pop_front();
    isOpen_ = true;
    return true;
}

void Windows::endWindow(int64_t ns) {
    windows_.back().endNs = ns;
    isOpen_ = false;
}

/// Opens and closes the windows that are due by the clock.
void Windows::advance(int64_t nowNs) {
    const int64_t durationNs = options_.durationNs;
    if (isOpen_ && durationNs > 0 && nowNs - windows_.back().beginNs >= durationNs)
        endWindow(windows_.back().beginNs + durationNs);
    if (options_.trigger != WindowTrigger::Time) return;
    const int64_t periodNs = durationNs > 0 ? options_.delayNs + durationNs : 0;
    // After a long sleep, skips windows that are too old to be remembered.
    if (periodNs > 0 && nowNs > earliestNs_) {
        const int64_t due = (nowNs - earliestNs_) / periodNs;
        if (due - opened_ > int64_t{maxRememberedWindows} && !isOpen_)
            opened_ = static_cast<uint32_t>(due - int64_t{maxRememberedWindows});
    }
    for (;;) {
        const int64_t beginNs = earliestNs_ + int64_t{opened_} * periodNs;
        if (beginNs > nowNs || !beginWindow(beginNs)) return;
        if (durationNs > 0 && nowNs - beginNs >= durationNs) endWindow(beginNs + durationNs);
    }
}

Windows::Change Windows::open() {
    const std::lock_guard lock(mutex_);
    const int64_t nowNs = log::eventTimeNs();
    advance(nowNs);
    return {nowNs, beginWindow(nowNs)};
}

Windows::Change Windows::close() {
    const std::lock_guard lock(mutex_);
    const int64_t nowNs = log::eventTimeNs();
    advance(nowNs);
    const bool wasOpen = isOpen_;
    if (wasOpen) endWindow(nowNs);
    return {nowNs, wasOpen};
}

void Windows::refresh(log::RecordWriter& writer) {
    if (isEverything()) return;
    std::deque<Window> before = std::move(known_);
    {
        const std::lock_guard lock(mutex_);
        advance(log::eventTimeNs());
        known_ = windows_;
    }
    // After a lost block, the windows that the reader may need are written again.
    if (std::exchange(generation_, writer.generation()) != writer.generation()) before.clear();
    for (const Window& window : known_) {
        const auto old = std::ranges::lower_bound(before, window.index, {}, &Window::index);
        const bool isKnown = old != before.end() && old->index == window.index;
        if (!isKnown) write(writer, window, true);
        if (window.endNs != never && (!isKnown || old->endNs == never)) write(writer, window, false);
    }
    if (known_.empty()) return;
    hadAny_ = true;
    if (known_.front().index > nextIndex_ && !std::exchange(reportedTooMany_, true))
        writer.note(
            Severity::Warning, HealthCode::WindowsMissed,
            "Windows followed each other faster than they could be written; some were skipped. Record longer ranges.");
    nextIndex_ = known_.back().index + 1;
}

void Windows::write(log::RecordWriter& writer, const Window& window, bool isBegin) const {
    log::WindowRecord record{};
    record.timestampNs = isBegin ? window.beginNs : window.endNs;
    record.index = window.index;
    record.isBegin = isBegin;
    writer.write(record, record.timestampNs);
}

uint64_t Windows::intervalAt(int64_t ns) const {
    auto next = known_.end();
    // Most events written belong to the latest window, or follow it.
    if (!known_.empty() && ns < known_.back().beginNs)
        next = std::ranges::upper_bound(known_, ns, {}, &Window::beginNs);
    if (next == known_.begin()) return known_.empty() ? 0 : uint64_t{2} * known_.front().index;
    const Window& window = *std::prev(next);
    return uint64_t{2} * window.index + (ns < window.endNs ? 1 : 2);
}

}  // namespace lanescope::agent
