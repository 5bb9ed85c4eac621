// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/CounterSample.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/kinds/Graph.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"
#include "model/trace/kinds/MemoryEvent.h"
#include "model/trace/kinds/Nvtx.h"

// List of every kind of event; each is described in its own header. Code that depends on the kind
// of an event uses its description; nothing else switches over `EventKind`. `eventFacts.h` has the
// most frequent queries of a single event and compiles faster.

namespace lanescope {

namespace kinds {

/// Description of `EventKind::None` and of invalid numbers from a corrupt file.
struct None : Unplaced {
    static constexpr EventKind kind = EventKind::None;
    static constexpr Origin origin = Origin::Derived;
    static constexpr std::string_view identifier = "", name = "", plural = "";

    static uint32_t size(const Trace&) { return 0; }
    static TimeRange rangeOf(const Trace&, uint32_t) { return {}; }
    static std::string nameOf(const Trace&, uint32_t) { return {}; }
    static SliceCategory categoryOf(const Trace&, uint32_t) { return SliceCategory::Busy; }
    static void describe(const Trace&, uint32_t, Details&) {}
};

}  // namespace kinds

/// Calls `visit(description)` for a kind: `visitKind(kind, [](auto each) { return each.plural; })`.
/// Invalid numbers get `kinds::None`.
// An enumerator without a description must not compile, whatever the warnings are set to.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
template <class Visitor>
constexpr decltype(auto) visitKind(EventKind kind, Visitor&& visit) {
    const auto described = [&visit]<kinds::EventDescription Kind>(Kind each) -> decltype(auto) { return visit(each); };
    switch (kind) {
        case EventKind::Kernel: return described(kinds::Kernel{});
        case EventKind::Memcpy: return described(kinds::Memcpy{});
        case EventKind::Memset: return described(kinds::Memset{});
        case EventKind::Api: return described(kinds::Api{});
        case EventKind::Sync: return described(kinds::Sync{});
        case EventKind::Nvtx: return described(kinds::Nvtx{});
        case EventKind::Projection: return described(kinds::Projection{});
        case EventKind::Graph: return described(kinds::Graph{});
        case EventKind::PageFault: return described(kinds::PageFault{});
        case EventKind::CounterSample: return described(kinds::CounterSample{});
        case EventKind::CpuState: return described(kinds::CpuState{});
        case EventKind::None: break;
    }
    return described(kinds::None{});
}
#pragma GCC diagnostic pop

/// Calls `visit(description, row)` for an event of the trace, else with `kinds::None` and row 0.
decltype(auto) visitKind(const Trace& trace, EventRef event, auto&& visit) {
    return visitKind(event.kind(), [&](auto each) -> decltype(auto) {
        if (event.row() < each.size(trace)) return visit(each, event.row());
        return visit(kinds::None{}, uint32_t{0});
    });
}

namespace kinds {

template <class... Kinds>
struct KindList {
    static constexpr std::array numbers{Kinds::kind...};
    static void visit(auto& visit) { (visit(Kinds{}), ...); }
};

/// Order in which events that start together are listed: containing and causing events first.
using KindsInOrder =
    KindList<Nvtx, Api, Sync, Graph, Kernel, Memcpy, Memset, PageFault, Projection, CpuState, CounterSample>;

constexpr bool isEachInOrderOnce() {
    std::array<int, EventRef::kindLimit> times{};
    for (const EventKind kind : KindsInOrder::numbers) ++times[static_cast<size_t>(kind)];
    for (size_t number = 0; number < times.size(); ++number) {
        const bool isKind =
            visitKind(static_cast<EventKind>(number), [](auto each) { return each.kind != EventKind::None; });
        if (times[number] != (isKind ? 1 : 0)) return false;
    }
    return true;
}
static_assert(isEachInOrderOnce(), "a kind is missing in the order, or is listed twice");

}  // namespace kinds

/// Calls `visit(description)` for every kind, in the order in which events that start together are listed.
void forEachKind(auto&& visit) { kinds::KindsInOrder::visit(visit); }

}  // namespace lanescope
