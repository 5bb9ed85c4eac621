// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>

#include "views/theme/Theme.h"

namespace lanescope::views {

/// A finding as a link: what it could give back, and behind that its sentence as far as its lines
/// have room; the whole of it in the tool tip.
class FindingButton : public QAbstractButton {
    Q_OBJECT
  public:
    /// What it gives back, in a sentence and in few words, for where there is little room.
    struct Gain {
        QString whole, brief;
    };
    FindingButton(Gain gain, QString sentence, const QString& advice, QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    const QString& gain() const { return gain_.whole; }
    const QString& sentence() const { return sentence_; }

    /// How many lines the whole sentence takes in a button of this width in pixels.
    int linesIn(int width) const;
    /// As many lines as it is high; one, unless told otherwise.
    void setLines(int lines);
    int lines() const { return lines_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  signals:
    /// The arrow keys: 1 for the next finding, -1 for the one before.
    void neighbourAsked(int direction);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    QFont strong() const;
    int heightOf(int lines) const;
    QStringList linesOf(int width, int most) const;
    const QString& gainIn(int width) const;

    Gain gain_;
    QString sentence_;
    int lines_ = 1;
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views
