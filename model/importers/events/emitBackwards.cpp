// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/emitBackwards.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "model/importers/events/ImportedEvents.h"
#include "model/numbers/groups.h"
#include "model/trace/EventRef.h"

namespace lanescope {

namespace {

bool isRequired(OperatorRole role, char phase) {
    if (phase == ImportedFlowEnd::either) return role != OperatorRole::Unknown;
    return role == (phase == 's' ? OperatorRole::Forward : OperatorRole::Backward);
}

class OperatorFinder {
  public:
    explicit OperatorFinder(const LargeVector<FlowOperator>& operators) : operators_(operators) {}

    /// Finds the operators of flow ends, which must be sorted by thread and time.
    void find(LargeVector<FlowEnd>& ends) {
        for (size_t at = 0; at < ends.size(); ++at) {
            FlowEnd& end = ends[at];
            const bool isSame = at > 0 && end.thread == ends[at - 1].thread && end.timeNs == ends[at - 1].timeNs &&
                                end.phase == ends[at - 1].phase;
            if (isSame) {
                end.row = ends[at - 1].row;
                continue;
            }
            goTo(end.thread, end.timeNs);
            end.row = operatorAt(end.timeNs, end.phase);
        }
    }

  private:
    void goTo(uint32_t thread, int64_t timeNs) {
        if (thread != thread_) open_.clear();
        thread_ = thread;
        for (; next_ < operators_.size(); ++next_) {
            const FlowOperator& each = operators_[next_];
            if (std::tuple(each.thread, each.startNs) > std::tuple(thread, timeNs)) return;
            if (each.thread != thread) continue;
            closeBy(each.startNs);
            open_.push_back(&each);
        }
    }
    /// An operator that begins at this time stays open, however short it is.
    void closeBy(int64_t timeNs) {
        while (!open_.empty() && open_.back()->endNs <= timeNs && open_.back()->startNs < timeNs) open_.pop_back();
    }
    uint32_t operatorAt(int64_t timeNs, char phase) {
        closeBy(timeNs);
        for (auto each = open_.rbegin(); each != open_.rend() && (*each)->startNs == timeNs; ++each)
            if (isRequired((*each)->role, phase)) return (*each)->row;
        return open_.empty() ? noIndex : open_.back()->row;
    }

    const LargeVector<FlowOperator>& operators_;
    size_t next_ = 0;
    uint32_t thread_ = noIndex;
    std::vector<const FlowOperator*> open_;
};

/// Maximum number of threads per process that are searched for one number. A hostile file may have any number of them.
constexpr int maxThreads = 64;

using Span = std::span<const NumberedOperator>;

auto forwardKey(const NumberedOperator& each) {
    // For equal starts, the innermost is last.
    return std::tuple(each.process, each.sequence, each.thread, each.startNs, -each.endNs, each.row);
}

auto backwardKey(const NumberedOperator& each) {
    return std::tuple(each.process, each.forwardThread, each.sequence, each.thread, each.startNs, -each.endNs,
                      each.row);
}

class Forwards {
  public:
    explicit Forwards(NumberedOperators& operators) : operators_(operators) {
        sortLarge(operators_,
                  [](const NumberedOperator& a, const NumberedOperator& b) { return forwardKey(a) < forwardKey(b); });
    }

    /// Calls `visit(thread)` for the threads of the process that have that number.
    void forEachThread(uint32_t process, int64_t sequence, auto visit) const {
        uint32_t thread = 0;
        for (int count = 0; count < maxThreads; ++count) {
            const auto found = std::ranges::lower_bound(
                operators_, std::tuple(process, sequence, thread), {},
                [](const NumberedOperator& each) { return std::tuple(each.process, each.sequence, each.thread); });
            if (found == operators_.end() || found->process != process || found->sequence != sequence) return;
            visit(found->thread);
            thread = found->thread + 1;
        }
    }

    /// Returns the last operator with that number that begins on the thread before the backward, or null.
    const NumberedOperator* lastBefore(uint32_t thread, const NumberedOperator& backward) const {
        const auto keyOf = [](const NumberedOperator& each) {
            return std::tuple(each.process, each.sequence, each.thread, each.startNs);
        };
        const auto after = std::ranges::lower_bound(
            operators_, std::tuple(backward.process, backward.sequence, thread, backward.startNs), {}, keyOf);
        if (after == operators_.begin()) return nullptr;
        const NumberedOperator& last = *std::prev(after);
        const bool isIts =
            last.process == backward.process && last.sequence == backward.sequence && last.thread == thread;
        return isIts ? &last : nullptr;
    }

