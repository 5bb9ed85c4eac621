// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QWidget>

#include "model/format/Result.h"

class QMenu;

namespace lanescope::viewer {

class AppSettings;

/// The files and comparisons opened last, in the settings and in a menu. A comparison is one entry:
/// its files, a line each.
class RecentFiles : public QObject {
    Q_OBJECT
  public:
    static constexpr int maximumCount = 10;

    /// `settings` outlives this.
    explicit RecentFiles(AppSettings& settings, QObject* parent = nullptr);

    /// Most recent first.
    const QStringList& paths() const { return paths_; }
    /// Moves `path`, made absolute, to the front.
    void add(const QString& path) { add(QStringList{path}); }
    /// The same with a comparison of these files, baseline first.
    void add(const QStringList& files);
    /// Also of comparisons with it.
    void remove(const QString& path);
    /// The files of an entry.
    static QStringList filesOf(const QString& entry);
    /// "a.sqlite – ~/runs", "a.sqlite with b.sqlite – ~/runs": names, then where they lie.
    static QString textOf(const QString& entry);
    void clear();
    /// Keeps `menu` filled from now on.
    void attach(QMenu* menu);

  signals:
    void changed();
    void chosen(const QString& entry);

  private:
    void store();
    void fill(QMenu* menu);

    AppSettings& settings_;
    QStringList paths_;
};

/// The trace that comes with the viewer, as a file in `folder`, which is made if need be: written
/// once, and again if it is not what the viewer has. Errors: no place to write.
Result<QString> sampleTrace(const QString& folder);

}  // namespace lanescope::viewer

class QVBoxLayout;

namespace lanescope::viewer {

/// What the window shows while no trace is open: how to open one, a sample and what to look at in
/// it, how to record, and the recent ones.
class StartPage : public QWidget {
    Q_OBJECT
  public:
    explicit StartPage(QWidget* parent = nullptr);

    void setRecentFiles(const QStringList& paths);

  signals:
    void openRequested();
    void compareRequested();
    void sampleRequested();
    void manualRequested();
    void fileChosen(const QString& path);

  private:
    QWidget* recent_;
    QVBoxLayout* recentLayout_;
};

}  // namespace lanescope::viewer
