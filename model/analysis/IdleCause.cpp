// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/IdleCause.h"

#include <fmt/format.h>

#include <array>

#include "model/format/factNames.h"
#include "model/format/text.h"
#include "model/text/formatValue.h"

namespace lanescope::analysis {

namespace {

struct WorkName {
    std::string_view identifier, text;
};
constexpr std::array<WorkName, 10> workNames{{
    {"unknown", ""},
    {"garbage_collection", "in Python's garbage collection"},
    {"dynamo", "compiling (torch._dynamo)"},
    {"inductor", "compiling (torch._inductor)"},
    {"triton", "compiling (Triton)"},
    {"jax", "compiling (JAX)"},
    {"torch_data", "loading data (torch.utils.data)"},
    {"torch_optimizer", "in the optimizer (torch.optim)"},
    {"saving", "saving a checkpoint"},
    {"importing", "importing modules"},
}};

/// Returns ", held by the main thread at data.py:88 in load".
std::string holderText(const ThreadActivity& activity) {
    if (activity.holder.isEmpty()) return {};
    std::string text = ", held by " + activity.holder.textWithArticle();
    if (!activity.holderFrame.isEmpty()) text += " at " + activity.holderFrame.text();
    return text;
}

/// Returns the part of the words before the thread.
std::string headText(const IdleCause& cause) {
    switch (cause.kind) {
        case CauseKind::InCall: return "in " + cause.call;
        case CauseKind::AfterCall:
            return "after " + cause.call + (cause.copy.empty() ? "" : fmt::format(" for a copy ({})", cause.copy));
        case CauseKind::OutsideCalls: return fmt::format("in host code (no {} call)", name(cause.api));
        case CauseKind::BeforeBatchCopy: return "before the batch copy, in host code";
        case CauseKind::LoadingRange: return "loading data (NVTX range)";
        case CauseKind::LoadingThread: return cause.thread.text();
        case CauseKind::QueuedWork: return "between queued GPU operations";
        case CauseKind::WithinGraph: return fmt::format("between the operations of a {} graph", name(cause.api));
        case CauseKind::CapturingGraph: return fmt::format("while a {} graph is captured", name(cause.api));
        case CauseKind::UnrecordedLaunch: return "launching call not recorded";
        case CauseKind::NoWorkAround: return "no work before or after";
        case CauseKind::OutsideNccl: return "outside NCCL's kernels";
        case CauseKind::ClocksInconsistent: return "unknown, as the clocks of GPU and CPU do not agree";
        case CauseKind::None: break;
    }
    return {};
}

std::string onThread(const ThreadRef& thread) { return thread.isEmpty() ? "" : " on " + thread.textWithArticle(); }

std::string workText(ThreadWork work) {
    const std::string_view text = workNames[static_cast<size_t>(work)].text;
    return text.empty() ? "" : fmt::format(", {}", text);
}

std::string frameAndWork(const ThreadActivity& activity) {
    return (activity.frame.isEmpty() ? "" : " at " + activity.frame.text()) + workText(activity.work);
}

/// A longer number at a word is an identifier of the process, not part of a name.
constexpr size_t maxDigitsOfName = 3;

/// Returns the name of a thread without its number: "pt_autograd_0" gives "pt_autograd_#". "python3.8" has none.
std::string threadPattern(std::string_view name) {
    std::string pattern;
    for (size_t at = 0; at < name.size();) {
        size_t end = at;
        while (end < name.size() && isDigit(name[end])) ++end;
        if (end == at) {
            pattern += name[at++];
            continue;
        }
        const bool isAfterWord =
            at > 0 && (isLetter(name[at - 1]) || (name[at - 1] == '.' && at > 1 && isDigit(name[at - 2])));
        const size_t word = name.find_last_of(" -_/:#", at) + 1;
        const bool isHexadecimal = name.substr(word).starts_with("0x");
        const bool isBeforeWord = end < name.size() && isLetter(name[end]);
        const bool isName = isBeforeWord || isHexadecimal || (isAfterWord && end - at <= maxDigitsOfName);
        pattern += isName ? name.substr(at, end - at) : "#";
        at = end;
    }
    return pattern;
}

}  // namespace

std::string_view identifier(CauseKind kind) {
    static constexpr std::array<std::string_view, static_cast<size_t>(lastCauseKind) + 1> all{
        "none",           "in_call",           "after_call",
        "outside_calls",  "before_batch_copy", "loading_range",
        "loading_thread", "queued_work",       "unrecorded_launch",
        "no_work_around", "outside_nccl",      "clocks_inconsistent",
        "within_graph",   "capturing_graph"};
    return all[static_cast<size_t>(kind)];
}

std::string_view identifier(ThreadRole role) { return enumText(role, {"none", "main", "named", "other"}); }

std::string_view identifier(ThreadWork work) { return workNames[static_cast<size_t>(work)].identifier; }

bool isCompiling(ThreadWork work) {
    return work == ThreadWork::Dynamo || work == ThreadWork::Inductor || work == ThreadWork::Triton ||
           work == ThreadWork::Jax;
}

std::string_view identifier(Observation observation) {
    return enumText(observation, {"none", "state", "alternating", "without_core"});
}

std::string ThreadRef::text() const {
    switch (role) {
        case ThreadRole::Main: return "main thread";
        case ThreadRole::Named: return "thread " + name;
        case ThreadRole::Other: return "another thread";
        case ThreadRole::None: break;
    }
    return {};
}

std::string ThreadRef::textWithArticle() const { return (role == ThreadRole::Other ? "" : "the ") + text(); }

ThreadRef threadRef(const Trace& trace, uint32_t thread) {
    const Thread& which = trace.threads[thread];
    if (which.tid == trace.processes[which.process].pid) return {ThreadRole::Main, {}};
    if (which.name.empty()) return {ThreadRole::Other, {}};
    return {ThreadRole::Named, threadPattern(which.name)};
}

std::string stateText(const ThreadActivity& activity) {
    const std::string_view meaning = nameOf(activity.state).meaning;
    switch (activity.observation) {
        case Observation::WithoutCore: return "alternately runs and waits for a core";
        case Observation::Alternating:
            // A thread that samples saw running cannot have run all the time.
            return fmt::format("alternately runs and {}{}", activity.state == ThreadState::Running ? "waits" : meaning,
                               holderText(activity));
        case Observation::State: return std::string(meaning) + holderText(activity);
        case Observation::None: break;
    }
    return {};
}

std::string activityText(const ThreadActivity& activity) {
    const std::string text = frameAndWork(activity), state = stateText(activity);
    if (activity.observation == Observation::State && activity.state == ThreadState::Running) return text + ", running";
    return state.empty() ? text : text + ", which " + state;
}

std::optional<ThreadState> IdleCause::state() const {
    return activity.observation == Observation::State ? std::optional(activity.state) : std::nullopt;
}

bool IdleCause::isSeenRunning() const {
    return isMostlyWithoutCore() || (isObserved() && activity.state == ThreadState::Running);
}

bool IdleCause::isInPython() const {
    return isPythonFile(activity.frame.file) || isPythonFile(activity.holderFrame.file);
}

IdleCause IdleCause::withoutState() const {
    IdleCause rest = *this;
    rest.activity = {activity.frame, activity.work};
    return rest;
}

std::string causeText(const IdleCause& cause) {
    std::string text = headText(cause);
    if (cause.isPageable) text += " of pageable memory";
    if (cause.kind != CauseKind::LoadingThread) text += onThread(cause.thread);
    if (cause.kind == CauseKind::BeforeBatchCopy && cause.thread.isEmpty() && cause.isObserved())
        text += " on a thread";
    text += activityText(cause.activity);
    if (cause.kind == CauseKind::None && text.starts_with(' ')) text.erase(0, 1);
    return text;
}

std::string placeText(const IdleCause& cause) {
    if (cause.thread.isEmpty() || cause.activity.frame.isEmpty()) return {};
    return onThread(cause.thread).substr(1) + frameAndWork(cause.activity);
}

}  // namespace lanescope::analysis
