// SPDX-License-Identifier: Apache-2.0
#include "model/causality/buildGraph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/causality/implicitOrder.h"
#include "model/format/ncclFunctions.h"
#include "model/numbers/Statistics.h"
#include "model/text/apiCalls.h"
#include "model/trace/Column.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/collectives.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope::causality {

namespace {

using Node = CausalGraph::Node;
constexpr Node noNode = noIndex;

/// Minimum length of host code whose state matters: shorter times are the way from one call to the next.
constexpr int64_t minStateNs = 200'000;
/// The blocks of a kernel end over such a time, so that the next kernel may start before its end.
constexpr int64_t maxLeavingNs = 20'000;
/// Later work may start this much before its cause ends, by the clock of the GPU.
constexpr int64_t clockErrorNs = 2'000;

/// Work of a stream that was visited, in order of its start.
struct Submitted {
    uint32_t correlation;
    Node node;
};

struct StreamState {
    std::vector<Submitted> work;
    Node last = noNode;  ///< Work with the latest end.
    bool isUsed = false;
    int64_t lastEndNs = INT64_MIN;
    uint32_t wait = 0, waitEnd = 0;  ///< Rows of `StreamWaitTable` not yet used.
    uint32_t graphCall = noIndex;    ///< Call of the last graph, whose nodes may overlap.
    std::vector<Node> ofGraph;       ///< Its latest nodes.
};

struct ThreadProgress {
    Node last = noNode;  ///< Its latest node.
    int64_t endNs = 0;   ///< End of its latest call.
    uint32_t call = noIndex;
    StringIndex name = 0;  ///< Name of that call.
    Node callNode = noNode;
    bool isPending = false;          ///< The latest call may wait for work that was not visited yet.
    bool isReceiving = false;        ///< Its time for receiving batches is known.
    Node arrival = noNode;           ///< Latest batch for which it waited.
    std::vector<Node> copies;        ///< Copies that the latest call launched.
    uint32_t launchIndex = noIndex;  ///< Number of the latest call among the launches of the process.
};

/// Class and wait of a call, by its name.
struct CallName {
    CallClass kind = CallClass::Other;
    CallWait wait = CallWait::None;
    bool isKnown = false;
};

/// A collective whose ranks are visited one after the other.
struct Meeting {
    uint32_t missing = 0;
    struct Rank {
        Node entered;
        uint32_t stream;
        int64_t endNs;
        uint32_t correlation;
        uint32_t group;
        EventRef event;
    };
    std::vector<Rank> ranks;
};

class GraphBuilder {
  public:
    GraphBuilder(const CausalInput& input, TimeRange window)
        : input_(input),
          trace_(input.trace),
          window_(window),
          launches_(trace_),
          callStacks_(trace_.apiCalls.stack),
          callNames_(trace_.apiCalls.name),
          threads_(trace_.threads.size()),
          streams_(trace_.streams.size()),
          names_(trace_.strings.size()) {
        const ApiTable& calls = trace_.apiCalls;
        firstCall_ = firstFrom(calls.startNs, window.startNs);
        endCall_ = firstFrom(calls.startNs, window.endNs);
        callNodes_.assign(endCall_ - firstCall_, noNode);
        launchOfCall_.assign(endCall_ - firstCall_, noIndex);
        handOvers_ = findHandOvers(trace_, input.states, firstCall_, endCall_);
        isOrdered_ = streamsOrderedWithDefault(trace_, launches_, window);
        queues_ = queueLimits(trace_, launches_, firstCall_, endCall_);
        launched_.resize(trace_.processes.size());
        launchCount_.assign(trace_.processes.size(), 0);
        findSyncs();
        findWaits();
        findMeetings();
        used_.resize(trace_.processes.size());
    }

    CausalGraph build() {
        const size_t calls = endCall_ - firstCall_;
        graph_.reserve(3 * calls, 4 * calls);
        visitAll();
        for (ThreadProgress& thread : threads_) closeCall(thread);
        return std::move(graph_);
    }

  private:
    static uint32_t firstFrom(const Column<int64_t>& starts, int64_t timeNs) {
        return static_cast<uint32_t>(std::ranges::lower_bound(starts, timeNs) - starts.begin());
    }

    // Preparation.

