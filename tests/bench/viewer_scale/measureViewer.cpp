// SPDX-License-Identifier: Apache-2.0
#include <QApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTextStream>
#include <filesystem>

#include "app/viewer/windowStyle.h"
#include "tests/bench/viewer_scale/ViewerMeasurement.h"
#include "tests/bench/viewer_scale/measureReading.h"
#include "tests/bench/viewer_scale/measureStalls.h"
#include "tests/bench/viewer_scale/measurementTable.h"

using namespace lanescope;
using namespace lanescope::viewer;

namespace {

/// Arguments that make this program measure one aspect of one file and print JSON.
const QString reading = QStringLiteral("--reading");
const QString viewing = QStringLiteral("--viewing");
const QString stalling = QStringLiteral("--stalling");

int measureOne(const QString& what, const QString& file, int rounds) {
    const std::filesystem::path path = file.toStdString();
    const auto measured = what == reading    ? measureReading(path, rounds)
                          : what == stalling ? measureStalls(path)
                                             : measureViewer(path, rounds);
    if (!measured) {
        QTextStream(stderr) << QString::fromStdString(measured.error().sentence) << "\n";
        return 1;
    }
    QTextStream(stdout) << QJsonDocument(*measured).toJson(QJsonDocument::Compact) << "\n";
    return 0;
}

/// Measures a file in its own process, so that the memory is that of this file alone.
QJsonObject measureInChild(const QString& what, const QString& file, int rounds) {
    QProcess child;
    child.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    child.start(QCoreApplication::applicationFilePath(), {what, QString::number(rounds), file});
    child.waitForFinished(-1);
    return QJsonDocument::fromJson(child.readAllStandardOutput()).object();
}

int measureAll(const QStringList& files, int rounds, const QString& jsonFile) {
    QJsonArray all;
    for (const QString& file : files) {
        QJsonObject measured;
        for (const QString& what : {reading, viewing, stalling}) {
            const QJsonObject part = measureInChild(what, file, rounds);
            if (part.isEmpty()) return 1;
            for (const QString& key : part.keys()) measured[key] = part[key];
        }
        all.append(measured);
    }
    QTextStream(stdout) << measurementTable(all);
    if (jsonFile.isEmpty()) return 0;
    QFile json(jsonFile);
    return json.open(QIODevice::WriteOnly) && json.write(QJsonDocument(all).toJson()) > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("lanescope-measure-viewer"));
    registerIcons();
    QStringList arguments = QCoreApplication::arguments().mid(1);
    if (arguments.size() == 3 && QStringList{reading, viewing, stalling}.contains(arguments[0]))
        return measureOne(arguments[0], arguments[2], arguments[1].toInt());
    int rounds = 5;
    QString jsonFile;
    while (arguments.size() > 2 && arguments[0].startsWith(QLatin1String("--"))) {
        const QString option = arguments.takeFirst(), value = arguments.takeFirst();
        if (option == QLatin1String("--rounds")) rounds = value.toInt();
        if (option == QLatin1String("--json")) jsonFile = value;
    }
    if (arguments.isEmpty()) {
        QTextStream(stderr) << "usage: lanescope-measure-viewer [--rounds N] [--json FILE] TRACE...\n";
        return 2;
    }
    return measureAll(arguments, rounds, jsonFile);
}
