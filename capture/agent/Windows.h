// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "capture/log/LogFile.h"
#include "capture/options/AgentOptions.h"

namespace lanescope::agent {

/// The windows of time in which this process keeps what it sees. Opened and closed on any thread,
/// at the moments that only a program has; known to the writer thread, which decides what is kept.
///
/// The clock is read under the lock under which a window is published. So when the writer first
/// notes which events have been handed over and then calls `refresh`, it knows every window that
/// any of those events may lie in.
class Windows {
  public:
    struct Window {
        int64_t beginNs;
        int64_t endNs;  ///< `never` while it is open.
        uint32_t index;
    };
    static constexpr int64_t never = INT64_MAX;
    /// So many of the latest windows are known. GPU work comes up to half a second after its
    /// launch, in which a small model has hundreds of steps.
    static constexpr size_t mostRemembered = 512;

    Windows(const WindowOptions& options, int64_t startNs);

    /// Whether everything is kept: no windows were asked for. Constant.
    bool isEverything() const { return options_.trigger == WindowTrigger::None; }
    const WindowOptions& options() const { return options_; }

    struct Moment {
        int64_t ns;    ///< When it happened: the present time.
        bool isTaken;  ///< Whether a window was opened, or closed.
    };
    /// Opens a window now, unless one is open, it is too early, or there were enough. Any thread;
    /// waits at most for another such call.
    Moment open();
    Moment close();

    // Writer thread only:

    /// Learns what happened until now and writes down the windows that began and ended.
    void refresh(log::RecordWriter& writer);
    /// Whether a moment before the last `refresh` lies in a window. Only the latest windows are
    /// remembered. O(log windows), like what follows.
    bool isOpenAt(int64_t ns) const { return isEverything() || isWindow(stretchAt(ns)); }
    /// The beginnings and ends of windows cut time into stretches, numbered from 0 in their order.
    /// In which of them a moment before the last `refresh` lies; what is before all windows that
    /// are remembered is just before the first of them.
    uint64_t stretchAt(int64_t ns) const;
    /// The stretch of the present.
    uint64_t latestStretch() const { return stretchAt(never - 1); }
    static bool isWindow(uint64_t stretch) { return stretch % 2 == 1; }
    const std::deque<Window>& windows() const { return known_; }
    bool hadAny() const { return hadAny_; }

  private:
    void advance(int64_t nowNs);
    bool beginWindow(int64_t ns);
    void endWindow(int64_t ns);
    void write(log::RecordWriter& writer, const Window& window, bool isBegin) const;

    const WindowOptions options_;
    const int64_t earliestNs_;

    std::mutex mutex_;  // guards what follows; held for moments, and by nobody who launches work
    std::deque<Window> windows_;
    uint32_t opened_ = 0;
    bool isOpen_ = false;

    std::deque<Window> known_;  // writer thread only
    uint32_t generation_ = 0;
    uint32_t nextIndex_ = 0;  // the first that the writer has not learned of
    bool saidTooMany_ = false;
    bool hadAny_ = false;
};

}  // namespace lanescope::agent
