// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QWidget>

#include "model/format/Result.h"

class QVBoxLayout;

namespace lanescope::viewer {

class AppSettings;

/// The files and comparisons opened last, in the settings and in a menu. A comparison is one entry:
/// its files, one per line.
class RecentFiles : public QObject {
    Q_OBJECT
  public:
    static constexpr int maxFiles = 10;

    /// `settings` outlives this.
    explicit RecentFiles(AppSettings& settings, QObject* parent = nullptr);

    /// Most recent first.
    const QStringList& paths() const { return paths_; }
    /// Moves `path`, made absolute, to the front.
    void add(const QString& path) { add(QStringList{path}); }
    /// Does the same for a comparison of these files, baseline first.
    void add(const QStringList& files);
    /// Stores the tool that wrote a file of the list: "Nsight Systems 2026.2.1".
    void setTool(const QString& path, const QString& tool);
    /// Returns the tools of an entry, each once: "Lanescope 0.1.0"; empty if unknown.
    QString toolsOf(const QString& entry) const;
    /// Removes the path, also from comparisons.
    void remove(const QString& path);
    static QStringList filesOf(const QString& entry) { return entry.split('\n'); }
    /// Returns, for example, "a.sqlite – ~/runs" or "a.sqlite with b.sqlite – ~/runs": names, then their folder.
    static QString textOf(const QString& entry);
    void clear();
    /// Keeps `menu` up to date.
    void attach(QMenu* menu);

  signals:
    void changed();
    void chosen(const QString& entry);

  private:
    void store();
    void fill(QMenu* menu);

    AppSettings& settings_;
    QStringList paths_;
    QVariantMap tools_;  ///< By path.
};

/// Writes the viewer's sample trace as a file in `folder`, which is created if necessary; rewrites
/// it only if it differs. Errors: an unwritable folder, a viewer built without sample.
Result<QString> sampleTrace(const QString& folder);

/// The page without an open trace: how to open one, a sample and its points of interest, how to
/// record, and the recent files.
class StartPage : public QWidget {
    Q_OBJECT
  public:
    explicit StartPage(QWidget* parent = nullptr);

    void setRecentFiles(const RecentFiles& files);

  signals:
    void openRequested();
    void compareRequested();
    void sampleRequested();
    void manualRequested();
    void fileChosen(const QString& path);

  private:
    QWidget* recent_ = new QWidget(this);
    QVBoxLayout* recentLayout_;
};

}  // namespace lanescope::viewer
