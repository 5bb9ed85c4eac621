// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/sampleTrace.h"

#include <QDir>
#include <QFile>
#include <QSaveFile>

namespace lanescope::viewer {
namespace {

constexpr const char* name = "resnet152-nvlink.sqlite.gz";

}  // namespace

Result<QString> sampleTrace(const QString& folder) {
    QFile packed(QStringLiteral(":/samples/") + QLatin1String(name));
    if (!packed.open(QIODevice::ReadOnly)) return fail("This viewer comes without a sample.");
    const QByteArray bytes = packed.readAll();
    const QString path = QDir(folder).filePath(QLatin1String(name));
    if (QFile there(path); there.open(QIODevice::ReadOnly) && there.readAll() == bytes) return path;
    QSaveFile file(path);
    if (!QDir().mkpath(folder) || !file.open(QIODevice::WriteOnly) ||
        file.write(bytes) != bytes.size() || !file.commit())
        return fail("The sample cannot be written to {}: {}.", path.toStdString(),
                    file.errorString().toStdString());
    return path;
}

}  // namespace lanescope::viewer
