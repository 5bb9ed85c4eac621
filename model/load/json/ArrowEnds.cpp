// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/ArrowEnds.h"

#include <vector>

#include "model/load/json/ScannedChunk.h"
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

}  // namespace lanescope
