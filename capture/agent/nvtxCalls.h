// SPDX-License-Identifier: Apache-2.0
#pragma once

#define NVTX_NO_IMPL  // the types only: a tool must not call NVTX itself
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "capture/agent/Inside.h"
#include "capture/agent/NvtxRegistry.h"

namespace lanescope::agent {

// What the functions that NVTX calls have in common: they turn NVTX's structs into an `NvtxCall`
// and hand it to the agent. Nothing here throws.

/// For what a program tells NVTX once, which takes memory. Where there is none, and in a signal
/// handler that interrupted the agent, it is not told, and counted.
template <class Function>
auto guarded(Function&& function) -> std::invoke_result_t<Function> {
    if (const Inside inside; inside) {
        try {
            return function();
        } catch (...) {
            LostCalls::withoutMemory.fetch_add(1, std::memory_order_relaxed);
        }
    }
    if constexpr (!std::is_void_v<std::invoke_result_t<Function>>) return {};
}

/// The text, as far as it is kept; empty for null.
std::string_view view(const char* text);
/// Room for a text of wide characters.
struct WideText {
    char bytes[longestNvtxText];
};
/// Wide characters, which are UTF-32 on Linux, as UTF-8 in `room`, as far as it is kept.
std::string_view utf8(const wchar_t* text, WideText& room);
/// The number of a domain by its handle; 0 for the default domain.
uint32_t idOf(nvtxDomainHandle_t domain);
uint32_t currentThreadId();

/// Records a call. Answers what NVTX wants to know of a push or pop.
int recordCall(const NvtxCall& call);
int recordText(log::NvtxEvent event, std::string_view text, uint64_t rangeId = 0);
int recordText(log::NvtxEvent event, const wchar_t* text, uint64_t rangeId = 0);
/// Records a call with attributes. The struct may be of any version: its size says how far it goes.
int recordWith(log::NvtxEvent event, nvtxDomainHandle_t domain,
               const nvtxEventAttributes_t* attributes, uint64_t rangeId = 0);
/// Puts the first of `count` extended payloads into the call.
void readExtended(NvtxCall& call, const nvtxPayloadData_t* data, size_t count);
/// A new id for a start/end range; 0 if nothing is recorded.
uint64_t newRangeId();

}  // namespace lanescope::agent
