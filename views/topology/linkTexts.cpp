// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/topology/linkTexts.h"

#include <QObject>

#include "model/bandwidth/describeTopology.h"
#include "model/values/formatValue.h"
#include "views/text/shortRate.h"
#include "views/text/toQString.h"

namespace lanescope::views {
QString useText(const LinkUse& use) {
    if (use.copyCount == 0) return QObject::tr("no copies");
    QString text = toQString(formatBytes(use.copyBytes));
    const std::optional<double> mean = use.meanGBps();
    if (!mean) return text;
    text += QObject::tr(" at %1 GB/s").arg(shortRate(*mean));
    if (const std::optional<double> percent = use.peakPercent())
        text +=
            QObject::tr(", %1 % of %2")
                .arg(QString::number(*percent, 'f', 0), shortRate(use.peak->gigabytesPerSecond));
    return text;
}

QString connectionText(const LinkUse& use) {
    return toQString(wordFor(use.connection));
}

}  // namespace lanescope::views
