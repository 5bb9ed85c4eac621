// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "capture/agent/CallStacks.h"
#include "capture/agent/CycleClock.h"
#include "capture/agent/EventRing.h"
#include "capture/cupti/CuptiLibrary.h"
#include "capture/cupti/LaunchWindows.h"
#include "capture/log/LogFile.h"
#include "capture/options/AgentOptions.h"

namespace lanescope::agent {

/// What a call of the driver does that a timeline has to show beside the call itself.
enum class DriverCallKind : uint8_t {
    None,         ///< Not recorded.
    Other,        ///< Recorded, and no more.
    EventRecord,  ///< Puts an event into a stream.
    EventWait,    ///< Waits for an event on the CPU.
    StreamWait,   ///< Lets a stream wait for an event.
    StreamSync,   ///< Waits for a stream on the CPU.
    ContextSync,  ///< Waits for all of a context on the CPU.
};

/// The kind of a call, by CUPTI's name for it, `None` for one that does not explain a timeline: one
/// that only asks for or sets a property. Calls that do launch work, copy, set, wait, allocate,
/// free, or load code. With `onlyWork`, the last three kinds are `None` too.
DriverCallKind driverCallKind(std::string_view callbackName, bool onlyWork);

/// Records calls of the CUDA driver, which the runtime makes as well, by being called back with
/// them. CUPTI's own records of calls, waits and events cost more: to switch on any of these kinds
/// makes CUPTI look at every call of the runtime, and nine of ten calls of a training only ask for
/// a property (resources/manual/limits.md has the figures).
class ApiCallRecorder {
  public:
    /// `wakeWriter` as in `ThreadRings`. `stacks` outlives all calls.
    ApiCallRecorder(const CuptiLibrary& cupti, CallStacks& stacks,
                    std::function<void()> wakeWriter);

    /// Notes how far the threads have come, before `Windows::refresh`. Writer thread.
    void mark() { rings_.mark(); }

    /// Asks to be called back with the calls that `which` means; answers how many functions these
    /// are. On the thread that initializes CUDA.
    int enable(CUpti_SubscriberHandle subscriber, ApiCalls which);

    /// Ends that, for good. Flusher thread.
    void disable(CUpti_SubscriberHandle subscriber) const;

    /// A call begins or ends. The program's thread.
    void onCall(CUpti_CallbackId id, const CUpti_CallbackData& call);

    /// Writes down the calls from before `mark` that began in a window, and tells `launches` of
    /// all. Answers how many of all launched kernels or graphs. Writer thread.
    uint64_t drain(log::RecordWriter& writer, const CycleClock& clock, const Windows& windows,
                   LaunchWindows& launches);

  private:
    struct Call;
    struct Wait;
    static constexpr size_t mostFunctions = 2048;

    Wait waitOf(DriverCallKind kind, const CUpti_CallbackData& call) const;
    void write(const Call& call, const Wait* wait, log::RecordWriter& writer,
               const CycleClock& clock);
    uint32_t eventId(uint64_t handle);

    const CuptiLibrary& cupti_;
    CallStacks& stacks_;
    ThreadRings<CallStacks::OfThread> rings_;
    std::array<DriverCallKind, mostFunctions> kinds_{};
    std::bitset<mostFunctions> launches_;              // which of them launch kernels or graphs
    std::optional<ApiNames> names_;                    // writer thread only
    std::unordered_map<uint64_t, uint32_t> eventIds_;  // writer thread only
};

}  // namespace lanescope::agent
