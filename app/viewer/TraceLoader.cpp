// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/TraceLoader.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>
#include <new>
#include <system_error>
#include <utility>

#include "model/index/openTrace.h"
#include "model/merge/mergeFiles.h"
#include "model/merge/rankFiles.h"
#include "views/jobs/Courier.h"
#include "views/jobs/freedElsewhere.h"
#include "views/text/toQString.h"

namespace lanescope::viewer {

namespace {

using Paths = std::vector<std::filesystem::path>;

Result<TracePtr> open(const Paths& paths, const LoadProgress& progress, Paths& leftOut) {
    constexpr double merging = 0.8;  // of the progress
    std::error_code error;
    if (paths.size() == 1 && !std::filesystem::is_directory(paths.front(), error))
        return openTrace(paths.front(), {}, progress);
    std::vector<std::string> words;
    for (const std::filesystem::path& path : paths) words.push_back(path.string());
    const auto files = filesMeantBy(words, &leftOut);
    if (!files) return fail(files.error());
    if (files->size() == 1) return openTrace(files->front(), {}, progress);
    const auto merged = openableMerge(*files, {}, partOf(progress, 0, merging));
    if (!merged) return fail(merged.error());
    return openTrace(*merged, {}, partOf(progress, merging, 1));
}

}  // namespace

TraceLoader::TraceLoader(std::vector<std::filesystem::path> paths, QObject* parent)
    : QObject(parent),
      paths_(std::move(paths)),
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
    // Whatever fails in there, this can be said: it is made by now.
    struct Answer {
        Result<TracePtr> result;
        Paths leftOut;
    };
    auto answer = std::make_shared<Answer>(
        fail("There is not enough memory to open {}.", paths_.front().string()));
    auto* const courier = new views::Courier([guard = QPointer<TraceLoader>(this), answer] {
        if (!guard) return;
        guard->leftOut_ = answer->leftOut;
        guard->finish(answer->result);
    });
    // A thread more than the pool has for short jobs, which it gets back at the end.
    QThreadPool* pool = QThreadPool::globalInstance();
    pool->releaseThread();
    pool->start([post, pool, courier, answer, paths = paths_, isCancelled = isCancelled_] {
        const LoadProgress progress = [&](double fraction, std::string_view what) {
            if (isCancelled->load()) return false;
            post([fraction, text = views::toQString(what)](TraceLoader& loader) {
                if (loader.isRunning_) emit loader.progressed(fraction, text);
            });
            return true;
        };
        try {
            // What was cancelled is also freed here, not on the thread of the user.
            Result<TracePtr> opened = open(paths, progress, answer->leftOut);
            if (opened) opened = views::freedElsewhere(std::move(*opened));
            answer->result = std::move(opened);
        } catch (const std::bad_alloc&) {
        }
        courier->send();
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
