// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

class QVBoxLayout;

namespace lanescope::viewer {

/// What the window shows while no trace is open: how to open one, a sample and what to look at in
/// it, how to record, and the recent ones.
class StartPage : public QWidget {
    Q_OBJECT
  public:
    explicit StartPage(QWidget* parent = nullptr);

    void setRecentFiles(const QStringList& paths);

  signals:
    void openRequested();
    void compareRequested();
    void sampleRequested();
    void manualRequested();
    void fileChosen(const QString& path);

  private:
    QWidget* recent_;
    QVBoxLayout* recentLayout_;
};

}  // namespace lanescope::viewer
