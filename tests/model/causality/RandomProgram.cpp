// SPDX-License-Identifier: Apache-2.0
#include "tests/model/causality/RandomProgram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/causality/implicitOrder.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/kinds/Kernel.h"
#include "tests/support/SimulatedTrace.h"

namespace lanescope::causality {

namespace {

using Do = RandomProgram::Do;
constexpr uint32_t mainThread = 0, helperThread = 1, otherThread = 2, threadCount = 3;
constexpr int64_t us = 1'000;

std::string_view callOf(Do what) {
    switch (what) {
        case Do::Kernel: return "cuLaunchKernel";
        case Do::Collective: return "cuLaunchKernelEx";
        case Do::Graph: return "cuGraphLaunch";
        case Do::Copy: return "cuMemcpyHtoDAsync_v2";
        case Do::WaitedCopy: return "cuMemcpyDtoHAsync_v2";
        case Do::Memset: return "cuMemsetD8Async";
        case Do::Record: return "cuEventRecord";
        case Do::WaitEvent: return "cuStreamWaitEvent";
        case Do::SyncStream: return "cuStreamSynchronize";
        case Do::SyncDevice: return "cuCtxSynchronize";
        default: return "";
    }
}
bool isLaunch(Do what) {
    return what == Do::Kernel || what == Do::Collective || what == Do::Graph || what == Do::Copy ||
           what == Do::WaitedCopy || what == Do::Memset;
}
std::string kernelName(uint32_t name) { return "kernel" + std::to_string(name); }

/// The machine while it runs a program after a change.
class Machinery {
  public:
    explicit Machinery(const Change& change) : change_(change) {}

    int64_t host(int64_t ns) const { return change_.subject == Subject::Host ? scaled(ns) : ns; }
    int64_t call(Do what, int64_t ns) const {
        const bool isSync = what == Do::SyncStream || what == Do::SyncDevice;
        const bool isChanged =
            (change_.subject == Subject::Launch && isLaunch(what)) || (change_.subject == Subject::Sync && isSync);
        return isChanged ? scaled(ns) + change_.addedNs : ns;
    }
    int64_t work(const RandomProgram::Operation& each) const {
        const bool isKernel = each.what == Do::Kernel || each.what == Do::Graph;
        const bool isCopy = each.what == Do::Copy || each.what == Do::WaitedCopy;
        const bool isChanged =
            (change_.subject == Subject::Kernels && isKernel) ||
            (change_.subject == Subject::Kernel && isKernel && change_.name == kernelName(each.name) + "<") ||
            (change_.subject == Subject::Nccl && each.what == Do::Collective) ||
            (change_.subject == Subject::Copy && isCopy) ||
            (change_.subject == Subject::Memset && each.what == Do::Memset);
        return isChanged ? scaled(each.ns) : each.ns;
    }
    bool waitsForWork() const { return change_.subject != Subject::Sync || !change_.isRemoved; }
    bool waitsForRanks() const { return change_.subject != Subject::Nccl || !change_.isRemoved; }

  private:
    int64_t scaled(int64_t ns) const { return std::llround(static_cast<double>(ns) * change_.factor); }
    const Change& change_;
};

}  // namespace

/// A run in progress.
class Execution {
  public:
    Execution(const RandomProgram& program, const Change& change)
        : program_(program),
          machine_(program.machine_),
          rules_(change),
          threads_(program.rankCount() * 2),
          streams_(program.rankCount()),
          correlations_(program.rankCount()),
          collectives_(program.rankCount()),
          events_(program.rankCount()) {
        run_.endNs.assign(program.rankCount(), std::vector<int64_t>(threadCount));
        for (uint32_t rank = 0; rank < program.rankCount(); ++rank) {
            streams_[rank].resize(program.streams_);
            threads_[2 * rank] = {&program.ranks_[rank].main, rank, mainThread};
            threads_[2 * rank + 1] = {&program.ranks_[rank].other, rank, otherThread};
        }
    }

    RandomProgram::Run run() {
        while (true) {
            Thread* next = nullptr;
            for (Thread& each : threads_)
                if (!each.isDone() && !each.isBlocked && (!next || each.nowNs < next->nowNs)) next = &each;
            if (!next) return std::move(run_);
            step(*next);
            for (Thread& each : threads_) each.isBlocked = each.isBlocked && !isResolved(each.awaited);
        }
    }

