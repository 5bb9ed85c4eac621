// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTemporaryDir>
#include <QtGlobal>
#include <memory>
#include <string>
#include <vector>

#include "capture/collector/Collector.h"
#include "model/format/Sqlite.h"
#include "model/importers/TraceFormat.h"
#include "tests/capture/TestLog.h"
#include "tests/capture/byPath.h"
#include "tests/support/orFail.h"

namespace lanescope::test {

/// CLOCK_REALTIME of time 0 of the traces that `CollectorFixture` collects.
inline constexpr int64_t startNs = 1'000'000'000'000;

/// Returns a kernel of 10 ns, or one without times if `atNs` is 0.
inline log::KernelRecord kernel(int64_t atNs, uint32_t name) {
    log::KernelRecord record{};
    if (atNs != 0) {
        record.startNs = startNs + atNs;
        record.endNs = startNs + atNs + 10;
    }
    record.name = name;
    record.contextId = 1;
    record.streamId = 7;
    record.correlationId = 55;
    record.grid[0] = 128;
    return record;
}

inline log::NvtxRecord nvtx(log::NvtxEvent event, int64_t atNs, int32_t level, uint32_t text) {
    log::NvtxRecord record{
        .timestampNs = startNs + atNs, .threadId = 4242, .text = text, .level = level, .event = event};
    return record;
}

inline capture::RunInfo runInfo() {
    capture::RunInfo info{.startRealtimeNs = startNs, .commandLine = {"python", "train.py"}, .host = "box"};
    info.machine.driverVersion = "580.1";
    return info;
}

/// A run folder, and the trace collected from its logs.
class CollectorFixture {
  public:
    capture::RunInfo info = runInfo();

    std::string in(const std::string& name) const {
        return folder_.filePath(QString::fromStdString(name)).toStdString();
    }
    std::string logPath(const std::string& name) const {
        std::filesystem::create_directories(in("run"));
        return in("run/" + name);
    }
    capture::CollectedRun collect(std::optional<capture::MainProcess> mainProcess = {}) const {
        std::filesystem::create_directories(in("run"));
        auto collector = orFail(test::beginCollector(in("run"), in("out.sqlite"), info));
        return orFail(collector->finish(mainProcess, false));
    }
    /// Ends the log of process 4242 and collects it.
    capture::CollectedRun collect(TestLog& log, int64_t endNs = startNs + 1000) const {
        log.end(endNs);
        return collectUnended(log);
    }
    capture::CollectedRun collectUnended(TestLog& log) const {
        log.flush();
        log.writeTo(logPath("box.0.4242.log"));
        return collect();
    }
    TracePtr loaded() const { return orFail(loadTrace(in("out.sqlite"))); }
    /// Returns the first row of a query over the trace, cells joined by '|'.
    std::string row(const char* sql) const {
        const std::vector<std::string> all = select(sql);
        return all.empty() ? "no row" : all.front();
    }
    /// Returns all rows, joined by ", ".
    std::string rows(const char* sql) const {
        std::string text;
        for (const std::string& row : select(sql)) text += (text.empty() ? "" : ", ") + row;
        return text;
    }

  private:
    std::vector<std::string> select(const char* sql) const {
        std::vector<std::string> all;
        const auto database = Database::openReadOnly(in("out.sqlite"));
        auto statement = orFail(database->prepare(sql));
        for (auto step = statement.step(); step && *step; step = statement.step()) {
            std::string text;
            for (int column = 0; column < statement.columnCount(); ++column) {
                if (column > 0) text += '|';
                text += statement.isNull(column) ? "NULL" : std::string(statement.text(column));
            }
            all.push_back(std::move(text));
        }
        return all;
    }

    QTemporaryDir folder_;
};

}  // namespace lanescope::test
