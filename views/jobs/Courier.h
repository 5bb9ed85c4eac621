// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <functional>
#include <memory>

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

}  // namespace lanescope::views
