#pragma once

#include <QObject>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Reads one trace file on a thread of its own. Signals arrive on the thread of this object; after
/// `cancel` none does. Destroying it cancels and waits for the thread, which stops at its next
/// report of progress.
class TraceLoader : public QObject {
    Q_OBJECT
  public:
    explicit TraceLoader(std::filesystem::path path, QObject* parent = nullptr);
    ~TraceLoader() override;

    const std::filesystem::path& path() const { return path_; }
    /// Call once.
    void start();
    void cancel();
    bool isRunning() const { return isRunning_; }

  signals:
    /// `fraction` in [0, 1].
    void progressed(double fraction, const QString& what);
    void loaded(lanescope::TracePtr trace);
    /// `sentence` says what, which file, and what to do.
    void failed(const QString& sentence);

  private:
    void finish(const Result<TracePtr>& result);

    std::filesystem::path path_;
    std::shared_ptr<std::atomic<bool>> isCancelled_;
    bool isRunning_ = false;
    std::jthread thread_;
};

}  // namespace lanescope
