// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/SequenceJoin.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "model/values/sortLarge.h"

namespace lanescope {

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

}  // namespace lanescope
