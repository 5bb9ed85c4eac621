// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/helpWindows.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QEvent>
#include <QFile>
#include <QFontDatabase>
#include <QGridLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QSignalBlocker>
#include <QTextBlock>
#include <QToolButton>
#include <algorithm>
#include <vector>

#include "app/viewer/Finder.h"
#include "app/viewer/ViewerActions.h"
#include "views/theme/layouts.h"
#include "views/theme/texts.h"

namespace lanescope::viewer {
namespace {

/// In list order. The resources keep the source paths of the pages, so that links between them need no translation.
constexpr const char* pagePaths[] = {
    "qrc:/resources/manual/README.md",    "qrc:/resources/manual/record.md",   "qrc:/resources/manual/look.md",
    "qrc:/resources/manual/explain.md",   "qrc:/resources/manual/compare.md",  "qrc:/resources/manual/fleet.md",
    "qrc:/resources/manual/reports.md",   "qrc:/resources/manual/python.md",   "qrc:/resources/manual/format.md",
    "qrc:/model/format/FORMAT.md",        "qrc:/model/format/TABLES.md",       "qrc:/model/pages/JSON.md",
    "qrc:/resources/manual/limits.md",    "qrc:/resources/manual/security.md", "qrc:/resources/manual/agents.md",
    "qrc:/resources/manual/changelog.md",
};

constexpr int lettersOfCode = 116;

/// Returns the first heading of a page.
QString titleOf(const QUrl& url) {
    QFile file(":" + url.path());
    if (!file.open(QIODevice::ReadOnly)) return url.fileName();
    return QString::fromUtf8(file.readLine()).remove('#').trimmed();
}

constexpr int betweenColumns = 36;
constexpr int betweenCells = 16;
constexpr int betweenGroups = 12;
constexpr int maxSheetColumns = 4;

/// A heading, and below it keys and their effect.
struct Group {
    QString title;
    std::vector<std::pair<QString, QString>> lines;
};

/// The manual describes the mouse, and keys of single widgets, which no menu lists: in tables whose
/// first column contains no keys as code.
std::vector<Group> groupsOfManual() {
    std::vector<Group> groups;
    QFile page(QStringLiteral(":/resources/manual/look.md"));
    if (!page.open(QIODevice::ReadOnly)) return groups;
    Group group;
    const auto finish = [&] {
        if (!group.lines.empty()) groups.push_back(std::move(group));
        group = {};
    };
    bool isInTable = false;
    for (QString line : QString::fromUtf8(page.readAll()).split(QLatin1Char('\n'))) {
        if (line.startsWith(QLatin1String("### "))) {
            finish();
            group.title = line.mid(4);
        }
        const bool isHeading = line.startsWith(QLatin1String("| key |")) || line.startsWith(QLatin1String("| input |"));
        isInTable = isHeading || (isInTable && line.startsWith(QLatin1Char('|')));
        if (!isInTable || isHeading || line.startsWith(QLatin1String("|-"))) continue;
        const QStringList cells = line.split(QStringLiteral(" | "));
        if (cells.size() != 2 || cells[0].startsWith(QLatin1String("| `"))) continue;
        QString does = cells[1].chopped(2).trimmed();
        group.lines.emplace_back(cells[0].mid(2).trimmed(), does.remove(QLatin1Char('`')));
    }
    finish();
    return groups;
}

Group groupOf(const QMenu& menu) {
    Group group{commandName(menu.title()), {}};
    for (const QAction* action : menu.actions())
        if (!action->shortcuts().isEmpty())
            group.lines.emplace_back(ShortcutSheet::keysOf(*action), commandName(action->text()));
    return group;
}

QLabel* wrapped(const QString& text, int letters) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    label->setWordWrap(true);
    const QFontMetrics metrics = label->fontMetrics();
    label->setFixedWidth(std::min(metrics.horizontalAdvance(text) + 2, letters * metrics.averageCharWidth()));
    return label;
}

QWidget* widgetOf(const Group& group) {
    constexpr int lettersOfKeys = 30, lettersOfText = 40;
    auto* widget = new QWidget;
    auto* grid = new QGridLayout(widget);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(betweenCells);
    grid->setVerticalSpacing(4);
    auto* heading = new QLabel(group.title);
    heading->setFont(views::strong(heading->font()));
    grid->addWidget(heading, 0, 0, 1, 2);
    int row = 1;
    for (const auto& [keys, does] : group.lines) {
        QLabel* left = wrapped(keys, lettersOfKeys);
        left->setForegroundRole(QPalette::Link);
        grid->addWidget(left, row, 0, Qt::AlignTop);
        grid->addWidget(wrapped(does, lettersOfText), row++, 1, Qt::AlignTop);
    }
    grid->setColumnStretch(1, 1);
    return widget;
}

using Columns = std::vector<std::vector<QWidget*>>;

/// Fills columns in order, each up to `height`.
Columns filledTo(int height, const std::vector<QWidget*>& groups) {
    Columns columns(1);
    int used = 0;
    for (QWidget* group : groups) {
        const int more = group->sizeHint().height() + betweenGroups;
        if (used + more > height && !columns.back().empty()) {
            columns.emplace_back();
            used = 0;
        }
        columns.back().push_back(group);
        used += more;
    }
    return columns;
}

/// Returns up to `maxColumns` columns with the min height.
Columns balanced(const std::vector<QWidget*>& groups, int maxColumns) {
    constexpr int stepPx = 10;
    int height = stepPx;
    Columns columns = filledTo(height, groups);
    while (static_cast<int>(columns.size()) > maxColumns) columns = filledTo(height += stepPx, groups);
    return columns;
}

QGridLayout& gridOf(const QWidget& group) { return *qobject_cast<QGridLayout*>(group.layout()); }

/// Returns the widest of the keys (0) or effects (1), in all groups of a column.
int widestOf(const std::vector<QWidget*>& groups, int cell) {
    int widest = 0;
    for (const QWidget* group : groups)
        for (int row = 1; row < gridOf(*group).rowCount(); ++row)
            widest = std::max(widest, gridOf(*group).itemAtPosition(row, cell)->sizeHint().width());
    return widest;
}

int widthOf(const Columns& columns) {
    int width = static_cast<int>(columns.size() - 1) * betweenColumns;
    for (const std::vector<QWidget*>& column : columns)
        width += widestOf(column, 0) + betweenCells + widestOf(column, 1);
    return width;
}

}  // namespace

