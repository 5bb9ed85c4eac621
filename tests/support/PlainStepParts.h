// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/analysis/WorkerTimeline.h"
#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// The rules of `WorkerTimeline`, evaluated for every microsecond.
class PlainStepParts {
  public:
    PlainStepParts(const Trace& trace, const std::vector<StepSpan>& steps) : trace_(trace) {
        for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
            const bool isNccl = trace.nameOf({EventKind::Kernel, row}).starts_with("ncclDevKernel");
            add({EventKind::Kernel, row}, isNccl ? StepPart::ExposedCommunication : StepPart::Compute, 0);
        }
        for (uint32_t row = 0; row < trace.memcpys.size(); ++row)
            add({EventKind::Memcpy, row}, partOf(trace.memcpys.kind[row]), trace.memcpys.bytes[row]);
        for (uint32_t row = 0; row < trace.memsets.size(); ++row) add({EventKind::Memset, row}, StepPart::Memset, 0);
        for (const StepSpan& step : steps) findBatch(step);
        threads_.insert(0);  // the one with the steps
        findWaits(steps);
    }

    StepPart partAt(int64_t timeNs) const {
        const Work* next = nullptr;
        int64_t busyUntilNs = INT64_MIN;
        const Work* running = nullptr;
        StepPart part{};
        for (const Work& work : work_) {
            const bool isWaiting = timeNs < work.range.startNs + waitOf(work);
            const StepPart own = isWaiting ? StepPart::WaitingForRanks : work.part;
            if (work.range.contains(timeNs) && (!running || own < part)) {
                running = &work;
                part = own;
            }
            if (work.range.startNs <= timeNs)
                busyUntilNs = std::max(busyUntilNs, work.range.endNs);
            else if (!next || work.range.startNs < next->range.startNs)
                next = &work;
        }
        return running ? part : causeAt(timeNs, next, busyUntilNs);
    }

  private:
    struct Work {
        TimeRange range;
        StepPart part;
        int64_t bytes;
        uint32_t call;
        bool isBatch;
    };

    struct Call {
        TimeRange range;
        std::string_view name;
    };
    /// Calls of a thread, each without the part covered by earlier ones.
    std::vector<Call> callsOf(uint32_t thread) const {
        std::vector<Call> calls;
        for (uint32_t row = 0; row < trace_.apiCalls.size(); ++row)
            if (trace_.apiCalls.thread[row] == thread)
                calls.push_back({{trace_.apiCalls.startNs[row], trace_.apiCalls.endNs[row]},
                                 trace_.strings.at(trace_.apiCalls.name[row])});
        std::stable_sort(calls.begin(), calls.end(),
                         [](const Call& a, const Call& b) { return a.range.startNs < b.range.startNs; });
        int64_t untilNs = INT64_MIN;
        for (Call& call : calls) {
            call.range.startNs = std::max(call.range.startNs, untilNs);
            untilNs = std::max(untilNs, call.range.endNs);
        }
        std::erase_if(calls, [](const Call& each) { return each.range.isEmpty(); });
        return calls;
    }
    static bool isWait(const Call& call) { return call.name == "cudaStreamSynchronize"; }

    /// For each gap that begins in a wait of the thread that ends it, finds the part caused by that wait.
    void findWaits(const std::vector<StepSpan>& steps) {
        std::vector<const Work*> byStart;
        for (const Work& work : work_) byStart.push_back(&work);
        std::stable_sort(byStart.begin(), byStart.end(),
                         [](const Work* a, const Work* b) { return a->range.startNs < b->range.startNs; });
        std::map<std::pair<uint32_t, int64_t>, int64_t> takenNs;  // by thread and step
        int64_t untilNs = INT64_MIN;
        for (const Work* next : byStart) {
            const TimeRange gap{untilNs, next->range.startNs};
            untilNs = std::max(untilNs, next->range.endNs);
            if (gap.startNs == INT64_MIN || gap.endNs <= gap.startNs || !isLate(*next, gap.startNs)) continue;
            const uint32_t thread = trace_.apiCalls.thread[next->call];
            int64_t sinceNs = INT64_MIN;
            for (const StepSpan& step : steps)
                if (step.range.startNs <= gap.startNs) sinceNs = std::max(sinceNs, step.range.startNs);
            int64_t waitedNs = 0;
            bool isInWait = false;
            for (const Call& call : callsOf(thread)) {
                if (call.range.startNs > gap.startNs) break;
                isInWait = isWait(call) && call.range.endNs >= gap.startNs;
                if (isWait(call))
                    waitedNs += std::max<int64_t>(0, call.range.endNs - std::max(call.range.startNs, sinceNs));
            }
            if (!isInWait) continue;
            int64_t& taken = takenNs[{thread, sinceNs}];
            const bool isShort = gap.durationNs() < 100'000;
            const int64_t ns = isShort ? gap.durationNs() : std::min(gap.durationNs(), waitedNs - taken);
            // At most the wait so far.
            taken = std::min(waitedNs, taken + ns);
            afterWaits_.push_back({gap.startNs, gap.startNs + ns});
        }
    }
    bool isLate(const Work& next, int64_t idleFromNs) const {
        return next.call != noIndex && trace_.apiCalls.endNs[next.call] + WorkerTimeline::launchLatencyNs > idleFromNs;
    }
    bool isAfterWait(int64_t timeNs, uint32_t thread) const {
        for (const Call& call : callsOf(thread))
            if (call.range.contains(timeNs) && call.name == "cudaMalloc") return false;
        return std::any_of(afterWaits_.begin(), afterWaits_.end(),
                           [timeNs](const TimeRange& each) { return each.contains(timeNs); });
    }

    int64_t waitOf(const Work& work) const {
        if (work.part == StepPart::ExposedCommunication)
            for (const NcclFacts facts : trace_.nccl.facts)
                if (facts.gpu.startNs == work.range.startNs) return facts.waitedNs;
        return 0;
    }

    static StepPart partOf(MemcpyKind kind) {
        switch (kind) {
            case MemcpyKind::HtoD: return StepPart::ExposedHtoD;
            case MemcpyKind::DtoH: return StepPart::ExposedDtoH;
            case MemcpyKind::DtoD: return StepPart::ExposedDtoD;
            case MemcpyKind::PtoP: return StepPart::ExposedPtoP;
            default: return StepPart::ExposedOtherCopy;
        }
    }

    void add(EventRef event, StepPart part, int64_t bytes) {
        const EventRef call = trace_.launchingCall(event);
        if (call.isValid()) threads_.insert(trace_.apiCalls.thread[call.row()]);
        work_.push_back({trace_.rangeOf(event), part, bytes, call.isValid() ? call.row() : noIndex, false});
    }

    void findBatch(const StepSpan& step) {
        int64_t largest = 0;
        Work* batch = nullptr;
        const auto isCopy = [&](const Work& work) {
            if (work.part != StepPart::ExposedHtoD) return false;
            if (work.call == noIndex) return step.range.contains(work.range.startNs);
            return step.launches.contains(trace_.apiCalls.startNs[work.call]);
        };
        for (const Work& work : work_)
            if (isCopy(work)) largest = std::max(largest, work.bytes);
        for (Work& work : work_)
            if (isCopy(work) && work.bytes >= largest / 2 && (!batch || work.range.startNs < batch->range.startNs))
                batch = &work;
        if (batch) batch->isBatch = true;
    }

    /// Returns true if a counted thread is in a call, or in one whose name contains `word`.
    bool isInCall(int64_t timeNs, std::string_view word) const {
        for (uint32_t row = 0; row < trace_.apiCalls.size(); ++row) {
            const TimeRange call{trace_.apiCalls.startNs[row], trace_.apiCalls.endNs[row]};
            const std::string_view name = trace_.strings.at(trace_.apiCalls.name[row]);
            if (threads_.contains(trace_.apiCalls.thread[row]) && call.contains(timeNs) &&
                name.find(word) != std::string_view::npos)
                return true;
        }
        return false;
    }

    bool isInDataRange(int64_t timeNs) const {
        for (uint32_t row = 0; row < trace_.nvtx.size(); ++row)
            if (trace_.strings.at(trace_.nvtx.text[row]) == "data" &&
                TimeRange{trace_.nvtx.startNs[row], trace_.nvtx.endNs[row]}.contains(timeNs))
                return true;
        return false;
    }

    /// Texts of the open ranges below the step of the thread, outermost first; without a step, of
    /// the thread with the steps.
    std::vector<std::string> openRanges(uint32_t thread, int64_t timeNs) const {
        for (const uint32_t each : {thread, 0u}) {
            std::vector<std::string> open;
            for (uint32_t row = 0; row < trace_.nvtx.size(); ++row) {
                const std::string text(trace_.strings.at(trace_.nvtx.text[row]));
                const TimeRange range{trace_.nvtx.startNs[row], trace_.nvtx.endNs[row]};
                if (trace_.nvtx.thread[row] == each && range.contains(timeNs) && !text.starts_with("step"))
                    open.push_back(text);
            }
            if (!open.empty()) return open;
        }
        return {};
    }

    /// Returns true if the thread that launches `next` is in an activity that does not include the launch.
    bool isElsewhere(int64_t timeNs, const Work& next) const {
        const uint32_t thread = trace_.apiCalls.thread[next.call];
        const auto now = openRanges(thread, timeNs);
        const auto then = openRanges(thread, trace_.apiCalls.startNs[next.call]);
        return now.size() > then.size() || !std::equal(now.begin(), now.end(), then.begin());
    }

    StepPart causeAt(int64_t timeNs, const Work* next, int64_t busyUntilNs) const {
        const bool isGap = next && busyUntilNs != INT64_MIN, isKnown = isGap && next->call != noIndex;
        const bool isLate = isGap && this->isLate(*next, busyUntilNs);
        if (isKnown && !isLate) return StepPart::OtherIdle;
        if (isInDataRange(timeNs)) return StepPart::DataLoading;
        const bool isByLoader = isLate && trace_.threads[trace_.apiCalls.thread[next->call]].name == "DataLoader";
        const bool isForBatch = isLate && next->isBatch && !isInCall(timeNs, "") && !isElsewhere(timeNs, *next);
        if (isByLoader || isForBatch) return StepPart::DataLoading;
        if (isInCall(timeNs, "Synchronize")) return StepPart::Synchronization;
        if (isLate && isAfterWait(timeNs, trace_.apiCalls.thread[next->call])) return StepPart::Synchronization;
        return isLate ? StepPart::LaunchBound : StepPart::OtherIdle;
    }

    const Trace& trace_;
    std::vector<Work> work_;
    std::set<uint32_t> threads_;
    std::vector<TimeRange> afterWaits_;
};

}  // namespace lanescope::analysis
