// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "model/load/json/ArrowEnds.h"
#include "model/load/json/SequenceJoin.h"
#include "model/load/json/giveEvents.h"
#include "model/values/sortLarge.h"

namespace lanescope {

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
