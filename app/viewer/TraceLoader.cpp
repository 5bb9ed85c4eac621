// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/TraceLoader.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>
#include <utility>

#include "model/index/openTrace.h"
#include "views/jobs/freedElsewhere.h"
#include "views/text/toQString.h"

namespace lanescope::viewer {

TraceLoader::TraceLoader(std::filesystem::path path, QObject* parent)
    : QObject(parent),
      path_(std::move(path)),
      isCancelled_(std::make_shared<std::atomic<bool>>(false)) {}

TraceLoader::~TraceLoader() {
    cancel();
}

void TraceLoader::start() {
    isRunning_ = true;
    // The worker must not touch `this`, which may be gone by then; the application object outlives
    // both, and its event loop is where the guard is looked at.
    const auto post = [guard = QPointer<TraceLoader>(this)](auto deliver) {
        QCoreApplication* application = QCoreApplication::instance();
        if (!application) return;
        QMetaObject::invokeMethod(
            application,
            [guard, deliver = std::move(deliver)] {
                if (guard) deliver(*guard);
            },
            Qt::QueuedConnection);
    };
    // A thread more than the pool has for short jobs, which it gets back at the end.
    QThreadPool* pool = QThreadPool::globalInstance();
    pool->releaseThread();
    pool->start([post, pool, path = path_, isCancelled = isCancelled_] {
        const LoadProgress progress = [&](double fraction, std::string_view what) {
            if (isCancelled->load()) return false;
            post([fraction, text = views::toQString(what)](TraceLoader& loader) {
                if (loader.isRunning_) emit loader.progressed(fraction, text);
            });
            return true;
        };
        // What was cancelled is also freed here, not on the thread of the user.
        auto result = std::make_shared<Result<TracePtr>>(openTrace(path, {}, progress));
        if (*result) *result = views::freedElsewhere(std::move(**result));
        if (!isCancelled->load())
            post([result = std::move(result)](TraceLoader& loader) { loader.finish(*result); });
        pool->reserveThread();
    });
}

void TraceLoader::cancel() {
    isCancelled_->store(true);
    isRunning_ = false;
}

void TraceLoader::finish(const Result<TracePtr>& result) {
    if (!isRunning_) return;
    isRunning_ = false;
    if (result) {
        emit loaded(*result);
    } else {
        emit failed(views::toQString(result.error().sentence));
    }
}

}  // namespace lanescope::viewer
