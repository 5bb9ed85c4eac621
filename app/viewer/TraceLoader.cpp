// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/TraceLoader.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>
#include <new>
#include <system_error>
#include <utility>

#include "model/fleet/readFleetReport.h"
#include "model/index/openTrace.h"
#include "model/merge/mergeFiles.h"
#include "model/merge/rankFiles.h"
#include "views/jobs/Courier.h"
#include "views/jobs/freedElsewhere.h"
#include "views/text/toQString.h"

namespace lanescope::viewer {

namespace {

using Paths = std::vector<std::filesystem::path>;

Result<TracePtr> openOne(const Paths& paths, const TraceCut& cut, const LoadProgress& progress,
                         Paths& leftOut) {
    constexpr double merging = 0.8;  // of the progress
    std::error_code error;
    if (paths.size() == 1 && cut.isWhole() && !std::filesystem::is_directory(paths.front(), error))
        return openTrace(paths.front(), {}, progress);
    std::vector<std::string> words;
    for (const std::filesystem::path& path : paths) words.push_back(path.string());
    const auto files = filesMeantBy(words, &leftOut);
    if (!files) return fail(files.error());
    if (files->size() == 1 && cut.isWhole()) return openTrace(files->front(), {}, progress);
    MergeOptions options;
    options.cut = cut;
    // Whoever only looks at a part of a trace leaves nothing beside it.
    options.mayWriteIndexes = cut.isWhole();
    const auto merged = openableMerge(*files, options, partOf(progress, 0, merging));
    if (!merged) return fail(merged.error());
    return openTrace(*merged, {}, partOf(progress, merging, 1));
}

}  // namespace

Result<TraceLoader::Loaded> TraceLoader::open(const Paths& paths, const TraceCut& cut,
                                              const LoadProgress& progress, Paths& leftOut) {
    if (paths.size() == 1 && fleet::isFleetReport(paths.front())) {
        auto report = fleet::readFleetReport(paths.front(), progress);
        if (!report) return fail(report.error());
        return Loaded{nullptr, views::freedElsewhere(std::move(*report))};
    }
    Result<TracePtr> trace = openOne(paths, cut, progress, leftOut);
    if (!trace) return fail(trace.error());
    // What was cancelled is also freed here, not on the thread of the user.
    return Loaded{views::freedElsewhere(std::move(*trace)), nullptr};
}

TraceLoader::TraceLoader(std::vector<std::filesystem::path> paths, QObject* parent, TraceCut cut)
    : QObject(parent),
      paths_(std::move(paths)),
      cut_(std::move(cut)),
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
        Result<Loaded> result;
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
    pool->start(
        [post, pool, courier, answer, paths = paths_, cut = cut_, isCancelled = isCancelled_] {
            const LoadProgress progress = [&](double fraction, std::string_view what) {
                if (isCancelled->load()) return false;
                post([fraction, text = views::toQString(what)](TraceLoader& loader) {
                    if (loader.isRunning_) emit loader.progressed(fraction, text);
                });
                return true;
            };
            try {
                answer->result = open(paths, cut, progress, answer->leftOut);
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

void TraceLoader::finish(const Result<Loaded>& result) {
    if (!isRunning_) return;
    isRunning_ = false;
    if (result && result->report) {
        emit reportLoaded(result->report);
    } else if (result) {
        emit loaded(result->trace);
    } else {
        emit failed(views::toQString(result.error().sentence));
    }
}

}  // namespace lanescope::viewer
