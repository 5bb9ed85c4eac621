#pragma once

#include <QObject>
#include <functional>
#include <memory>

namespace lanescope {

/// Runs work off the GUI thread and publishes only the newest answer. Starting a job while another
/// runs makes the older answer void; at most one more job waits, so a selection that is being
/// dragged never builds a queue. Construct, start and destroy on the GUI thread.
class LatestJob : public QObject {
    Q_OBJECT
  public:
    /// Publishes a finished value; called on the GUI thread.
    using Publish = std::function<void()>;
    /// Does the work and returns how to publish it; called on a worker thread. Must own, not refer
    /// to, what it reads: it may outlive the widget that started it.
    using Work = std::function<Publish()>;

    explicit LatestJob(QObject* parent = nullptr);

    void start(Work work);
    /// Makes what is running void.
    void cancel();
    bool isRunning() const { return isRunning_; }

  signals:
    /// The newest answer has been published.
    void finished();

  private:
    void launch(Work work);
    void finish(quint64 generation, const Publish& publish);

    quint64 generation_ = 0;
    bool isRunning_ = false;
    Work waiting_;
};

}  // namespace lanescope