ManualWindow::ManualWindow(QWidget* parent) : QWidget(parent, Qt::Window) {
    setWindowTitle(tr("Manual of Lanescope"));
    page_->setOpenLinks(false);
    page_->setAccessibleName(tr("Page of the manual"));
    page_->document()->setDocumentMargin(16);
    contents_->setAccessibleName(tr("Pages of the manual"));
    contents_->setFrameShape(QFrame::NoFrame);
    search_->setPlaceholderText(tr("Search this page"));
    search_->setAccessibleName(tr("Search this page"));
    search_->setFixedWidth(30 * fontMetrics().averageCharWidth());
    search_->installEventFilter(this);
    message_->setTextFormat(Qt::PlainText);
    message_->setForegroundRole(QPalette::PlaceholderText);

    auto* back = new QToolButton(this);
    back->setText(tr("Back"));
    back->setEnabled(false);
    auto* forward = new QToolButton(this);
    forward->setText(tr("Forward"));
    forward->setEnabled(false);
    auto* top = new QHBoxLayout;
    views::addTo(top, back, forward, views::Filling{message_}, search_);
    auto* middle = new QHBoxLayout;
    views::addTo(middle, contents_, views::Filling{page_});
    views::addTo(new QVBoxLayout(this), top, views::Filling{middle});

    connect(back, &QToolButton::clicked, page_, &QTextBrowser::backward);
    connect(forward, &QToolButton::clicked, page_, &QTextBrowser::forward);
    connect(page_, &QTextBrowser::backwardAvailable, back, &QWidget::setEnabled);
    connect(page_, &QTextBrowser::forwardAvailable, forward, &QWidget::setEnabled);
    connect(page_, &QTextBrowser::anchorClicked, this, &ManualWindow::follow);
    connect(page_, &QTextBrowser::sourceChanged, this, &ManualWindow::adoptPage);
    connect(search_, &QLineEdit::textChanged, this, [this] {
        // Further typed letters are searched at the same place.
        QTextCursor cursor = page_->textCursor();
        cursor.setPosition(cursor.selectionStart());
        page_->setTextCursor(cursor);
        find(false);
    });
    addKeys();
    fillContents();
    page_->setFocus();
    // As wide as the widest example, so that none is wrapped.
    const QFontMetrics code(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    const int codeWidth = code.horizontalAdvance(QLatin1Char('0')) * lettersOfCode;
    resize(contents_->maximumWidth() + codeWidth + 120, fontMetrics().height() * 48);
}

void ManualWindow::fillContents() {
    for (const char* path : pagePaths) {
        const QUrl url(QString::fromLatin1(path));
        auto* item = new QListWidgetItem(titleOf(url), contents_);
        item->setData(Qt::UserRole, url);
    }
    contents_->setFixedWidth(contents_->sizeHintForColumn(0) + 24);
    const auto open = [this](const QListWidgetItem* item) {
        if (item) page_->setSource(item->data(Qt::UserRole).toUrl());
    };
    connect(contents_, &QListWidget::currentItemChanged, this, open);
    connect(contents_, &QListWidget::itemClicked, this,
            open);  // the top of the current page
    contents_->setCurrentRow(0);
}

void ManualWindow::addKeys() {
    const auto add = [this](const QKeySequence& keys, auto act) {
        connect(new QShortcut(keys, this), &QShortcut::activated, this, act);
    };
    for (const QKeySequence& keys : {QKeySequence(Qt::CTRL | Qt::Key_F), QKeySequence("/")})
        add(keys, [this] {
            search_->setFocus(Qt::ShortcutFocusReason);
            search_->selectAll();
        });
    add(Qt::Key_F3, [this] { find(false); });
    add(Qt::SHIFT | Qt::Key_F3, [this] { find(true); });
    add(Qt::Key_Escape, [this] { close(); });
}

QString ManualWindow::anchorOf(const QString& heading) {
    QString anchor;
    for (const QChar letter : heading.trimmed().toLower()) {
        if (letter.isLetterOrNumber() || letter == '-' || letter == '_') anchor += letter;
        if (letter == ' ') anchor += '-';
    }
    return anchor;
}

void ManualWindow::follow(const QUrl& link) {
    if (link.scheme() == "qrc") {
        page_->setSource(link);
    } else {
        message_->setText(tr("%1 is outside of the manual.").arg(link.toDisplayString()));
    }
}

void ManualWindow::adoptPage(const QUrl& url) {
    message_->clear();
    QTextCursor edit(page_->document());
    edit.beginEditBlock();  // laid out once instead of once per heading
    for (QTextBlock block = page_->document()->begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0) continue;
        QTextCharFormat name;
        name.setAnchor(true);
        name.setAnchorNames({anchorOf(block.text())});
        edit.setPosition(block.position());
        edit.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
        edit.mergeCharFormat(name);
    }
    edit.endEditBlock();
    if (url.hasFragment()) page_->scrollToAnchor(url.fragment());

    const QSignalBlocker quiet(contents_);
    const QUrl page = url.adjusted(QUrl::RemoveFragment);
    for (int row = 0; row < contents_->count(); ++row)
        if (contents_->item(row)->data(Qt::UserRole).toUrl() == page) contents_->setCurrentRow(row);
}

