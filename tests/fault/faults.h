// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFile>
#include <QProcess>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>
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
    QString objects = {}, threads = {}, stacksFile = {};
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
        if (fault.at == 0) {
            environment.insert("FAULT_STACKS", fault.stacksFile);
            environment.insert("FAULT_COUNT", fault.stacksFile + ".count");
            QFile::remove(fault.stacksFile);
        }
    }
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(LANESCOPE_BINARY_DIR "/bin/") + name, words);
    if (!process.waitForFinished(120'000)) return {};
    return {process.exitStatus() == QProcess::NormalExit, process.exitCode(),
            process.readAllStandardOutput(), process.readAllStandardError()};
}

/// The calls that a run made: of each a number that is the same for those which come from one place
/// by one way there. None if it made none or left without its exit handlers.
inline std::vector<uint64_t> callsIn(const QString& stacksFile) {
    QFile file(stacksFile);
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QByteArray bytes = file.readAll();
    std::vector<uint64_t> calls(static_cast<size_t>(bytes.size()) / sizeof(uint64_t));
    std::memcpy(calls.data(), bytes.data(), calls.size() * sizeof(uint64_t));
    return calls;
}

/// The numbers of the calls that are to fail, from 1 on: as many as LANESCOPE_FAULTS says, or else
/// `usual`, spread over all of them. Where it says 0, the first and the last of those that are
/// equal, as what handles their failure is the same code.
inline std::vector<long> chosen(const std::vector<uint64_t>& calls, long usual) {
    const char* const given = std::getenv("LANESCOPE_FAULTS");
    const long most = given != nullptr ? std::atol(given) : usual;
    const long count = static_cast<long>(calls.size());
    std::set<long> numbers;
    if (most > 0) {
        const long step = std::max(1L, (count + most - 1) / most);
        for (long number = 1; number <= count; number += step) numbers.insert(number);
    } else {
        std::map<uint64_t, std::pair<long, long>> ends;
        for (long number = 1; number <= count; ++number)
            ends.try_emplace(calls[static_cast<size_t>(number - 1)], number, number)
                .first->second.second = number;
        for (const auto& [stack, both] : ends) numbers.insert({both.first, both.second});
    }
    return {numbers.begin(), numbers.end()};
}

}  // namespace lanescope
