// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::agent {

struct NvtxCall;

/// Tells the samplers of the run, through a pipe in its folder, when a range that was chosen begins
/// or ends, so that they read their counters at once. Never waits: what does not fit into the pipe
/// is dropped. Any thread; a call that is none of the chosen ranges' takes no lock, but for the
/// pattern's comparison with its name.
class MomentTeller {
  public:
    /// `pattern` as for `matchesPattern`.
    MomentTeller(std::string pattern, const std::string& runFolder);
    MomentTeller(const MomentTeller&) = delete;
    MomentTeller& operator=(const MomentTeller&) = delete;

    /// Looks at a call, whose time is `timeNs`. `level` as in `NvtxRecord`.
    void look(const NvtxCall& call, uint32_t threadId, int32_t level, int64_t timeNs) noexcept;

  private:
    struct Range {
        uint64_t key;
        uint32_t occurrence;
        std::string name;
    };
    void lookAndTell(const NvtxCall& call, uint32_t threadId, int32_t level, int64_t timeNs);
    void tell(int64_t timeNs, const Range& range, bool isEnd);
    bool isPipeOurs();

    const std::string pattern_, pipePath_;
    std::atomic<size_t> openCount_{0};
    std::mutex
        mutex_;  // guards what follows; taken for chosen ranges, and while one is open by ends
    std::vector<Range> open_;
    uint32_t occurrences_ = 0;
    int pipe_ = -1;
    uint64_t deviceNumber_ = 0, fileNumber_ = 0;
    int64_t nextTryNs_ = 0;
};

}  // namespace lanescope::agent