void ManualWindow::find(bool isBackward) {
    message_->clear();
    const QString text = search_->text();
    if (text.isEmpty()) return;
    const QTextDocument::FindFlags flags = isBackward ? QTextDocument::FindBackward : QTextDocument::FindFlags();
    if (page_->find(text, flags)) return;
    const QTextCursor before = page_->textCursor();
    page_->moveCursor(isBackward ? QTextCursor::End : QTextCursor::Start);
    if (page_->find(text, flags)) return;
    page_->setTextCursor(before);
    message_->setText(tr("“%1” is not on this page.").arg(text));
}

void ManualWindow::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    // The document contains the colours of links.
    if (event->type() == QEvent::PaletteChange && page_->source().isValid()) page_->reload();
}

bool ManualWindow::eventFilter(QObject* watched, QEvent* event) {
    const bool isKey = event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
    if (watched != search_ || !isKey) return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool isEscape = key->key() == Qt::Key_Escape;
    if (event->type() == QEvent::ShortcutOverride) {
        // Escape leaves the line before it closes the window.
        if (isEscape) event->accept();
        return isEscape;
    }
    if (isEscape) page_->setFocus();
    const bool isEnter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (isEnter) find(key->modifiers().testFlag(Qt::ShiftModifier));
    return isEscape || isEnter;
}

QString ShortcutSheet::keysOf(const QAction& action) {
    QStringList keys;
    for (const QKeySequence& sequence : action.shortcuts()) keys << sequence.toString(QKeySequence::NativeText);
    return keys.join(QStringLiteral(", "));
}

ShortcutSheet::ShortcutSheet(const ViewerActions& actions, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keyboard and mouse"));
    std::vector<QWidget*> groups;
    for (const QMenu* menu : actions.menus())
        if (const Group group = groupOf(*menu); !group.lines.empty()) groups.push_back(widgetOf(group));
    for (const Group& group : groupsOfManual()) groups.push_back(widgetOf(group));

    // As large as needed, limited by the screen; beyond that it scrolls vertically.
    QSize room = screen()->availableSize();
    if (parent) room = room.expandedTo(parent->window()->size());
    room *= 0.9;
    auto* sheet = new QWidget;
    auto* row = views::rowIn(sheet, {24, 16, 24, 8}, betweenColumns);
    auto* scroll = new QScrollArea(this);
    const int around = 48 + 16 + scroll->verticalScrollBar()->sizeHint().width();
    int count = maxSheetColumns;
    while (count > 1 && widthOf(balanced(groups, count)) + around > room.width()) --count;
    for (const std::vector<QWidget*>& groupsOfColumn : balanced(groups, count)) {
        auto* column = views::columnIn(nullptr, {}, betweenGroups);
        const int widestKeys = widestOf(groupsOfColumn, 0);
        for (QWidget* group : groupsOfColumn) {
            gridOf(*group).setColumnMinimumWidth(0, widestKeys);
            column->addWidget(group, 0, Qt::AlignLeft);
        }
        column->addStretch();
        row->addLayout(column);
    }
    scroll->setWidget(sheet);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    buttons->button(QDialogButtonBox::Close)->setFocus();
    views::addTo(views::columnIn(this, {0, 0, 16, 16}, -1), views::Filling{scroll}, buttons);
    const QSize wanted = sheet->sizeHint() + QSize(around - 48, 16 + buttons->sizeHint().height() + 24);
    resize(wanted.boundedTo(room));
}

}  // namespace lanescope::viewer
