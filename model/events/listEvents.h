// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// A set of kinds of events.
class EventKinds {
  public:
    constexpr EventKinds() = default;
    /// All that have a row of their own in a file.
    static EventKinds recorded();
    EventKinds& add(EventKind kind) { return bits_ |= bitOf(kind), *this; }
    EventKinds& remove(EventKind kind) { return bits_ &= ~bitOf(kind), *this; }
    bool has(EventKind kind) const { return (bits_ & bitOf(kind)) != 0; }
    bool operator==(const EventKinds&) const = default;

  private:
    static constexpr uint32_t bitOf(EventKind kind) { return 1u << static_cast<uint32_t>(kind); }
    uint32_t bits_ = 0;
};

/// The events of some kinds that overlap a range of time, in order of start, without a list of
/// them: only where the range begins and ends in each table is kept. Making one takes
/// O(lanes log n), whatever there is in the range. Refers to the trace. Any thread.
class EventWindow {
  public:
    EventWindow() = default;
    EventWindow(const Trace& trace, TimeRange range, EventKinds wanted);

    int64_t size() const { return size_; }
    /// The events `[first, first + count)` as far as there are any. O(kinds log^2 n + count).
    std::vector<EventRef> slice(int64_t first, int64_t count) const;
    /// Which of them `event` is; nothing if it is not among them. O(kinds log n).
    std::optional<int64_t> indexOf(EventRef event) const;

  private:
    /// Rows of one table whose start lies in the range.
    struct Interval {
        EventKind kind = EventKind::None;
        uint32_t first = 0, end = 0;
    };
    void addStraddling(TimeRange range, EventKinds wanted);
    void addWaiting(TimeRange range);
    int64_t startOf(EventKind kind, uint32_t row) const;
    /// The first row of the interval that starts at `timeNs` or later.
    uint32_t lowerRow(const Interval& interval, int64_t timeNs) const;
    /// How many events within the range start before `timeNs`.
    int64_t countBefore(int64_t timeNs) const;
    /// Where each table stands when `index` events within the range have been passed.
    std::vector<Interval> after(int64_t index) const;

    const Trace* trace_ = nullptr;
    TimeRange range_;
    std::vector<EventRef> straddling_;  ///< Begun before the range and not over at its start.
    std::vector<Interval> intervals_;
    int64_t size_ = 0;
};

/// The columns of a table of events, in order.
enum class EventColumn : uint8_t {
    Start,
    Duration,
    Kind,
    Name,
    Line,  ///< The thread or stream.
    Gpu,
    Bytes,
    Rate,
    Correlation,
};
inline constexpr size_t eventColumnCount = 9;

const std::vector<ReportColumn>& eventColumns();

/// One event as the cells of these columns; what an event has not is empty. O(1).
std::vector<Cell> eventCells(const Trace& trace, EventRef event);
/// One of them.
Cell eventCell(const Trace& trace, EventRef event, EventColumn column);

/// Which events of a range to list, and how.
struct EventRequest {
    TimeRange range;
    EventKinds kinds = EventKinds::recorded();
    /// Only events whose name, thread or stream holds all of them; no matter the case. Terms on
    /// Python stacks (`splitTerms`) are about what led to an event.
    std::string words{};
    EventColumn sortedBy = EventColumn::Start;
    bool isDescending = false;
    int64_t mostScanned = 1'000'000;  ///< Later events of the range are not looked at.
    bool operator==(const EventRequest&) const = default;
};

struct EventList {
    std::vector<EventRef> events;
    int64_t inRange = 0;  ///< Events of these kinds in the range.
    int64_t scanned = 0;  ///< How many of them were looked at.
};

/// Lists and sorts. Nothing if `isCancelled` says so on the way. O(k log k) in what is scanned.
std::optional<EventList> listEvents(const Trace& trace, const EventRequest& request,
                                    const std::function<bool()>& isCancelled = {});

/// Events as lines of cells separated by tabs, under a line of headers: plain numbers in the units
/// that the headers name. Tabs and line breaks within a name become spaces.
std::string eventsAsTsv(const Trace& trace, std::span<const EventRef> events);

/// Lists what `request` asks for and writes it to `path` as CSV; the file is there only once it is
/// whole. Returns how many rows it has.
Result<int64_t> saveEventsAsCsv(const Trace& trace, const EventRequest& request,
                                const std::filesystem::path& path);

}  // namespace lanescope
