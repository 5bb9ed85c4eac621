// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/importers/events/ProtoCursor.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

// The messages of an XPlane file, as views of its bytes.

struct XplaneStat {
    std::string_view name;
    std::string_view text;  ///< Also a text that is stored elsewhere in the plane.
    std::optional<int64_t> number = {};
    std::optional<double> real = {};
};

/// The common properties of all events of one name.
struct XplaneEventKind {
    std::string_view name, displayName;
    std::vector<std::string_view> stats;
};

/// Time and kind of an event. Its stats are parsed on demand.
struct XplaneEvent {
    const XplaneEventKind* kind = nullptr;
    int64_t offsetPs = 0, durationPs = 0;
    bool isAggregated = false;  ///< The number of occurrences is known, but not their times.
    std::string_view message;

    std::string_view name() const { return kind->name; }
};

/// A row of a plane: a stream, a thread, or data derived from others.
struct XplaneLine {
    int64_t id = 0;
    std::string_view name, displayName;
    int64_t timeNs = 0;  ///< Base of the offsets of its events.
    std::string_view message;
};

/// A plane: a GPU, a host, or something else. Its bytes must remain valid.
class XplanePlane {
  public:
    /// O(names), which are stored in lists. The last of two with one number counts.
    explicit XplanePlane(std::string_view message);

    std::string_view name() const { return name_; }
    const std::vector<std::string_view>& lines() const { return lines_; }
    /// Number of truncated messages.
    int64_t corruptCount() const { return corruptCount_; }

    XplaneLine line(std::string_view message);
    /// Calls `visit(event)` for each event of a line, in order.
    template <class Visitor>
    void forEachEvent(const XplaneLine& line, Visitor visit) {
        ProtoCursor cursor(line.message);
        for (ProtoField field; cursor.next(field);)
            if (field.number == 4 && field.isBytes()) visit(event(field.bytes));
    }
    /// Calls `visit(stat)` for each stat of an event, then for each stat of its kind.
    template <class Visitor>
    void forEachStat(const XplaneEvent& event, Visitor visit) {
        ProtoCursor cursor(event.message);
        for (ProtoField field; cursor.next(field);)
            if (field.number == 4 && field.isBytes()) visit(stat(field.bytes));
        for (const std::string_view each : event.kind->stats) visit(stat(each));
    }
    template <class Visitor>
    void forEachStat(Visitor visit) {
        for (const std::string_view each : stats_) visit(stat(each));
    }

  private:
    XplaneEvent event(std::string_view message);
    XplaneStat stat(std::string_view message);
    void addEventKind(std::string_view entry);
    void addStatName(std::string_view entry);
    void see(const ProtoCursor& cursor) { corruptCount_ += cursor.isMalformed() ? 1 : 0; }

    std::string_view name_;
    std::vector<std::string_view> lines_, stats_;
    MixedMap<uint64_t, XplaneEventKind> eventKinds_;
    MixedMap<uint64_t, std::string_view> statNames_;
    int64_t corruptCount_ = 0;
};

}  // namespace lanescope
