// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/DocumentPage.h"

#include <QBoxLayout>

#include "app/viewer/OfferBar.h"

namespace lanescope::viewer {

void DocumentPage::say(const QString& sentence) {
    auto* column = qobject_cast<QBoxLayout*>(layout());
    if (!column || sentence.isEmpty()) return;
    auto* bar = new OfferBar(this);
    column->insertWidget(0, bar);
    bar->offer(sentence, {});
}

}  // namespace lanescope::viewer
