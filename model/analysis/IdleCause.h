// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/format/threadStates.h"
#include "model/text/apiCalls.h"
#include "model/trace/stacks.h"

namespace lanescope::analysis {

// The cause of idle time as facts. `causeText` alone makes words of them, equal for equal facts, also in another run.

/// Kind of a cause, by the activity of the CPU.
enum class CauseKind : uint8_t {
    None,                ///< Not a cause: at most the activity of a thread.
    InCall,              ///< In a call of the GPU's API.
    AfterCall,           ///< After a call that waited for the GPU.
    OutsideCalls,        ///< In host code.
    BeforeBatchCopy,     ///< In host code, and the copy of a batch came next.
    LoadingRange,        ///< In a range named like data loading.
    LoadingThread,       ///< On a thread named like data loading.
    QueuedWork,          ///< The next work was launched in time.
    UnrecordedLaunch,    ///< The launching call was not recorded.
    NoWorkAround,        ///< Before the first or after the last work.
    OutsideNccl,         ///< Only NCCL's kernels were recorded.
    ClocksInconsistent,  ///< The clocks of GPU and CPU do not agree.
    WithinGraph,         ///< The work before and after was launched by one call.
    CapturingGraph,      ///< Work is captured as a graph, up to its instantiation.
};
inline constexpr CauseKind lastCauseKind = CauseKind::CapturingGraph;
/// For files and programs: "in_call", "outside_calls".
std::string_view identifier(CauseKind kind);

/// Role of a thread in its process. Thread ids differ from run to run.
enum class ThreadRole : uint8_t { None, Main, Named, Other };
/// "none", "main", "named", "other".
std::string_view identifier(ThreadRole role);

/// A thread, equal for its counterpart in another run.
struct ThreadRef {
    ThreadRole role = ThreadRole::None;
    std::string name;  ///< Of a named one, digits as '#': "pt_autograd_#".

    bool isEmpty() const { return role == ThreadRole::None; }
    /// Returns "thread pt_autograd_#", "main thread" or "another thread".
    std::string text() const;
    /// Returns the same with an article if it has one: "the main thread", "another thread".
    std::string textWithArticle() const;
    auto operator<=>(const ThreadRef&) const = default;
};
ThreadRef threadRef(const Trace& trace, uint32_t thread);

/// Activity of a running thread, by the files on its stack.
enum class ThreadWork : uint8_t {
    Unknown,
    GarbageCollection,
    Dynamo,
    Inductor,
    Triton,
    Jax,
    TorchData,
    TorchOptimizer,
    Saving,
    Importing,
};
/// "unknown", "garbage_collection", "dynamo".
std::string_view identifier(ThreadWork work);
/// Returns true for work that compiles code.
bool isCompiling(ThreadWork work);

/// Extent to which samples show the state of a thread.
enum class Observation : uint8_t {
    None,
    State,        ///< It was in the state throughout.
    Alternating,  ///< It ran and was in the state alternately; for `Running` it waited meanwhile.
    WithoutCore,  ///< It ran, but was runnable without a core most of the time.
};
/// "none", "state", "alternating", "without_core".
std::string_view identifier(Observation observation);

/// Activity of a thread in host code.
struct ThreadActivity {
    FrameRef frame = {};
    ThreadWork work = ThreadWork::Unknown;
    Observation observation = Observation::None;
    ThreadState state = ThreadState::Unknown;  ///< `Unknown` without observation.
    ThreadRef holder = {};                     ///< The thread that has the awaited lock.
    FrameRef holderFrame = {};

    auto operator<=>(const ThreadActivity&) const = default;
};
/// Returns "waits for input" or "alternately runs and waits"; empty if the state is unknown.
std::string stateText(const ThreadActivity& activity);
/// Returns " at data.py:88 in load, which waits for input"; empty if nothing is known.
std::string activityText(const ThreadActivity& activity);

struct IdleCause {
    CauseKind kind = CauseKind::None;
    GpuApi api = GpuApi::Cuda;  ///< For time in host code.
    std::string call = {};      ///< Name of the call that it is in or after.
    std::string copy = {};      ///< For time after a call: the copy it waited for, "HtoD".
    bool isPageable = false;    ///< The call copies memory that is not pinned.
    ThreadRef thread = {};
    ThreadActivity activity = {};

    auto operator<=>(const IdleCause&) const = default;

    /// Returns `Other` for a cause without a call.
    CallClass callClass() const { return callClassOf(call); }
    /// Returns nullopt if the state is unknown or if the thread alternately ran and waited.
    std::optional<ThreadState> state() const;
    /// Returns true if any state is known.
    bool isObserved() const { return activity.observation != Observation::None; }
    /// Returns true if the thread alternately ran and waited.
    bool runsAndWaits() const { return activity.observation == Observation::Alternating; }
    /// Returns true if the thread both ran and waited, except for waits for another thread, which may have launched
    /// work meanwhile, as that of autograd does. The state while the GPU was idle is then unknown.
    bool runsAndWaitsAlternately() const { return runsAndWaits() && activity.state != ThreadState::Lock; }
    /// Returns true if the thread was runnable without a core most of the time, but also ran.
    bool isMostlyWithoutCore() const { return activity.observation == Observation::WithoutCore; }
    /// Returns true if samples saw the thread running or runnable, all the time or alternately.
    bool isSeenRunning() const;
    /// Returns true if the frame, or that of the holder, is one of Python.
    bool isInPython() const;
    /// Returns the cause with the place of the thread, but without its state.
    IdleCause withoutState() const;
};

/// Returns the words of a cause: "in host code (no CUDA call) on the main thread at data.py:88 in load,
/// which waits for input". For kind `None` those about the thread alone.
std::string causeText(const IdleCause& cause);
/// Returns thread and place alone: "on the main thread at data.py:88 in load". Empty if one is unknown.
std::string placeText(const IdleCause& cause);

/// Name of a contributor: that of GPU work, or the facts of a cause of idle time.
struct ContributorName {
    std::string work;  ///< Empty for idle time.
    IdleCause idle;    ///< Of kind `None` for work.

    ContributorName() = default;
    // Implicit, so that either can be assigned.
    ContributorName(std::string name) : work(std::move(name)) {}
    ContributorName(const char* name) : work(name) {}
    ContributorName(IdleCause cause) : idle(std::move(cause)) {}

    bool isIdle() const { return idle.kind != CauseKind::None; }
    bool empty() const { return work.empty() && !isIdle(); }
    std::string text() const { return isIdle() ? causeText(idle) : work; }
    auto operator<=>(const ContributorName&) const = default;
};

}  // namespace lanescope::analysis
