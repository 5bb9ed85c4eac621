// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/IdleCauses.h"

#include <algorithm>

#include "model/trace/Column.h"
#include "model/trace/Track.h"
#include "model/trace/stacks.h"

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
auto firstEndingAfter(const auto& all, int64_t timeNs) {
    return std::ranges::partition_point(all, [timeNs](const auto& each) { return each.range.endNs <= timeNs; });
}

/// A wait for another thread is a wait for its launches up to this time before and after each launch.
constexpr int64_t launchingNs = 2'000'000;

/// Generous time from a wait to the next launch. A shorter gap after a wait is due to the wait in any case.
constexpr int64_t afterWaitNs = 100'000;

}  // namespace

/// Collects the threads that may load data: those named so, and main threads of processes without GPU work.
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
    std::ranges::stable_sort(threads.begin() + static_cast<std::ptrdiff_t>(first), threads.end(),
                             std::ranges::greater(),
                             [](const ThreadInGap& each) { return each.times.of(ThreadState::Running); });
    if (threads.size() > first + maxLoaders) threads.resize(first + maxLoaders);
    return threads;
}

IdleGaps::Worker IdleGaps::madeOf(const RunWorkers& run, const WorkerSteps& worker) {
    const WorkerTimeline timeline = run.timelineOf(worker);
    Worker made{.id = workerOf(worker), .steps = rangesOf(worker), .gaps = gapsBetween(timeline.work())};
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
    std::ranges::stable_sort(causes, std::ranges::greater(), &GapCause::ns);
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

IdleCauses::IdleCauses(const RunContext& run, const WorkerSteps& steps, const WorkList& work,
                       ContributorTable& contributors, int64_t sinceNs)
    : run_(run),
      trace_(run.trace),
      worker_(workerOf(steps)),
      contributors_(contributors),
      gaps_(trace_.memory.get()),
      activities_(run.trace, run.states) {
    const bool isOutsideSteps =
        steps.steps.empty() || work.empty() || steps.steps.front().range.startNs >= work.front().startNs;
    findGaps(work, isOutsideSteps ? sinceNs : INT64_MAX);
    findThreads(work);
    findPageableCalls(work);
    findBatchCopies(steps, work);
    findCaptures();
    for (const StepSpan& step : steps.steps) stepStartsNs_.push_back(step.range.startNs);
}

void IdleCauses::findGaps(const WorkList& work, int64_t sinceNs) {
    if (work.empty()) return;
    if (sinceNs < work.front().startNs)
        gaps_.push_back(
            {{sinceNs, work.front().startNs}, 0, work.front().call, work.front().path, work.front().contributor});
    int64_t busyUntilNs = work.front().startNs;
    ContributorTable::Id last = work.front().contributor;
    uint32_t lastCall = work.front().call;
    for (WorkList::Reader next(work); !next.isAtEnd(); next.next()) {
        if (next->startNs > busyUntilNs)
            gaps_.push_back({{busyUntilNs, next->startNs},
                             static_cast<uint32_t>(next.index()),
                             next->call,
                             next->path,
                             last,
                             next->call != noIndex && next->call == lastCall});
        if (next->endNs >= busyUntilNs) {
            last = next->contributor;
            lastCall = next->call;
        }
        busyUntilNs = std::max(busyUntilNs, next->endNs);
    }
}

void IdleCauses::findThreads(const WorkList& work) {
    uint32_t last = noIndex;
    const bool hasStates = trace_.cpuStates.size() > 0;
    ColumnReader threads(trace_.apiCalls.thread);
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        if (each->call == noIndex) continue;
        const uint32_t thread = threads[each->call];
        if (thread != last) threads_.insert(thread);
        last = thread;
        if (hasStates)
            launches_[thread].push_back({trace_.apiCalls.startNs[each->call], trace_.apiCalls.endNs[each->call]});
    }
    for (auto& [thread, calls] : launches_)
        std::ranges::sort(calls, {}, [](const TimeRange& each) { return each.startNs; });
    if (worker_.stepThread != noIndex) threads_.insert(worker_.stepThread);
}

