// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/Courier.h"

#include <QCoreApplication>
#include <QEvent>
#include <utility>

namespace lanescope::views {

// The application waits for the threads of the pool before it deletes what it owns.
Courier::Courier(std::function<void()> arrive)
    : QObject(QCoreApplication::instance()),
      arrive_(std::move(arrive)),
      event_(std::make_unique<QEvent>(QEvent::User)) {}

Courier::~Courier() = default;

void Courier::send() noexcept {
    QCoreApplication::postEvent(this, event_.release());
}

void Courier::customEvent(QEvent*) {
    // What it refers to may be gone when the application deletes this.
    const std::function<void()> arrive = std::exchange(arrive_, nullptr);
    deleteLater();
    arrive();
}

}  // namespace lanescope::views
