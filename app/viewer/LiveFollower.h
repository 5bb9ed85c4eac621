#pragma once

#include <QObject>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "model/live/LiveTrace.h"
#include "model/trace/Trace.h"

namespace lanescope {

class TraceMirror;

/// Reads a trace again and again while it is being recorded, on a thread of its own: about every
/// second, and less often if that would take more than a fifth of a core. Signals arrive on the
/// thread of this object. Ends by itself when the recording does.
class LiveFollower : public QObject {
    Q_OBJECT

  public:
    explicit LiveFollower(LiveTrace live, QObject* parent = nullptr);
    /// Stops and waits for the thread.
    ~LiveFollower() override;

    const LiveTrace& live() const { return live_; }
    /// Call once.
    void start();

  signals:
    /// There is more than before, or this is the first that there is.
    void refreshed(lanescope::TracePtr trace);
    /// The recording has ended; this is the finished trace.
    void finished(lanescope::TracePtr trace);
    /// Nothing more will come, for this reason.
    void failed(const QString& sentence);

  private:
    void run();
    /// False when nothing more is to be done.
    bool refresh(TraceMirror& mirror);
    bool conclude();
    template <class Signal, class Value>
    void tell(Signal signal, Value value);

    LiveTrace live_;
    bool hasShown_ = false;
    bool mayBeAbandoned_ = false;
    int failures_ = 0;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool isStopping_ = false;
    std::thread thread_;
};

}  // namespace lanescope
