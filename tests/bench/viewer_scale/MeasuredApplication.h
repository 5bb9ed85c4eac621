// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QApplication>
#include <map>

namespace lanescope {

/// An application that measures the CPU time of painting by kind of widget.
class MeasuredApplication : public QApplication {
  public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override;

    /// By class name, in milliseconds, since the last reset.
    const std::map<QString, double>& paintMs() const { return paintMs_; }
    void forgetPaints() { paintMs_.clear(); }

  private:
    std::map<QString, double> paintMs_;
};

}  // namespace lanescope
