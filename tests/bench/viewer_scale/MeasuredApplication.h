// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QApplication>
#include <map>

namespace lanescope {

/// An application that notes how much CPU time each kind of widget takes to paint.
class MeasuredApplication : public QApplication {
  public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override;

    /// By name of class, in milliseconds, since they were forgotten last.
    const std::map<QString, double>& paintMs() const { return paintMs_; }
    void forgetPaints() { paintMs_.clear(); }

  private:
    std::map<QString, double> paintMs_;
};

}  // namespace lanescope
