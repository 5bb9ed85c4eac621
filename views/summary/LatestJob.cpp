#include "views/summary/LatestJob.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>
#include <utility>

namespace lanescope {

LatestJob::LatestJob(QObject* parent) : QObject(parent) {}

void LatestJob::start(Work work) {
    ++generation_;
    if (isRunning_) {
        waiting_ = std::move(work);
        return;
    }
    launch(std::move(work));
}

void LatestJob::cancel() {
    ++generation_;
    waiting_ = nullptr;
}

void LatestJob::launch(Work work) {
    isRunning_ = true;
    // The worker must not touch `this`, which may be gone by then; the application object outlives
    // both, and its event loop is where the guard is looked at.
    QThreadPool::globalInstance()->start(
        [guard = QPointer<LatestJob>(this), generation = generation_, work = std::move(work)] {
            Publish publish = work();
            QCoreApplication* application = QCoreApplication::instance();
            if (!application) return;
            QMetaObject::invokeMethod(
                application,
                [guard, generation, publish = std::move(publish)] {
                    if (guard) guard->finish(generation, publish);
                },
                Qt::QueuedConnection);
        });
}

void LatestJob::finish(quint64 generation, const Publish& publish) {
    isRunning_ = false;
    if (generation == generation_ && publish) publish();
    if (waiting_) {
        launch(std::exchange(waiting_, nullptr));
    } else if (generation == generation_) {
        emit finished();
    }
}

}  // namespace lanescope
