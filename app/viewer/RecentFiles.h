// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

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

}  // namespace lanescope::viewer
