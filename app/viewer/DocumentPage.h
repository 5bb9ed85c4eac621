// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QLabel>
#include <QWidget>
#include <vector>

#include "app/viewer/Finder.h"
#include "views/theme/Theme.h"

class QPushButton;

namespace lanescope::views {
class ReportView;
class TimelineView;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// An unobtrusive question over a document, with a button to accept, an optional second one, and
/// one to dismiss it; without answers, a sentence.
class OfferBar : public QWidget {
    Q_OBJECT
  public:
    explicit OfferBar(QWidget* parent = nullptr);
    void offer(const QString& question, const QString& answer, const QString& other = {});
    QString question() const { return label_->text(); }

  signals:
    void accepted();
    void otherAccepted();

  private:
    QLabel* label_;
    QPushButton* accept_;
    QPushButton* other_;
};

class AppSettings;
class HitNavigator;

/// One open document: a trace, a comparison or a report of many ranks. The interface for the
/// window's menus and search box.
class DocumentPage : public QWidget {
    Q_OBJECT
  public:
    using QWidget::QWidget;

    virtual QString title() const = 0;
    /// Returns the timelines from top to bottom; empty if there are none. The first has the keyboard focus by default.
    virtual std::vector<views::TimelineView*> timelines() const { return {}; }
    /// Returns the search of the document; null if it cannot be searched.
    virtual HitNavigator* navigator() const { return nullptr; }
    /// Returns the table to export, or null if none is visible.
    virtual views::ReportView* currentTable() const { return nullptr; }
    /// Returns the commands of this document, with names and keys, for the menu Analyse.
    virtual QList<QAction*> commands() const { return {}; }
    /// Returns further places to go to by name, in addition to tracks and commands: marks, tables.
    virtual std::vector<FinderEntry> places() const { return {}; }
    virtual void setTheme(const views::Theme& theme) = 0;
    virtual void setDetailsVisible(bool /*isVisible*/) {}
    virtual void setTablesVisible(bool /*isVisible*/) {}
    /// Returns true if a visible part is still being computed.
    virtual bool isBusy() const = 0;
    /// Restores the stored sizes of the parts.
    virtual void restoreLayout(const AppSettings& settings) = 0;
    virtual void storeLayout(AppSettings& settings) const = 0;

    /// Shows a sentence above the page until it is dismissed.
    void showMessage(const QString& sentence);

  signals:
    void titleChanged();
    /// Emitted when the user requests a table; the receiver shows hidden tables.
    void tablesRequested();
};

}  // namespace lanescope::viewer
