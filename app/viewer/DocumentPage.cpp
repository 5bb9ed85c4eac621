// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/DocumentPage.h"

#include <QBoxLayout>
#include <QPushButton>
#include <QToolButton>

#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::viewer {

OfferBar::OfferBar(QWidget* parent)
    : QWidget(parent),
      label_(new views::WrappedLabel(this)),
      accept_(new QPushButton(this)),
      other_(new QPushButton(this)) {
    auto* close = new QToolButton(this);
    close->setText(QStringLiteral("✕"));
    close->setAutoRaise(true);
    close->setToolTip(tr("Close"));
    auto* layout = views::rowIn(this, {14, 4, 6, 4}, -1);
    layout->addWidget(label_, 1);
    layout->addWidget(accept_);
    layout->addWidget(other_);
    layout->addStretch();
    layout->addWidget(close);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::AlternateBase);
    connect(accept_, &QPushButton::clicked, this, [this] {
        hide();
        emit accepted();
    });
    connect(other_, &QPushButton::clicked, this, [this] {
        hide();
        emit otherAccepted();
    });
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void OfferBar::offer(const QString& question, const QString& answer, const QString& other) {
    label_->setText(question);
    // In a wide window the answers are next to the question; in a narrow one the question wraps.
    label_->setMaximumWidth(label_->fontMetrics().horizontalAdvance(question) + 4);
    accept_->setText(answer);
    accept_->setVisible(!answer.isEmpty());
    other_->setText(other);
    other_->setVisible(!other.isEmpty());
    show();
}

void DocumentPage::showMessage(const QString& sentence) {
    auto* column = qobject_cast<QBoxLayout*>(layout());
    if (!column || sentence.isEmpty()) return;
    auto* bar = new OfferBar(this);
    column->insertWidget(0, bar);
    bar->offer(sentence, {});
}

}  // namespace lanescope::viewer
