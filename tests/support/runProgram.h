// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QProcess>
#include <QtTest>

namespace lanescope::test {

/// An ended program with its outputs.
struct Ended {
    int status = -1;  ///< Minus its number if a signal ended the program.
    QByteArray out, err;
};

/// Waits for a started program. Ends the test if the program does not end.
inline Ended endOf(QProcess& process, int waitMs = 120'000) {
    if (!process.waitForFinished(waitMs)) qFatal("%s does not end", qPrintable(process.program()));
    const bool isNormal = process.exitStatus() == QProcess::NormalExit;
    return {isNormal ? process.exitCode() : -process.exitCode(), process.readAllStandardOutput(),
            process.readAllStandardError()};
}

/// Runs the built `lanescope` in a folder.
inline Ended runLanescope(const QStringList& arguments, const QString& folder = {}, const QByteArray& input = {}) {
    QProcess process;
    process.setWorkingDirectory(folder);
    process.start(QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope"), arguments);
    process.write(input);
    process.closeWriteChannel();
    return endOf(process);
}

/// Checks that a failure of `lanescope` is one sentence on stderr and nothing on stdout.
inline void verifyFailure(const Ended& ended, int status, const QString& mentions) {
    QCOMPARE(ended.status, status);
    QVERIFY2(ended.out.isEmpty(), ended.out.constData());
    const QStringList lines = QString(ended.err).split('\n', Qt::SkipEmptyParts);
    QVERIFY2(lines.size() == 1, ended.err.constData());
    QVERIFY2(lines[0].startsWith("lanescope: "), qPrintable(lines[0]));
    QVERIFY2(lines[0].contains(mentions), qPrintable(lines[0]));
}

}  // namespace lanescope::test