    void findSyncs() {
        const SyncTable& syncs = trace_.syncs;
        const uint32_t end = firstFrom(syncs.startNs, window_.endNs);
        for (uint32_t row = firstFrom(syncs.startNs, window_.startNs); row < end; ++row) {
            if (syncs.type[row] == SyncType::StreamWaitEvent || syncs.type[row] == SyncType::Unknown) continue;
            const EventRef call = lanescope::callOf(trace_, syncs.process[row], syncs.correlation[row]);
            if (call.isValid()) syncOfCall_[call.row()] = row;
        }
    }
    void findWaits() {
        const StreamWaitTable& waits = trace_.streamWaits;
        for (uint32_t row = 0; row < waits.size(); ++row) {
            StreamState& stream = streams_[waits.waitingStream[row]];
            if (stream.waitEnd == 0) stream.wait = row;
            stream.waitEnd = row + 1;
        }
    }
    void findMeetings() {
        const MatchedCollectives collectives(trace_);
        for (size_t index = 0; index < collectives.size(); ++index) {
            const Collective collective = collectives.at(index);
            const NcclFunction* function = findNcclFunction(trace_.strings.at(collective.front().operation));
            bool isKnown = function && function->root == NcclRoot::None && isOnGpu(trace_, collective);
            for (const CollectiveCall& call : collective) {
                const NcclFacts& facts = trace_.nccl.facts[call.row];
                isKnown = isKnown && facts.operationCount == 1 && facts.waitedNs >= 0 &&
                          window_.contains(facts.gpu.startNs) && window_.contains(facts.gpu.endNs);
            }
            if (!isKnown) continue;
            // Several calls may share a kernel: the first one describes it.
            const auto keyOf = [&](const CollectiveCall& call) {
                const NcclFacts& facts = trace_.nccl.facts[call.row];
                return std::tuple(trace_.threads[trace_.nvtx.thread[trace_.nccl.nvtx[call.row]]].process,
                                  facts.gpu.startNs, facts.gpu.endNs);
            };
            if (std::ranges::any_of(collective, [&](const CollectiveCall& call) {
                    return trace_.nccl.facts[call.row].sharedBy > 1 && members_.contains(keyOf(call));
                }))
                continue;
            for (const CollectiveCall& call : collective)
                members_.emplace(keyOf(call), static_cast<uint32_t>(meetings_.size()));
            meetings_.push_back({static_cast<uint32_t>(collective.size()), {}});
        }
    }

    // Groups.

    uint32_t groupOf(const NodeGroup& group) {
        const uint64_t key = (uint64_t{group.name} << 32 | group.stack) * 0x9e3779b97f4a7c15ULL ^
                             (uint64_t{group.process} << 8 | static_cast<uint64_t>(group.kind) << 2 |
                              uint64_t{group.isLoading} << 1 | uint64_t{group.isUnknown});
        uint32_t& recent = recentGroups_[key >> 54];
        if (recent < graph_.groups.size() && graph_.groups[recent] == group) return recent;
        for (auto [at, end] = groups_.equal_range(key); at != end; ++at)
            if (graph_.groups[at->second] == group) return recent = at->second;
        graph_.groups.push_back(group);
        const auto number = static_cast<uint32_t>(graph_.groups.size() - 1);
        groups_.emplace(key, number);
        return recent = number;
    }
    uint32_t placeOf(uint32_t stack) const { return stack < input_.places.size() ? input_.places[stack] : noIndex; }
    const CallName& nameOf(StringIndex name) {
        CallName& known = names_[name];
        if (!known.isKnown) {
            const std::string_view text = trace_.strings.at(name);
            known = {callClassOf(text), callWaitOf(text), true};
        }
        return known;
    }

    /// Returns an end after the start; in a corrupt trace it may be any time.
    static int64_t soundEnd(int64_t startNs, int64_t endNs) {
        constexpr int64_t maxNs = int64_t{1} << 50;
        return std::clamp(endNs, startNs, startNs + maxNs);
    }

    // Threads.

    void visitCall(uint32_t row, int64_t startNs, int64_t endNs, uint32_t threadIndex) {
        endNs = soundEnd(startNs, endNs);
        ThreadProgress& thread = threads_[threadIndex];
        if (thread.call != noIndex && startNs < thread.endNs) {  // within another call
            callNodes_[row - firstCall_] = thread.callNode;
            return;
        }
        closeCall(thread);
        const uint32_t process = trace_.threads[threadIndex].process;
        const uint32_t place = placeOf(callStacks_[row]);
        const StringIndex name = callNames_[row];
        while (handOver_ < handOvers_.size() && handOvers_[handOver_].call < row) ++handOver_;
        const bool isHandedOver = handOver_ < handOvers_.size() && handOvers_[handOver_].call == row;
        NodeGroup group{NodeKind::Host, 0, place, process};
        if (isHandedOver) {
            const uint32_t cause = handOvers_[handOver_].cause;
            ThreadProgress& other = threads_[trace_.apiCalls.thread[cause]];
            closeCall(other);
            const Node before = thread.last;
            thread.last = graph_.addNode(groupOf(group), other.endNs, startNs);
            if (before != noNode) graph_.addEdge(EdgeKind::Thread, before);
            if (other.last != noNode) graph_.addEdge(EdgeKind::HandOver, other.last);
        } else if (thread.last != noNode && startNs > thread.endNs) {
            addHost(thread, threadIndex, {thread.endNs, startNs}, group);
        }
        group.kind = NodeKind::Call;
        group.name = name;
        const Node node = graph_.addNode(groupOf(group), startNs, endNs, EventRef(EventKind::Api, row));
        if (thread.last != noNode) graph_.addEdge(EdgeKind::Thread, thread.last);
        thread.last = thread.callNode = node;
        thread.call = row;
        thread.name = name;
        thread.endNs = endNs;
        thread.isPending = true;
        thread.copies.clear();
        callNodes_[row - firstCall_] = node;
        const CallClass kind = nameOf(name).kind;
        const bool isLaunch =
            kind == CallClass::Launch || kind == CallClass::AsynchronousCopy || kind == CallClass::AsynchronousMemset;
        thread.launchIndex = isLaunch ? launchCount_[process]++ : noIndex;
        if (isLaunch && queues_[process] > 0) launched_[process].push_back(noNode);
        launchOfCall_[row - firstCall_] = thread.launchIndex;
    }

