// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/emitBackwards.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "model/importers/events/ForeignChunk.h"
#include "model/importers/events/emitEvents.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/EventRef.h"

namespace lanescope {

namespace {

bool isWanted(OperatorRole role, char phase) {
    if (phase == JsonArrowEnd::either) return role != OperatorRole::Unsaid;
    return role == (phase == 's' ? OperatorRole::Forward : OperatorRole::Backward);
}

class OperatorFinder {
  public:
    explicit OperatorFinder(const LargeVector<ArrowOperator>& operators) : operators_(operators) {}

    /// Of ends in order of thread and time.
    void find(LargeVector<ArrowEnd>& ends) {
        for (size_t at = 0; at < ends.size(); ++at) {
            ArrowEnd& end = ends[at];
            const bool isSame = at > 0 && end.thread == ends[at - 1].thread &&
                                end.timeNs == ends[at - 1].timeNs &&
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
            const ArrowOperator& each = operators_[next_];
            if (std::tuple(each.thread, each.startNs) > std::tuple(thread, timeNs)) return;
            if (each.thread != thread) continue;
            closeBy(each.startNs);
            open_.push_back(&each);
        }
    }
    /// What begins at that moment stays, however short it is.
    void closeBy(int64_t timeNs) {
        while (!open_.empty() && open_.back()->endNs <= timeNs && open_.back()->startNs < timeNs)
            open_.pop_back();
    }
    uint32_t operatorAt(int64_t timeNs, char phase) {
        closeBy(timeNs);
        for (auto each = open_.rbegin(); each != open_.rend() && (*each)->startNs == timeNs; ++each)
            if (isWanted((*each)->role, phase)) return (*each)->row;
        return open_.empty() ? noIndex : open_.back()->row;
    }

    const LargeVector<ArrowOperator>& operators_;
    size_t next_ = 0;
    uint32_t thread_ = noIndex;
    std::vector<const ArrowOperator*> open_;
};

}  // namespace

void findOperators(LargeVector<ArrowEnd>& ends, const LargeVector<ArrowOperator>& operators) {
    OperatorFinder(operators).find(ends);
}

namespace {

/// Threads of a process that are looked at for one number; a hostile file has it on any number.
constexpr int mostThreads = 64;

using Span = std::span<const NumberedOperator>;

auto forwardKey(const NumberedOperator& each) {
    // Of those that begin together the innermost is the last.
    return std::tuple(each.process, each.sequence, each.thread, each.startNs, -each.endNs,
                      each.row);
}

auto backwardKey(const NumberedOperator& each) {
    return std::tuple(each.process, each.forwardThread, each.sequence, each.thread, each.startNs,
                      -each.endNs, each.row);
}

/// Forward operators, found by their numbers.
class Forwards {
  public:
    explicit Forwards(NumberedOperators& operators) : operators_(operators) {
        sortLarge(operators_, [](const NumberedOperator& a, const NumberedOperator& b) {
            return forwardKey(a) < forwardKey(b);
        });
    }

    /// `visit(thread)` for the threads of the process that have that number.
    template <class Visitor>
    void forEachThread(uint32_t process, int64_t sequence, Visitor visit) const {
        uint32_t thread = 0;
        for (int count = 0; count < mostThreads; ++count) {
            const auto found = std::lower_bound(
                operators_.begin(), operators_.end(), std::tuple(process, sequence, thread),
                [](const NumberedOperator& each, const auto& key) {
                    return std::tuple(each.process, each.sequence, each.thread) < key;
                });
            if (found == operators_.end() || found->process != process ||
                found->sequence != sequence)
                return;
            visit(found->thread);
            thread = found->thread + 1;
        }
    }

    /// The last one with that number on the thread that begins before the backward; null if there
    /// is none.
    const NumberedOperator* lastBefore(uint32_t thread, const NumberedOperator& backward) const {
        const auto after = std::lower_bound(
            operators_.begin(), operators_.end(),
            std::tuple(backward.process, backward.sequence, thread, backward.startNs),
            [](const NumberedOperator& each, const auto& key) {
                return std::tuple(each.process, each.sequence, each.thread, each.startNs) < key;
            });
        if (after == operators_.begin()) return nullptr;
        const NumberedOperator& last = *std::prev(after);
        const bool isIts = last.process == backward.process && last.sequence == backward.sequence &&
                           last.thread == thread;
        return isIts ? &last : nullptr;
    }

