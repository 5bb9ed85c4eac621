// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include "model/notes/Mark.h"

class QAbstractButton;
class QLineEdit;

namespace lanescope::views {

struct Theme;

/// A small window over the timeline in which one writes the text of a mark and picks its colour.
/// Enter keeps, Escape gives up; leaving it keeps, too.
class MarkEditor : public QFrame {
    Q_OBJECT

  public:
    explicit MarkEditor(QWidget* parent);
    /// Gives up what is being written.
    ~MarkEditor() override;

    /// Begins with `mark`. A `isNew` one that is given up is reported as such.
    void edit(const Mark& mark, bool isNew);
    const Mark& mark() const { return mark_; }
    QLineEdit& text() const { return *text_; }
    const std::vector<QAbstractButton*>& colors() const { return colors_; }
    void setTheme(const Theme& theme);

  signals:
    void accepted(const lanescope::Mark& mark, bool isNew);
    void rejected(const lanescope::Mark& mark, bool isNew);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void finish(bool isKept);
    void pick(uint32_t color);

    Mark mark_;
    bool isNew_ = false;
    bool isOpen_ = false;
    QLineEdit* text_;
    std::vector<QAbstractButton*> colors_;
};

}  // namespace lanescope::views
