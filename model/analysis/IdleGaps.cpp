// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/IdleGaps.h"

#include <algorithm>
#include <map>

#include "model/trace/Track.h"

namespace lanescope::analysis {

namespace {

std::vector<IdleGap> gapsBetween(const WorkList& work) {
    std::vector<IdleGap> gaps;
    if (work.empty()) return gaps;
    GpuWork last = work.front();
    for (WorkList::Reader next(work); !next.isAtEnd(); next.next()) {
        if (next->startNs > last.endNs)
            gaps.push_back({{last.endNs, next->startNs}, last.event, next->event, next->call});
        if (next->endNs >= last.endNs) last = *next;
    }
    gaps.shrink_to_fit();
    return gaps;
}

/// Returns the first element that ends after a time. The elements are sorted and do not overlap.
template <class Each>
auto firstEndingAfter(const std::vector<Each>& all, int64_t timeNs) {
    return std::partition_point(all.begin(), all.end(),
                                [timeNs](const Each& each) { return each.range.endNs <= timeNs; });
}

}  // namespace

/// Threads with such a name, and threads of processes without GPU work.
IdleGaps::IdleGaps(const Trace& trace) : trace_(&trace), states_(trace) {
    std::vector<bool> launches(trace.processes.size());
    for (const Stream& stream : trace.streams) launches[stream.process] = true;
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
        const Thread& info = trace.threads[thread];
        const bool isOfHelper = !launches[info.process] && info.tid == trace.processes[info.process].pid;
        if (!states_.isEmpty(thread) && (isOfHelper || isDataLoadingName(info.name))) loaders_.push_back(thread);
    }
}

std::vector<IdleGaps::ThreadInGap> IdleGaps::threadsDuring(const IdleGap& gap) const {
    std::vector<ThreadInGap> threads;
    const uint32_t awaited = gap.call == noIndex ? noIndex : trace_->apiCalls.thread[gap.call];
    const auto add = [&](uint32_t thread) {
        ThreadTimes times = states_.during(thread, gap.range);
        if (times.knownNs() > times.of(ThreadState::Unknown)) threads.push_back({thread, thread == awaited, times});
    };
    if (awaited != noIndex) add(awaited);
    const size_t first = threads.size();
    for (const uint32_t thread : loaders_)
        if (thread != awaited) add(thread);
    std::stable_sort(threads.begin() + static_cast<std::ptrdiff_t>(first), threads.end(),
                     [](const ThreadInGap& a, const ThreadInGap& b) {
                         return a.times.of(ThreadState::Running) > b.times.of(ThreadState::Running);
                     });
    if (threads.size() > first + maxLoaders) threads.resize(first + maxLoaders);
    return threads;
}

IdleGaps::Worker IdleGaps::madeOf(const RunWorkers& run, const WorkerSteps& worker) {
    const WorkerTimeline timeline = run.timelineOf(worker);
    Worker made;
    made.id = workerOf(worker);
    made.steps = rangesOf(worker);
    made.gaps = gapsBetween(timeline.work());
    // The first may have no length of its own.
    TimeRange worked;
    if (!timeline.work().empty()) worked = {timeline.work().front().startNs, timeline.work().front().endNs};
    for (WorkList::Reader each(timeline.work()); !each.isAtEnd(); each.next())
        worked.endNs = std::max(worked.endNs, each->endNs);
    made.parts = PartTimeline(timeline, worked);
    for (const Contributor& each : timeline.contributors()) made.causes.push_back({each.part, each.name, each.path, 0});
    made.likes.resize(made.causes.size());
    made.parts.forEachIn(worked,
                         [&made](TimeRange piece, uint32_t cause) { made.likes[cause].ns += piece.durationNs(); });
    for (const IdleGap& gap : made.gaps)
        if (const uint32_t cause = mainCause(made, gap.range); cause != noIndex) ++made.likes[cause].count;
    return made;
}

Result<IdleGaps> IdleGaps::of(const Trace& trace, const StepSelection& selection, const Progress& progress) {
    const auto isCancelled = [&](double fraction) { return progress && !progress(fraction); };
    const Result<RunWorkers> run = RunWorkers::of(trace, selection);
    if (!run) return fail(run.error());
    IdleGaps made(trace);
    const auto count = static_cast<double>(run->workers().size());
    for (const WorkerSteps& worker : run->workers()) {
        if (isCancelled(0.2 + 0.8 * static_cast<double>(made.workers_.size()) / count))
            return fail("The search for idle times of {} was cancelled.", trace.title);
        made.workers_.push_back(madeOf(*run, worker));
    }
    made.rank();
    return made;
}

