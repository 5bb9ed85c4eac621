// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/MeasuredApplication.h"

#include <QEvent>

#include "tests/bench/viewer_scale/Times.h"

namespace lanescope {

bool MeasuredApplication::notify(QObject* receiver, QEvent* event) {
    if (event->type() != QEvent::Paint) return QApplication::notify(receiver, event);
    const QString name = QString::fromLatin1(receiver->metaObject()->className());
    bool isDone = false;
    paintMs_[name] += cpuMillisecondsOf([&] { isDone = QApplication::notify(receiver, event); });
    return isDone;
}

}  // namespace lanescope