  private:
    struct Thread {
        const std::vector<RandomProgram::Operation>* operations = nullptr;
        uint32_t rank = 0, thread = 0;
        size_t next = 0;
        int64_t nowNs = 0;
        bool isBlocked = false;
        std::vector<size_t> awaited;
        // While the helper runs:
        size_t inHelper = 0;
        bool isHandedOver = false;
        bool isInCopy = false;  ///< Waits for its own copy.
        bool isDone() const { return next == operations->size(); }
    };

    bool isResolved(const std::vector<size_t>& works) {
        resolve();
        return std::ranges::all_of(works, [this](size_t each) { return run_.all[each].endNs.has_value(); });
    }
    /// Computes the times of all work whose causes are known.
    void resolve() {
        bool isChanged = true;
        while (isChanged) {
            isChanged = false;
            std::erase_if(unresolved_, [&](size_t index) {
                RandomProgram::Ran& work = run_.all[index];
                if (!work.startNs) {
                    int64_t startNs = *work.readyNs;
                    for (const auto& [cause, delayNs] : work.causes) {
                        if (!run_.all[cause].endNs) return false;
                        startNs = std::max(startNs, *run_.all[cause].endNs + delayNs);
                    }
                    work.startNs = startNs;
                    isChanged = true;
                }
                if (work.collective < 0 || !rules_.waitsForRanks()) {
                    work.endNs = *work.startNs + work.ownNs;
                    return true;
                }
                const std::vector<size_t>& ranks = meetings_[work.collective];
                if (ranks.size() < program_.rankCount()) return false;
                int64_t allNs = 0;
                for (const size_t each : ranks) {
                    if (!run_.all[each].startNs) return false;
                    allNs = std::max(allNs, *run_.all[each].startNs);
                }
                work.endNs = allNs + work.ownNs;
                isChanged = true;
                return true;
            });
        }
    }

    void step(Thread& thread) {
        const RandomProgram::Operation& operation = (*thread.operations)[thread.next];
        if (operation.what != Do::HandOver) {
            if (execute(thread, thread.thread, operation)) ++thread.next;
            return;
        }
        if (!thread.isHandedOver) {
            thread.isHandedOver = true;
            thread.inHelper = 0;
            handedNs_[thread.rank] = thread.nowNs;
            thread.nowNs += rules_.host(machine_.wakeNs);
            run_.waits.push_back({thread.rank, helperThread, helperNs_[thread.rank], thread.nowNs});
        }
        if (thread.inHelper < operation.helper.size()) {
            if (execute(thread, helperThread, operation.helper[thread.inHelper])) ++thread.inHelper;
            return;
        }
        helperNs_[thread.rank] = thread.nowNs;
        thread.nowNs += rules_.host(machine_.wakeNs);
        run_.waits.push_back({thread.rank, mainThread, handedNs_[thread.rank], thread.nowNs});
        thread.isHandedOver = false;
        ++thread.next;
    }

    /// Executes an operation; returns false if the thread must wait for work without a known end.
    bool execute(Thread& thread, uint32_t number, const RandomProgram::Operation& operation) {
        int64_t& endNs = run_.endNs[thread.rank][number];
        if (operation.what == Do::Host) {
            thread.nowNs += rules_.host(operation.ns);
            endNs = std::max(endNs, thread.nowNs);
            return true;
        }
        auto& streams = streams_[thread.rank];
        const int64_t ownNs = rules_.call(operation.what, machine_.callNs.at(operation.what));
        const bool isSync = operation.what == Do::SyncStream || operation.what == Do::SyncDevice;
        if (isSync) {
            thread.awaited.clear();
            for (uint32_t stream = 0; stream < streams.size(); ++stream)
                if (!streams[stream].empty() && (operation.what == Do::SyncDevice || stream == operation.stream))
                    thread.awaited.push_back(streams[stream].back());
            if (rules_.waitsForWork() && !isResolved(thread.awaited)) {
                thread.isBlocked = true;
                return false;
            }
        }
        if (thread.isBlocked) return false;
        if (!thread.isInCopy) {
            RandomProgram::Ran call;
            call.what = operation.what;
            call.rank = thread.rank;
            call.thread = number;
            call.stream = operation.stream;
            call.name = operation.name;
            call.correlation = ++correlations_[thread.rank];
            call.callStartNs = thread.nowNs;
            call.callEndNs = thread.nowNs + ownNs;
            if (isSync && rules_.waitsForWork())
                for (const size_t each : thread.awaited)
                    call.callEndNs = std::max(call.callEndNs, *run_.all[each].endNs + machine_.returnNs);
            if (operation.what == Do::Record) {
                auto& event = events_[thread.rank][operation.name];
                event.stream = operation.stream;
                event.correlation = call.correlation;
                event.work =
                    streams[operation.stream].empty() ? std::optional<size_t>() : streams[operation.stream].back();
            }
            if (operation.what == Do::WaitEvent) {
                const auto& event = events_[thread.rank][operation.name];
                call.recordedStream = event.stream;
                call.recordCorrelation = event.correlation;
                if (event.work && event.stream != operation.stream)
                    pending_[{thread.rank, operation.stream}].push_back(*event.work);
            }
            thread.nowNs = call.callEndNs;
            endNs = thread.nowNs;
            if (!isLaunch(operation.what)) {
                run_.all.push_back(call);
                return true;
            }
            submit(call, operation, streams);
            if (operation.what != Do::WaitedCopy || !rules_.waitsForWork()) return true;
            thread.isInCopy = true;
        }
        const size_t copy = streams[operation.stream].back();
        thread.awaited = {copy};
        if (!isResolved(thread.awaited)) {
            thread.isBlocked = true;
            return false;
        }
        thread.isInCopy = false;
        thread.nowNs = std::max(thread.nowNs, *run_.all[copy].endNs + machine_.copiedNs);
        run_.all[copy].callEndNs = thread.nowNs;
        endNs = thread.nowNs;
        return true;
    }

