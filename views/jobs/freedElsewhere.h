// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QThreadPool>
#include <memory>
#include <new>

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
        QThreadPool* const pool = QThreadPool::globalInstance();
        if (!pool) return;
        try {
            pool->start([value = std::move(value)]() mutable { value.reset(); });
        } catch (const std::bad_alloc&) {
            // It was freed here.
        }
    });
}

}  // namespace lanescope::views
