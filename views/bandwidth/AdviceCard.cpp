// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/AdviceCard.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "views/text/WrappedLabel.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

constexpr size_t mostLines = 2;

bool isSame(const std::vector<BandwidthAdvice>& a, const std::vector<BandwidthAdvice>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.sentence == y.sentence && x.example == y.example;
    });
}

}  // namespace

AdviceCard::AdviceCard(QWidget* parent) : QFrame(parent), lines_(new QVBoxLayout(this)) {
    setObjectName(QStringLiteral("advice"));
    setAccessibleName(tr("What could be better about the copies"));
    lines_->setContentsMargins(8, 4, 8, 4);
    style();
    hide();
}

void AdviceCard::setAdvice(const std::vector<BandwidthAdvice>& advice) {
    // While a selection is dragged the same sentences come again and again; a button that is made
    // anew would lose the focus.
    if (isSame(advice, advice_)) return;
    advice_ = advice;
    rebuild();
}

void AdviceCard::setTheme(const Theme& theme) {
    theme_ = theme;
    style();
}

QStringList AdviceCard::sentences() const {
    return sentences_;
}

QToolButton* AdviceCard::button(int index) const {
    return buttons_.at(static_cast<size_t>(index));
}

void AdviceCard::style() {
    const QColor back = Theme::mix(theme_.canvas, theme_.warning, 0.10);
    setStyleSheet(
        QStringLiteral("#advice { background: %1; border: none; border-left: 3px solid "
                       "%2; } #advice QLabel { color: %3; background: transparent; } "
                       "#advice QToolButton { color: %4; border: 1px solid transparent; "
                       "background: transparent; padding: 1px 4px; } "
                       "#advice QToolButton:hover, #advice QToolButton:focus "
                       "{ border-color: %4; border-radius: 3px; }")
            .arg(back.name(), theme_.warning.name(), theme_.text.name(), theme_.accent.name()));
}

void AdviceCard::rebuild() {
    // Not at once: it may be one of its own buttons that asks.
    if (page_) {
        page_->hide();
        page_->deleteLater();
    }
    buttons_.clear();
    sentences_.clear();
    page_ = new QWidget(this);
    auto* layout = new QVBoxLayout(page_);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(1);
    lines_->addWidget(page_);
    const size_t shown = showsAll_ ? advice_.size() : std::min(advice_.size(), mostLines);
    for (size_t index = 0; index < shown; ++index) addLine(advice_[index]);
    if (advice_.size() > mostLines) {
        auto* more = new QToolButton(page_);
        more->setText(showsAll_ ? tr("Show fewer")
                                : tr("%n more", nullptr, static_cast<int>(advice_.size() - shown)));
        connect(more, &QToolButton::clicked, this, [this] {
            showsAll_ = !showsAll_;
            rebuild();
        });
        layout->addWidget(more, 0, Qt::AlignLeft);
    }
    setVisible(!advice_.empty());
}

void AdviceCard::addLine(const BandwidthAdvice& advice) {
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    const QString sentence = toQString(advice.sentence);
    auto* text = new WrappedLabel(page_);
    text->setText(sentence);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* button = new QToolButton(page_);
    button->setText(tr("Show"));
    button->setFocusPolicy(Qt::StrongFocus);
    button->setAccessibleName(tr("Show the copy: %1").arg(sentence));
    button->setToolTip(tr("Shows the copy that tells this best on the timeline"));
    button->setEnabled(advice.example.isValid());
    connect(button, &QToolButton::clicked, this,
            [this, example = advice.example] { emit exampleActivated(example); });
    row->addWidget(text, 1);
    row->addWidget(button, 0, Qt::AlignTop);
    static_cast<QVBoxLayout*>(page_->layout())->addLayout(row);
    buttons_.push_back(button);
    sentences_ << sentence;
}

void AdviceCard::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::FontChange && page_) rebuild();
}

}  // namespace lanescope::views
