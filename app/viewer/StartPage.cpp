// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/StartPage.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QFontDatabase>
#include <QIcon>
#include <QLabel>
#include <QPushButton>
#include <QSaveFile>
#include <algorithm>

#include "app/viewer/AppSettings.h"
#include "model/importers/TraceFormat.h"
#include "model/remote/RemoteAddress.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/theme/texts.h"

namespace lanescope::viewer {

namespace {

QString absolutePath(const QString& file) {
    return isRemoteAddress(file.toStdString()) ? file : QFileInfo(file).absoluteFilePath();
}

constexpr const char* name = "resnet152-nvlink.sqlite.gz";

constexpr int shownRecentFiles = 6;

QLabel* dimmed(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setForegroundRole(QPalette::PlaceholderText);
    label->setWordWrap(true);
    return label;
}

/// Selectable, for copying.
QLabel* commandToRecord(QWidget* parent) {
    auto* command = new QLabel(QStringLiteral("lanescope record -o run.sqlite -- python train.py"), parent);
    command->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    command->setTextFormat(Qt::PlainText);
    command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return command;
}

}  // namespace

RecentFiles::RecentFiles(AppSettings& settings, QObject* parent)
    : QObject(parent),
      settings_(settings),
      paths_(settings.recentFiles().mid(0, maxFiles)),
      tools_(settings.recentTools()) {}

void RecentFiles::add(const QStringList& files) {
    QStringList absolute;
    for (const QString& file : files) absolute << absolutePath(file);
    const QString entry = absolute.join('\n');
    paths_.removeAll(entry);
    paths_.prepend(entry);
    paths_ = paths_.mid(0, maxFiles);
    store();
}

void RecentFiles::setTool(const QString& path, const QString& tool) {
    const QString absolute = absolutePath(path);
    const auto hasIt = [&](const QString& file) {
        return std::ranges::any_of(paths_, [&](const QString& entry) { return filesOf(entry).contains(file); });
    };
    if (!hasIt(absolute) || tools_.value(absolute) == tool) return;
    tools_[absolute] = tool;
    for (const QString& file : tools_.keys())
        if (!hasIt(file)) tools_.remove(file);
    settings_.setRecentTools(tools_);
    emit changed();
}

QString RecentFiles::toolsOf(const QString& entry) const {
    QStringList tools;
    for (const QString& file : filesOf(entry))
        if (const QString tool = tools_.value(file).toString(); !tool.isEmpty() && !tools.contains(tool)) tools << tool;
    return tools.join(QStringLiteral(", "));
}

void RecentFiles::remove(const QString& path) {
    const QString absolute = absolutePath(path);
    const auto isWithIt = [&](const QString& entry) { return filesOf(entry).contains(absolute); };
    const auto kept = std::remove_if(paths_.begin(), paths_.end(), isWithIt);
    if (kept == paths_.end()) return;
    paths_.erase(kept, paths_.end());
    store();
}

QString RecentFiles::textOf(const QString& entry) {
    QStringList names;
    QStringList folders;
    for (const QString& file : filesOf(entry)) {
        const QFileInfo info(file);
        names << info.fileName();
        QString folder = isRemoteAddress(file.toStdString()) ? file.section('/', 0, -2) : info.absolutePath();
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

Result<QString> sampleTrace(const QString& folder) {
    QFile packed(QStringLiteral(":/samples/") + QLatin1String(name));
    if (!packed.open(QIODevice::ReadOnly)) return fail("This viewer comes without a sample.");
    const QByteArray bytes = packed.readAll();
    const QString path = QDir(folder).filePath(QLatin1String(name));
    if (QFile there(path); there.open(QIODevice::ReadOnly) && there.readAll() == bytes) return path;
    QSaveFile file(path);
    if (!QDir().mkpath(folder) || !file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() ||
        !file.commit())
        return fail("The sample cannot be written to {}: {}.", path.toStdString(), file.errorString().toStdString());
    return path;
}

StartPage::StartPage(QWidget* parent) : QWidget(parent), recentLayout_(views::columnIn(recent_, {0, 8, 0, 0})) {
    auto* icon = new QLabel(this);
    icon->setPixmap(QIcon(":/lanescope.svg").pixmap(72, 72));
    icon->setFixedSize(72, 72);
    auto* name = new QLabel(QStringLiteral("Lanescope"), this);
    const QFont font = views::resized(views::strong(name->font()), 2.2);
    name->setFont(font);
    // The layout would reduce its height in favour of wrapped lines below.
    name->setMinimumHeight(QFontMetrics(font).height());
    auto* titles = views::columnIn(nullptr);
    titles->addStretch();
    titles->addWidget(name);
    titles->addWidget(dimmed(tr("See where a training step spends its time"), this));
    titles->addStretch();
    auto* top = views::rowIn(nullptr, {}, 18);
    views::addTo(top, icon, views::Filling{titles});

    auto* open = new QPushButton(tr("Open a trace…"), this);
    open->setObjectName("primary");
    auto* compare = new QPushButton(tr("Compare two runs…"), this);
    auto* buttons = new QHBoxLayout;
    auto* sample = new QPushButton(tr("Open a sample"), this);
    sample->setObjectName("sample");
    auto* manual = new QPushButton(tr("Manual"), this);
    manual->setToolTip(tr("How to record, view, explain and compare (F1)"));
    views::addTo(buttons, open, compare);
    buttons->addStretch();

    auto* column = new QWidget(this);
    column->setFixedWidth(std::max(560, 60 * fontMetrics().averageCharWidth()));
    auto* layout = new QVBoxLayout(column);
    layout->setSpacing(14);
    layout->addLayout(top);
    layout->addSpacing(14);
    layout->addLayout(buttons);
    layout->addWidget(dimmed(tr("or drop files here. Drop two to compare them."), this));
    QString readable = views::toQString(readableFormats());
    readable[0] = readable[0].toLower();
    auto* formats = dimmed(tr("Opens %1.").arg(readable), this);
    formats->setObjectName("formats");
    layout->addWidget(formats);
    layout->addWidget(dimmed(tr("First steps: click a finding above the timeline to see its place and details. Hover "
                                "over a gap of a GPU to see its cause. Press ? for all keys."),
                             this));
    auto* help = new QHBoxLayout;
    views::addTo(help, sample, manual);
    help->addStretch();
    layout->addLayout(help);
    layout->addWidget(dimmed(tr("To record, on the GPU server:"), this));
    views::addTo(layout, commandToRecord(this), recent_);
    // Stretches instead of alignment: an aligned item gets no height for wrapped lines.
    auto* centre = new QHBoxLayout;
    centre->addStretch();
    centre->addWidget(column);
    centre->addStretch();
    auto* outer = new QVBoxLayout(this);
    outer->addStretch(2);
    outer->addLayout(centre);
    outer->addStretch(3);

    connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
    connect(compare, &QPushButton::clicked, this, &StartPage::compareRequested);
    connect(sample, &QPushButton::clicked, this, &StartPage::sampleRequested);
    connect(manual, &QPushButton::clicked, this, &StartPage::manualRequested);
    recent_->hide();
}

void StartPage::setRecentFiles(const RecentFiles& files) {
    const QStringList& paths = files.paths();
    while (QLayoutItem* item = recentLayout_->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
    recent_->setVisible(!paths.isEmpty());
    if (paths.isEmpty()) return;
    recentLayout_->addWidget(dimmed(tr("Recent"), recent_));
    for (const QString& path : paths.mid(0, shownRecentFiles)) {
        QString text = RecentFiles::textOf(path);
        if (const QString tools = files.toolsOf(path); !tools.isEmpty()) text += tr("  (%1)").arg(tools);
        auto* button = new QPushButton(text.replace("&", "&&"), recent_);
        button->setFlat(true);
        button->setCursor(Qt::PointingHandCursor);
        button->setToolTip(views::plainToolTip(path));
        button->setStyleSheet(QStringLiteral("text-align: left; padding: 5px 6px;"));
        recentLayout_->addWidget(button);
        connect(button, &QPushButton::clicked, this, [this, path] { emit fileChosen(path); });
    }
}

}  // namespace lanescope::viewer
