// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lanescope {

/// API of the GPU's vendor.
enum class GpuApi : uint8_t { Cuda, Hip };
/// For people: "CUDA", "HIP".
std::string_view name(GpuApi api);
/// For files and programs: "cuda", "hip".
std::string_view identifier(GpuApi api);
/// Returns the API of a call by its prefix; nullopt for other names.
std::optional<GpuApi> gpuApiOf(std::string_view call);

/// Class of an API call. CUDA and HIP name their calls alike.
enum class CallClass : uint8_t {
    Other,
    Copy,  ///< Returns after the copy.
    AsynchronousCopy,
    Memset,  ///< Returns after the memset.
    AsynchronousMemset,
    Synchronization,  ///< Waits for the GPU. `cudaStreamWaitEvent` does not: the stream waits.
    Allocation,       ///< Allocates or frees memory.
    Launch,
};
/// Returns the class of a call by its name. O(length).
CallClass callClassOf(std::string_view call);

/// Return true for a call that begins, or ends, to capture work of a stream as a graph.
bool beginsCapture(std::string_view call);
bool endsCapture(std::string_view call);
/// Returns true for a call that makes a captured graph ready to launch.
bool instantiatesGraph(std::string_view call);

/// GPU work for which an API call waits.
enum class CallWait : uint8_t {
    None,
    Stream,   ///< All work of a stream.
    Event,    ///< Work before an event.
    Context,  ///< All work of a context.
    Free,     ///< Often all work, since it frees memory.
};
/// Returns the wait of a call by its name. O(length).
CallWait callWaitOf(std::string_view call);

}  // namespace lanescope
