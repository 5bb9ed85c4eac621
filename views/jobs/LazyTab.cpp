// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/LazyTab.h"

#include <QTimer>
#include <QVBoxLayout>

#include "views/jobs/PageArea.h"

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
        // What is wider than the window is scrolled, and not the page around with it.
        auto* area = new PageArea(content_, this);
        area->setOnlySideways();
        layout()->addWidget(area);
        // A layout that is on the screen would show it a turn later only.
        area->show();
        content_->show();
        fill();
    }
    return *content_;
}

}  // namespace lanescope::views