  private:
    NumberedOperators& operators_;
};

/// Returns the thread of the trace for the forward thread number of the backward operators, which must have the same
/// one. Returns `noIndex` if no thread clearly matches the majority of their sequence numbers.
uint32_t threadFor(const Forwards& forwards, Span backwards) {
    std::map<uint32_t, int64_t> known;
    int64_t last = -1;
    for (const NumberedOperator& each : backwards) {
        if (each.sequence == last) continue;
        last = each.sequence;
        forwards.forEachThread(each.process, each.sequence, [&known](uint32_t thread) { ++known[thread]; });
    }
    uint32_t best = noIndex;
    int64_t maxCount = 0, second = 0;
    for (const auto& [thread, count] : known) {
        if (count > maxCount) {
            second = maxCount;
            maxCount = count;
            best = thread;
        } else {
            second = std::max(second, count);
        }
    }
    return 2 * second <= maxCount ? best : noIndex;
}

/// Returns true if the next operator of one number is inside this one.
bool contains(const NumberedOperator& outer, const NumberedOperator& next) {
    return outer.sequence == next.sequence && outer.thread == next.thread && next.endNs <= outer.endNs;
}

/// Emits the flow events of one id. Each start is connected with the next end, if the direction is known.
class FlowConnector {
  public:
    FlowConnector(EmitContext& output, EmitFindings& findings, std::set<uint32_t>& joined)
        : output_(output), findings_(findings), matched_(joined) {}

    void take(const FlowEnd* first, const FlowEnd* last) {
        if (first->phase == ImportedFlowEnd::either) return takeEither(first, last);
        while (first != last) {
            const FlowEnd* const middle = firstOf('f', first, last);
            const FlowEnd* const next = firstOf('s', middle, last);
            if (middle - first == 1 && next - middle == 1)
                emitPair(*first, *middle);
            else
                findings_.unmatchedFlowEnds += next - first;
            first = next;
        }
    }

  private:
    static const FlowEnd* firstOf(char phase, const FlowEnd* first, const FlowEnd* last) {
        return std::find_if(first, last, [phase](const FlowEnd& each) { return each.phase == phase; });
    }
    /// Handles a flow event of unknown meaning. Connects its ends if they are two operators, else counts it.
    void takeEither(const FlowEnd* first, const FlowEnd* last) {
        if (last - first == 2 && first[0].row != noIndex && first[1].row != noIndex)
            emitPair(first[0], first[1]);
        else
            output_.events.tally.otherFlows += last - first;
    }
    void emitPair(const FlowEnd& from, const FlowEnd& to) {
        if (from.row == noIndex || to.row == noIndex || from.row == to.row) {
            findings_.unmatchedFlowEnds += 2;
            return;
        }
        output_.builder.backward({EventKind::Nvtx, from.row}, {EventKind::Nvtx, to.row});
        if (from.process != noIndex) matched_.insert(from.process);
    }

    EmitContext& output_;
    EmitFindings& findings_;
    std::set<uint32_t>& matched_;  ///< Processes with a flow event that connects two operators.
};

class BackwardEmitter {
  public:
    BackwardEmitter(EmitContext& output, EmitFindings& findings, uint32_t first, uint32_t end)
        : output_(output), findings_(findings), ranges_(output.builder.trace().nvtx), first_(first), end_(end) {}

    void emitFlows() {
        LargeVector<FlowEnd> ends = takeEnds();
        if (ends.empty()) return;
        const LargeVector<FlowOperator> operators = operatorsOf(ends);
        sortLarge(ends, [](const FlowEnd& a, const FlowEnd& b) {
            return std::tuple(a.thread, a.timeNs, a.phase) < std::tuple(b.thread, b.timeNs, b.phase);
        });
        findOperators(ends, operators);
        sortLarge(ends, [](const FlowEnd& a, const FlowEnd& b) { return a.order() < b.order(); });
        ends.erase(std::ranges::unique(ends, {}, &FlowEnd::order).begin(), ends.end());
        FlowConnector joiner(output_, findings_, matched_);
        forEachGroup(ends, &FlowEnd::flow, [&joiner](std::span<const FlowEnd> ofFlow) {
            joiner.take(ofFlow.data(), ofFlow.data() + ofFlow.size());
        });
    }

