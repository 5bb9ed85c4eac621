// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/hostCopies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

#include "model/numbers/Statistics.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/flows.h"

namespace lanescope::analysis {

namespace {

/// Minimum size of a copy. The time of smaller copies is mostly latency, and many have equal sizes by chance.
constexpr int64_t minCopyBytes = 64 * 1024;
/// Maximum time from the end of awaited work to the start of a copy that it delayed.
constexpr int64_t maxStartDelayNs = 50'000;

using Line = std::optional<uint32_t>;

/// Sums of time or bytes by a key.
template <class Key>
struct Sums {
    std::map<Key, int64_t> of;
    void add(const Key& key, int64_t amount) {
        int64_t& sum = of[key];
        sum = saturatingSum(sum, amount);
    }
    /// The largest; null without any.
    const std::pair<const Key, int64_t>* most() const {
        const auto found = std::ranges::max_element(of, {}, [](const auto& each) { return each.second; });
        return found == of.end() ? nullptr : &*found;
    }
};

/// Returns the row of `Trace::streamWaits` for which a copy started late: the CPU launched the copy before the awaited
/// work ended, and the copy started right after. Nullopt if there is none.
std::optional<uint32_t> delayingWait(const Trace& trace, const GpuWork& copy) {
    const std::vector<EventRef> awaited = awaitedWork(trace, copy.event);
    if (awaited.empty() || copy.call == noIndex) return std::nullopt;
    const auto endOf = [&](EventRef each) { return trace.rangeOf(each).endNs; };
    const EventRef last = *std::ranges::max_element(awaited, {}, endOf);
    const int64_t endNs = endOf(last);
    if (endNs <= trace.apiCalls.endNs[copy.call] || endNs > copy.startNs || copy.startNs - maxStartDelayNs > endNs)
        return std::nullopt;
    const StreamWaitTable& waits = trace.streamWaits;
    const std::pair own(streamOf(trace, copy.event), correlationOf(trace, copy.event));
    const auto keyOf = [&](uint32_t row) { return std::pair(waits.waitingStream[row], waits.waitCorrelation[row]); };
    const uint32_t end = *std::ranges::lower_bound(std::views::iota(0u, waits.size()), own, {}, keyOf);
    const uint32_t stream = streamOf(trace, last);
    for (uint32_t row = end; row-- > 0 && waits.waitingStream[row] == own.first;)
        if (waits.recordedStream[row] == stream) return row;
    return std::nullopt;
}

class CopyFinder {
  public:
    CopyFinder(const Trace& trace, const WorkPlaces& places) : trace_(trace), places_(places) {}

    void add(const GpuWork& work, uint32_t step) {
        const int64_t ns = work.endNs - work.startNs;
        if (work.event.kind() == EventKind::Kernel) return computeNs_.add(streamOf(trace_, work.event), ns);
        if (work.event.kind() != EventKind::Memcpy || work.bytes < minCopyBytes) return;
        const Line line = places_.keyOf(places_.placeOf(work));
        if (work.part == StepPart::ExposedDtoH) onHost_[{step, work.bytes}].push_back(line);
        if (work.part != StepPart::ExposedHtoD) return;
        if (const auto found = onHost_.find({step, work.bytes}); found != onHost_.end() && !found->second.empty()) {
            made_.returnedBytes = saturatingSum(made_.returnedBytes, work.bytes);
            leaving_.add(found->second.back(), work.bytes);
            returning_.add(line, work.bytes);
            found->second.pop_back();
        }
        if (const std::optional<uint32_t> wait = delayingWait(trace_, work)) addDelay(*wait, ns);
    }

    HostCopies finish() {
        if (const auto* most = leaving_.most()) made_.leaveAt = textOf(most->first);
        if (const auto* most = returning_.most()) made_.returnAt = textOf(most->first);
        int64_t allNs = 0;
        for (const auto& [stream, ns] : computeNs_.of) allNs = saturatingSum(allNs, ns);
        const auto* most = delays_.most();
        if (most == nullptr || computeNs_.of[std::get<0>(most->first)] < allNs / 2) return made_;
        const auto& [stream, call, line] = most->first;
        made_.delayedNs = most->second;
        made_.awaitedStream = trace_.streams[stream].streamId;
        made_.waitsAt = std::string(trace_.strings.at(call)) + (line ? " at " + textOf(line) : std::string());
        return made_;
    }

  private:
    std::string textOf(Line line) const { return line ? places_.lineOf(*line) : std::string(); }

    void addDelay(uint32_t row, int64_t ns) {
        const StreamWaitTable& waits = trace_.streamWaits;
        const uint32_t process = trace_.streams[waits.waitingStream[row]].process;
        const EventRef call = callOf(trace_, process, waits.waitCorrelation[row]);
        if (!call.isValid()) return;
        const Line line = places_.keyOf(pythonPlace(trace_, call));
        delays_.add({waits.recordedStream[row], trace_.apiCalls.name[call.row()], line}, ns);
    }

    const Trace& trace_;
    const WorkPlaces& places_;
    HostCopies made_;
    Sums<uint32_t> computeNs_;                              ///< By stream.
    Sums<std::tuple<uint32_t, StringIndex, Line>> delays_;  ///< By awaited stream, and call and line of the wait.
    Sums<Line> leaving_, returning_;                        ///< Bytes.
    std::map<std::pair<uint32_t, int64_t>, std::vector<Line>> onHost_;  ///< By step and size: copies without return.
};

}  // namespace

HostCopies hostCopies(const RunContext& run, const WorkList& work, const WorkerSteps& steps, const WorkPlaces& places) {
    CopyFinder finder(run.trace, places);
    for (WorkList::Reader reader(work); !reader.isAtEnd(); reader.next()) {
        const uint32_t step = steps.stepOf(reader->startNs, launchedNs(run, *reader));
        if (step != noIndex) finder.add(*reader, step);
    }
    return finder.finish();
}

}  // namespace lanescope::analysis
