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

/// The value of a stat: whichever the file has.
struct XplaneStat {
    std::string_view name;
    std::string_view text;  ///< Also of one that is named elsewhere in the plane.
    std::optional<int64_t> number = {};
    std::optional<double> real = {};
};

/// What all events of one name share.
struct XplaneEventKind {
    std::string_view name, displayName;
    std::vector<std::string_view> stats;
};

/// When and what; its stats are looked at when they are asked for.
struct XplaneEvent {
    const XplaneEventKind* kind = nullptr;
    int64_t offsetPs = 0, durationPs = 0;
    bool isAggregated = false;  ///< It happened some times, nobody knows when.
    std::string_view message;

    std::string_view name() const { return kind->name; }
};

/// A row of a plane: a stream, a thread, or what was derived from others.
struct XplaneLine {
    int64_t id = 0;
    std::string_view name, displayName;
    int64_t timeNs = 0;  ///< That offsets are from.
    std::string_view message;
};

/// A plane, whose bytes must stay: a GPU, a host, or something else.
class XplanePlane {
  public:
    /// Linear in the names, which are looked up in lists; of two of one number the last counts.
    explicit XplanePlane(std::string_view message);

    std::string_view name() const { return name_; }
    const std::vector<std::string_view>& lines() const { return lines_; }
    /// How many messages end where none may.
    int64_t damages() const { return damages_; }

    XplaneLine line(std::string_view message);
    /// `visit(event)` for each event of a line, in its order.
    template <class Visitor>
    void forEachEvent(const XplaneLine& line, Visitor visit) {
        ProtoCursor cursor(line.message);
        for (ProtoField field; cursor.next(field);)
            if (field.number == 4 && field.isBytes()) visit(event(field.bytes));
    }
    /// `visit(stat)` for each stat of an event, then for each that its kind has.
    template <class Visitor>
    void forEachStat(const XplaneEvent& event, Visitor visit) {
        ProtoCursor cursor(event.message);
        for (ProtoField field; cursor.next(field);)
            if (field.number == 4 && field.isBytes()) visit(stat(field.bytes));
        for (const std::string_view each : event.kind->stats) visit(stat(each));
    }
    /// The same of the plane itself.
    template <class Visitor>
    void forEachStat(Visitor visit) {
        for (const std::string_view each : stats_) visit(stat(each));
    }

  private:
    XplaneEvent event(std::string_view message);
    XplaneStat stat(std::string_view message);
    void addEventKind(std::string_view entry);
    void addStatName(std::string_view entry);
    void see(const ProtoCursor& cursor) { damages_ += cursor.isBroken() ? 1 : 0; }

    std::string_view name_;
    std::vector<std::string_view> lines_, stats_;
    MixedMap<uint64_t, XplaneEventKind> eventKinds_;
    MixedMap<uint64_t, std::string_view> statNames_;
    int64_t damages_ = 0;
};

}  // namespace lanescope
