// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/SearchBar.h"

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QSignalBlocker>
#include <QTimer>
#include <QToolButton>
#include <algorithm>

#include "app/viewer/HitNavigator.h"
#include "app/viewer/windowStyle.h"
#include "views/text/shownText.h"

namespace lanescope::viewer {
namespace {

/// Long enough to type the next letter, short enough to feel immediate.
constexpr int typingPauseMs = 120;
/// Width of the text next to the box, in pixels.
constexpr int maxCountWidth = 320;
/// Width of the box, in pixels, and in characters of a larger font.
constexpr int maxEditWidth = 320, maxEditCharacters = 34;

}  // namespace

SearchBar::SearchBar(QWidget* parent)
    : QWidget(parent),
      edit_(new QLineEdit(this)),
      expression_(new QToolButton(this)),
      count_(new QLabel(this)),
      previous_(new QToolButton(this)),
      next_(new QToolButton(this)),
      delay_(new QTimer(this)) {
    edit_->setPlaceholderText(tr("Search kernels, ranges, calls"));
    edit_->setAccessibleName(tr("Search kernels, ranges and calls"));
    previous_->setAccessibleName(tr("Previous hit"));
    next_->setAccessibleName(tr("Next hit"));
    clear_ = edit_->addAction(QIcon(), QLineEdit::TrailingPosition);
    clear_->setToolTip(tr("Clear the search (Esc)"));
    clear_->setVisible(false);
    edit_->setMinimumWidth(maxEditWidth / 2);
    edit_->setMaximumWidth(std::max(maxEditWidth, maxEditCharacters * fontMetrics().averageCharWidth()));
    edit_->installEventFilter(this);
    count_->setTextFormat(Qt::PlainText);
    count_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    count_->setForegroundRole(QPalette::PlaceholderText);
    expression_->setObjectName("expression");
    expression_->setText(QStringLiteral(".*"));
    expression_->setCheckable(true);
    expression_->setAutoRaise(true);
    expression_->setAccessibleName(tr("Regular expression"));
    expression_->setToolTip(tr("Search by regular expression (Alt+R)"));
    expression_->setShortcut(Qt::ALT | Qt::Key_R);
    const int iconSide = std::max(16, fontMetrics().height() * 4 / 5);
    for (QToolButton* button : {previous_, next_}) {
        button->setAutoRaise(true);
        button->setIconSize({iconSide, iconSide});
    }
    previous_->setToolTip(tr("Previous hit (Shift+Enter)"));
    next_->setToolTip(tr("Next hit (Enter)"));
    delay_->setSingleShot(true);
    delay_->setInterval(typingPauseMs);

    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(4, 2, 6, 2);
    layout->setSpacing(2);
    // The count is in an empty area of the tool bar, so that nothing moves when it appears.
    layout->addWidget(count_);
    layout->addSpacing(8);
    layout->addWidget(edit_);
    layout->addWidget(expression_);
    layout->addWidget(previous_);
    layout->addWidget(next_);

    connect(edit_, &QLineEdit::textChanged, delay_, qOverload<>(&QTimer::start));
    connect(edit_, &QLineEdit::textChanged, clear_,
            [this](const QString& text) { clear_->setVisible(!text.isEmpty()); });
    connect(clear_, &QAction::triggered, edit_, &QLineEdit::clear);
    connect(expression_, &QToolButton::toggled, this, &SearchBar::searchNow);
    connect(delay_, &QTimer::timeout, this, &SearchBar::searchNow);
    connect(previous_, &QToolButton::clicked, this, &SearchBar::previous);
    connect(next_, &QToolButton::clicked, this, &SearchBar::next);
    setNavigator(nullptr);
}

QSize SearchBar::sizeHint() const {
    QSize hint = minimumSizeHint();
    hint.rwidth() += edit_->maximumWidth() - edit_->minimumWidth() + minCountWidth();
    return hint;
}

QSize SearchBar::minimumSizeHint() const {
    QSize hint = QWidget::minimumSizeHint();
    hint.rwidth() -= count_->minimumWidth();
    return hint;
}

int SearchBar::minCountWidth() const { return fontMetrics().horizontalAdvance(QStringLiteral("9,999 of 99,999")); }

void SearchBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    showCount();
}

