// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/SharedWork.h"

#include <QThread>
#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <vector>

namespace lanescope::views {
namespace {

/// More would wait for memory rather than help.
constexpr int mostHelpers = 3;

/// What threads take their pieces from. A helper that comes late finds none left, and then does not
/// touch `work`, which is gone by then.
struct Pieces {
    const std::function<void(size_t)>& work;
    const size_t count;
    std::atomic<size_t> next{0};
    std::atomic<size_t> done{0};
    std::vector<char> hasFailed;  ///< Of each piece; set before `done` counts it.

    Pieces(const std::function<void(size_t)>& whole, size_t pieces)
        : work(whole), count(pieces), hasFailed(pieces) {}

    void take() {
        for (size_t piece = next++; piece < count; piece = next++) {
            try {
                work(piece);
            } catch (...) {
                hasFailed[piece] = 1;
            }
            if (++done == count) done.notify_all();
        }
    }
    void waitForOthers() const {
        for (size_t seen = done; seen < count; seen = done) done.wait(seen);
    }
};

}  // namespace

SharedWork::SharedWork() {
    pool_.setMaxThreadCount(std::clamp(QThread::idealThreadCount() - 1, 0, mostHelpers));
}

void SharedWork::run(size_t count, const std::function<void(size_t)>& work) {
    const auto pieces = std::make_shared<Pieces>(work, count);
    for (int helper = 0; helper < pool_.maxThreadCount(); ++helper) {
        if (static_cast<size_t>(helper) + 1 >= count) break;
        try {
            if (!pool_.tryStart([pieces] { pieces->take(); })) break;
        } catch (const std::bad_alloc&) {
            // Those that have begun hold `work`: it is left only when all is done.
            break;
        }
    }
    pieces->take();
    pieces->waitForOthers();
    for (size_t piece = 0; piece < count; ++piece)
        if (pieces->hasFailed[piece] != 0) work(piece);
}

}  // namespace lanescope::views