void IdleGaps::rank() {
    for (size_t worker = 0; worker < workers_.size(); ++worker) {
        const Worker& each = workers_[worker];
        size_t step = 0;
        for (size_t gap = 0; gap < each.gaps.size(); ++gap) {
            const TimeRange range = each.gaps[gap].range;
            while (step < each.steps.size() && each.steps[step].endNs <= range.startNs) ++step;
            if (step < each.steps.size() && each.steps[step].overlaps(range)) longest_.push_back({worker, gap});
        }
    }
    keepLongest(longest_);
}

void IdleGaps::keepLongest(std::vector<Place>& places) const {
    const auto kept = places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), maxRankedGaps));
    std::partial_sort(places.begin(), kept, places.end(), [this](Place a, Place b) {
        const int64_t aNs = at(a).range.durationNs(), bNs = at(b).range.durationNs();
        return aNs != bNs ? aNs > bNs : at(a).range.startNs < at(b).range.startNs;
    });
    places.erase(kept, places.end());
    places.shrink_to_fit();
}

std::vector<IdleGaps::Place> IdleGaps::longestIn(size_t worker, TimeRange range) const {
    std::vector<Place> places;
    const std::vector<IdleGap>& gaps = workers_[worker].gaps;
    for (auto gap = firstEndingAfter(gaps, range.startNs); gap != gaps.end() && gap->range.startNs < range.endNs; ++gap)
        places.push_back({worker, static_cast<size_t>(gap - gaps.begin())});
    keepLongest(places);
    return places;
}

std::optional<IdleGaps::Place> IdleGaps::find(uint32_t gpu, int64_t timeNs) const {
    std::optional<Place> found;
    for (size_t worker = 0; worker < workers_.size(); ++worker) {
        if (workers_[worker].id.gpu != gpu) continue;
        const std::vector<IdleGap>& gaps = workers_[worker].gaps;
        const auto gap = firstEndingAfter(gaps, timeNs);
        if (gap == gaps.end() || !gap->range.contains(timeNs)) {
            // Before its first and after its last work a process leaves the GPU to others.
            if (workers_[worker].parts.range().contains(timeNs)) return std::nullopt;
            continue;
        }
        if (!found || gap->range.endNs < at(*found).range.endNs)
            found = Place{worker, static_cast<size_t>(gap - gaps.begin())};
    }
    return found;
}

std::vector<GapCause> IdleGaps::whyIdle(size_t worker, TimeRange range) const {
    const Worker& of = workers_[worker];
    std::map<uint32_t, int64_t> spent;
    // Waiting for other ranks is no gap.
    of.parts.forEachIn(range, [&](TimeRange piece, uint32_t cause) {
        if (isIdle(of.parts.partOf(cause))) spent[cause] += piece.durationNs();
    });
    std::vector<GapCause> causes;
    for (const auto& [cause, ns] : spent) {
        causes.push_back(of.causes[cause]);
        causes.back().ns = ns;
    }
    std::stable_sort(causes.begin(), causes.end(), [](const GapCause& a, const GapCause& b) { return a.ns > b.ns; });
    return causes;
}

uint32_t IdleGaps::mainCause(const Worker& worker, TimeRange gap) {
    std::map<uint32_t, int64_t> spent;
    uint32_t main = noIndex;
    worker.parts.forEachIn(gap, [&](TimeRange piece, uint32_t cause) {
        const int64_t ns = spent[cause] += piece.durationNs();
        if (main == noIndex || ns > spent[main]) main = cause;
    });
    return main;
}

IdleGaps::Likes IdleGaps::likesOf(Place place) const {
    const Worker& of = workers_[place.worker];
    const uint32_t cause = mainCause(of, at(place).range);
    return cause == noIndex ? Likes{} : of.likes[cause];
}

uint32_t IdleGaps::callBefore(const IdleGap& gap) const {
    if (gap.call == noIndex) return noIndex;
    const ApiTable& calls = trace_->apiCalls;
    for (uint32_t row = gap.call; row-- > 0;)
        if (calls.thread[row] == calls.thread[gap.call] && calls.endNs[row] <= calls.startNs[gap.call]) return row;
    return noIndex;
}

}  // namespace lanescope::analysis