    /// Adds the time of a thread between two calls.
    void addHost(ThreadProgress& thread, uint32_t threadIndex, TimeRange time, NodeGroup group) {
        std::optional<bool> isWaiting;
        if (time.durationNs() >= minStateNs) {
            group.isLoading = input_.isLoading && input_.isLoading(threadIndex, time);
            isWaiting = isMostlyWaiting(input_.states, threadIndex, time);
            group.isUnknown = isWaiting.value_or(false) && !group.isLoading;
        }
        double ranShare = 0;
        if (group.isLoading && !isWaiting) {
            // A few samples of several waits say nothing about the length of one.
            const int64_t middleNs = time.startNs + time.durationNs() / 2;
            if (!thread.isReceiving && receivingThreads_ < maxSubjects) {
                thread.isReceiving = true;
                ++receivingThreads_;
            }
            input_.states.forEachIn(threadIndex, {middleNs, middleNs + 1}, [&](uint32_t row, TimeRange) {
                isWaiting = isWaitingForOthers(trace_.cpuStates.state[row]);
                const auto [known, isNew] = ranShares_.try_emplace(row);
                if (isNew && thread.isReceiving) known->second = ranShareBetweenCalls(trace_, row);
                ranShare = known->second;
            });
        }
        const Node before = thread.last;
        thread.last = graph_.addNode(groupOf(group), time.startNs, time.endNs);
        graph_.addEdge(EdgeKind::Thread, before);
        if (!group.isLoading || !isWaiting.value_or(false)) return;
        // The thread does nothing itself until the batch is there, and then receives it.
        const int64_t arrivedNs = time.endNs - std::llround(ranShare * static_cast<double>(time.durationNs()));
        graph_.ownNs.back() = 0;
        const Node host = thread.last;
        NodeGroup arrived = group;
        arrived.kind = NodeKind::Arrival;
        const int64_t sinceNs = thread.arrival == noNode ? arrivedNs : graph_.endNs[thread.arrival];
        const Node arrival = graph_.addNode(groupOf(arrived), sinceNs, arrivedNs);
        if (thread.arrival != noNode) graph_.addEdge(EdgeKind::Loader, thread.arrival);
        thread.arrival = arrival;
        arrived.kind = NodeKind::Return;
        thread.last = graph_.addNode(groupOf(arrived), arrivedNs, time.endNs);
        graph_.addEdge(EdgeKind::Thread, host);
        graph_.addEdge(EdgeKind::Loader, arrival);
    }