void IdleCauses::findPageableCalls(const WorkList& work) {
    const std::vector<Contributor>& contributors = contributors_.contributors();
    if (std::ranges::none_of(contributors, [](const auto& each) { return each.trait == ContributorTrait::Pageable; }))
        return;
    std::map<uint32_t, Intervals> calls;
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        if (each->call == noIndex || contributors[each->contributor].trait != ContributorTrait::Pageable) continue;
        // A call that waits for its copy would wait whatever the memory.
        const StringIndex name = trace_.apiCalls.name[each->call];
        if (classOf(name) != CallClass::AsynchronousCopy) continue;
        calls.try_emplace(trace_.apiCalls.thread[each->call], noIntervals())
            .first->second.push_back({trace_.apiCalls.startNs[each->call], trace_.apiCalls.endNs[each->call], name});
    }
    for (auto& [thread, all] : calls) pageableCalls_.emplace(thread, withoutOverlaps(std::move(all)));
}

void IdleCauses::findBatchCopies(const WorkerSteps& steps, const WorkList& work) {
    struct Copy {
        uint32_t number;
        int64_t bytes;
    };
    std::vector<std::vector<Copy>> copiesOf(steps.steps.size());
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        if (each->part != StepPart::ExposedHtoD) continue;
        const uint32_t step = steps.stepOf(each->startNs, launchedNs(run_, *each));
        if (step != noIndex) copiesOf[step].push_back({static_cast<uint32_t>(each.index()), each->bytes});
    }
    for (const std::vector<Copy>& copies : copiesOf) {
        int64_t largest = 0;
        for (const Copy& copy : copies) largest = std::max(largest, copy.bytes);
        const auto batch =
            std::ranges::find_if(copies, [largest](const Copy& copy) { return copy.bytes >= largest / 2; });
        if (batch != copies.end()) batchCopies_.insert(batch->number);
    }
}

void IdleCauses::findCaptures() {
    enum class Bound : uint8_t { None, Begin, End, Instantiation };
    std::unordered_map<StringIndex, Bound> bounds;
    const auto boundAt = [&](StringIndex call) {
        const auto [known, isNew] = bounds.try_emplace(call, Bound::None);
        if (!isNew) return known->second;
        const std::string_view name = trace_.strings.at(call);
        return known->second = beginsCapture(name)       ? Bound::Begin
                               : endsCapture(name)       ? Bound::End
                               : instantiatesGraph(name) ? Bound::Instantiation
                                                         : Bound::None;
    };
    for (const uint32_t thread : threads_) {
        Intervals captures = noIntervals();
        std::optional<LabelledInterval> begin;
        bool isCaptured = false;
        for (Intervals::Reader call(run_.calls.callsOf[thread]); !call.isAtEnd(); call.next()) {
            const Bound bound = boundAt(call->label);
            if (bound == Bound::Begin) begin = *call;
            if (bound == Bound::Instantiation && !begin && isCaptured) begin = *call;
            if (!begin || bound == Bound::None || bound == Bound::Begin) continue;
            IdleCause cause{CauseKind::CapturingGraph, trace_.gpuApi};
            cause.thread = threadRef(trace_, thread);
            if (const uint32_t stack = stackOf(thread, *begin); stack != noIndex)
                cause.activity.frame = frameRef(trace_, ownFrame(trace_, stack));
            captures.push_back({begin->startNs, call->endNs, keyOf(cause)});
            begin.reset();
            isCaptured = bound == Bound::End;
        }
        if (!captures.empty()) captures_.emplace(thread, std::move(captures));
    }
}

bool IdleCauses::isLate(const Gap& gap) const {
    // No launch can be earlier than the one before.
    if (gap.call == noIndex || gap.isWithinGraph) return false;
    return trace_.apiCalls.endNs[gap.call] + WorkerTimeline::launchLatencyNs > gap.range.startNs;
}

