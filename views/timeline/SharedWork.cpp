// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/SharedWork.h"

#include <QThread>
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>

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
    std::atomic_flag hasFailed;
    std::exception_ptr failure;  ///< Set before `done` counts its piece.

    Pieces(const std::function<void(size_t)>& whole, size_t pieces) : work(whole), count(pieces) {}

    void take() {
        for (size_t piece = next++; piece < count; piece = next++) {
            try {
                work(piece);
            } catch (...) {
                if (!hasFailed.test_and_set()) failure = std::current_exception();
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
        if (!pool_.tryStart([pieces] { pieces->take(); })) break;
    }
    pieces->take();
    pieces->waitForOthers();
    if (pieces->failure) std::rethrow_exception(pieces->failure);
}

}  // namespace lanescope::views