    /// Adds the return of the latest call if it may have waited. All work that started before its end was visited.
    void closeCall(ThreadProgress& thread) {
        if (!thread.isPending) return;
        thread.isPending = false;
        const uint32_t row = thread.call;
        const Node call = thread.callNode;
        causes_.clear();
        const CallName& name = nameOf(thread.name);
        const uint32_t process = graph_.groups[graph_.group[call]].process;
        if (name.wait != CallWait::None) addAwaited(process, row, name.wait);
        if (thread.launchIndex != noIndex && queues_[process] > 0 && thread.launchIndex >= queues_[process]) {
            const Node freed = launched_[process][thread.launchIndex - queues_[process]];
            if (freed != noNode) causes_.emplace_back(EdgeKind::Queue, freed);
        }
        const int64_t endNs = thread.endNs;
        for (const Node copy : thread.copies) {
            // The driver copies pageable memory within the call, and returns before the last piece is there.
            const int64_t middleNs = graph_.startNs[copy] + (graph_.endNs[copy] - graph_.startNs[copy]) / 2;
            if (graph_.endNs[copy] > endNs && middleNs > endNs) continue;
            causes_.emplace_back(EdgeKind::Copied, copy);
            // The call prepares the copy before, and returns after it.
            startCopyWithin(call, copy);
        }
        if (causes_.empty()) return;
        NodeGroup group = graph_.groups[graph_.group[call]];
        group.kind = NodeKind::Return;
        thread.last = graph_.addNode(groupOf(group), endNs, endNs);
        graph_.addEdge(EdgeKind::Thread, call);
        for (const auto& [kind, cause] : causes_) graph_.addEdge(kind, cause, endNs - graph_.endNs[cause]);
    }
    /// Moves the end of a call to the start of a copy in it.
    void startCopyWithin(Node call, Node copy) {
        const int64_t startNs = graph_.startNs[copy];
        if (startNs < graph_.startNs[call] || startNs > graph_.endNs[call]) return;
        graph_.endNs[call] = startNs;
        graph_.ownNs[call] = startNs - graph_.startNs[call];
        for (size_t edge = graph_.edgesBefore(copy); edge < graph_.edgeEnd[copy]; ++edge)
            if (graph_.from[edge] == call) {
                graph_.edgeKind[edge] = EdgeKind::Thread;
                graph_.delayNs[edge] = 0;
            }
    }
    /// Adds the work for which a call that synchronizes waits.
    void addAwaited(uint32_t process, uint32_t row, CallWait wait) {
        const int64_t startNs = trace_.apiCalls.startNs[row], endNs = trace_.apiCalls.endNs[row];
        const uint32_t correlation = trace_.apiCalls.correlation[row];
        const auto sync = syncOfCall_.find(row);
        const SyncType type = sync != syncOfCall_.end()   ? trace_.syncs.type[sync->second]
                              : wait == CallWait::Context ? SyncType::Context
                              : wait == CallWait::Stream  ? SyncType::Stream
                                                          : SyncType::Event;
        const uint32_t only = sync != syncOfCall_.end() ? trace_.syncs.stream[sync->second] : noIndex;
        if (type == SyncType::Stream && only != noIndex) {
            const Node node = lastSubmitted(streams_[only], correlation);
            if (node != noNode) causes_.emplace_back(EdgeKind::Wait, node);
            return;
        }
        Node latest = noNode;
        for (const uint32_t stream : used_[process]) {
            if (only != noIndex && trace_.streams[stream].contextId != trace_.streams[only].contextId) continue;
            const Node node = lastSubmitted(streams_[stream], correlation);
            if (node == noNode) continue;
            if (type == SyncType::Context) causes_.emplace_back(EdgeKind::Wait, node);
            const bool isAwaited = graph_.endNs[node] > startNs && graph_.endNs[node] <= endNs;
            if (isAwaited && (latest == noNode || graph_.endNs[node] > graph_.endNs[latest])) latest = node;
        }
        // The event is not recorded: the thread waited for the work that ended last.
        if (type != SyncType::Context && latest != noNode) causes_.emplace_back(EdgeKind::Wait, latest);
    }
    /// Returns the last work of a stream that was submitted before a call.
    static Node lastSubmitted(const StreamState& stream, uint32_t correlation) {
        const auto after = std::ranges::partition_point(
            stream.work, [&](const Submitted& each) { return each.correlation < correlation; });
        return after == stream.work.begin() ? noNode : std::prev(after)->node;
    }

    // Work.

    struct Work {
        EventRef event;
        int64_t startNs, endNs;
        uint32_t stream, correlation, call;
        uint32_t name = 0;
        NodeKind kind;
        bool isInGraph = false;
        bool mayBeAwaited = false;  ///< A copy that its call may complete.
    };