uint32_t IdleCauses::awaitedThread(const Gap& gap) const {
    return gap.call == noIndex ? noIndex : trace_.apiCalls.thread[gap.call];
}

Intervals IdleCauses::waitsForLaunches(uint32_t thread, TimeRange range) const {
    Intervals waits;
    activities_.forEachWaitForThreads(thread, range, [&](TimeRange piece, int64_t sinceNs, int64_t untilNs) {
        for (const auto& [other, calls] : launches_) {
            if (other == thread) continue;
            const int64_t fromNs = std::max(sinceNs, piece.startNs - launchingNs);
            auto call = std::ranges::lower_bound(calls, fromNs, {}, [](const TimeRange& each) { return each.startNs; });
            const int64_t lastNs = std::min(untilNs, piece.endNs + launchingNs);
            for (; call != calls.end() && call->startNs < lastNs; ++call) {
                const int64_t startNs = std::max(piece.startNs, call->startNs - launchingNs);
                const int64_t endNs = std::min(piece.endNs, call->endNs + launchingNs);
                if (startNs < endNs) waits.push_back({startNs, endNs, other});
            }
        }
    });
    return withoutOverlaps(std::move(waits));
}

Intervals IdleCauses::timeElsewhere(const Gap& gap) const {
    const uint32_t thread = awaitedThread(gap);
    Intervals elsewhere = activities_.notAwaitingData(thread, gap.range);
    elsewhere.append(waitsForLaunches(thread, gap.range));
    Intervals rest{{gap.range.startNs, gap.range.endNs, 0}};
    // As in `RunContext::pathAt`: a thread without ranges uses those of the step thread.
    for (const uint32_t pathThread : {thread, worker_.stepThread}) {
        if (pathThread == noIndex) continue;
        const Intervals open = run_.paths.during(pathThread, gap.range);
        forEachOverlap(rest, open, [&](int64_t startNs, int64_t endNs, uint32_t, uint32_t path) {
            if (!run_.paths.isWithin(gap.path, path)) elsewhere.push_back({startNs, endNs, path});
        });
        rest = without(rest, open);
    }
    return withoutOverlaps(std::move(elsewhere));
}

uint32_t IdleCauses::keyOf(const IdleCause& cause) {
    const auto [known, isNew] = keys_.try_emplace(cause, static_cast<uint32_t>(causes_.size()));
    if (!isNew) return known->second;
    causes_.push_back(cause);
    traits_.push_back(cause.isPageable                             ? ContributorTrait::Pageable
                      : cause.callClass() == CallClass::Allocation ? ContributorTrait::Allocation
                                                                   : ContributorTrait::None);
    return known->second;
}

uint32_t IdleCauses::keyWith(uint32_t key, ThreadActivities::Id activity) {
    if (activity == ThreadActivities::unknown) return key;
    const auto [known, isNew] = keysWith_.try_emplace({key, activity}, 0);
    if (!isNew) return known->second;
    IdleCause cause = causes_[key];
    cause.activity = activities_.at(activity);
    return known->second = keyOf(cause);
}

ContributorTable::Id IdleCauses::contributor(StepPart part, uint32_t key, RangePaths::Id path) {
    const ContributorTable::Id id =
        contributors_.find(part, ContributorKind::Idle, key, path, run_.paths, [&] { return causes_[key]; });
    if (traits_[key] != ContributorTrait::None) contributors_.setTrait(id, traits_[key]);
    return id;
}

Intervals IdleCauses::claims(StepPart part) {
    if (trace_.producerKind == ProducerKind::NcclInspector || isClockInconsistent()) return {};
    switch (part) {
        case StepPart::DataLoading: return dataLoading();
        case StepPart::Synchronization: return synchronization();
        case StepPart::LaunchBound: return launchBound();
        case StepPart::OtherIdle: return queued();
        case StepPart::Compute:
        case StepPart::ExposedCommunication:
        case StepPart::ExposedPtoP:
        case StepPart::ExposedHtoD:
        case StepPart::ExposedDtoH:
        case StepPart::ExposedDtoD:
        case StepPart::ExposedOtherCopy:
        case StepPart::Memset:
        case StepPart::WaitingForRanks: break;
    }
    return {};
}

