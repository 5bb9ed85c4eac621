// SPDX-License-Identifier: Apache-2.0
#pragma once

#define NVTX_NO_IMPL  // types only: a tool must not call NVTX itself
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "capture/agent/Inside.h"
#include "capture/agent/NvtxRegistry.h"

namespace lanescope::agent {

// Common parts of the functions that NVTX calls: they convert NVTX's structs to an `NvtxCall` and
// pass it to the agent. Nothing here throws.

/// Runs `function`, which defines something once and needs memory. Without memory, and in a signal
/// handler that interrupted the agent, counts a lost call instead.
template <class Function>
auto guarded(Function&& function) -> std::invoke_result_t<Function> {
    if (const Inside inside(InsideFor::Definition); inside) {
        try {
            return function();
        } catch (...) {
            LostCalls::countWithoutMemory();
        }
    }
    if constexpr (!std::is_void_v<std::invoke_result_t<Function>>) return {};
}

/// Returns the kept part of the text; empty for null.
std::string_view view(const char* text);
struct WideText {
    char bytes[maxNvtxTextBytes];
};
/// Converts the kept part of wide characters, UTF-32 on Linux, to UTF-8 in `room`.
std::string_view utf8(const wchar_t* text, WideText& room);
/// Returns the number of a domain; 0 for the default domain.
uint32_t idOf(nvtxDomainHandle_t domain);
uint32_t currentThreadId();

int recordCall(const NvtxCall& call);
int recordText(log::NvtxEvent event, std::string_view text, uint64_t rangeId = 0);
int recordText(log::NvtxEvent event, const wchar_t* text, uint64_t rangeId = 0);
/// Records a call with attributes. The struct may be of any version: its size determines which fields exist.
int recordWith(log::NvtxEvent event, nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes,
               uint64_t rangeId = 0);
/// Puts the first of `count` extended payloads into the call.
void readExtended(NvtxCall& call, const nvtxPayloadData_t* data, size_t count);
/// Returns a new id for a start/end range, or 0 if nothing is recorded.
uint64_t newRangeId();

}  // namespace lanescope::agent