    void visitWork(Work work) {
        const int64_t ownEndNs = std::exchange(work.endNs, soundEnd(work.startNs, work.endNs));
        StreamState& stream = streams_[work.stream];
        const uint32_t process = trace_.streams[work.stream].process;
        if (!std::exchange(stream.isUsed, true) && used_[process].size() < maxSubjects)
            used_[process].push_back(work.stream);
        const bool isCallKnown =
            work.call >= firstCall_ && work.call < endCall_ && callNodes_[work.call - firstCall_] != noNode;
        uint32_t place = noIndex;
        if (isCallKnown) place = graph_.groups[graph_.group[callNodes_[work.call - firstCall_]]].stack;
        if (work.isInGraph && trace_.graphNodes.size() > 0) {
            const uint32_t row = graphNodeOf(trace_, work.event);
            if (row != noIndex) place = placeOf(trace_.graphNodes.stack[row]);
        }
        const NodeGroup group{work.kind, work.name, place, process};
        const auto meeting = members_.empty() ? members_.end() : members_.find({process, work.startNs, ownEndNs});
        const bool isMeeting =
            meeting != members_.end() && work.kind == NodeKind::Kernel && trace_.launchConfigs.isCollective(work.name);
        const Node node =
            graph_.addNode(groupOf(group), work.startNs, isMeeting ? work.startNs : work.endNs, work.event);
        const bool isFirstOfGraph = work.isInGraph && stream.graphCall != work.call;
        if (isFirstOfGraph) {
            stream.graphCall = work.call;
            stream.ofGraph.clear();
        }
        addStreamEdges(stream, work, isFirstOfGraph);
        if (isCallKnown && (!work.isInGraph || isFirstOfGraph))
            addDelayed(work.isInGraph || work.kind == NodeKind::Graph ? EdgeKind::GraphLaunch : EdgeKind::Launch,
                       callNodes_[work.call - firstCall_]);
        addEventEdges(stream, work);
        addDefaultEdges(work);
        addSpaceEdge(work);
        if (isMeeting) {
            // Kernels of several streams may have equal times: each takes one of their meetings.
            const uint32_t number = members_.extract(meeting).mapped();
            enter(number, {node, work.stream, work.endNs, work.correlation,
                           groupOf({NodeKind::Collective, work.name, group.stack, process}), work.event});
        } else {
            append(stream, node, work.endNs, work.correlation);
        }
        if (work.isInGraph) {
            constexpr size_t maxKept = 32;
            if (stream.ofGraph.size() == maxKept) stream.ofGraph.erase(stream.ofGraph.begin());
            stream.ofGraph.push_back(node);
        }
        if (!isCallKnown) return;
        const uint32_t launch = launchOfCall_[work.call - firstCall_];
        if (launch != noIndex && queues_[process] > 0) launched_[process][launch] = node;
        if (!work.mayBeAwaited) return;
        ThreadProgress& thread = threads_[trace_.apiCalls.thread[work.call]];
        if (thread.call == work.call && thread.isPending) thread.copies.push_back(node);
    }

    void append(StreamState& stream, Node node, int64_t endNs, uint32_t correlation) {
        if (correlation != 0 && (stream.work.empty() || stream.work.back().correlation <= correlation))
            stream.work.push_back({correlation, node});
        if (endNs < stream.lastEndNs) return;
        stream.last = node;
        stream.lastEndNs = endNs;
    }
    /// Adds a cause of the last node with the delay of the recording.
    void addDelayed(EdgeKind kind, Node cause) {
        graph_.addEdge(kind, cause, graph_.startNs.back() - graph_.endNs[cause]);
    }
    void addStreamEdges(const StreamState& stream, const Work& work, bool isFirstOfGraph) {
        if (work.isInGraph && !isFirstOfGraph && !stream.ofGraph.empty()) {
            Node before = noNode;
            for (const Node each : stream.ofGraph)
                if (graph_.endNs[each] <= work.startNs &&
                    (before == noNode || graph_.endNs[each] > graph_.endNs[before]))
                    before = each;
            addDelayed(EdgeKind::Stream, before != noNode ? before : stream.ofGraph.front());
            return;
        }
        if (stream.last != noNode) addDelayed(EdgeKind::Stream, stream.last);
    }
    void addEventEdges(StreamState& stream, const Work& work) {
        const StreamWaitTable& waits = trace_.streamWaits;
        if (work.correlation == 0) return;
        for (; stream.wait < stream.waitEnd && waits.waitCorrelation[stream.wait] < work.correlation; ++stream.wait) {
            const Node cause =
                lastSubmitted(streams_[waits.recordedStream[stream.wait]], waits.recordCorrelation[stream.wait]);
            if (cause != noNode && graph_.endNs[cause] <= work.startNs + clockErrorNs)
                addDelayed(EdgeKind::Event, cause);
        }
    }
    void addDefaultEdges(const Work& work) {
        const Stream& stream = trace_.streams[work.stream];
        if (!isOrdered_[work.stream] || work.correlation == 0) return;
        for (const uint32_t other : used_[stream.process]) {
            if (other == work.stream || !isOrdered_[other] || trace_.streams[other].contextId != stream.contextId)
                continue;
            if (stream.isNullStream == trace_.streams[other].isNullStream) continue;
            const Node cause = lastSubmitted(streams_[other], work.correlation);
            if (cause != noNode && graph_.endNs[cause] <= work.startNs + clockErrorNs)
                addDelayed(EdgeKind::Default, cause);
        }
    }
    /// Adds the work of another stream that ended about then, if no other cause explains why a kernel started so late.
    void addSpaceEdge(const Work& work) {
        if (work.kind != NodeKind::Kernel) return;
        const auto node = static_cast<Node>(graph_.size() - 1);
        for (size_t edge = graph_.edgesBefore(node); edge < graph_.edgeEnd[node]; ++edge)
            if (graph_.delayNs[edge] <= maxWorkDelayNs) return;
        const Stream& own = trace_.streams[work.stream];
        Node latest = noNode;
        for (const uint32_t stream : used_[own.process]) {
            const Stream& other = trace_.streams[stream];
            const Node last = streams_[stream].last;
            if (other.gpu != own.gpu || stream == work.stream || last == noNode) continue;
            const int64_t endNs = graph_.endNs[last];
            if (endNs > work.startNs + maxLeavingNs || endNs < work.startNs - maxWorkDelayNs) continue;
            if (latest == noNode || endNs > graph_.endNs[latest]) latest = last;
        }
        if (latest != noNode) addDelayed(EdgeKind::Space, latest);
    }
    /// Adds a rank to a collective, and the movement of the data when all are there.
    void enter(uint32_t index, const Meeting::Rank& rank) {
        Meeting& meeting = meetings_[index];
        meeting.ranks.push_back(rank);
        if (meeting.missing == 0 || --meeting.missing > 0) return;
        const int64_t startNs = graph_.startNs[rank.entered];
        const Node all = graph_.addNode(groupOf({NodeKind::Entered}), startNs, startNs);
        for (const Meeting::Rank& each : meeting.ranks) graph_.addEdge(EdgeKind::Rank, each.entered);
        for (const Meeting::Rank& each : meeting.ranks) {
            const int64_t endNs = std::max(each.endNs, startNs);
            const Node node = graph_.addNode(each.group, startNs, endNs, each.event);
            graph_.addEdge(EdgeKind::Stream, each.entered);
            graph_.addEdge(EdgeKind::Rank, all);
            append(streams_[each.stream], node, endNs, each.correlation);
        }
    }