    /// Handles the processes in which no flow event connects two operators.
    void emitSequences() {
        NumberedOperators forwards(output_.builder.memory());
        NumberedOperators backwards(output_.builder.memory());
        output_.events.sequences.consume([&](const ImportedSequence& numbered) {
            if (numbered.slice < first_ || numbered.slice >= end_) return;
            const uint32_t thread = ranges_.thread[numbered.slice];
            const uint32_t process = processOf(thread);
            if (matched_.contains(process)) return;
            auto& operators = numbered.forwardThread == 0 ? forwards : backwards;
            operators.push_back({numbered.sequence, ranges_.startNs[numbered.slice], ranges_.endNs[numbered.slice],
                                 process, thread, numbered.forwardThread, numbered.slice});
        });
        if (!backwards.empty()) joinBySequence(output_, findings_, forwards, backwards);
    }

  private:
    uint32_t processOf(uint32_t thread) const { return output_.builder.trace().threads[thread].process; }

    /// Returns the ends without those of threads without events, so that no such thread is added.
    LargeVector<FlowEnd> takeEnds() {
        LargeVector<FlowEnd> ends(output_.builder.memory());
        output_.events.flowEnds.consume([&](const ImportedFlowEnd& each) {
            const uint32_t thread = output_.identities.knownThread(each.thread);
            const bool isEither = each.phase == ImportedFlowEnd::either;
            if (thread == noIndex) {
                ++findings_.unmatchedFlowEnds;
                return;
            }
            const uint32_t process = processOf(thread);
            ends.push_back(
                {each.timeNs - output_.zeroNs, each.id, isEither ? noIndex : process, thread, noIndex, each.phase});
        });
        return ends;
    }

    /// Returns the operators of threads with ends, in order of thread and start, the outer first.
    LargeVector<FlowOperator> operatorsOf(const LargeVector<FlowEnd>& ends) {
        std::vector<bool> isAsked(output_.builder.trace().threads.size());
        for (const FlowEnd& each : ends) isAsked[each.thread] = true;
        LargeVector<FlowOperator> operators(output_.builder.memory());
        size_t numbered = 0;
        const auto& sequences = output_.events.sequences;
        for (uint32_t row = first_; row < end_; ++row) {
            while (numbered < sequences.size() &&
                   (sequences[numbered].slice < row || sequences[numbered].slice == noIndex))
                ++numbered;
            if (!isAsked[ranges_.thread[row]]) continue;
            const bool hasSequence = numbered < sequences.size() && sequences[numbered].slice == row;
            const OperatorRole role = !hasSequence                             ? OperatorRole::Unknown
                                      : sequences[numbered].forwardThread == 0 ? OperatorRole::Forward
                                                                               : OperatorRole::Backward;
            operators.push_back({ranges_.startNs[row], ranges_.endNs[row], ranges_.thread[row], row, role});
        }
        sortLarge(operators, [](const FlowOperator& a, const FlowOperator& b) {
            return std::tuple(a.thread, a.startNs, -a.endNs, a.row) < std::tuple(b.thread, b.startNs, -b.endNs, b.row);
        });
        return operators;
    }

    EmitContext& output_;
    EmitFindings& findings_;
    const NvtxTable& ranges_;
    const uint32_t first_, end_;
    std::set<uint32_t> matched_;  ///< Processes with a flow event that connects two operators.
};

}  // namespace

void findOperators(LargeVector<FlowEnd>& ends, const LargeVector<FlowOperator>& operators) {
    OperatorFinder(operators).find(ends);
}

void joinBySequence(EmitContext& output, EmitFindings& findings, NumberedOperators& forwards,
                    NumberedOperators& backwards) {
    sortLarge(backwards,
              [](const NumberedOperator& a, const NumberedOperator& b) { return backwardKey(a) < backwardKey(b); });
    const Forwards numbers(forwards);
    const auto keyOf = [](const NumberedOperator& each) { return std::pair(each.process, each.forwardThread); };
    forEachGroup(backwards, keyOf, [&](Span ofThread) {
        const uint32_t thread = threadFor(numbers, ofThread);
        for (size_t at = 0; at < ofThread.size(); ++at) {
            const NumberedOperator& backward = ofThread[at];
            if (at + 1 < ofThread.size() && contains(backward, ofThread[at + 1])) continue;
            const NumberedOperator* const forward = thread != noIndex ? numbers.lastBefore(thread, backward) : nullptr;
            if (forward != nullptr)
                output.builder.backward({EventKind::Nvtx, forward->row}, {EventKind::Nvtx, backward.row});
            else
                ++findings.unmatchedBackwards;
        }
    });
}

void emitBackwards(EmitContext& output, EmitFindings& findings, uint32_t first, uint32_t end) {
    BackwardEmitter emitter(output, findings, first, end);
    emitter.emitFlows();
    emitter.emitSequences();
}

}  // namespace lanescope
