// SPDX-License-Identifier: Apache-2.0
#include "model/text/apiCalls.h"

#include <array>

#include "model/format/text.h"

namespace lanescope {

std::string_view name(GpuApi api) { return api == GpuApi::Hip ? "HIP" : "CUDA"; }

std::string_view identifier(GpuApi api) { return api == GpuApi::Hip ? "hip" : "cuda"; }

std::optional<GpuApi> gpuApiOf(std::string_view call) {
    if (call.starts_with("hip") || call.starts_with("hsa")) return GpuApi::Hip;
    if (call.starts_with("cu")) return GpuApi::Cuda;
    return std::nullopt;
}

CallClass callClassOf(std::string_view call) {
    static constexpr std::array<std::string_view, 8> allocations{
        "Malloc", "Free", "MemAlloc", "HostAlloc", "MemMap", "cuMemCreate", "HostRegister", "HostUnregister"};
    const auto has = [call](std::string_view word) { return contains(call, word); };
    if (containsAny(call, allocations)) return CallClass::Allocation;
    if (has("Synchronize")) return CallClass::Synchronization;
    if (has("HostFunc")) return CallClass::Other;
    if (has("Graph")) return has("Launch") ? CallClass::Launch : CallClass::Other;
    const bool isAsynchronous = has("Async");
    if (has("Memcpy")) return isAsynchronous ? CallClass::AsynchronousCopy : CallClass::Copy;
    if (has("Memset")) return isAsynchronous ? CallClass::AsynchronousMemset : CallClass::Memset;
    return has("Launch") ? CallClass::Launch : CallClass::Other;
}

bool beginsCapture(std::string_view call) { return contains(call, "StreamBeginCapture"); }

bool endsCapture(std::string_view call) { return contains(call, "StreamEndCapture"); }

bool instantiatesGraph(std::string_view call) { return contains(call, "GraphInstantiate"); }

CallWait callWaitOf(std::string_view call) {
    const auto has = [call](std::string_view word) { return contains(call, word); };
    if (has("StreamSynchronize")) return CallWait::Stream;
    if (has("EventSynchronize")) return CallWait::Event;
    if (has("Synchronize")) return CallWait::Context;
    return has("Free") && !has("Async") ? CallWait::Free : CallWait::None;
}

}  // namespace lanescope
