// SPDX-License-Identifier: Apache-2.0
#include "model/events/listEvents.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>
#include <tuple>

#include "model/format/OutputFile.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope {

namespace {

/// Limit of earlier waits that are scanned for one that extends into the range.
constexpr uint32_t maxEarlierWaits = 65'536;

int orderOf(EventKind kind) {
    return static_cast<int>(std::ranges::find(kindsInOrder(), kind) - kindsInOrder().begin());
}

std::string threadText(const Trace& trace, uint32_t index) {
    const Thread& thread = trace.threads[index];
    const Process& process = trace.processes[thread.process];
    std::string text = thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name;
    if (trace.processes.size() > 1)
        text += process.rank ? fmt::format(", rank {}", *process.rank) : fmt::format(", PID {}", process.pid);
    return text;
}

std::string streamText(const Trace& trace, uint32_t index) {
    const Stream& stream = trace.streams[index];
    return stream.isNullStream ? fmt::format("stream {} (default)", stream.streamId)
                               : fmt::format("stream {}", stream.streamId);
}

Cell lineCell(const Trace& trace, EventRef event) {
    if (const uint32_t stream = streamOf(trace, event); stream != noIndex) return streamText(trace, stream);
    if (const uint32_t thread = threadOf(trace, event); thread != noIndex) return threadText(trace, thread);
    return {};
}

Cell gpuCell(const Trace& trace, EventRef event) {
    const uint32_t gpu = gpuOf(trace, event);
    if (gpu == noIndex) return {};
    return static_cast<int64_t>(trace.gpus[gpu].id);
}

Cell bytesCell(const Trace& trace, EventRef event) {
    const std::optional<int64_t> bytes = bytesOf(trace, event);
    return bytes ? Cell(*bytes) : Cell();
}

Cell rateCell(const Trace& trace, EventRef event) {
    const std::optional<int64_t> bytes = bytesOf(trace, event);
    const int64_t durationNs = trace.rangeOf(event).durationNs();
    // Without a duration there is no rate.
    if (!bytes || durationNs <= 0) return {};
    return static_cast<double>(*bytes) / static_cast<double>(durationNs);
}

Cell correlationCell(const Trace& trace, EventRef event) {
    const uint32_t correlation = correlationOf(trace, event);
    return correlation != 0 ? Cell(static_cast<int64_t>(correlation)) : Cell();
}

constexpr int64_t scannedAtOnce = 8192;

std::vector<std::string> wordsOf(const std::string& text) {
    std::vector<std::string> words;
    std::string word;
    for (const char letter : lowerCase(text) + ' ') {
        if (letter != ' ' && letter != '\t') {
            word += letter;
        } else if (!word.empty()) {
            words.push_back(std::move(word));
            word.clear();
        }
    }
    return words;
}

bool holdsAll(const Trace& trace, EventRef event, const std::vector<std::string>& words) {
    std::string text = trace.nameOf(event);
    const Cell line = eventCell(trace, event, EventColumn::Line);
    if (const auto* lineText = std::get_if<std::string>(&line)) text += '\n' + *lineText;
    text = lowerCase(std::move(text));
    return std::ranges::all_of(words, [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

constexpr size_t rowsAtOnce = 4096;

void appendPlain(std::string& text, const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) text += fmt::format("{}", *whole);
    if (const auto* real = std::get_if<double>(&cell)) text += fmt::format("{}", *real);
    if (const auto* name = std::get_if<std::string>(&cell)) text += printable(*name);
}

ReportTable partOf(const Trace& trace, std::span<const EventRef> events) {
    ReportTable table{.columns = eventColumns()};
    for (const EventRef event : events) table.rows.push_back(eventCells(trace, event));
    return table;
}

}  // namespace

EventKinds EventKinds::recorded() {
    EventKinds kinds;
    for (const EventKind kind : kindsInOrder())
        if (isRecorded(kind)) kinds.add(kind);
    return kinds;
}

EventWindow::EventWindow(const Trace& trace, TimeRange range, EventKinds wanted) : trace_(&trace), range_(range) {
    addStraddling(range, wanted);
    size_ = static_cast<int64_t>(straddling_.size());
    for (const EventKind kind : kindsInOrder()) {
        if (!wanted.has(kind) || isSampled(kind)) continue;
        const Interval whole{kind, 0, trace.rowCount(kind)};
        const Interval inside{kind, lowerRow(whole, range.startNs), lowerRow(whole, range.endNs)};
        if (inside.first >= inside.end) continue;
        intervals_.push_back(inside);
        size_ += inside.end - inside.first;
    }
}

/// Slices of a lane do not overlap, so at most one per lane crosses the start.
void EventWindow::addStraddling(TimeRange range, EventKinds wanted) {
    for (const Track& track : trace_->tracks) {
        for (const Lane& lane : track.lanes) {
            const auto first = std::ranges::lower_bound(lane.startNs, range.startNs) - lane.startNs.begin();
            if (first == 0) continue;
            const auto last = static_cast<size_t>(first) - 1;
            if (lane.endNs(last) <= range.startNs) continue;
            const EventRef event = lane.event[last];
            if (!event.isValid() || !wanted.has(event.kind())) continue;
            // The slice of a function covers several samples, its event only one.
            const TimeRange own = trace_->rangeOf(event);
            if (own.startNs < range.startNs && own.endNs > range.startNs) straddling_.push_back(event);
        }
    }
    if (wanted.has(EventKind::Sync)) addWaiting(range);
    std::sort(straddling_.begin(), straddling_.end(), [this](EventRef a, EventRef b) {
        return std::tuple(startOf(a.kind(), a.row()), orderOf(a.kind()), a.row()) <
               std::tuple(startOf(b.kind(), b.row()), orderOf(b.kind()), b.row());
    });
    straddling_.erase(std::unique(straddling_.begin(), straddling_.end()), straddling_.end());
}

/// Waits have no lane of their own; each thread has at most one at a time.
void EventWindow::addWaiting(TimeRange range) {
    const uint32_t end = lowerRow({EventKind::Sync, 0, trace_->syncs.size()}, range.startNs);
    for (uint32_t row = end - std::min(end, maxEarlierWaits); row < end; ++row)
        if (trace_->syncs.endNs[row] > range.startNs) straddling_.emplace_back(EventKind::Sync, row);
}

int64_t EventWindow::startOf(EventKind kind, uint32_t row) const {
    return trace_->rangeOf(EventRef(kind, row)).startNs;
}

uint32_t EventWindow::lowerRow(const Interval& interval, int64_t timeNs) const {
    return *std::ranges::partition_point(std::views::iota(interval.first, interval.end),
                                         [&](uint32_t row) { return startOf(interval.kind, row) < timeNs; });
}

int64_t EventWindow::countBefore(int64_t timeNs) const {
    return sumOf(intervals_, [&](const Interval& each) { return int64_t{lowerRow(each, timeNs) - each.first}; });
}

std::vector<EventWindow::Interval> EventWindow::after(int64_t index) const {
    // Returns the latest start before which at most `index` events begin.
    int64_t low = range_.startNs, high = range_.endNs;
    while (low < high) {
        // Rounded up; the distance of the ends may exceed a signed number.
        const auto distance = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
        const auto middle = static_cast<int64_t>(static_cast<uint64_t>(low) + distance / 2 + (distance & 1));
        countBefore(middle) <= index ? low = middle : high = middle - 1;
    }
    std::vector<Interval> rest = intervals_;
    int64_t passed = 0;
    for (Interval& interval : rest) {
        const uint32_t row = lowerRow(interval, low);
        passed += row - interval.first;
        interval.first = row;
    }
    // Events that begin at exactly that time are ordered by kind.
    for (Interval& interval : rest) {
        while (passed < index && interval.first < interval.end && startOf(interval.kind, interval.first) == low) {
            const uint32_t same =
                low < std::numeric_limits<int64_t>::max() ? lowerRow(interval, low + 1) : interval.end;
            const int64_t step = std::min<int64_t>(index - passed, same - interval.first);
            interval.first += static_cast<uint32_t>(step);
            passed += step;
        }
    }
    return rest;
}

std::vector<EventRef> EventWindow::slice(int64_t first, int64_t count) const {
    std::vector<EventRef> events;
    first = std::clamp<int64_t>(first, 0, size_);
    count = std::clamp<int64_t>(count, 0, size_ - first);
    events.reserve(static_cast<size_t>(count));
    const auto early = static_cast<int64_t>(straddling_.size());
    for (; count > 0 && first < early; ++first, --count) events.push_back(straddling_[static_cast<size_t>(first)]);
    if (count == 0) return events;
    std::vector<Interval> rest = after(first - early);
    for (; count > 0; --count) {
        Interval* next = nullptr;
        int64_t earliest = 0;
        for (Interval& interval : rest) {
            if (interval.first >= interval.end) continue;
            const int64_t start = startOf(interval.kind, interval.first);
            if (next && start >= earliest) continue;
            next = &interval;
            earliest = start;
        }
        if (!next) break;
        events.emplace_back(next->kind, next->first++);
    }
    return events;
}

std::optional<int64_t> EventWindow::indexOf(EventRef event) const {
    const auto straddling = std::ranges::find(straddling_, event);
    if (straddling != straddling_.end()) return straddling - straddling_.begin();
    if (!trace_ || !event.isValid()) return std::nullopt;
    const auto own = std::ranges::find(intervals_, event.kind(), &Interval::kind);
    if (own == intervals_.end() || event.row() < own->first || event.row() >= own->end) return std::nullopt;
    const int64_t start = startOf(event.kind(), event.row());
    int64_t index = static_cast<int64_t>(straddling_.size()) + countBefore(start);
    for (const Interval& interval : intervals_) {
        const uint32_t first = lowerRow(interval, start);
        if (interval.kind == event.kind()) return index + (event.row() - first);
        index += lowerRow(interval, start + 1) - first;
    }
    return std::nullopt;
}

const std::vector<ReportColumn>& eventColumns() {
    static const std::vector<ReportColumn> columns{
        {"Start", Unit::Timestamp}, {"Duration", Unit::Nanoseconds},          {"Kind", Unit::Text},
        {"Name", Unit::Text},       {"Thread or stream", Unit::Text},         {"GPU", Unit::Identifier},
        {"Bytes", Unit::Bytes},     {"Throughput", Unit::GigabytesPerSecond}, {"Correlation", Unit::Identifier}};
    return columns;
}

Cell eventCell(const Trace& trace, EventRef event, EventColumn column) {
    switch (column) {
        case EventColumn::Start: return trace.rangeOf(event).startNs;
        case EventColumn::Duration: return trace.rangeOf(event).durationNs();
        case EventColumn::Kind: return std::string(nameOfKind(event.kind()));
        case EventColumn::Name: return trace.nameOf(event);
        case EventColumn::Line: return lineCell(trace, event);
        case EventColumn::Gpu: return gpuCell(trace, event);
        case EventColumn::Bytes: return bytesCell(trace, event);
        case EventColumn::Rate: return rateCell(trace, event);
        case EventColumn::Correlation: return correlationCell(trace, event);
    }
    return {};
}

std::vector<Cell> eventCells(const Trace& trace, EventRef event) {
    std::vector<Cell> cells;
    cells.reserve(eventColumnCount);
    for (size_t column = 0; column < eventColumnCount; ++column)
        cells.push_back(eventCell(trace, event, static_cast<EventColumn>(column)));
    return cells;
}

std::optional<EventList> listEvents(const Trace& trace, const EventRequest& request,
                                    const std::function<bool()>& isCancelled) {
    const EventWindow window(trace, request.range, request.kinds);
    const TypedTerms typed = splitTerms(request.words);
    const std::vector<std::string> words = wordsOf(typed.rest);
    const StackFilter stacks(trace, typed.stack);
    EventList list{.inRange = window.size()};
    const int64_t maxScanned = std::min(window.size(), request.maxScanned);
    while (list.scanned < maxScanned) {
        if (isCancelled && isCancelled()) return std::nullopt;
        const auto part = window.slice(list.scanned, std::min(scannedAtOnce, maxScanned - list.scanned));
        if (part.empty()) break;
        for (const EventRef event : part)
            if (holdsAll(trace, event, words) && stacks.holds(event)) list.events.push_back(event);
        list.scanned += static_cast<int64_t>(part.size());
    }
    if (request.sortedBy == EventColumn::Start) {
        if (request.isDescending) std::reverse(list.events.begin(), list.events.end());
        return list;
    }
    std::vector<Cell> keys;
    keys.reserve(list.events.size());
    for (const EventRef event : list.events) {
        if (keys.size() % scannedAtOnce == 0 && isCancelled && isCancelled()) return std::nullopt;
        keys.push_back(eventCell(trace, event, request.sortedBy));
    }
    std::vector<uint32_t> order(list.events.size());
    std::iota(order.begin(), order.end(), 0u);
    // Events without a value are last in both directions.
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const bool hasA = keys[a].index() != 0, hasB = keys[b].index() != 0;
        if (!hasA || !hasB) return hasA && !hasB;
        return request.isDescending ? keys[b] < keys[a] : keys[a] < keys[b];
    });
    std::vector<EventRef> sorted = mapped(order, [&](uint32_t index) { return list.events[index]; });
    list.events = std::move(sorted);
    return list;
}

