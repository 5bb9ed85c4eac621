// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QCoreApplication>
#include <QThreadPool>

namespace lanescope::test {

/// Waits until there is nothing left to do: no work on the threads of the pool, and nothing that
/// such work or this thread itself has posted here. What could still come has come then, so that a
/// test may say that something did not, however slow the machine is. GUI thread; a job that waits
/// for this thread hangs.
inline void settle() {
    QThreadPool* const pool = QThreadPool::globalInstance();
    // What is delivered here may begin new work.
    constexpr int quietRounds = 3;
    for (int quiet = 0; quiet < quietRounds; ++quiet) {
        const bool wasBusy = pool->activeThreadCount() > 0;
        pool->waitForDone();
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
        if (wasBusy) quiet = -1;
    }
}

}  // namespace lanescope::test
