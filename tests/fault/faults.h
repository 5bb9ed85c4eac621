// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFile>
#include <QProcess>
#include <algorithm>
#include <cstdlib>
#include <vector>

// Runs programs with calls of the system that fail; see faultLayer.cpp.

namespace lanescope {

/// What came of a program.
struct Outcome {
    bool hasEnded = false;  ///< By itself, not by a signal.
    int status = -1;
    QByteArray output, errors;
};

/// What the layer is told.
struct Fault {
    QString kind = "none";
    long at = 0;
    bool goesOn = false;
    QString objects = {}, threads = {}, countFile = {};
};

inline Outcome runProgram(const QString& name, const QStringList& words, const Fault& fault) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    if (fault.kind != "none") {
        environment.insert("LD_PRELOAD", LANESCOPE_FAULT_LAYER);
        environment.insert("FAULT_KIND", fault.kind);
        environment.insert("FAULT_AT", QString::number(fault.at));
        environment.insert("FAULT_REST", fault.goesOn ? "1" : "0");
        environment.insert("FAULT_OBJECT", fault.objects);
        environment.insert("FAULT_THREADS", fault.threads);
        environment.insert("FAULT_COUNT", fault.countFile);
        QFile::remove(fault.countFile);
    }
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(LANESCOPE_BINARY_DIR "/bin/") + name, words);
    if (!process.waitForFinished(120'000)) return {};
    return {process.exitStatus() == QProcess::NormalExit, process.exitCode(),
            process.readAllStandardOutput(), process.readAllStandardError()};
}

/// How many calls a run made; 0 if it made none or left without its exit handlers.
inline long countIn(const QString& countFile) {
    QFile file(countFile);
    return file.open(QIODevice::ReadOnly) ? file.readLine().toLong() : 0;
}

/// The numbers of the calls that are to fail, spread over all of them: as many as LANESCOPE_FAULTS
/// says, 0 for all, or else `usual`.
inline std::vector<long> spread(long count, long usual) {
    const char* const given = std::getenv("LANESCOPE_FAULTS");
    const long most = given != nullptr ? std::atol(given) : usual;
    const long step = most > 0 ? std::max(1L, (count + most - 1) / most) : 1;
    std::vector<long> numbers;
    for (long number = 1; number <= count; number += step) numbers.push_back(number);
    return numbers;
}

}  // namespace lanescope