    void submit(RandomProgram::Ran call, const RandomProgram::Operation& operation,
                std::vector<std::vector<size_t>>& streams) {
        call.isWork = true;
        call.ownNs = rules_.work(operation);
        const bool isGraph = operation.what == Do::Graph;
        const bool isWaited = operation.what == Do::WaitedCopy;
        const int64_t latencyNs = isGraph ? machine_.graphNs : isWaited ? 0 : machine_.launchNs;
        call.readyNs = call.callEndNs + latencyNs;
        if (operation.what == Do::Collective) call.collective = collectives_[call.rank]++;
        for (int64_t node = 0; node < (isGraph ? operation.count : 1); ++node) {
            RandomProgram::Ran work = call;
            work.isFirst = node == 0;
            std::vector<size_t>& stream = streams[operation.stream];
            if (!stream.empty()) work.causes.emplace_back(stream.back(), machine_.gapNs);
            if (node == 0) {
                auto& pending = pending_[{call.rank, operation.stream}];
                for (const size_t each : pending) work.causes.emplace_back(each, machine_.eventNs);
                pending.clear();
                for (uint32_t other = 0; program_.isBlocking_ && other < streams.size(); ++other)
                    if (other != operation.stream && (other == 0 || operation.stream == 0) && !streams[other].empty())
                        work.causes.emplace_back(streams[other].back(), machine_.defaultNs);
            } else {
                work.isCall = false;
                work.readyNs = 0;
            }
            work.number = numbers_[{work.rank, work.thread}]++;
            run_.all.push_back(work);
            stream.push_back(run_.all.size() - 1);
            unresolved_.push_back(run_.all.size() - 1);
            if (work.collective >= 0) meetings_[work.collective].push_back(run_.all.size() - 1);
        }
        resolve();
    }

    struct Event {
        uint32_t stream = 0, correlation = 0;
        std::optional<size_t> work;
    };