  private:
    NumberedOperators& operators_;
};

/// The thread of the trace that the backward operators of one thread of the file name as that of
/// their forward; `noIndex` if none knows clearly most of their numbers.
uint32_t threadMeant(const Forwards& forwards, Span backwards) {
    std::map<uint32_t, int64_t> known;
    int64_t last = -1;
    for (const NumberedOperator& each : backwards) {
        if (each.sequence == last) continue;
        last = each.sequence;
        forwards.forEachThread(each.process, each.sequence,
                               [&known](uint32_t thread) { ++known[thread]; });
    }
    uint32_t best = noIndex;
    int64_t most = 0, second = 0;
    for (const auto& [thread, count] : known) {
        if (count > most) {
            second = most;
            most = count;
            best = thread;
        } else {
            second = std::max(second, count);
        }
    }
    return 2 * second <= most ? best : noIndex;
}

/// Whether the next of one number is a part of this one.
bool holds(const NumberedOperator& outer, const NumberedOperator& next) {
    return outer.sequence == next.sequence && outer.thread == next.thread &&
           next.endNs <= outer.endNs;
}

}  // namespace

void joinBySequence(JsonGiving& giving, JsonFindings& findings, NumberedOperators& forwards,
                    NumberedOperators& backwards) {
    sortLarge(backwards, [](const NumberedOperator& a, const NumberedOperator& b) {
        return backwardKey(a) < backwardKey(b);
    });
    const Forwards numbers(forwards);
    const Span all(backwards.data(), backwards.size());
    for (size_t first = 0; first < all.size();) {
        size_t end = first + 1;
        while (end < all.size() && all[end].process == all[first].process &&
               all[end].forwardThread == all[first].forwardThread)
            ++end;
        const Span ofThread = all.subspan(first, end - first);
        const uint32_t thread = threadMeant(numbers, ofThread);
        for (size_t at = 0; at < ofThread.size(); ++at) {
            const NumberedOperator& backward = ofThread[at];
            if (at + 1 < ofThread.size() && holds(backward, ofThread[at + 1])) continue;
            const NumberedOperator* const forward =
                thread != noIndex ? numbers.lastBefore(thread, backward) : nullptr;
            if (forward != nullptr)
                giving.builder.backward({EventKind::Nvtx, forward->row},
                                        {EventKind::Nvtx, backward.row});
            else
                ++findings.backwardsAlone;
        }
        first = end;
    }
}

namespace {

/// Gives the arrows of one id: of each beginning the end that comes next, where it is known which
/// that is.
class ArrowJoiner {
  public:
    ArrowJoiner(JsonGiving& giving, JsonFindings& findings, std::set<uint32_t>& joined)
        : giving_(giving), findings_(findings), joined_(joined) {}

    void take(const ArrowEnd* first, const ArrowEnd* last) {
        if (first->phase == JsonArrowEnd::either) return takeEither(first, last);
        while (first != last) {
            const ArrowEnd* const middle = firstOf('f', first, last);
            const ArrowEnd* const next = firstOf('s', middle, last);
            if (middle - first == 1 && next - middle == 1)
                give(*first, *middle);
            else
                findings_.arrowEndsLeft += next - first;
            first = next;
        }
    }

  private:
    static const ArrowEnd* firstOf(char phase, const ArrowEnd* first, const ArrowEnd* last) {
        return std::find_if(first, last,
                            [phase](const ArrowEnd& each) { return each.phase == phase; });
    }
    /// Of an arrow of a kind that is not said, which may join other things.
    void takeEither(const ArrowEnd* first, const ArrowEnd* last) {
        if (last - first == 2 && first[0].row != noIndex && first[1].row != noIndex)
            give(first[0], first[1]);
        else
            giving_.events.tally.otherFlows += last - first;
    }
    void give(const ArrowEnd& from, const ArrowEnd& to) {
        if (from.row == noIndex || to.row == noIndex || from.row == to.row) {
            findings_.arrowEndsLeft += 2;
            return;
        }
        giving_.builder.backward({EventKind::Nvtx, from.row}, {EventKind::Nvtx, to.row});
        if (from.process != noIndex) joined_.insert(from.process);
    }

    JsonGiving& giving_;
    JsonFindings& findings_;
    std::set<uint32_t>& joined_;  ///< Processes of which arrows joined something.
};

class BackwardGiver {
  public:
    BackwardGiver(JsonGiving& giving, JsonFindings& findings, uint32_t first, uint32_t end)
        : giving_(giving),
          findings_(findings),
          ranges_(giving.builder.trace().nvtx),
          first_(first),
          end_(end) {}

