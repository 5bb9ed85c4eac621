// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/AgentRun.h"
#include "tests/capture/byPath.h"

#include <QDir>
#include <QElapsedTimer>
#include <QProcess>
#include <chrono>

namespace lanescope::test {

const std::string& ProcessLog::text(uint32_t id) {
    static const std::string none;
    if (id == 0) return none;
    const auto found = strings_.find(id);
    if (found != strings_.end()) return found->second;
    ++unknownStrings;
    return none;
}

uint64_t ProcessLog::dropped(Loss what) const {
    uint64_t sum = 0;
    for (const Drop& drop : drops) sum += drop.what == what ? drop.count : 0;
    return sum;
}

void ProcessLog::operator()(const log::StringRecord& record, std::string_view text) { strings_[record.id] = text; }

void ProcessLog::operator()(const log::PropertyRecord& record) { properties[text(record.name)] = text(record.value); }

void ProcessLog::operator()(const log::NvtxRecord& record, std::span<const std::byte> extended) {
    nvtx.push_back(
        {record, text(record.text), std::string(reinterpret_cast<const char*>(extended.data()), extended.size())});
}

QString standinCupti() { return QStringLiteral(LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13"); }
QString agentLibrary() { return QStringLiteral(LANESCOPE_BINARY_DIR "/lib/liblanescope-agent.so"); }

namespace {
// Sanitizers on a busy machine turn seconds into minutes.
constexpr int maxRunMs = 240'000;
}  // namespace

AgentRun::AgentRun() {
    folder = ownFolder_.path();
    baseNs = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
                 .count();
}

AgentRun::AgentRun(const QStringList& arguments, const QMap<QString, QString>& environment) : AgentRun() {
    this->arguments = arguments;
    this->environment = environment;
    if (!run()) qFatal("the training does not end");
}

void AgentRun::succeed() {
    if (!run() || exitCode != 0) qFatal("%s", errors.constData());
}

bool AgentRun::run() {
    QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
    if (withAgent) {
        variables.insert("LANESCOPE_AGENT_DIR", folder);
        variables.insert("LANESCOPE_CUPTI", standinCupti());
        variables.insert("CUDA_INJECTION64_PATH", agentLibrary());
        variables.insert("NVTX_INJECTION64_PATH", agentLibrary());
    }
    for (auto it = environment.cbegin(); it != environment.cend(); ++it) {
        if (it.value().isEmpty()) {
            variables.remove(it.key());
        } else {
            variables.insert(it.key(), it.value());
        }
    }
    QProcess process;
    process.setProcessEnvironment(variables);
    if (inChild) process.setChildProcessModifier(inChild);
    QStringList all{"--base", QString::number(baseNs)};
    if (!arguments.contains("--cupti")) all << "--cupti" << standinCupti();
    QElapsedTimer timer;
    timer.start();
    if (program.isEmpty()) {
        process.start(LANESCOPE_BINARY_DIR "/bin/standin-training", all + arguments);
    } else {
        process.start(program, arguments);
    }
    if (!process.waitForStarted()) return false;
    pid = static_cast<uint32_t>(process.processId());
    if (!process.waitForFinished(maxRunMs)) {
        process.kill();
        process.waitForFinished();
        return false;
    }
    tookMs = timer.elapsed();
    exitCode = process.exitCode() + (process.exitStatus() == QProcess::CrashExit ? 128 : 0);
    output = process.readAllStandardOutput();
    errors = process.readAllStandardError();
    readLogs();
    return true;
}

void AgentRun::readLogs() {
    logs.clear();
    const QDir dir(folder);
    std::vector<std::string> names;
    for (const QString& name : dir.entryList(QDir::Files)) names.push_back(name.toStdString());
    for (const std::string& name : log::logNames(names)) {
        auto reader = test::openLog(dir.filePath(QString::fromStdString(name)).toStdString());
        if (!reader) continue;
        ProcessLog process;
        if (!reader->poll(process) || !reader->header()) continue;
        process.pid = reader->header()->pid;
        process.progress = reader->progress();
        process.bytesNotUnderstood = reader->bytesNotUnderstood();
        process.isCorrupt = reader->isCorrupt();
        logs.insert(process.pid == pid ? logs.begin() : logs.end(), std::move(process));
    }
}

const ProcessLog& AgentRun::log() const {
    static const ProcessLog none;
    return logs.empty() || logs.front().pid != pid ? none : logs.front();
}

}  // namespace lanescope::test
