#pragma once

#include <QDialog>

namespace lanescope {

/// Everything that the mouse and the keyboard do, on one card.
class ShortcutSheet : public QDialog {
    Q_OBJECT
  public:
    explicit ShortcutSheet(QWidget* parent = nullptr);
};

}  // namespace lanescope
