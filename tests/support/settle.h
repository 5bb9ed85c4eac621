// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QCoreApplication>
#include <QThreadPool>

namespace lanescope::test {

/// Waits until nothing is left to do: no work on the pool's threads, and no events posted here by such work or by this
/// thread. All pending effects have happened then, so that a test may check that an event did not occur, however slow
/// the machine. GUI thread; a job that waits for this thread deadlocks.
inline void settle() {
    QThreadPool* const pool = QThreadPool::globalInstance();
    // Delivered events may start new work.
    constexpr int quietRounds = 3;
    for (int quiet = 0; quiet < quietRounds; ++quiet) {
        const bool wasBusy = !pool->waitForDone(0);
        pool->waitForDone();
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
        if (wasBusy) quiet = -1;
    }
}

}  // namespace lanescope::test