ContributorTable::Id IdleCauses::unknown(CauseKind kind, RangePaths::Id path) {
    const ContributorTable::Id id = contributor(StepPart::OtherIdle, keyOf({kind}), path);
    contributors_.setTrait(id, ContributorTrait::Unknown);
    return id;
}

ContributorTable::Id IdleCauses::unknownCause() {
    if (trace_.producerKind == ProducerKind::NcclInspector) return unknown(CauseKind::OutsideNccl, 0);
    return unknown(isClockInconsistent() ? CauseKind::ClocksInconsistent : CauseKind::NoWorkAround, 0);
}

Intervals IdleCauses::queuedGaps() const {
    Intervals queued = noIntervals();
    forEachGap([&](const Gap& gap) {
        if (gap.call != noIndex && !isLate(gap)) queued.push_back({gap.range.startNs, gap.range.endNs, 0});
    });
    return queued;
}

Intervals IdleCauses::dataLoading() {
    Intervals claims = noIntervals();
    const IdleCause inRange{CauseKind::LoadingRange};
    const IdleCause beforeCopy{CauseKind::BeforeBatchCopy, trace_.gpuApi};
    for (const uint32_t thread : threads_)
        for (Intervals::Reader open(run_.paths.of(thread)); !open.isAtEnd(); open.next())
            if (run_.paths.isDataLoading(open->label))
                addLoading(thread, {open->startNs, open->endNs}, inRange, open->label, claims);
    std::map<uint32_t, bool> isLoader;  // by thread
    for (const uint32_t thread : threads_) isLoader[thread] = isDataLoadingName(trace_.threads[thread].name);
    Intervals waits = noIntervals();  // for the copy of a batch
    forEachGap([&](const Gap& gap) {
        if (!isLate(gap)) return;
        const uint32_t thread = awaitedThread(gap);
        if (isLoader[thread]) {
            IdleCause onThread{CauseKind::LoadingThread};
            onThread.thread = threadRef(trace_, thread);
            addLoading(thread, gap.range, onThread, gap.path, claims);
        } else if (batchCopies_.contains(gap.next)) {
            Intervals pieces = noIntervals();
            addLoading(thread, gap.range, beforeCopy, gap.path, pieces);
            waits.append(without(pieces, timeElsewhere(gap)));
        }
    });
    for (const uint32_t thread : threads_)
        if (!waits.empty()) waits = without(waits, run_.calls.callsOf[thread]);
    claims.append(waits);
    return without(withoutOverlaps(std::move(claims)), queuedGaps());
}

/// Splits `pieces` by the range that is open on `thread`; labels are keys of names.
void IdleCauses::addByPath(StepPart part, uint32_t thread, Intervals pieces, Intervals& claims) {
    for (const uint32_t pathThread : {thread, worker_.stepThread}) {
        if (pathThread == noIndex) continue;
        const Intervals& open = run_.paths.of(pathThread);
        forEachOverlap(pieces, open, [&](int64_t startNs, int64_t endNs, uint32_t name, uint32_t path) {
            claims.push_back({startNs, endNs, contributor(part, name, path)});
        });
        pieces = without(pieces, open);
    }
    for (Intervals::Reader piece(pieces); !piece.isAtEnd(); piece.next())
        claims.push_back({piece->startNs, piece->endNs, contributor(part, piece->label, 0)});
}