/// Shrinks the box to its min width in favour of the count, then the count in favour of the window.
void SearchBar::showCount() {
    const int text = std::min(fontMetrics().horizontalAdvance(countText_), maxCountWidth);
    const int room = std::max(0, width() - minimumSizeHint().width());
    const int given = std::min(room, std::max(text, minCountWidth()));
    if (count_->minimumWidth() != given) count_->setFixedWidth(given);
    const QString shown = fontMetrics().elidedText(countText_, Qt::ElideRight, given);
    count_->setText(shown);
    count_->setToolTip(shown == countText_ ? QString() : views::plainToolTip(countText_));
    edit_->setToolTip(count_->toolTip());
}

void SearchBar::setNavigator(HitNavigator* navigator) {
    if (navigator_) navigator_->disconnect(this);
    navigator_ = navigator;
    setEnabled(navigator != nullptr);
    delay_->stop();
    showSearch();
    if (navigator) connect(navigator, &HitNavigator::changed, this, &SearchBar::updateCount);
    updateCount();
}

void SearchBar::setTheme(const views::Theme& theme) {
    previous_->setIcon(themedIcon("previous", theme));
    next_->setIcon(themedIcon("next", theme));
    clear_->setIcon(themedIcon("close", theme));
}

void SearchBar::activate() {
    edit_->setFocus(Qt::ShortcutFocusReason);
    edit_->selectAll();
}

QString SearchBar::countText() const { return countText_; }

void SearchBar::next() {
    searchNow();
    if (navigator_) navigator_->step(+1);
}

void SearchBar::previous() {
    searchNow();
    if (navigator_) navigator_->step(-1);
}

void SearchBar::searchNow() {
    delay_->stop();
    if (!navigator_) return;
    navigator_->search(edit_->text(), expression_->isChecked() ? PatternKind::Expression : PatternKind::Substring);
}

void SearchBar::showSearch() {
    const QSignalBlocker editBlocker(edit_);
    const QSignalBlocker expressionBlocker(expression_);
    edit_->setText(navigator_ ? navigator_->text() : QString());
    expression_->setChecked(navigator_ && navigator_->kind() == PatternKind::Expression);
}

void SearchBar::updateCount() {
    const qint64 count = navigator_ ? navigator_->count() : 0;
    // Tables search too; their search text is shown here, unless the user is typing.
    const bool isOthers = navigator_ && edit_->text() != navigator_->text();
    if (isOthers && !delay_->isActive()) showSearch();
    countText_ = describeCount();
    showCount();
    clear_->setVisible(!edit_->text().isEmpty());
    previous_->setEnabled(count > 0);
    next_->setEnabled(count > 0);
}

QString SearchBar::describeCount() const {
    if (!navigator_ || navigator_->text().isEmpty()) return {};
    if (!navigator_->error().isEmpty()) return navigator_->error();
    const QLocale locale(QLocale::English);
    const QString count = locale.toString(navigator_->count());
    if (navigator_->isSearching()) return navigator_->count() > 0 ? tr("%1 hits …").arg(count) : tr("searching …");
    if (navigator_->count() == 0) return tr("no hits");
    if (navigator_->current() < 0) return navigator_->count() == 1 ? tr("1 hit") : tr("%1 hits").arg(count);
    return tr("%1 of %2").arg(locale.toString(navigator_->current() + 1), count);
}

bool SearchBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == edit_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            key->modifiers() & Qt::ShiftModifier ? previous() : next();
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            edit_->clear();
            searchNow();
            emit dismissed();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace lanescope::viewer
