// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QTextBrowser>
#include <QWidget>

namespace lanescope::viewer {

/// The manual in a separate window: the pages compiled into the program, a list of them, links between them, and a
/// search in the current page. Never opens external content; the window reports external links. GUI thread.
class ManualWindow : public QWidget {
    Q_OBJECT
  public:
    /// Shows the first page.
    explicit ManualWindow(QWidget* parent = nullptr);

    QTextBrowser& page() const { return *page_; }
    QListWidget& contents() const { return *contents_; }
    QLineEdit& search() const { return *search_; }
    /// Returns the message next to the search, such as for no match.
    QString message() const { return message_->text(); }

    /// Returns the anchor of a heading: "What it costs" becomes "what-it-costs", as on forges.
    static QString anchorOf(const QString& heading);

  protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void fillContents();
    void addKeys();
    void follow(const QUrl& link);
    /// Adds anchors to the headings of a loaded page, and goes to the requested one.
    void adoptPage(const QUrl& url);
    /// Marks the next match of the search text; wraps around after the last one.
    void find(bool isBackward);

    QTextBrowser* page_ = new QTextBrowser(this);
    QListWidget* contents_ = new QListWidget(this);
    QLineEdit* search_ = new QLineEdit(this);
    QLabel* message_ = new QLabel(this);
};

class ViewerActions;

/// All keys and mouse actions on one card. Commands of the menus are read from there, the rest from
/// the manual, so that the sheet is complete.
class ShortcutSheet : public QDialog {
    Q_OBJECT
  public:
    explicit ShortcutSheet(const ViewerActions& actions, QWidget* parent = nullptr);

    /// Returns all keys of a command as shown in the sheet: "Ctrl+F, /".
    static QString keysOf(const QAction& action);
};

}  // namespace lanescope::viewer