void IdleCauses::addLoading(uint32_t thread, TimeRange range, const IdleCause& cause, RangePaths::Id path,
                            Intervals& claims) {
    const uint32_t key = keyOf(cause);
    activities_.forEachIn(thread, range, [&](TimeRange piece, ThreadActivities::Id activity) {
        claims.push_back(
            {piece.startNs, piece.endNs, contributor(StepPart::DataLoading, keyWith(key, activity), path)});
    });
}

/// Adds the activity of `thread` in the gaps that waited for it: in a capture, in a call, or in host code.
void IdleCauses::addLate(uint32_t thread, Intervals gaps, Detail detail, Intervals& claims) {
    const Intervals& calls = run_.calls.callsOf[thread];
    Intervals pieces = noIntervals();
    if (const auto captures = captures_.find(thread); captures != captures_.end()) {
        forEachOverlap(gaps, captures->second, [&](int64_t startNs, int64_t endNs, uint32_t, uint32_t key) {
            pieces.push_back({startNs, endNs, key});
        });
        gaps = without(gaps, captures->second);
    }
    IdleCause cause{CauseKind::InCall};
    cause.thread = threadRef(trace_, thread);
    std::unordered_map<StringIndex, uint32_t> known;
    const auto callKey = [&](StringIndex call) {
        const auto [key, isNew] = known.try_emplace(call, 0);
        if (!isNew) return key->second;
        cause.call = trace_.strings.at(call);
        return key->second = keyOf(cause);
    };
    Intervals others = gaps;
    if (const auto copies = pageableCalls_.find(thread); copies != pageableCalls_.end()) {
        cause.isPageable = true;
        forEachOverlap(gaps, copies->second, [&](int64_t startNs, int64_t endNs, uint32_t, uint32_t name) {
            pieces.push_back({startNs, endNs, callKey(name)});
        });
        others = without(gaps, copies->second);
        cause.isPageable = false;
        known.clear();
    }
    forEachOverlap(others, calls, [&](int64_t startNs, int64_t endNs, uint32_t, uint32_t name) {
        const uint32_t inCall = callKey(name);
        // No call takes long without a core. All other waits in a call belong to the call.
        int64_t fromNs = startNs;
        const auto addUntil = [&](int64_t untilNs) {
            if (untilNs > fromNs) pieces.push_back({fromNs, untilNs, inCall});
        };
        if (detail == Detail::CallsAndStates)
            activities_.forEachWithoutCore(
                thread, {startNs, endNs}, [&](TimeRange piece, ThreadActivities::Id activity) {
                    addUntil(piece.startNs);
                    pieces.push_back({piece.startNs, piece.endNs, keyWith(inCall, activity)});
                    fromNs = piece.endNs;
                });
        addUntil(endNs);
    });
    const uint32_t outside = keyOf({CauseKind::OutsideCalls, trace_.gpuApi, {}, {}, false, cause.thread, {}});
    const Intervals outsideCalls = without(gaps, calls);
    for (Intervals::Reader piece(outsideCalls); !piece.isAtEnd(); piece.next()) {
        if (detail == Detail::Calls)
            pieces.push_back({piece->startNs, piece->endNs, outside});
        else
            activities_.forEachIn(thread, {piece->startNs, piece->endNs},
                                  [&](TimeRange part, ThreadActivities::Id activity) {
                                      pieces.push_back({part.startNs, part.endNs, keyWith(outside, activity)});
                                  });
    }
    addByPath(StepPart::LaunchBound, thread, withoutOverlaps(std::move(pieces)), claims);
}

