// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QObject>

class QAction;
class QTabWidget;

namespace lanescope::viewer {

/// A command for each tab under a timeline, so that menus and the finder lead to tables as well,
/// and two that go through them. Tabs that come later get none.
class TableCommands : public QObject {
    Q_OBJECT

  public:
    /// `tables` outlives this and has its tabs.
    TableCommands(QTabWidget& tables, QObject* parent);

    const QList<QAction*>& actions() const { return actions_; }
    /// Brings a page of `tables` to the front.
    void show(QWidget* page);

  signals:
    /// A table was asked for by one of the commands; the tables may not be on the screen.
    void shown();

  private:
    void step(int direction);

    QTabWidget& tables_;
    QList<QAction*> actions_;
};

}  // namespace lanescope::viewer
