// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>

#include "capture/log/LogFile.h"
#include "capture/options/AgentOptions.h"

namespace lanescope::agent {

/// Recording windows of this process. Any thread opens and closes them, at times that only the
/// program has; the writer thread uses them to select events. The clock is read under the lock that
/// publishes a window. If the writer first notes which events were handed over and then calls
/// `refresh`, it therefore has every window that may contain those events.
class Windows {
  public:
    struct Window {
        int64_t beginNs;
        int64_t endNs;  ///< `never` while it is open.
        uint32_t index;
    };
    static constexpr int64_t never = INT64_MAX;
    /// Maximum number of remembered windows, the latest. GPU work arrives up to 0.5 s after its
    /// launch, and a small model has hundreds of steps in that time.
    static constexpr size_t maxRememberedWindows = 512;

    Windows(const WindowOptions& options, int64_t startNs);

    /// Returns true if everything is kept because no windows were requested. Constant.
    bool isEverything() const { return options_.trigger == WindowTrigger::None; }
    const WindowOptions& options() const { return options_; }

    struct Change {
        int64_t ns;       ///< Present time of the call.
        bool hasChanged;  ///< True if a window was opened or closed.
    };
    /// Opens a window now, unless one is open, it is too early, or the maximum is reached. Any
    /// thread; waits at most for another such call.
    Change open();
    Change close();

    // Writer thread only:

    /// Reads the changes until now and writes the windows that began and ended.
    void refresh(log::RecordWriter& writer);
    /// Returns true if a time before the last `refresh` lies in a window. Only the latest windows
    /// are remembered. O(log windows), like the following functions.
    bool isOpenAt(int64_t ns) const { return isEverything() || isWindow(intervalAt(ns)); }
    /// Returns the number of the interval that contains a time before the last `refresh`. The edges
    /// of windows divide time into intervals, numbered from 0. A time before all remembered windows
    /// is in the interval just before the first of them.
    uint64_t intervalAt(int64_t ns) const;
    uint64_t latestInterval() const { return intervalAt(never - 1); }
    static bool isWindow(uint64_t interval) { return interval % 2 == 1; }
    const std::deque<Window>& windows() const { return known_; }
    bool hadAny() const { return hadAny_; }

  private:
    void advance(int64_t nowNs);
    bool beginWindow(int64_t ns);
    void endWindow(int64_t ns);
    void write(log::RecordWriter& writer, const Window& window, bool isBegin) const;

    const WindowOptions options_;
    const int64_t earliestNs_;

    std::mutex mutex_;  // guards what follows; never held by a thread that launches work
    std::deque<Window> windows_;
    uint32_t opened_ = 0;
    bool isOpen_ = false;

    std::deque<Window> known_;  // writer thread only
    uint32_t generation_ = 0;
    uint32_t nextIndex_ = 0;  // the first window that the writer has not read
    bool reportedTooMany_ = false;
    bool hadAny_ = false;
};

}  // namespace lanescope::agent