Intervals IdleCauses::launchBound() {
    std::map<uint32_t, Intervals> gapsOf;  // by awaited thread
    forEachGap([&](const Gap& gap) {
        if (isLate(gap))
            gapsOf.try_emplace(awaitedThread(gap), noIntervals())
                .first->second.push_back({gap.range.startNs, gap.range.endNs, 0});
    });
    Intervals claims = noIntervals();
    for (const auto& [thread, gaps] : gapsOf) {
        // If the awaited thread waits for another launching thread, that thread keeps the GPU waiting.
        std::map<uint32_t, Intervals> othersOf;  // by that thread
        Intervals others = noIntervals();
        const Intervals inHostCode = launches_.empty() ? noIntervals() : without(gaps, run_.calls.callsOf[thread]);
        for (Intervals::Reader gap(inHostCode); !gap.isAtEnd(); gap.next())
            for (const LabelledInterval& wait : waitsForLaunches(thread, {gap->startNs, gap->endNs})) {
                othersOf.try_emplace(wait.label, noIntervals()).first->second.push_back(wait);
                others.push_back(wait);
            }
        for (const auto& [other, waits] : othersOf) addLate(other, waits, Detail::Calls, claims);
        addLate(thread, without(gaps, others), Detail::CallsAndStates, claims);
    }
    return withoutOverlaps(std::move(claims));
}

Intervals IdleCauses::queued() {
    const uint32_t inTime = keyOf({CauseKind::QueuedWork}),
                   withinGraph = keyOf({CauseKind::WithinGraph, trace_.gpuApi});
    Intervals claims = noIntervals();
    forEachGap([&](const Gap& gap) {
        if (isLate(gap)) return;
        const ContributorTable::Id cause =
            gap.call != noIndex ? contributor(StepPart::OtherIdle, gap.isWithinGraph ? withinGraph : inTime, gap.path)
                                : unknown(CauseKind::UnrecordedLaunch, gap.path);
        claims.push_back({gap.range.startNs, gap.range.endNs, cause});
    });
    return claims;
}

CallClass IdleCauses::classOf(StringIndex call) {
    const auto [known, isNew] = callClasses_.try_emplace(call, CallClass::Other);
    if (isNew) known->second = callClassOf(trace_.strings.at(call));
    return known->second;
}

Intervals IdleCauses::synchronization() {
    Intervals claims = noIntervals();
    for (const uint32_t thread : threads_) {
        for (Intervals::Reader call(run_.calls.callsOf[thread]); !call.isAtEnd(); call.next()) {
            if (!isWait(*call)) continue;
            const RangePaths::Id path = run_.pathAt(thread, worker_.stepThread, call->startNs);
            const uint32_t key = waitKey(*call, thread, noIndex);
            claims.push_back({call->startNs, call->endNs, contributor(StepPart::Synchronization, key, path)});
        }
    }
    addAfterWaits(claims);
    return without(withoutOverlaps(std::move(claims)), queuedGaps());
}

std::optional<LabelledInterval> IdleCauses::waitAt(uint32_t thread, int64_t timeNs) {
    const Intervals& calls = run_.calls.callsOf[thread];
    const size_t next = countStarted(calls, timeNs, calls.size() / 2);
    if (next == 0) return std::nullopt;
    const LabelledInterval call = calls[next - 1];
    return call.endNs >= timeNs && isWait(call) ? std::optional(call) : std::nullopt;
}

uint32_t IdleCauses::waitKey(const LabelledInterval& call, uint32_t thread, uint32_t before) {
    const uint32_t stack = stackOf(thread, call);
    const auto [known, isNew] =
        waitKeys_.try_emplace({call.label, thread, before, stack == noIndex ? noIndex : ownFrame(trace_, stack)});
    if (!isNew) return known->second;
    IdleCause cause{before == noIndex ? CauseKind::InCall : CauseKind::AfterCall};
    cause.call = trace_.strings.at(call.label);
    if (before != noIndex) {
        const Contributor& work = contributors_.contributors()[before];
        if (work.kind == ContributorKind::Copy) cause.copy = work.name.work;
        cause.thread = threadRef(trace_, thread);
    }
    if (stack != noIndex) cause.activity.frame = frameRef(trace_, ownFrame(trace_, stack));
    known->second = keyOf(cause);
    return known->second;
}

