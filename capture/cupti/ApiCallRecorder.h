// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <algorithm>
#include <array>
#include <atomic>
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

/// Effect of a driver call that a timeline shows in addition to the call.
enum class DriverCallKind : uint8_t {
    None,         ///< Not recorded.
    Other,        ///< Recorded without further effect.
    EventRecord,  ///< Puts an event into a stream.
    EventWait,    ///< Waits for an event on the CPU.
    StreamWait,   ///< Makes a stream wait for an event.
    StreamSync,   ///< Waits for a stream on the CPU.
    ContextSync,  ///< Waits for a whole context on the CPU.
};

/// Returns the kind of a call by CUPTI's name for it. Returns `None` for calls that only query or
/// set a property and so explain nothing on a timeline. Other calls launch work, copy, set, wait,
/// allocate, free, or load code. With `onlyWork`, the last three groups are `None` too.
DriverCallKind driverCallKind(std::string_view callbackName, bool onlyWork);

/// Recorder of CUDA driver calls, including those made by the runtime, by CUPTI callbacks. CUPTI's own records of
/// calls, waits and events cost more: any of these kinds makes CUPTI inspect every runtime call. Nine of ten calls of a
/// training only query a property (figures in resources/manual/limits.md).
class ApiCallRecorder {
  public:
    /// `wakeWriter` as in `ThreadRings`. `stacks`, `delay` and `burst` outlive all calls.
    ApiCallRecorder(const CuptiLibrary& cupti, CallStacks& stacks, const CallDelay& delay, BurstMemory& burst,
                    std::function<void()> wakeWriter);

    void mark() { rings_.mark(); }

    /// Enables the callbacks for the calls that `which` selects and returns the number of these
    /// functions. On the thread that initializes CUDA.
    int enable(CUpti_SubscriberHandle subscriber, ApiCalls which);

    /// Disables the callbacks except those of waits, or enables those of `enable` again. Any thread, one at a time.
    void setOn(CUpti_SubscriberHandle subscriber, bool isOn);

    /// Handles the beginning or end of a call. The program's thread.
    void onCall(CUpti_CallbackId id, const CUpti_CallbackData& call);
    /// Returns true for a call that waits for a stream or a context on the CPU. Its callback stays enabled. After a
    /// wait for one stream, others may work.
    bool isWait(CUpti_CallbackId id) const { return id < maxFunctions && kinds_[id] >= DriverCallKind::StreamSync; }
    bool isContextWait(CUpti_CallbackId id) const {
        return id < maxFunctions && kinds_[id] == DriverCallKind::ContextSync;
    }
    /// Returns true if `enable` found such calls.
    bool hasWaits() const {
        return std::ranges::any_of(kinds_, [](auto kind) { return kind >= DriverCallKind::StreamSync; });
    }

    /// Writes the calls from before `mark` that began in a window, and reports all calls to `launches`. Returns the
    /// number of calls, among all, that launched kernels or graphs. Writer thread.
    uint64_t drain(log::RecordWriter& writer, const CycleClock& clock, const Windows& windows, LaunchWindows& launches);

  private:
    struct Call;
    struct Wait;
    static constexpr size_t maxFunctions = 2048;

    Wait waitOf(DriverCallKind kind, const CUpti_CallbackData& call) const;
    void addDelay();
    void write(const Call& call, const Wait* wait, log::RecordWriter& writer, const CycleClock& clock);
    uint32_t eventId(uint64_t handle);

    const CuptiLibrary& cupti_;
    CallStacks& stacks_;
    const CallDelay& delay_;
    ThreadRings<CallStacks::OfThread> rings_;
    std::array<DriverCallKind, maxFunctions> kinds_{};
    std::atomic<uint64_t> onSinceTicks_{0};  // calls that began before lack the callback of their start
    std::atomic<bool> isOn_{true};
    std::bitset<maxFunctions> launches_;               // the functions that launch kernels or graphs
    std::bitset<maxFunctions> delayed_;                // the functions of `delay_`; set before the callbacks
    std::optional<ApiNames> names_;                    // writer thread only
    std::unordered_map<uint64_t, uint32_t> eventIds_;  // writer thread only
};

}  // namespace lanescope::agent
