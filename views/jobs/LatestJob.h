// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QEvent>
#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <memory>
#include <new>

namespace lanescope::views {

/// Delivers the answer of a worker to the GUI thread. Allocates in advance (except for growth of
/// Qt's event queue), so that a worker can report that it ran out of memory. Created on the GUI
/// thread; deleted on delivery or with the application.
class Courier : public QObject {
  public:
    /// `arrive` is called on the GUI thread. It finds its data in an object shared with the worker.
    explicit Courier(std::function<void()> arrive);
    ~Courier() override;

    /// Delivers. Any thread, exactly once; do not use this object afterwards.
    void send() noexcept;

  protected:
    void customEvent(QEvent* event) override;

  private:
    std::function<void()> arrive_;
    std::unique_ptr<QEvent> event_;
};

/// Runs `work` in a thread of its own, then `arrive` on the GUI thread, even if `work` ran out of memory. Call it on
/// the GUI thread. The content of `work` is deleted on its thread before, so data that both own is deleted on the GUI
/// thread.
void runInThread(std::function<void()> work, std::function<void()> arrive);

/// Calls `report` on the GUI thread, later; does nothing at the end of the application. Any thread.
void postToGui(std::function<void()> report);

/// Returns the same value, but the last owner does not free it: a thread of the global pool does.
/// To free data that grows with the events of a trace takes tens of milliseconds, as the system
/// reclaims page by page, and the last owner is often the GUI thread.
template <class T>
std::shared_ptr<T> freedInBackground(std::shared_ptr<T> value) {
    T* const at = value.get();
    if (at == nullptr) return value;
    return std::shared_ptr<T>(at, [value = std::move(value)](T*) mutable {
        // At the very end of the program the pool no longer exists.
        QThreadPool* const pool = QThreadPool::globalInstance();
        if (!pool) return;
        try {
            pool->start([value = std::move(value)]() mutable { value.reset(); });
        } catch (const std::bad_alloc&) {
            // Freed on this thread.
        }
    });
}

/// Runs work off the GUI thread, one job at a time, and publishes no answer after a newer one. Only the newest further
/// job waits, so that a dragged selection never builds a queue. Construct, start and destroy on the GUI thread.
class LatestJob : public QObject {
    Q_OBJECT
  public:
    /// Publishes a finished value; called on the GUI thread.
    using Publish = std::function<void()>;
    /// Does the work and returns how to publish it; called on a worker thread. Must own the data it
    /// reads: it may outlive the widget that started it.
    using Work = std::function<Publish()>;

    using QObject::QObject;
    ~LatestJob() override { cancel(); }

    /// Returns the flag of the next job, which `cancel` and the flag of a later one set. Work that reads it ends early.
    std::shared_ptr<const std::atomic<bool>> newCancelFlag();

    /// The treatment of a running job's answer when a newer job is started.
    enum class Older {
        Void,       ///< Discarded: it would be wrong.
        Published,  ///< Shown until the newer one arrives: outdated, but better than the current.
    };
    void start(Work work, Older older = Older::Void);
    void cancel();
    bool isRunning() const { return isRunning_ || waiting_; }
    /// For publishers: returns true if a newer answer follows.
    bool isOutdated() const { return waiting_ != nullptr; }

  signals:
    /// Emitted when the newest answer has been published or has run out of memory.
    void finished();
    /// Emitted when memory did not suffice for the newest answer: nothing is published. Receivers
    /// must stop waiting and report it.
    void ranOutOfMemory();

  private:
    struct Answer {
        Publish publish;
        bool isThere = false;
    };

    void launch(quint64 number, Work work);
    void finish(quint64 number, const Answer& answer);

    quint64 newest_ = 0;      ///< The number of the job started last.
    quint64 firstValid_ = 1;  ///< Older ones are discarded.
    quint64 waitingNumber_ = 0;
    std::shared_ptr<std::atomic<bool>> isCancelled_ = std::make_shared<std::atomic<bool>>(false);
    bool isRunning_ = false;
    bool isPublishing_ = false;
    Work waiting_;
};

}  // namespace lanescope::views