    // All events in order of their start.

    void visitAll() {
        const ApiTable& calls = trace_.apiCalls;
        ColumnReader callStarts(calls.startNs), callEnds(calls.endNs);
        ColumnReader callThreads(calls.thread);
        const KernelTable& kernels = trace_.kernels;
        ColumnReader kernelStarts(kernels.startNs), kernelEnds(kernels.endNs);
        ColumnReader kernelStreams(kernels.stream), kernelCorrelations(kernels.correlation), configs(kernels.config);
        ColumnReader graphNodes(kernels.graphNode);
        uint32_t call = firstCall_, kernel = firstFrom(kernels.startNs, window_.startNs),
                 copy = firstFrom(trace_.memcpys.startNs, window_.startNs),
                 set = firstFrom(trace_.memsets.startNs, window_.startNs),
                 whole = firstFrom(trace_.graphs.startNs, window_.startNs);
        const auto nextOf = [this](auto& starts, uint32_t row, uint32_t count) {
            const int64_t startNs = row < count ? starts[row] : INT64_MAX;
            return startNs < window_.endNs ? startNs : INT64_MAX;
        };
        while (true) {
            const int64_t callNs = nextOf(callStarts, call, endCall_),
                          kernelNs = nextOf(kernelStarts, kernel, kernels.size()),
                          copyNs = nextOf(trace_.memcpys.startNs, copy, trace_.memcpys.size()),
                          setNs = nextOf(trace_.memsets.startNs, set, trace_.memsets.size()),
                          wholeNs = nextOf(trace_.graphs.startNs, whole, trace_.graphs.size());
            const int64_t workNs = std::min({kernelNs, copyNs, setNs, wholeNs});
            if (callNs == INT64_MAX && workNs == INT64_MAX) return;
            if (callNs <= workNs) {
                visitCall(call, callNs, callEnds[call], callThreads[call]);
                ++call;
            } else if (kernelNs == workNs) {
                visitWork({EventRef(EventKind::Kernel, kernel), kernelNs, kernelEnds[kernel], kernelStreams[kernel],
                           kernelCorrelations[kernel], launches_.ofKernel[kernel], configs[kernel], NodeKind::Kernel,
                           graphNodes[kernel] != 0});
                ++kernel;
            } else if (copyNs == workNs) {
                visitCopy(copy++);
            } else if (setNs == workNs) {
                const MemsetTable& sets = trace_.memsets;
                visitWork({EventRef(EventKind::Memset, set), setNs, sets.endNs[set], sets.stream[set],
                           sets.correlation[set], launches_.ofMemset[set], 0, NodeKind::Memset});
                ++set;
            } else {
                const GraphTable& graphs = trace_.graphs;
                visitWork({EventRef(EventKind::Graph, whole), wholeNs, graphs.endNs[whole], graphs.stream[whole],
                           graphs.correlation[whole], launches_.ofGraph[whole], 0, NodeKind::Graph});
                ++whole;
            }
        }
    }
    void visitCopy(uint32_t row) {
        const MemcpyTable& copies = trace_.memcpys;
        const uint32_t call = launches_.ofMemcpy[row];
        const bool isPageable =
            copies.sourceMemory[row] == MemoryKind::Pageable || copies.destinationMemory[row] == MemoryKind::Pageable;
        const bool isSynchronous = call != noIndex && nameOf(trace_.apiCalls.name[call]).kind == CallClass::Copy;
        visitWork({EventRef(EventKind::Memcpy, row), copies.startNs[row], copies.endNs[row], copies.stream[row],
                   copies.correlation[row], call, static_cast<uint32_t>(copies.kind[row]), NodeKind::Copy, false,
                   isPageable || isSynchronous});
    }

