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

class EventKinds {
  public:
    constexpr EventKinds() = default;
    /// Returns all kinds with their own rows in a file.
    static EventKinds recorded();
    EventKinds& add(EventKind kind) { return bits_ |= bitOf(kind), *this; }
    EventKinds& remove(EventKind kind) { return bits_ &= ~bitOf(kind), *this; }
    bool has(EventKind kind) const { return (bits_ & bitOf(kind)) != 0; }
    bool operator==(const EventKinds&) const = default;

  private:
    static constexpr uint32_t bitOf(EventKind kind) { return 1u << static_cast<uint32_t>(kind); }
    uint32_t bits_ = 0;
};

/// Events of some kinds that overlap a range of time, sorted by start, without a list: only the
/// begin and end of the range in each table are stored. Construction takes O(lanes log n),
/// independent of the events in the range. Refers to the trace. Any thread.
class EventWindow {
  public:
    EventWindow() = default;
    EventWindow(const Trace& trace, TimeRange range, EventKinds wanted);

    int64_t size() const { return size_; }
    /// Returns the existing events of `[first, first + count)`. O(kinds log^2 n + count).
    std::vector<EventRef> slice(int64_t first, int64_t count) const;
    /// Returns the position of `event`; nullopt if it is not included. O(kinds log n).
    std::optional<int64_t> indexOf(EventRef event) const;

  private:
    /// Rows of one table that start in the range.
    struct Interval {
        EventKind kind = EventKind::None;
        uint32_t first = 0, end = 0;
    };
    void addStraddling(TimeRange range, EventKinds wanted);
    void addWaiting(TimeRange range);
    int64_t startOf(EventKind kind, uint32_t row) const;
    /// Returns the first row of the interval that starts at `timeNs` or later.
    uint32_t lowerRow(const Interval& interval, int64_t timeNs) const;
    /// Returns the number of events within the range that start before `timeNs`.
    int64_t countBefore(int64_t timeNs) const;
    /// Returns the position in each table after `index` events of the range.
    std::vector<Interval> after(int64_t index) const;

    const Trace* trace_ = nullptr;
    TimeRange range_;
    std::vector<EventRef> straddling_;  ///< Events that cross the start of the range.
    std::vector<Interval> intervals_;
    int64_t size_ = 0;
};

enum class EventColumn : uint8_t {
    Start,
    Duration,
    Kind,
    Name,
    Line,
    Gpu,
    Bytes,
    Rate,
    Correlation,
};
inline constexpr size_t eventColumnCount = 9;

const std::vector<ReportColumn>& eventColumns();

/// Returns the cells of an event, empty where a value is missing. O(1).
std::vector<Cell> eventCells(const Trace& trace, EventRef event);
Cell eventCell(const Trace& trace, EventRef event, EventColumn column);

/// Filter and order of a list of events in a range.
struct EventRequest {
    TimeRange range;
    EventKinds kinds = EventKinds::recorded();
    /// Only events whose name, thread or stream contains all words, case-insensitive. Stack terms
    /// (`splitTerms`) filter by the Python stack of an event.
    std::string words{};
    EventColumn sortedBy = EventColumn::Start;
    bool isDescending = false;
    int64_t maxScanned = 1'000'000;  ///< Limit of events scanned from the start of the range.
    bool operator==(const EventRequest&) const = default;
};

struct EventList {
    std::vector<EventRef> events = {};
    int64_t inRange = 0;  ///< Number of events of these kinds in the range.
    int64_t scanned = 0;
};

/// Lists and sorts the events. Returns nullopt if `isCancelled` returns true meanwhile. O(k log k)
/// in the scanned events.
std::optional<EventList> listEvents(const Trace& trace, const EventRequest& request,
                                    const std::function<bool()>& isCancelled = {});

/// Returns a header line and a tab-separated line for each event: plain numbers in the units of the
/// headers. Tabs and line breaks within a name become spaces.
std::string eventsAsTsv(const Trace& trace, std::span<const EventRef> events);

/// Writes the events of `request` to `path` as CSV; the file appears once it is complete. Returns the number of rows.
Result<int64_t> saveEventsAsCsv(const Trace& trace, const EventRequest& request, const std::filesystem::path& path);

}  // namespace lanescope