    void giveArrows() {
        LargeVector<ArrowEnd> ends = takeEnds();
        if (ends.empty()) return;
        const LargeVector<ArrowOperator> operators = operatorsOf(ends);
        sortLarge(ends, [](const ArrowEnd& a, const ArrowEnd& b) {
            return std::tuple(a.thread, a.timeNs, a.phase) <
                   std::tuple(b.thread, b.timeNs, b.phase);
        });
        findOperators(ends, operators);
        sortLarge(ends, [](const ArrowEnd& a, const ArrowEnd& b) { return a.order() < b.order(); });
        const auto last = std::unique(
            ends.begin(), ends.end(),
            [](const ArrowEnd& a, const ArrowEnd& b) { return a.order() == b.order(); });
        const size_t count = static_cast<size_t>(last - ends.begin());
        ArrowJoiner joiner(giving_, findings_, joined_);
        for (size_t from = 0; from < count;) {
            size_t to = from + 1;
            while (to < count && ends[to].arrow() == ends[from].arrow()) ++to;
            joiner.take(ends.data() + from, ends.data() + to);
            from = to;
        }
    }

    /// Of processes in which no arrow joined anything.
    void giveSequences() {
        NumberedOperators forwards(giving_.builder.memory());
        NumberedOperators backwards(giving_.builder.memory());
        giving_.events.sequences.consume([&](const JsonSequence& said) {
            if (said.slice < first_ || said.slice >= end_) return;
            const uint32_t thread = ranges_.thread[said.slice];
            const uint32_t process = processOf(thread);
            if (joined_.contains(process)) return;
            auto& operators = said.forwardThread == 0 ? forwards : backwards;
            operators.push_back({said.sequence, ranges_.startNs[said.slice],
                                 ranges_.endNs[said.slice], process, thread, said.forwardThread,
                                 said.slice});
        });
        if (!backwards.empty()) joinBySequence(giving_, findings_, forwards, backwards);
    }

  private:
    uint32_t processOf(uint32_t thread) const {
        return giving_.builder.trace().threads[thread].process;
    }

    /// Without those of threads that have no events: for their sake none is made.
    LargeVector<ArrowEnd> takeEnds() {
        LargeVector<ArrowEnd> ends(giving_.builder.memory());
        giving_.events.arrowEnds.consume([&](const JsonArrowEnd& each) {
            const uint32_t thread = giving_.identities.knownThread(each.thread);
            const bool isEither = each.phase == JsonArrowEnd::either;
            if (thread == noIndex) {
                ++findings_.arrowEndsLeft;
                return;
            }
            const uint32_t process = processOf(thread);
            ends.push_back({each.timeNs - giving_.zeroNs, each.id, isEither ? noIndex : process,
                            thread, noIndex, each.phase});
        });
        return ends;
    }

    /// Those of threads with ends, in order of thread and start, the outer first.
    LargeVector<ArrowOperator> operatorsOf(const LargeVector<ArrowEnd>& ends) {
        std::vector<bool> isAsked(giving_.builder.trace().threads.size());
        for (const ArrowEnd& each : ends) isAsked[each.thread] = true;
        LargeVector<ArrowOperator> operators(giving_.builder.memory());
        size_t said = 0;
        const auto& sequences = giving_.events.sequences;
        for (uint32_t row = first_; row < end_; ++row) {
            while (said < sequences.size() &&
                   (sequences[said].slice < row || sequences[said].slice == noIndex))
                ++said;
            if (!isAsked[ranges_.thread[row]]) continue;
            const bool isSaid = said < sequences.size() && sequences[said].slice == row;
            const OperatorRole role = !isSaid                              ? OperatorRole::Unsaid
                                      : sequences[said].forwardThread == 0 ? OperatorRole::Forward
                                                                           : OperatorRole::Backward;
            operators.push_back(
                {ranges_.startNs[row], ranges_.endNs[row], ranges_.thread[row], row, role});
        }
        sortLarge(operators, [](const ArrowOperator& a, const ArrowOperator& b) {
            return std::tuple(a.thread, a.startNs, -a.endNs, a.row) <
                   std::tuple(b.thread, b.startNs, -b.endNs, b.row);
        });
        return operators;
    }

    JsonGiving& giving_;
    JsonFindings& findings_;
    const NvtxTable& ranges_;
    const uint32_t first_, end_;
    std::set<uint32_t> joined_;  ///< Processes of which arrows joined something.
};

}  // namespace

void giveBackwards(JsonGiving& giving, JsonFindings& findings, uint32_t first, uint32_t end) {
    BackwardGiver giver(giving, findings, first, end);
    giver.giveArrows();
    giver.giveSequences();
}

}  // namespace lanescope
