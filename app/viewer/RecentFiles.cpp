// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/RecentFiles.h"

#include <QDir>
#include <QFileInfo>
#include <QMenu>
#include <algorithm>

#include "app/viewer/AppSettings.h"
#include "views/text/plainToolTip.h"

namespace lanescope::viewer {

RecentFiles::RecentFiles(AppSettings& settings, QObject* parent)
    : QObject(parent), settings_(settings), paths_(settings.recentFiles().mid(0, maximumCount)) {}

void RecentFiles::add(const QStringList& files) {
    QStringList absolute;
    for (const QString& file : files) absolute << QFileInfo(file).absoluteFilePath();
    const QString entry = absolute.join('\n');
    paths_.removeAll(entry);
    paths_.prepend(entry);
    paths_ = paths_.mid(0, maximumCount);
    store();
}

void RecentFiles::remove(const QString& path) {
    const QString absolute = QFileInfo(path).absoluteFilePath();
    const auto isWithIt = [&](const QString& entry) { return filesOf(entry).contains(absolute); };
    const auto kept = std::remove_if(paths_.begin(), paths_.end(), isWithIt);
    if (kept == paths_.end()) return;
    paths_.erase(kept, paths_.end());
    store();
}

QStringList RecentFiles::filesOf(const QString& entry) {
    return entry.split('\n');
}

QString RecentFiles::textOf(const QString& entry) {
    QStringList names;
    QStringList folders;
    for (const QString& file : filesOf(entry)) {
        const QFileInfo info(file);
        names << info.fileName();
        QString folder = info.absolutePath();
        if (folder == QDir::homePath() || folder.startsWith(QDir::homePath() + '/'))
            folder.replace(0, QDir::homePath().size(), QStringLiteral("~"));
        if (!folders.contains(folder)) folders << folder;
    }
    return names.join(tr(" with ")) + QStringLiteral(" – ") + folders.join(QStringLiteral(", "));
}

void RecentFiles::clear() {
    paths_.clear();
    store();
}

void RecentFiles::store() {
    settings_.setRecentFiles(paths_);
    emit changed();
}

void RecentFiles::attach(QMenu* menu) {
    fill(menu);
    connect(this, &RecentFiles::changed, menu, [this, menu] { fill(menu); });
}

void RecentFiles::fill(QMenu* menu) {
    menu->clear();
    for (const QString& entry : paths_) {
        // A single "&" in a file name would become an underlined letter.
        const QString text = textOf(entry).replace("&", "&&");
        QAction* action = menu->addAction(text, this, [this, entry] { emit chosen(entry); });
        action->setToolTip(views::plainToolTip(entry));
    }
    menu->setToolTipsVisible(true);
    menu->setEnabled(!paths_.isEmpty());
    if (paths_.isEmpty()) return;
    menu->addSeparator();
    menu->addAction(tr("Clear list"), this, &RecentFiles::clear);
}

}  // namespace lanescope::viewer
