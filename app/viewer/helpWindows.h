// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QWidget>

class QLabel;
class QLineEdit;
class QListWidget;
class QTextBrowser;

namespace lanescope::viewer {

/// The manual in a window of its own: the pages that are compiled into the program, with a list of
/// them, links between them and a line that searches the page on the screen. Nothing outside of the
/// program is ever opened; where a link leads there it says so. GUI thread.
class ManualWindow : public QWidget {
    Q_OBJECT
  public:
    /// Shows the first page.
    explicit ManualWindow(QWidget* parent = nullptr);

    QTextBrowser& page() const { return *page_; }
    QListWidget& contents() const { return *contents_; }
    QLineEdit& search() const { return *search_; }
    /// What the window says beside the search, such as that nothing was found.
    QString message() const;

    /// What a link calls a heading: "What it costs" is "what-it-costs", as forges have it.
    static QString anchorOf(const QString& heading);

  protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void fillContents();
    void addKeys();
    void follow(const QUrl& link);
    /// Gives the headings of a page that was loaded their names, and goes to the one asked for.
    void adoptPage(const QUrl& url);
    /// Marks the next place of what is searched for, from the top again behind the last one.
    void find(bool isBackward);

    QTextBrowser* page_;
    QListWidget* contents_;
    QLineEdit* search_;
    QLabel* message_;
};

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
