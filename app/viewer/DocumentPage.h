// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QWidget>
#include <vector>

#include "app/viewer/FinderEntry.h"
#include "views/theme/Theme.h"

class QLabel;
class QPushButton;

namespace lanescope::viewer {

/// A quiet question over a document, with one button to accept, maybe one for something else, and
/// one to send it away; without answers, a sentence.
class OfferBar : public QWidget {
    Q_OBJECT
  public:
    explicit OfferBar(QWidget* parent = nullptr);
    void offer(const QString& question, const QString& answer, const QString& other = {});
    QString question() const;

  signals:
    void accepted();
    void otherAccepted();

  private:
    QLabel* label_;
    QPushButton* accept_;
    QPushButton* other_;
};

}  // namespace lanescope::viewer

class QSplitter;

namespace lanescope::views {
class ReportView;
class TimelineView;
}  // namespace lanescope::views

namespace lanescope::viewer {

class AppSettings;
class HitNavigator;

/// One open document, a trace, a comparison or a report of many ranks: what the window's menus and
/// search box can do with it.
class DocumentPage : public QWidget {
    Q_OBJECT
  public:
    using QWidget::QWidget;

    virtual QString title() const = 0;
    /// In the order from top to bottom; none if it has no timeline. The first has the keyboard by
    /// default.
    virtual std::vector<views::TimelineView*> timelines() const { return {}; }
    /// What a search finds in it; null if it cannot be searched.
    virtual HitNavigator* navigator() const { return nullptr; }
    /// The table to export, or null if none is on the screen.
    virtual views::ReportView* currentTable() const { return nullptr; }
    /// What only this document can do, with names and keys, for the menu Analyse.
    virtual QList<QAction*> commands() const { return {}; }
    /// What else than tracks and commands can be gone to by name: marks, tables.
    virtual std::vector<FinderEntry> places() const { return {}; }
    virtual void setTheme(const views::Theme& theme) = 0;
    virtual void setDetailsVisible(bool /*isVisible*/) {}
    virtual void setTablesVisible(bool /*isVisible*/) {}
    /// Something on the screen is still being computed.
    virtual bool isBusy() const = 0;
    /// Sizes of the parts, kept from run to run.
    virtual void restoreLayout(const AppSettings& settings) = 0;
    virtual void storeLayout(AppSettings& settings) const = 0;

    /// Shows a sentence above the page until it is sent away.
    void say(const QString& sentence);

  signals:
    void titleChanged();
    /// The user asked for a table; they are to be shown if they are not.
    void tablesWanted();
};

}  // namespace lanescope::viewer