    const CausalInput& input_;
    const Trace& trace_;
    const TimeRange window_;
    const LaunchRows launches_;
    ColumnReader<uint32_t> callStacks_;
    ColumnReader<StringIndex> callNames_;
    CausalGraph graph_;
    std::unordered_multimap<uint64_t, uint32_t> groups_;
    std::array<uint32_t, 1024> recentGroups_{};  ///< By a part of the key.
    std::vector<ThreadProgress> threads_;
    std::vector<StreamState> streams_;
    std::vector<CallName> names_;  ///< By string.
    uint32_t firstCall_ = 0, endCall_ = 0;
    std::vector<Node> callNodes_;
    std::vector<uint32_t> launchOfCall_;
    std::vector<HandOver> handOvers_;
    size_t handOver_ = 0;
    std::unordered_map<uint32_t, uint32_t> syncOfCall_;
    std::unordered_map<uint32_t, double> ranShares_;  ///< By row of `CpuStateTable`.
    size_t receivingThreads_ = 0;                     ///< At most `maxSubjects`: each looks at all calls.
    std::vector<bool> isOrdered_;
    std::vector<uint32_t> queues_;             ///< By process: places in the queue of launches; 0 if never full.
    std::vector<std::vector<Node>> launched_;  ///< By process and number of launch: its last work.
    std::vector<uint32_t> launchCount_;
    std::vector<std::vector<uint32_t>> used_;  ///< By process: its streams with work, at most `maxSubjects`.
    std::multimap<std::tuple<uint32_t, int64_t, int64_t>, uint32_t> members_;  ///< By process, start and end.
    std::vector<Meeting> meetings_;
    std::vector<std::pair<EdgeKind, Node>> causes_;
};

/// A cause that ended this long after all others is the only possible one.
constexpr int64_t clearNs = 10'000;
/// Maximum delay from the end of GPU work to the return of a call that awaited it. A longer delay has another cause.
constexpr int64_t maxReturnDelayNs = 100'000;
constexpr size_t kindCount = static_cast<size_t>(NodeKind::Arrival) + 1;
/// Own time of a call that always waits, so that its own time cannot be measured.
constexpr int64_t alwaysWaitingNs = 5'000;
/// Maximum calls per name for a median. More calls hardly change it.
constexpr size_t maxSamples = 20'000;

bool isTimed(EdgeKind kind) {
    return kind != EdgeKind::Thread && kind != EdgeKind::HandOver && kind != EdgeKind::Rank && kind != EdgeKind::Loader;
}

/// Returns true if a cause of the node other than the call ended so late that the call may have waited for it.
bool mayStartLater(const CausalGraph& graph, Node node, Node call) {
    for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge)
        if (graph.from[edge] != call && graph.endNs[graph.from[edge]] > graph.startNs[call] - maxWorkDelayNs)
            return true;
    return false;
}

/// Returns true if the call before this return may have waited for earlier work.
bool mayHaveWaited(const CausalGraph& graph, Node node, Node call) {
    for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge) {
        const Node cause = graph.from[edge];
        if (cause == call) continue;
        // A copy of the call itself ends in it, but may have waited for its stream.
        const bool isLater = graph.edgeKind[edge] == EdgeKind::Copied
                                 ? mayStartLater(graph, cause, call)
                                 : graph.endNs[cause] > graph.startNs[call] - maxReturnDelayNs;
        if (isLater) return true;
    }
    return false;
}

/// Returns the call of a return; the node itself for others.
Node callOf(const CausalGraph& graph, Node node) {
    if (graph.groups[graph.group[node]].kind != NodeKind::Return) return node;
    for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge)
        if (graph.edgeKind[edge] == EdgeKind::Thread) return graph.from[edge];
    return node;
}