std::string eventsAsTsv(const Trace& trace, std::span<const EventRef> events) {
    std::string text;
    for (const ReportColumn& column : eventColumns()) text += (text.empty() ? "" : "\t") + headerOf(column);
    text += '\n';
    for (const EventRef event : events) {
        for (size_t column = 0; column < eventColumnCount; ++column) {
            if (column > 0) text += '\t';
            appendPlain(text, eventCell(trace, event, static_cast<EventColumn>(column)));
        }
        text += '\n';
    }
    return text;
}

Result<int64_t> saveEventsAsCsv(const Trace& trace, const EventRequest& request, const std::filesystem::path& path) {
    const auto list = listEvents(trace, request);
    if (!list) return fail("{}: saving was cancelled.", path.string());
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file) return fail(file.error());
    file->copyTargetPermissions();
    const std::unique_ptr<TableFormatter> formatter = makeTableFormatter(TableFormat::Csv);
    const std::span<const EventRef> events(list->events);
    for (size_t first = 0; file->isGood() && (first == 0 || first < events.size()); first += rowsAtOnce) {
        const auto part = events.subspan(first, std::min(rowsAtOnce, events.size() - first));
        file->write(formatter->next(partOf(trace, part)));
    }
    file->write(formatter->end());
    if (const auto done = file->commit(); !done) return fail(done.error());
    return static_cast<int64_t>(events.size());
}

}  // namespace lanescope
