// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/build/CutRows.h"
#include "model/build/PartPlacement.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Which row of the whole each row of a part is.
struct PartRows {
    std::vector<uint32_t> strings, threads, streams, processes, gpus, launchConfigs;
    uint32_t firstStack = 0, firstMemcpy = 0, firstRange = 0;  ///< Of tables that are appended.
    std::vector<uint32_t> memcpys, ranges;                     ///< By row, where the part is cut.
    bool isCut = false;

    uint32_t of(RowsOf what, uint32_t row) const {
        const auto in = [row](const std::vector<uint32_t>& rows) {
            return row < rows.size() ? rows[row] : noIndex;
        };
        switch (what) {
            case RowsOf::Strings:
                return row < strings.size() ? strings[row] : 0;
            case RowsOf::Threads:
                return in(threads);
            case RowsOf::Streams:
                return in(streams);
            case RowsOf::Processes:
                return in(processes);
            case RowsOf::Gpus:
                return in(gpus);
            case RowsOf::LaunchConfigs:
                return in(launchConfigs);
            case RowsOf::Stacks:
                return firstStack + row;
            case RowsOf::Memcpys:
                return isCut ? in(memcpys) : firstMemcpy + row;
            case RowsOf::Nvtx:
                return isCut ? in(ranges) : firstRange + row;
            case RowsOf::Backwards:
            case RowsOf::StreamWaits:
                break;
        }
        return noIndex;
    }
};

/// The fields, or the tables, of something in their order.
struct PartFields {
    template <class T>
    void operator()(const T& each) {
        places.push_back(&each);
    }
    std::vector<const void*> places;
};

/// From the times of a part to those of the whole; none is outside of `limits`, if there are any.
struct PartTimes {
    const ClockMap& clock;
    std::optional<TimeRange> limits;

    int64_t at(int64_t timeNs) const {
        const int64_t there = clock.at(timeNs);
        return limits ? std::clamp(there, limits->startNs, limits->endNs) : there;
    }
};

/// Rows of a table: all of them, or some.
class TakenRows {
  public:
    explicit TakenRows(uint32_t all) : size_(all) {}
    explicit TakenRows(std::vector<uint32_t> some)
        : size_(static_cast<uint32_t>(some.size())), some_(std::move(some)) {}
    uint32_t size() const { return size_; }
    uint32_t operator[](uint32_t place) const { return some_ ? (*some_)[place] : place; }

  private:
    uint32_t size_;
    std::optional<std::vector<uint32_t>> some_;
};

/// Appends some rows of each column of a table of a part to that of the whole.
template <class Table>
class PartAppender {
  public:
    PartAppender(Table& to, const Table& from, const PartRows& rows, const PartTimes& times,
                 const TakenRows& taken)
        : to_(to), from_(from), rows_(rows), times_(times), taken_(taken) {
        forEachField(from, fields_);
    }

    template <class T>
    void operator()(Column<T>& column) {
        const Column<T>& from = next<Column<T>>();
        if constexpr (std::is_same_v<T, int64_t>) {
            if (isTime(column))
                return append(column, from,
                              [this](int64_t timeNs, size_t) { return times_.at(timeNs); });
        }
        append(column, from, [](T value, size_t) { return value; });
    }
    void operator()(bool&) { next<bool>(); }  // said of the whole table, and found anew

    template <class T>
    void row(RowField<Column<T>> field) {
        append(field.field, next<Column<T>>(), [this, &field](T value, size_t at) {
            if (isLent(field.of, at)) return static_cast<T>(noIndex);
            if constexpr (std::is_signed_v<T>) {
                return value < 0 ? value
                                 : static_cast<T>(rows_.of(field.of, static_cast<uint32_t>(value)));
            } else {
                return value == noIndex ? value : static_cast<T>(rows_.of(field.of, value));
            }
        });
    }

