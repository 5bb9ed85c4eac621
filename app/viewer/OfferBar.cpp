// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/OfferBar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace lanescope::viewer {

OfferBar::OfferBar(QWidget* parent)
    : QWidget(parent),
      label_(new QLabel(this)),
      accept_(new QPushButton(this)),
      other_(new QPushButton(this)) {
    label_->setTextFormat(Qt::PlainText);
    auto* close = new QToolButton(this);
    close->setText(QStringLiteral("✕"));
    close->setAutoRaise(true);
    close->setToolTip(tr("Not now"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 4, 6, 4);
    layout->addWidget(label_);
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
    accept_->setText(answer);
    accept_->setVisible(!answer.isEmpty());
    other_->setText(other);
    other_->setVisible(!other.isEmpty());
    show();
}

QString OfferBar::question() const {
    return label_->text();
}

}  // namespace lanescope::viewer