    const RandomProgram& program_;
    const RandomProgram::Machine& machine_;
    const Machinery rules_;
    RandomProgram::Run run_;
    std::vector<Thread> threads_;
    std::vector<std::vector<std::vector<size_t>>> streams_;  ///< By rank and stream: its work.
    std::vector<uint32_t> correlations_;
    std::vector<int64_t> collectives_;
    std::vector<std::map<uint32_t, Event>> events_;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<size_t>> pending_;
    std::map<int64_t, std::vector<size_t>> meetings_;
    std::map<uint32_t, int64_t> handedNs_, helperNs_;
    std::vector<size_t> unresolved_;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;  ///< By rank and thread.
};

int64_t RandomProgram::even(int64_t least, int64_t most) {
    return 2 * std::uniform_int_distribution<int64_t>(least / 2, most / 2)(random_);
}

RandomProgram::Operation RandomProgram::random(uint32_t firstStream, uint32_t endStream, bool isOfMain) {
    Operation made;
    made.stream = firstStream + static_cast<uint32_t>(random_() % (endStream - firstStream));
    const bool isShort = random_() % 2 == 0;
    made.ns = even(isShort ? 2 : 2 * us, isShort ? 10 * us : 60 * us);
    made.name = static_cast<uint32_t>(random_() % 4);
    const auto dice = random_() % 100;
    if (dice < 20)
        made.what = Do::Host;
    else if (dice < 55)
        made.what = Do::Kernel;
    else if (dice < 61)
        made.what = Do::Copy;
    else if (dice < 65)
        made.what = Do::Memset;
    else if (dice < 70)
        made.what = Do::Graph;
    else if (dice < 78)
        made.what = Do::Record;
    else if (dice < 86)
        made.what = Do::WaitEvent;
    else if (dice < 90)
        made.what = Do::SyncStream;
    else if (dice < 94)
        made.what = Do::WaitedCopy;
    else if (dice < 97 && isOfMain)
        made.what = hasOther_ ? Do::SyncStream : Do::SyncDevice;
    else
        made.what = Do::Kernel;
    made.count = 1 + static_cast<int64_t>(random_() % 5);
    if (!isOfMain && made.what == Do::Host) made.what = Do::Kernel;
    return made;
}

/// Adds work that shows each delay of the machine alone, as the start of a run does.
void RandomProgram::addPrologue(std::vector<Operation>& operations) {
    constexpr int64_t longNs = 200 * us, pauseNs = 150 * us;
    const auto add = [&](Do what, uint32_t stream, int64_t ns, uint32_t name = 0) {
        operations.push_back({what, stream, name, ns, 2, {}});
    };
    const std::vector<Do> works{Do::Kernel, Do::Copy, Do::Memset, Do::Graph, Do::WaitedCopy};
    // After an event, or the default stream.
    const auto addOrdered = [&](Do what, uint32_t first, uint32_t second, bool hasEvent) {
        add(Do::Kernel, first, longNs);
        if (hasEvent) {
            add(Do::Kernel, second, longNs / 2);  // at the same time
            add(Do::Record, first, 0, 9);
            add(Do::WaitEvent, second, 0, 9);
        }
        add(what, second, 20 * us);
        add(Do::SyncStream, second, 0);
        add(Do::SyncStream, first, 0);
    };
    const Do drain = hasOther_ ? Do::SyncStream : Do::SyncDevice;
    for (const Do what : works) {
        add(what, 0, 20 * us);  // on an idle GPU
        add(drain, 0, 0);
        add(Do::Host, 0, pauseNs);
        add(drain, 0, 0);  // does not wait
        add(Do::SyncStream, 0, 0);
        add(Do::Kernel, 0, longNs);  // after work of its stream
        add(what, 0, 20 * us);
        add(Do::SyncStream, 0, 0);
        if (streams_ > 1) addOrdered(what, 0, 1, !isBlocking_);
        if (streams_ > 1) addOrdered(what, 1, 0, !isBlocking_);
        if (streams_ > 2 && isBlocking_) addOrdered(what, 1, 2, true);
        add(Do::Host, 0, pauseNs);
    }
    for (uint32_t round = 0; isBlocking_ && round < minChances; ++round) addOrdered(Do::Kernel, 0, 1, false);
    if (hasCollectives_)
        for (const uint32_t stream : {0u}) {
            add(Do::Collective, stream, 20 * us);
            add(Do::SyncStream, stream, 0);
            add(Do::Host, 0, pauseNs);
            add(Do::Kernel, stream, longNs);
            add(Do::Collective, stream, 20 * us);
            add(Do::SyncStream, stream, 0);
        }
}

RandomProgram::RandomProgram(uint32_t seed) : random_(seed) {
    const auto chance = [this](uint32_t of) { return random_() % of == 0; };
    const uint32_t ranks = chance(3) ? 2 + static_cast<uint32_t>(random_() % 7) : 1;
    hasCollectives_ = ranks > 1;
    streams_ = 1 + static_cast<uint32_t>(random_() % 4);
    isBlocking_ = streams_ > 1 && chance(4);
    hasOther_ = !isBlocking_ && streams_ > 2 && chance(3);
    hasHelper_ = chance(3);
    machine_.launchNs = even(1 * us, 5 * us);
    machine_.graphNs = even(2 * us, 8 * us);
    machine_.gapNs = even(500, 3 * us);
    machine_.eventNs = even(500, 4 * us);
    machine_.defaultNs = isBlocking_ ? even(machine_.eventNs, 6 * us) : 0;
    machine_.returnNs = even(1 * us, 9 * us);
    machine_.copiedNs = even(1 * us, 9 * us);
    machine_.wakeNs = even(2 * us, 20 * us);
    for (const Do what : {Do::Kernel, Do::Collective, Do::Graph, Do::Copy, Do::WaitedCopy, Do::Memset, Do::Record,
                          Do::WaitEvent, Do::SyncStream, Do::SyncDevice})
        machine_.callNs[what] = even(500, 6 * us);
    // The last stream belongs to the other thread, so that the order of launches in a stream is fixed.
    const uint32_t mainStreams = hasOther_ ? streams_ - 1 : streams_;
    const auto length = 10 + random_() % 40;
    std::vector<size_t> collectives;
    for (size_t each = 0; hasCollectives_ && each < 1 + random_() % 5; ++each)
        collectives.push_back(random_() % length);
    std::ranges::sort(collectives);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        Rank made;
        addPrologue(made.main);
        size_t collective = 0;
        for (size_t index = 0; index < length; ++index) {
            for (; collective < collectives.size() && collectives[collective] == index; ++collective)
                made.main.push_back({Do::Collective, 0, 0, even(2 * us, 40 * us), 1, {}});
            Operation each = random(0, mainStreams, true);
            if (hasHelper_ && chance(10)) {
                each.what = Do::HandOver;
                each.helper.push_back({Do::Host, 0, 0, even(2, 9 * us), 1, {}});
                each.helper.push_back({Do::Kernel, 0, 1, even(2, 9 * us), 1, {}});
                for (uint32_t more = 0; more < random_() % 6; ++more)
                    each.helper.push_back(random(0, mainStreams, false));
                each.helper.push_back({Do::Host, 0, 0, even(2, 9 * us), 1, {}});
            }
            made.main.push_back(each);
        }
        made.main.push_back({hasOther_ ? Do::SyncStream : Do::SyncDevice, 0, 0, 0, 1, {}});
        for (size_t index = 0; hasOther_ && index < 30; ++index) {
            Operation each = random(streams_ - 1, streams_, false);
            if (each.what == Do::Record || each.what == Do::WaitEvent) each.what = Do::Copy;
            made.other.push_back(each);
            if (chance(3)) made.other.push_back({Do::Host, 0, 0, even(2 * us, 50 * us), 1, {}});
        }
        ranks_.push_back(std::move(made));
    }
}

