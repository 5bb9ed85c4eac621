#include "app/viewer/TraceLoader.h"

#include <QMetaObject>

#include "model/index/openTrace.h"
#include "views/text/toQString.h"

namespace lanescope {

TraceLoader::TraceLoader(std::filesystem::path path, QObject* parent)
    : QObject(parent),
      path_(std::move(path)),
      isCancelled_(std::make_shared<std::atomic<bool>>(false)) {}

TraceLoader::~TraceLoader() {
    // Queued calls to this object die with it; the thread must end first, as it refers to it.
    cancel();
    if (thread_.joinable()) thread_.join();
}

void TraceLoader::start() {
    isRunning_ = true;
    thread_ = std::jthread([this, path = path_, isCancelled = isCancelled_] {
        const LoadProgress progress = [this, isCancelled](double fraction, std::string_view what) {
            QMetaObject::invokeMethod(
                this,
                [this, fraction, text = toQString(what)] {
                    if (isRunning_) emit progressed(fraction, text);
                },
                Qt::QueuedConnection);
            return !isCancelled->load();
        };
        auto result = std::make_shared<Result<TracePtr>>(openTrace(path, {}, progress));
        QMetaObject::invokeMethod(
            this, [this, result] { finish(*result); }, Qt::QueuedConnection);
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
        emit failed(toQString(result.error().sentence));
    }
}

}  // namespace lanescope
