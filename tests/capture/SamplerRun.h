// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <string>

#include "model/format/Sqlite.h"
#include "tests/support/orFail.h"

namespace lanescope {

/// Records programs with a simulated NVML, and queries the traces. Ends the test on unrelated failures.
class SamplerRun {
  protected:
    struct Run {
        int exitCode = -1;
        QByteArray errors;
    };

    QString path(const char* name) const { return folder_.filePath(name); }
    QString folder() const { return folder_.path(); }

    static QProcessEnvironment variables(const char* nvml) {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LANESCOPE_NVML", LANESCOPE_BINARY_DIR "/lib/standin/libnvidia-ml.so.1");
        environment.insert("STANDIN_NVML", nvml);
        return environment;
    }

    /// Records `program` with the simulated NVML script `nvml`.
    Run record(const char* name, const QProcessEnvironment& environment, const QStringList& options,
               const QStringList& program) const {
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                      QStringList{"record", "-o", path(name)} + options + QStringList{"--"} + program);
        if (!process.waitForFinished(60'000)) return {};
        return {process.exitCode(), process.readAllStandardError()};
    }

    Run record(const char* name, const char* nvml, const QStringList& options = {},
               const QString& seconds = "1.2") const {
        return record(name, variables(nvml), options, {"sleep", seconds});
    }

    Database open(const char* name) const { return test::orFail(Database::openReadOnly(path(name).toStdString())); }

    static double number(const Database& database, const std::string& sql) {
        auto statement = test::orFail(database.prepare(sql));
        const Result<bool> row = statement.step();
        if (!row || !*row) return -1;
        return statement.isNull(0) ? -2 : statement.real(0);
    }
    static QString text(const Database& database, const std::string& sql) {
        auto statement = test::orFail(database.prepare(sql));
        const Result<bool> row = statement.step();
        if (!row || !*row) return {};
        return QString::fromUtf8(statement.text(0).data(), int(statement.text(0).size()));
    }
    static QString sentence(const Database& database, const std::string& code) {
        return text(database, "SELECT severity || ' ' || sentence FROM LANESCOPE_HEALTH WHERE code = '" + code + "'");
    }
    /// Returns an aggregate `what` of a counter's samples.
    static double sample(const Database& database, const std::string& what, const std::string& which) {
        return number(database, "SELECT " + what +
                                    " FROM LANESCOPE_COUNTERS c JOIN"
                                    " LANESCOPE_COUNTER_SAMPLES s USING (counterId) WHERE " +
                                    which);
    }

  private:
    QTemporaryDir folder_;
};

}  // namespace lanescope
