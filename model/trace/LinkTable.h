#pragma once

#include <compare>
#include <cstdint>

#include "model/trace/Column.h"

namespace lanescope {

/// An API call or a piece of GPU work, by what joins the two.
struct Link {
    uint32_t process = 0;
    uint32_t correlation = 0;
    EventRef event;
    auto operator<=>(const Link&) const = default;
    /// True if `other` belongs to a later call.
    bool isOfEarlierCall(const Link& other) const {
        return process != other.process ? process < other.process : correlation < other.correlation;
    }
};

/// Links in packed columns, sorted; read like a vector of them.
struct LinkTable {
    using value_type = Link;

    Column<uint32_t> process;  ///< Index into `Trace::processes`.
    Column<uint32_t> correlation;
    Column<EventRef> event;

    size_t size() const { return event.size(); }
    bool empty() const { return event.empty(); }
    Link operator[](size_t row) const { return {process[row], correlation[row], event[row]}; }
    IndexIterator<LinkTable> begin() const { return {this, 0}; }
    IndexIterator<LinkTable> end() const { return {this, size()}; }
    void push_back(const Link& link) {
        process.push_back(link.process);
        correlation.push_back(link.correlation);
        event.push_back(link.event);
    }
    /// The first link of a call, or of any later one. O(log n).
    size_t firstOf(uint32_t ofProcess, uint32_t ofCorrelation) const;
};

}  // namespace lanescope
