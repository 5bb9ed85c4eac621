// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QThreadPool>
#include <memory>

namespace lanescope::views {

/// The same value, but whoever drops it last does not free it: a thread of the global pool does.
/// To free what grows with the events of a trace takes tens of milliseconds, as the system takes
/// back page by page, and the last one is often the GUI thread.
template <class T>
std::shared_ptr<T> freedElsewhere(std::shared_ptr<T> value) {
    T* const at = value.get();
    if (at == nullptr) return value;
    return std::shared_ptr<T>(at, [value = std::move(value)](T*) mutable {
        // At the very end of the program there is no pool any more.
        if (QThreadPool* const pool = QThreadPool::globalInstance())
            pool->start([value = std::move(value)]() mutable { value.reset(); });
    });
}

}  // namespace lanescope::views
