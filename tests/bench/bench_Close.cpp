// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <variant>

#include "app/cli/TraceClosing.h"
#include "capture/collector/liveJournal.h"
#include "model/analysis/storedSummary.h"
#include "model/format/OutputFile.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "model/index/openTrace.h"
#include "tests/bench/viewer_scale/TraceFileWriter.h"
#include "tests/bench/viewer_scale/TrainingSimulation.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/openForWriting.h"

using namespace lanescope;
using namespace lanescope::cli;
using namespace lanescope::analysis;

using namespace lanescope::bench;

namespace {

/// Maximum time to close a trace, relative to writing its rows.
constexpr double maxTimesInsert = 1.2;
constexpr double mostOwnBytes = double{1 << 30};

/// Wall time and CPU time of all threads, in seconds.
struct Cost {
    double wall = 0, cpu = 0;
    Cost& operator+=(const Cost& other) {
        wall += other.wall;
        cpu += other.cpu;
        return *this;
    }
};

class Stopwatch {
  public:
    Cost cost() const { return {seconds() - wall_, cpuSeconds() - cpu_}; }

  private:
    static double seconds() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    static double cpuSeconds() {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        const auto of = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        return of(usage.ru_utime) + of(usage.ru_stime);
    }
    double wall_ = seconds(), cpu_ = cpuSeconds();
};

/// Memory in bytes: private, and that of mapped files, which the kernel can drop.
struct Memory {
    double own = 0, mapped = 0;
};

/// Peak of each kind of memory of this process during its lifetime.
class MemoryWatch {
  public:
    MemoryWatch() : thread_([this] { watch(); }) {}
    ~MemoryWatch() { stop(); }
    Memory stop() {
        isOver_ = true;
        if (thread_.joinable()) thread_.join();
        return most_;
    }

