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

// Runs programs with failing system calls; see faultLayer.cpp.

namespace lanescope {

/// Result of a program.
struct Outcome {
    bool hasEnded = false;  ///< By itself, not by a signal.
    int status = -1;
    QByteArray output, errors;
};

/// Configuration of the fault layer.
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
    return {process.exitStatus() == QProcess::NormalExit, process.exitCode(), process.readAllStandardOutput(),
            process.readAllStandardError()};
}

/// Calls of a run: for each, a number that is equal for equal call stacks. Empty if the run made
/// none or exited without its exit handlers.
inline std::vector<uint64_t> callsIn(const QString& stacksFile) {
    QFile file(stacksFile);
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QByteArray bytes = file.readAll();
    std::vector<uint64_t> calls(static_cast<size_t>(bytes.size()) / sizeof(uint64_t));
    std::memcpy(calls.data(), bytes.data(), calls.size() * sizeof(uint64_t));
    return calls;
}

/// Numbers of the calls that must fail, from 1 on, spread evenly: as many as LANESCOPE_FAULTS, or `defaultCount`. If it
/// is 0, the first and the last of equal ones, because the same code handles them.
inline std::vector<long> chosen(const std::vector<uint64_t>& calls, long defaultCount) {
    const char* const given = std::getenv("LANESCOPE_FAULTS");
    const long most = given != nullptr ? std::atol(given) : defaultCount;
    const long count = static_cast<long>(calls.size());
    std::set<long> numbers;
    if (most > 0) {
        const long step = std::max(1L, (count + most - 1) / most);
        for (long number = 1; number <= count; number += step) numbers.insert(number);
    } else {
        std::map<uint64_t, std::pair<long, long>> ends;
        for (long number = 1; number <= count; ++number)
            ends.try_emplace(calls[static_cast<size_t>(number - 1)], number, number).first->second.second = number;
        for (const auto& [stack, both] : ends) numbers.insert({both.first, both.second});
    }
    return {numbers.begin(), numbers.end()};
}

}  // namespace lanescope
