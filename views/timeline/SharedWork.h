// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QThreadPool>
#include <cstddef>
#include <functional>

namespace lanescope::views {

/// Does small pieces of work on the calling thread and, as far as they are free, on a few others
/// that stay for the next time. A machine that is busy elsewhere costs nothing: no one waits for a
/// thread that has not begun.
class SharedWork {
  public:
    SharedWork();

    /// Calls `work` once with each number below `count`, at the same time on several threads, and
    /// returns when all calls have ended. What threw, as memory ran out in another thread, is
    /// called once more on this one; what it throws then is thrown here.
    void run(size_t count, const std::function<void(size_t)>& work);

  private:
    QThreadPool pool_;
};

}  // namespace lanescope::views