  private:
    template <class Field>
    const Field& next() {
        return *static_cast<const Field*>(fields_.places[place_++]);
    }
    template <class T, class Change>
    void append(Column<T>& to, const Column<T>& from, Change change) {
        for (uint32_t place = 0; place < taken_.size(); ++place)
            to.push_back(change(from[taken_[place]], taken_[place]));
    }
    /// Whether a stack is another thread's, which is lent anew.
    bool isLent(RowsOf what, size_t at) const {
        if constexpr (requires { from_.isStackLent; })
            return what == RowsOf::Stacks && from_.isStackLent[at] != 0;
        else
            return false;
    }
    bool isTime(const Column<int64_t>& column) const {
        if constexpr (requires { to_.timeNs; })
            if (&column == &to_.timeNs) return true;
        if constexpr (requires { to_.startNs; })
            if (&column == &to_.startNs) return true;
        if constexpr (requires { to_.endNs; })
            if (&column == &to_.endNs) return true;
        return false;
    }

    Table& to_;
    const Table& from_;
    const PartRows& rows_;
    const PartTimes& times_;
    const TakenRows& taken_;
    PartFields fields_;
    size_t place_ = 0;
};

/// Whether the table is made of others when a trace is finished, or needs more than its columns.
template <class Table>
constexpr bool isMadeOfOthers =
    std::is_same_v<Table, AllocationTable> || std::is_same_v<Table, EventCallTable> ||
    std::is_same_v<Table, StreamWaitTable> || std::is_same_v<Table, ProjectionTable> ||
    std::is_same_v<Table, NcclTable> || std::is_same_v<Table, BackwardTable>;

/// What is cut to the window where it reaches beyond: what encloses the work that is taken, and
/// what was there before.
template <class Table>
constexpr bool isClippedPart =
    std::is_same_v<Table, NvtxTable> || std::is_same_v<Table, CpuStateTable> ||
    std::is_same_v<Table, MemoryEventTable> || std::is_same_v<Table, MemoryPoolTable>;

/// Appends the tables of a trace, in the order in which `forEachTable` visits them.
class PartTablesAppender {
  public:
    /// `cut` is null where all of the trace is taken. Fills in which rows memcpys and ranges
    /// became.
    PartTablesAppender(const Trace& from, PartRows& rows, const ClockMap& clock, const CutRows* cut)
        : rows_(rows), clock_(clock), cut_(cut) {
        rows_.isCut = cut != nullptr;
        forEachTable(from, tables_);
    }
    template <class Table>
    void operator()(Table& to) {
        const Table& from = *static_cast<const Table*>(tables_.places[place_++]);
        if constexpr (!isMadeOfOthers<Table>) {
            const TakenRows taken = takenOf(from);
            isRoom_ = isRoom_ && taken.size() < EventRef::maximumRow - to.size();
            if (!isRoom_) return;
            if constexpr (std::is_same_v<Table, MemcpyTable>)
                if (cut_ != nullptr) rows_.memcpys = placesOf(taken, from.size(), to.size());
            if constexpr (std::is_same_v<Table, NvtxTable>)
                if (cut_ != nullptr) rows_.ranges = placesOf(taken, from.size(), to.size());
            PartTimes times{clock_, std::nullopt};
            if constexpr (isClippedPart<Table>)
                if (cut_ != nullptr) times.limits = cut_->window();
            PartAppender<Table> append(to, from, rows_, times, taken);
            forEachField(to, append);
        }
    }
    /// Whether all tables are as long as tables may be.
    bool isRoom() const { return isRoom_; }

  private:
    template <class Table>
    TakenRows takenOf(const Table& table) const {
        if constexpr (std::is_same_v<Table, MigrationTable>) {
            if (cut_ != nullptr) return TakenRows(CutRows::of(table, rows_.memcpys));
        } else if constexpr (!std::is_same_v<Table, StackTable>) {
            if (cut_ != nullptr) return TakenRows(cut_->of(table));
        }
        return TakenRows(table.size());
    }
    static std::vector<uint32_t> placesOf(const TakenRows& taken, uint32_t size, uint32_t first) {
        std::vector<uint32_t> places(size, noIndex);
        for (uint32_t place = 0; place < taken.size(); ++place)
            places[taken[place]] = first + place;
        return places;
    }

    PartRows& rows_;
    const ClockMap& clock_;
    const CutRows* cut_;
    PartFields tables_;
    size_t place_ = 0;
    bool isRoom_ = true;
};

}  // namespace lanescope
