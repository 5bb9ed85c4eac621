// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

class QMenu;

namespace lanescope::viewer {

class AppSettings;

/// The files opened last, in the settings and in a menu.
class RecentFiles : public QObject {
    Q_OBJECT
  public:
    static constexpr int maximumCount = 10;

    /// `settings` outlives this.
    explicit RecentFiles(AppSettings& settings, QObject* parent = nullptr);

    /// Most recent first.
    const QStringList& paths() const { return paths_; }
    /// Moves `path`, made absolute, to the front.
    void add(const QString& path);
    void remove(const QString& path);
    void clear();
    /// Keeps `menu` filled from now on.
    void attach(QMenu* menu);

  signals:
    void changed();
    void chosen(const QString& path);

  private:
    void store();
    void fill(QMenu* menu);

    AppSettings& settings_;
    QStringList paths_;
};

}  // namespace lanescope::viewer
