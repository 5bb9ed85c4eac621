// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <new>

class QEvent;

namespace lanescope::views {

/// Brings the answer of a worker to the GUI thread. What that takes is made beforehand, but for
/// what Qt's queue of events may grow by, so that a worker which ran out of memory can still say
/// so. Made on the GUI thread, and given back to it: it goes away when it has arrived, or with the
/// application.
class Courier : public QObject {
  public:
    /// `arrive` is called on the GUI thread. What it is to find there lies in what it shares with
    /// the worker.
    explicit Courier(std::function<void()> arrive);
    ~Courier() override;

    /// Any thread, exactly once; afterwards nobody may use it.
    void send() noexcept;

  protected:
    void customEvent(QEvent* event) override;

  private:
    std::function<void()> arrive_;
    std::unique_ptr<QEvent> event_;
};

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

/// Runs work off the GUI thread, one job at a time, and publishes no answer after a newer one. At
/// most one more job waits, the newest, so a selection that is being dragged never builds a queue.
/// Construct, start and destroy on the GUI thread.
class LatestJob : public QObject {
    Q_OBJECT
  public:
    /// Publishes a finished value; called on the GUI thread.
    using Publish = std::function<void()>;
    /// Does the work and returns how to publish it; called on a worker thread. Must own, not refer
    /// to, what it reads: it may outlive the widget that started it.
    using Work = std::function<Publish()>;

    explicit LatestJob(QObject* parent = nullptr);

    /// What becomes of the answer of a job that still runs when a newer one is started.
    enum class Older {
        Void,       ///< It would be wrong by now.
        Published,  ///< It is out of date, but better than what is shown, until the newer one
                    ///< comes.
    };
    void start(Work work, Older older = Older::Void);
    /// Makes what is running void.
    void cancel();
    bool isRunning() const { return isRunning_ || waiting_; }
    /// For who publishes: whether a newer answer is to come.
    bool isOutdated() const { return waiting_ != nullptr; }

  signals:
    /// The newest answer has been published, or `ranOutOfMemory` was said of it.
    void finished();
    /// There was not enough memory for the newest answer: nothing is published. Who waits for it
    /// must stop, and say so.
    void ranOutOfMemory();

  private:
    struct Answer {
        Publish publish;
        bool isThere = false;
    };

    void launch(quint64 number, Work work);
    void finish(quint64 number, const Answer& answer);

    quint64 newest_ = 0;      ///< The number of the job that was started last.
    quint64 firstValid_ = 1;  ///< Those before are void.
    quint64 waitingNumber_ = 0;
    bool isRunning_ = false;
    bool isPublishing_ = false;
    Work waiting_;
};

}  // namespace lanescope::views
