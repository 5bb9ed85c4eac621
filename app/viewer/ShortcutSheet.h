// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

namespace lanescope::viewer {

class ViewerActions;

/// Everything that the keyboard and the mouse do, on one card. What has a place in the menus is
/// read from there, the rest from the manual, so that nothing can be missing.
class ShortcutSheet : public QDialog {
    Q_OBJECT
  public:
    explicit ShortcutSheet(const ViewerActions& actions, QWidget* parent = nullptr);

    /// "Ctrl+F, /": all keys of a command as the sheet shows them.
    static QString keysOf(const QAction& action);
};

}  // namespace lanescope::viewer