RandomProgram::Run RandomProgram::run(const Change& change) const {
    Run made = Execution(*this, change).run();
    return made;
}

std::vector<Change> RandomProgram::changes() const {
    std::vector<Change> all{{Subject::Kernels, "", 0.5},
                            {Subject::Kernels, "", 2},
                            {Subject::Kernels, "", 0},
                            {Subject::Copy, "", 0},
                            {Subject::Launch, "", 0.5},
                            {Subject::Launch, "", 0},
                            {Subject::Host, "", 0.5},
                            {Subject::Host, "", 2},
                            {Subject::Sync, "", 0, true},
                            {.subject = Subject::Launch, .name = {}, .addedNs = 7'000},
                            {.subject = Subject::Sync, .name = {}, .addedNs = 300},
                            {Subject::Memset, "", 3},
                            {Subject::Kernel, kernelName(1) + "<", 0.5}};
    if (hasCollectives_) {
        all.push_back({Subject::Nccl, "", 0});
        all.push_back({Subject::Nccl, "", 0.5});
        all.push_back({Subject::Nccl, "", 0, true});
    }
    return all;
}

TracePtr RandomProgram::trace(const Run& run, std::map<Key, EventRef>& events) const {
    SimulatedTrace made;
    std::vector<std::vector<uint32_t>> threads(rankCount()), streams(rankCount());
    for (uint32_t rank = 0; rank < rankCount(); ++rank) {
        const uint32_t process = made.addProcess(100 + rank, "python3", static_cast<int>(rank));
        for (uint32_t thread = 0; thread < threadCount; ++thread)
            threads[rank].push_back(made.addThread(process, 100 + rank + 1000 * thread));
        const uint32_t gpu = made.addGpu();
        for (uint32_t stream = 0; stream < streams_; ++stream)
            streams[rank].push_back(made.addStream(process, gpu, 7 + stream, stream == 0));
    }
    std::vector<size_t> order(run.all.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t each) { return run.all[each].callStartNs; });
    for (const size_t each : order) {
        const Ran& call = run.all[each];
        if (!call.isCall) continue;
        const uint32_t thread = threads[call.rank][call.thread], stream = streams[call.rank][call.stream];
        made.addApi(thread, callOf(call.what), call.callStartNs, call.callEndNs, call.correlation);
        if (call.what == Do::SyncStream || call.what == Do::SyncDevice)
            made.addSync(stream, call.what == Do::SyncStream ? SyncType::Stream : SyncType::Context, call.callStartNs,
                         call.callEndNs, call.correlation);
        if (call.what == Do::Record)
            made.eventRecord({.stream = stream, .event = call.name, .correlation = call.correlation});
        if (call.what == Do::WaitEvent)
            made.eventWait({.stream = stream, .event = call.name, .correlation = call.correlation});
        if (call.what == Do::Collective) {
            NcclFacts facts;
            facts.sequence = call.collective;
            facts.rank = static_cast<int32_t>(call.rank);
            facts.rankCount = static_cast<int32_t>(rankCount());
            made.addNccl(thread, "AllReduce", 1 << 20, call.callStartNs, call.callEndNs,
                         SimulatedTrace::someCommunicator, facts);
        }
    }
    std::ranges::stable_sort(order, {}, [&](size_t each) { return run.all[each].startNs.value_or(0); });
    for (const size_t each : order) {
        const Ran& work = run.all[each];
        if (!work.isWork) continue;
        const uint32_t stream = streams[work.rank][work.stream];
        switch (work.what) {
            case Do::Copy:
                events[keyOf(work)] =
                    made.addMemcpy(stream, MemcpyKind::HtoD, 64, *work.startNs, *work.endNs, work.correlation);
                break;
            case Do::WaitedCopy:
                made.addMemcpy(stream, MemcpyKind::DtoH, 64, *work.startNs, *work.endNs, work.correlation,
                               MemoryKind::Device, MemoryKind::Pageable);
                break;
            case Do::Memset: made.addMemset(stream, 64, *work.startNs, *work.endNs, work.correlation); break;
            default:
                const bool isCollective = work.what == Do::Collective;
                LaunchConfig config;
                config.shortName =
                    made.intern(isCollective ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL" : kernelName(work.name));
                config.demangledName = isCollective
                                           ? config.shortName
                                           : made.intern("void " + kernelName(work.name) + "<float>(float*, int)");
                made.add<kinds::Kernel>({.startNs = *work.startNs,
                                         .endNs = *work.endNs,
                                         .stream = stream,
                                         .correlation = work.correlation,
                                         .graphNode = work.what == Do::Graph ? uint64_t{1} + each : 0,
                                         .config = made.launchConfig(config)});
        }
    }
    // The scheduler's states of all threads: they run unless they wait for another.
    for (uint32_t rank = 0; rank < rankCount(); ++rank)
        for (uint32_t thread = 0; thread < threadCount; ++thread) {
            std::vector<Waited> waits;
            for (const Waited& each : run.waits)
                if (each.rank == rank && each.thread == thread) waits.push_back(each);
            std::ranges::sort(waits, {}, &Waited::startNs);
            int64_t untilNs = 0;
            const auto add = [&](int64_t startNs, int64_t endNs, ThreadState state) {
                if (endNs > startNs)
                    made.add<kinds::CpuState>({.startNs = startNs,
                                               .endNs = endNs,
                                               .thread = threads[rank][thread],
                                               .state = state,
                                               .source = StateSource::Scheduler});
                untilNs = std::max(untilNs, endNs);
            };
            for (const Waited& each : waits) {
                add(untilNs, each.startNs, ThreadState::Running);
                add(each.startNs, each.endNs, ThreadState::Lock);
            }
            const int64_t endNs = run.endNs[rank][thread];
            if (thread == helperThread) {
                add(untilNs, endNs, ThreadState::Running);
                add(untilNs, int64_t{1} << 40, ThreadState::Lock);
            } else {
                add(untilNs, std::max(endNs, untilNs + 1), ThreadState::Running);
            }
        }
    const TracePtr trace = made.finish();
    std::map<std::pair<uint32_t, int64_t>, EventRef> byStart;  // by stream
    const auto addAll = [&](EventKind kind, const auto& table) {
        for (uint32_t row = 0; row < table.size(); ++row)
            byStart[{table.stream[row], table.startNs[row]}] = EventRef(kind, row);
    };
    addAll(EventKind::Kernel, trace->kernels);
    addAll(EventKind::Memcpy, trace->memcpys);
    addAll(EventKind::Memset, trace->memsets);
    for (const Ran& work : run.all)
        if (work.isWork) events[keyOf(work)] = byStart.at({streams[work.rank][work.stream], *work.startNs});
    return trace;
}

}  // namespace lanescope::causality