/// Limits the own time of calls that may have waited to that of equal calls that did not.
void setOwnTimes(CausalGraph& graph) {
    std::unordered_map<uint32_t, std::vector<int64_t>> free, waiting;  // by group
    const auto forEachReturn = [&graph](auto visit) {
        for (Node node = 0; node < graph.size(); ++node) {
            const Node call = callOf(graph, node);
            if (call != node && graph.groups[graph.group[call]].kind == NodeKind::Call) visit(node, call);
        }
    };
    const auto nameOf = [&graph](Node call) { return graph.groups[graph.group[call]].name; };
    forEachReturn([&](Node node, Node call) {
        std::vector<int64_t>& into = (mayHaveWaited(graph, node, call) ? waiting : free)[nameOf(call)];
        if (into.size() < maxSamples) into.push_back(graph.ownNs[call]);
    });
    std::unordered_map<uint32_t, int64_t> typical;
    for (auto& [name, times] : waiting) typical[name] = std::min(*std::ranges::min_element(times), alwaysWaitingNs);
    for (auto& [name, times] : free) typical[name] = upperMedianOf(times);
    forEachReturn([&](Node node, Node call) {
        if (mayHaveWaited(graph, node, call)) graph.ownNs[call] = std::min(graph.ownNs[call], typical[nameOf(call)]);
    });
}

struct Delays {
    int64_t sumNs = 0, count = 0;
    void add(int64_t delayNs) {
        sumNs += delayNs;
        ++count;
    }
    int64_t meanNs() const { return count > 0 ? sumNs / count : 0; }
};

/// Mean delays of edges whose cause is unambiguous (`clearNs`), per kind of edge and kind of node. Edges of streams and
/// copies also have a mean per group of nodes, because directions of copies differ.
class DelayTable {
  public:
    explicit DelayTable(const CausalGraph& graph) : graph_(graph), ofGroup_(graph.groups.size()) {}

    void add(Node node, size_t edge) {
        const int64_t delayNs = graph_.delayNs[edge];
        of(node, edge).add(delayNs);
        ofEdge_[static_cast<size_t>(graph_.edgeKind[edge])].add(delayNs);
        if (isOfGroup(edge)) ofGroup_[graph_.group[node]].add(delayNs);
    }
    /// Returns 0 without a clear delay of the kind: the edge then only orders.
    int64_t typicalNs(Node node, size_t edge) {
        constexpr int64_t minCount = 8;
        const Delays& ofGroup = ofGroup_[graph_.group[node]];
        if (isOfGroup(edge) && ofGroup.count >= minCount) return ofGroup.meanNs();
        const Delays& ofKind = of(node, edge);
        return ofKind.count > 0 ? ofKind.meanNs() : ofEdge_[static_cast<size_t>(graph_.edgeKind[edge])].meanNs();
    }

  private:
    bool isOfGroup(size_t edge) const {
        return graph_.edgeKind[edge] == EdgeKind::Stream || graph_.edgeKind[edge] == EdgeKind::Copied;
    }
    Delays& of(Node node, size_t edge) {
        return ofKind_[static_cast<size_t>(graph_.edgeKind[edge]) * kindCount +
                       static_cast<size_t>(graph_.groups[graph_.group[node]].kind)];
    }

    const CausalGraph& graph_;
    std::array<Delays, edgeKindCount * kindCount> ofKind_;
    std::array<Delays, edgeKindCount> ofEdge_;
    std::vector<Delays> ofGroup_;
};

}  // namespace

CausalGraph buildCausalGraph(const CausalInput& input, TimeRange window) {
    CausalGraph graph = GraphBuilder(input, window).build();
    setTypicalDelays(graph);
    return graph;
}

void setTypicalDelays(CausalGraph& graph) {
    setOwnTimes(graph);
    DelayTable delays(graph);
    for (Node node = 0; node < graph.size(); ++node) {
        int64_t lastNs = INT64_MIN, beforeNs = INT64_MIN;
        size_t last = SIZE_MAX;
        for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge) {
            const Node cause = graph.from[edge];
            const bool isOfThread = graph.edgeKind[edge] == EdgeKind::Thread;
            const int64_t endNs = isOfThread ? graph.startNs[cause] + graph.ownNs[cause] : graph.endNs[cause];
            beforeNs = std::max(beforeNs, std::min(endNs, lastNs));
            if (endNs <= lastNs) continue;
            lastNs = endNs;
            last = edge;
        }
        if (last == SIZE_MAX || !isTimed(graph.edgeKind[last])) continue;
        if (beforeNs != INT64_MIN && beforeNs > lastNs - clearNs) continue;
        const bool isReturn = graph.edgeKind[last] == EdgeKind::Wait || graph.edgeKind[last] == EdgeKind::Copied;
        if (graph.delayNs[last] <= (isReturn ? maxReturnDelayNs : maxWorkDelayNs)) delays.add(node, last);
    }
    for (Node node = 0; node < graph.size(); ++node)
        for (size_t edge = graph.edgesBefore(node); edge < graph.edgeEnd[node]; ++edge)
            if (isTimed(graph.edgeKind[edge]))
                graph.delayNs[edge] =
                    static_cast<int32_t>(std::min<int64_t>(graph.delayNs[edge], delays.typicalNs(node, edge)));
}

}  // namespace lanescope::causality
