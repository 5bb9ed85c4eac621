// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/LazyTab.h"

#include <QTimer>
#include <QVBoxLayout>

namespace lanescope::views {

LazyTab::LazyTab(QWidget* parent) : QWidget(parent) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
}

void LazyTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (content_) return;
    QTimer::singleShot(0, this, [this] {
        if (isVisible()) demand();
    });
}

QWidget& LazyTab::demand() {
    if (!content_) {
        content_ = make();
        layout()->addWidget(content_);
        // A layout that is on the screen would show it a turn later only.
        content_->show();
        fill();
    }
    return *content_;
}

}  // namespace lanescope::views
