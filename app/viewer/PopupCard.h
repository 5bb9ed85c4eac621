// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QLineEdit;

namespace lanescope::viewer {

/// A card over the upper middle of its parent with a line to type into. It is no window of its own,
/// which is slow on a remote display. Escape, or the keyboard going elsewhere, closes it.
class PopupCard : public QFrame {
    Q_OBJECT
  public:
    explicit PopupCard(QWidget* parent);

    QLineEdit& edit() const { return *edit_; }
    /// Shows the card with the keyboard in an empty line.
    virtual void popUp();
    void dismiss();

  signals:
    /// Closed, by whichever way; the keyboard is to go back to where it was.
    void dismissed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    /// Enter was pressed.
    virtual void accept() = 0;
    /// Keys beside those of the line itself; true if it was one.
    virtual bool pressKey(int key);
    /// How wide and high the card would like to be.
    virtual QSize wantedSize() const = 0;
    void place();

  private:
    QLineEdit* edit_;
};

}  // namespace lanescope::viewer