  private:
    void watch() {
        while (!isOver_) {
            std::ifstream status("/proc/self/status");
            for (std::string word; status >> word;) {
                if (word == "RssAnon:") take(status, most_.own);
                if (word == "RssFile:") take(status, most_.mapped);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    static void take(std::ifstream& status, double& most) {
        double kibibytes = 0;
        status >> kibibytes;
        most = std::max(most, 1024 * kibibytes);
    }

    std::atomic<bool> isOver_ = false;
    Memory most_;
    std::thread thread_;
};

/// Wall time of each part of closing a trace, by its progress reports.
class PartWatch {
  public:
    LoadProgress progress() {
        return [this](double, std::string_view what) {
            if (what == "tracks" || what == "summarizing the steps" || what == "writing the index") begin(what);
            return true;
        };
    }
    void begin(std::string_view part) {
        if (!parts_.empty() && parts_.back().name == part) return;
        parts_.push_back({std::string(part), Stopwatch()});
    }
    /// Returns "rows 2.10 s, tracks 1.20 s": wall time.
    std::string text() const {
        std::string text;
        for (size_t part = 0; part < parts_.size(); ++part) {
            const double until = part + 1 < parts_.size() ? parts_[part + 1].watch.cost().wall : 0;
            text += fmt::format("{}{} {:.2f} s", part > 0 ? ", " : "", parts_[part].name,
                                parts_[part].watch.cost().wall - until);
        }
        return text;
    }

  private:
    struct Part {
        std::string name;
        Stopwatch watch;
    };
    std::vector<Part> parts_;
};

using Value = std::variant<std::monostate, int64_t, double, std::string>;

Value valueOf(const Statement& statement, int column) {
    if (statement.isNull(column)) return {};
    if (statement.isInteger(column)) return statement.integer(column);
    if (statement.cell(column).type == CellType::Real) return statement.real(column);
    return std::string(statement.text(column));
}

void bindValue(Statement& statement, int parameter, const Value& value) {
    if (const auto* whole = std::get_if<int64_t>(&value))
        statement.bind(parameter, *whole);
    else if (const auto* real = std::get_if<double>(&value))
        statement.bind(parameter, *real);
    else if (const auto* text = std::get_if<std::string>(&value))
        statement.bind(parameter, std::string_view(*text));
    else
        statement.bindNull(parameter);
}

}  // namespace

/// Compares closing a trace after recording with plainly writing its rows. LANESCOPE_BENCH_EVENTS
/// sets the number of events. Assertions need LANESCOPE_BENCH_ASSERT=1 and a quiet machine.
class bench_Close : public QObject {
    Q_OBJECT

  private slots:
    void closingAgainstInserting() {
        const int64_t events = eventCount();
        makeTrace(events);
        // Interleaved, because the load of the machine changes.
        const size_t rounds = events < 20'000'000 ? 3 : 1;
        std::vector<double> wall, cpu;
        Memory most;
        for (size_t round = 0; round < rounds; ++round) {
            Cost inserted, closed;
            insertPlainly(inserted);
            if (QTest::currentTestFailed()) return;
            MemoryWatch memory;
            close(closed);
            if (QTest::currentTestFailed()) return;
            const Memory used = memory.stop();
            most = {std::max(most.own, used.own), std::max(most.mapped, used.mapped)};
            wall.push_back(closed.wall / inserted.wall);
            cpu.push_back(closed.cpu / inserted.cpu);
            qInfo(
                "%lld rows: closed in %.2f s (CPU %.2f s), inserted in %.2f s (CPU %.2f s): %.2f times on the wall,"
                " %.2f of CPU; at most %.0f MiB of memory of its own and %.0f MiB of files mapped",
                static_cast<long long>(rows_), closed.wall, closed.cpu, inserted.wall, inserted.cpu, wall.back(),
                cpu.back(), most.own / (1 << 20), most.mapped / (1 << 20));
        }
        std::sort(wall.begin(), wall.end());
        std::sort(cpu.begin(), cpu.end());
        qInfo("median: %.2f times on the wall, %.2f of CPU", wall[rounds / 2], cpu[rounds / 2]);
        if (qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") == 0) return;
        QVERIFY(wall[rounds / 2] <= maxTimesInsert);
        QVERIFY(most.own <= mostOwnBytes);
    }

  private:
    std::filesystem::path source() const { return folder_ / "source.sqlite"; }

    static int64_t eventCount() {
        const int64_t asked = qEnvironmentVariableIntValue("LANESCOPE_BENCH_EVENTS");
        return asked > 0 ? asked : 1'000'000;
    }

    void makeTrace(int64_t wanted) {
        TrainingSimulation simulation(1);
        auto writer = TraceFileWriter::create(source(), FileKind::Native, simulation.names());
        QVERIFY(writer.has_value());
        StepRows step;
        for (int64_t count = 0; count < wanted; count += step.count()) {
            simulation.nextStep(step);
            QVERIFY(writer->write(step).has_value());
        }
        QVERIFY(writer->finish(simulation.endNs()).has_value());
    }

    /// Closes like `record` after the last log: the summary is stored during writing, then the
    /// write-ahead log is merged, then come index, disk and name.
    void close(Cost& cost) {
        const std::filesystem::path trace = folder_ / "closed.sqlite";
        const std::filesystem::path partial = folder_ / "closed.sqlite.partial";
        std::filesystem::copy_file(source(), partial);
        const Stopwatch watch;
        PartWatch parts;
        parts.begin("rows");
        TraceClosing closing(parts.progress());
        {
            Result<Database> database = openForWriting(partial);
            QVERIFY(database.has_value());
            capture::beginLiveJournal(*database);
            QVERIFY(closing.storeSummary(*database).has_value());
            QVERIFY(capture::endLiveJournal(*database).has_value());
        }
        QVERIFY(capture::settleJournal(partial).has_value());
        QVERIFY(sealPages(partial).has_value());
        QVERIFY(closing.writeIndex(partial, trace).has_value());
        parts.begin("to disk");
        QVERIFY(publishFile(partial, trace, IfExists::Fail).has_value());
        const Result<TracePtr> opened = openTrace(trace, OpenOptions{.mayWrite = false});
        QVERIFY(readRunSummary(trace).has_value());
        cost = watch.cost();
        qInfo("%s", parts.text().c_str());
        QVERIFY(opened.has_value() && (*opened)->backing != nullptr);
        std::filesystem::remove(trace);
        std::filesystem::remove(trace.string() + ".lanescope-index");
    }

    /// Writes the same rows into the same tables: one transaction of prepared statements, and to
    /// disk. Reading them from the source does not count.
    void insertPlainly(Cost& cost) {
        const std::filesystem::path path = folder_ / "inserted.sqlite";
        const Result<Database> from = Database::openReadOnly(source());
        QVERIFY(from.has_value());
        Result<Database> to = Database::create(path);
        QVERIFY(to.has_value() && createTraceTables(*to) && to->execute("DELETE FROM StringIds").has_value());
        rows_ = 0;
        {
            const Stopwatch watch;
            QVERIFY(to->execute("BEGIN").has_value());
            cost += watch.cost();
        }
        for (const std::string& table : from->tables()) {
            if (!to->hasTable(table) || table.starts_with("ENUM_")) continue;
            copyRows(*from, *to, table, cost);
            if (QTest::currentTestFailed()) return;
        }
        const Stopwatch watch;
        QVERIFY(to->execute("COMMIT").has_value());
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        QVERIFY(file >= 0 && ::fsync(file) == 0);
        ::close(file);
        cost += watch.cost();
        to = fail("closed");
        std::filesystem::remove(path);
    }

    void copyRows(const Database& from, Database& to, const std::string& table, Cost& cost) {
        auto select = from.prepare(fmt::format("SELECT * FROM \"{}\"", table));
        QVERIFY(select.has_value());
        std::string columns, parameters;
        const int count = select->columnCount();
        for (int column = 0; column < count; ++column) {
            columns += fmt::format("{}\"{}\"", column > 0 ? ", " : "", select->columnName(column));
            parameters += fmt::format("{}?{}", column > 0 ? ", " : "", column + 1);
        }
        auto insert = to.prepare(fmt::format("INSERT INTO \"{}\" ({}) VALUES ({})", table, columns, parameters));
        QVERIFY2(insert.has_value(), insert ? "" : insert.error().sentence.c_str());
        constexpr size_t rowsAtOnce = 8192;
        std::vector<Value> values;
        values.reserve(rowsAtOnce * static_cast<size_t>(count));
        for (bool isMore = true; isMore;) {
            values.clear();
            while (isMore && values.size() < rowsAtOnce * static_cast<size_t>(count)) {
                const auto row = select->step();
                isMore = row && *row;
                for (int column = 0; isMore && column < count; ++column) values.push_back(valueOf(*select, column));
            }
            const Stopwatch watch;
            for (size_t first = 0; first < values.size(); first += static_cast<size_t>(count)) {
                for (int column = 0; column < count; ++column)
                    bindValue(*insert, column + 1, values[first + static_cast<size_t>(column)]);
                QVERIFY(insert->run().has_value());
                ++rows_;
            }
            cost += watch.cost();
        }
    }

    TemporaryFolder folder_;
    int64_t rows_ = 0;
};

QTEST_APPLESS_MAIN(bench_Close)
#include "bench_Close.moc"