/// Returns the thread's Python stack at the call, or `noIndex` if unknown. O(log n).
uint32_t IdleCauses::stackOf(uint32_t thread, const LabelledInterval& call) const {
    const ApiTable& calls = trace_.apiCalls;
    uint32_t row = static_cast<uint32_t>(std::ranges::lower_bound(calls.startNs, call.startNs) - calls.startNs.begin());
    for (; row < calls.size() && calls.startNs[row] == call.startNs; ++row)
        if (calls.thread[row] == thread && calls.name[row] == call.label) return calls.stack[row];
    return noIndex;
}

/// Attributes gaps after waits to the waits. The CPU cannot launch ahead while it waits: without its waits in a step,
/// it would launch earlier by their sum. Gaps of the step use up this sum, and longer gaps have further causes.
void IdleCauses::addAfterWaits(Intervals& claims) {
    std::map<uint32_t, Lead> leads;  // by thread
    std::map<uint32_t, Intervals> pieces;
    forEachGap([&](const Gap& gap) {
        if (!isLate(gap)) return;
        const uint32_t thread = awaitedThread(gap);
        const std::optional<LabelledInterval> wait = waitAt(thread, gap.range.startNs);
        if (!wait) return;
        Lead& lead = leads[thread];
        const auto step = std::ranges::upper_bound(stepStartsNs_, gap.range.startNs);
        const int64_t sinceNs = step == stepStartsNs_.begin() ? INT64_MIN : *std::prev(step);
        if (std::exchange(lead.sinceNs, sinceNs) != sinceNs) {
            lead.ns = 0;
            // The last one may last into this step.
            if (lead.next > 0) --lead.next;
        }
        const Intervals& calls = run_.calls.callsOf[thread];
        for (; lead.next < calls.size(); ++lead.next) {
            const LabelledInterval call = calls[lead.next];
            if (call.startNs > gap.range.startNs) break;
            if (call.endNs > sinceNs && isWait(call)) lead.ns += call.endNs - std::max(call.startNs, sinceNs);
        }
        const int64_t gapNs = gap.range.durationNs();
        const int64_t takenNs = gapNs < afterWaitNs ? gapNs : std::min(gapNs, lead.ns);
        lead.ns = std::max<int64_t>(0, lead.ns - takenNs);
        const int64_t untilNs = gap.range.startNs + takenNs;
        if (untilNs <= wait->endNs) return;
        const uint32_t key = waitKey(*wait, thread, gap.before);
        pieces.try_emplace(thread, noIntervals()).first->second.append(ownTime(thread, {wait->endNs, untilNs}, key));
    });
    for (auto& [thread, all] : pieces)
        addByPath(StepPart::Synchronization, thread, withoutOverlaps(std::move(all)), claims);
}

Intervals IdleCauses::ownTime(uint32_t thread, TimeRange range, uint32_t label) {
    Intervals others = noIntervals();
    const auto addWithin = [&](const Intervals& calls, auto isOther) {
        const size_t started = countStarted(calls, range.startNs, calls.size() / 2);
        for (size_t index = started > 0 ? started - 1 : 0; index < calls.size(); ++index) {
            const LabelledInterval call = calls[index];
            if (call.startNs >= range.endNs) break;
            if (isOther(call)) others.push_back(call);
        }
    };
    addWithin(run_.calls.callsOf[thread],
              [this](const LabelledInterval& call) { return classOf(call.label) == CallClass::Allocation; });
    if (const auto copies = pageableCalls_.find(thread); copies != pageableCalls_.end())
        addWithin(copies->second, [](const LabelledInterval&) { return true; });
    activities_.forEachIn(thread, range, [&](TimeRange piece, ThreadActivities::Id id) {
        const ThreadActivity& does = activities_.at(id);
        if (does.observation == Observation::WithoutCore ||
            (does.observation == Observation::State && does.state != ThreadState::Running))
            others.push_back({piece.startNs, piece.endNs, 0});
    });
    return without(Intervals{{range.startNs, range.endNs, label}}, withoutOverlaps(std::move(others)));
}

}  // namespace lanescope::analysis
