// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/RecentFiles.h"

#include <QFileInfo>
#include <QMenu>

#include "app/viewer/AppSettings.h"
#include "views/text/plainToolTip.h"

namespace lanescope::viewer {

RecentFiles::RecentFiles(AppSettings& settings, QObject* parent)
    : QObject(parent), settings_(settings), paths_(settings.recentFiles().mid(0, maximumCount)) {}

void RecentFiles::add(const QString& path) {
    const QString absolute = QFileInfo(path).absoluteFilePath();
    paths_.removeAll(absolute);
    paths_.prepend(absolute);
    paths_ = paths_.mid(0, maximumCount);
    store();
}

void RecentFiles::remove(const QString& path) {
    if (paths_.removeAll(QFileInfo(path).absoluteFilePath()) > 0) store();
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
    for (const QString& path : paths_) {
        // A single "&" in a file name would become an underlined letter.
        QString text = QFileInfo(path).fileName().replace("&", "&&");
        QAction* action = menu->addAction(text, this, [this, path] { emit chosen(path); });
        action->setToolTip(views::plainToolTip(path));
    }
    menu->setToolTipsVisible(true);
    menu->setEnabled(!paths_.isEmpty());
    if (paths_.isEmpty()) return;
    menu->addSeparator();
    menu->addAction(tr("Clear list"), this, &RecentFiles::clear);
}

}  // namespace lanescope::viewer
