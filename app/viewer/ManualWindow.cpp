// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/ManualWindow.h"

#include <QEvent>
#include <QFile>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QShortcut>
#include <QSignalBlocker>
#include <QTextBlock>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace lanescope::viewer {
namespace {

/// In the order of the list. The resources keep the places that the pages have in the source, so
/// that links between them need no translation.
constexpr const char* pagePaths[] = {
    "qrc:/resources/manual/README.md",   "qrc:/resources/manual/record.md",
    "qrc:/resources/manual/look.md",     "qrc:/resources/manual/explain.md",
    "qrc:/resources/manual/compare.md",  "qrc:/resources/manual/fleet.md",
    "qrc:/resources/manual/reports.md",  "qrc:/resources/manual/python.md",
    "qrc:/resources/manual/format.md",   "qrc:/model/format/FORMAT.md",
    "qrc:/model/format/TABLES.md",       "qrc:/resources/manual/limits.md",
    "qrc:/resources/manual/promises.md", "qrc:/resources/manual/changelog.md",
};

constexpr int lettersOfCode = 116;

/// The first heading of a page.
QString titleOf(const QUrl& url) {
    QFile file(":" + url.path());
    if (!file.open(QIODevice::ReadOnly)) return url.fileName();
    return QString::fromUtf8(file.readLine()).remove('#').trimmed();
}

}  // namespace

ManualWindow::ManualWindow(QWidget* parent)
    : QWidget(parent, Qt::Window),
      page_(new QTextBrowser(this)),
      contents_(new QListWidget(this)),
      search_(new QLineEdit(this)),
      message_(new QLabel(this)) {
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
    top->addWidget(back);
    top->addWidget(forward);
    top->addWidget(message_, 1);
    top->addWidget(search_);
    auto* middle = new QHBoxLayout;
    middle->addWidget(contents_);
    middle->addWidget(page_, 1);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(top);
    layout->addLayout(middle, 1);

    connect(back, &QToolButton::clicked, page_, &QTextBrowser::backward);
    connect(forward, &QToolButton::clicked, page_, &QTextBrowser::forward);
    connect(page_, &QTextBrowser::backwardAvailable, back, &QWidget::setEnabled);
    connect(page_, &QTextBrowser::forwardAvailable, forward, &QWidget::setEnabled);
    connect(page_, &QTextBrowser::anchorClicked, this, &ManualWindow::follow);
    connect(page_, &QTextBrowser::sourceChanged, this, &ManualWindow::adoptPage);
    connect(search_, &QLineEdit::textChanged, this, [this] {
        // What is typed further is found at the same place.
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
            open);  // of the page on the screen: its top
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

QString ManualWindow::message() const {
    return message_->text();
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
    edit.beginEditBlock();  // laid out once, not once a heading
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
    const QTextDocument::FindFlags flags =
        isBackward ? QTextDocument::FindBackward : QTextDocument::FindFlags();
    if (page_->find(text, flags)) return;
    const QTextCursor before = page_->textCursor();
    page_->moveCursor(isBackward ? QTextCursor::End : QTextCursor::Start);
    if (page_->find(text, flags)) return;
    page_->setTextCursor(before);
    message_->setText(tr("“%1” is not on this page.").arg(text));
}

void ManualWindow::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    // The colours of links are in the document.
    if (event->type() == QEvent::PaletteChange && page_->source().isValid()) page_->reload();
}

bool ManualWindow::eventFilter(QObject* watched, QEvent* event) {
    const bool isKey =
        event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
    if (watched != search_ || !isKey) return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool isEscape = key->key() == Qt::Key_Escape;
    if (event->type() == QEvent::ShortcutOverride) {
        // Leaves the line, and not the window at once.
        if (isEscape) event->accept();
        return isEscape;
    }
    if (isEscape) page_->setFocus();
    const bool isEnter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (isEnter) find(key->modifiers().testFlag(Qt::ShiftModifier));
    return isEscape || isEnter;
}

}  // namespace lanescope::viewer
