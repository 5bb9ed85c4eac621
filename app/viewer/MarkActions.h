// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QAction;
class QMenuBar;

namespace lanescope::viewer {

class TracePage;

/// The menu of marks, and what its commands do to the page that is in front.
class MarkActions : public QObject {
    Q_OBJECT

  public:
    explicit MarkActions(QObject* parent = nullptr);

    /// Puts the menu before the last one, which is for help.
    void fillMenu(QMenuBar* bar);
    /// Null if what is in front has no marks.
    void setPage(TracePage* page);

    QAction* add;
    QAction* edit;
    QAction* remove;
    QAction* next;
    QAction* previous;
    QAction* undo;
    QAction* redo;
    QAction* list;

  private:
    void updateEnabled();

    TracePage* page_ = nullptr;
};

}  // namespace lanescope::viewer
