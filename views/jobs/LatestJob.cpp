// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/LatestJob.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <utility>

namespace lanescope::views {

// The application waits for the threads of the pool before it deletes its children.
Courier::Courier(std::function<void()> arrive)
    : QObject(QCoreApplication::instance()),
      arrive_(std::move(arrive)),
      event_(std::make_unique<QEvent>(QEvent::User)) {}

Courier::~Courier() = default;

void Courier::send() noexcept { QCoreApplication::postEvent(this, event_.release()); }

void Courier::customEvent(QEvent*) {
    // The captured objects may be gone when the application deletes this.
    const std::function<void()> arrive = std::exchange(arrive_, nullptr);
    deleteLater();
    arrive();
}

void runInThread(std::function<void()> work, std::function<void()> arrive) {
    auto* const courier = new Courier(std::move(arrive));
    // A further thread for the pool: Qt paints in it, too, and the window would wait for jobs that wait for another
    // machine.
    QThreadPool* const pool = QThreadPool::globalInstance();
    pool->releaseThread();
    pool->start([pool, courier, work = std::move(work)]() mutable {
        try {
            work();
        } catch (const std::bad_alloc&) {
            // The receiver sees that its answer is missing; everything else goes on.
        }
        work = nullptr;
        courier->send();
        pool->reserveThread();
    });
}

void postToGui(std::function<void()> report) {
    if (QCoreApplication* application = QCoreApplication::instance())
        QMetaObject::invokeMethod(application, std::move(report), Qt::QueuedConnection);
}

void LatestJob::start(Work work, Older older) {
    ++newest_;
    if (older == Older::Void) firstValid_ = newest_;
    // A job that publishes runs on the GUI thread and may start the next.
    if (!isRunning_ && !isPublishing_) return launch(newest_, std::move(work));
    waiting_ = std::move(work);
    waitingNumber_ = newest_;
}

std::shared_ptr<const std::atomic<bool>> LatestJob::newCancelFlag() {
    isCancelled_->store(true);
    return isCancelled_ = std::make_shared<std::atomic<bool>>(false);
}

void LatestJob::cancel() {
    isCancelled_->store(true);
    firstValid_ = newest_ + 1;
    waiting_ = nullptr;
}

void LatestJob::launch(quint64 number, Work work) {
    isRunning_ = true;
    // The worker must not touch `this`, which may be gone by then; the guard is checked on delivery.
    auto answer = std::make_shared<Answer>();
    runInThread(
        [answer, work = std::move(work)] {
            answer->publish = work();
            answer->isThere = true;
        },
        [guard = QPointer<LatestJob>(this), number, answer] {
            if (guard) guard->finish(number, *answer);
        });
}

void LatestJob::finish(quint64 number, const Answer& answer) {
    isRunning_ = false;
    const bool isLost = !answer.isThere && number == newest_;
    if (number >= firstValid_ && (answer.publish || isLost)) {
        const QPointer<LatestJob> guard(this);
        isPublishing_ = true;
        if (isLost)
            emit ranOutOfMemory();
        else
            answer.publish();
        if (!guard) return;
        isPublishing_ = false;
    }
    if (waiting_) {
        launch(waitingNumber_, std::exchange(waiting_, nullptr));
    } else if (number == newest_ && number >= firstValid_) {
        emit finished();
    }
}

}  // namespace lanescope::views
