// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/fleet/FleetReport.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "model/merge/mergeFiles.h"
#include "tests/support/files.h"
#include "tests/support/fleetReport.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::fleet;
namespace fs = std::filesystem;

class tst_FleetReport : public QObject {
    Q_OBJECT

  private slots:
    void reportRoundTrips() {
        const fs::path path = made("whole.sqlite", {});
        QVERIFY(isFleetReport(path));
        const auto report = test::orFail(readFleetReport(path));
        const FleetReport& made = *report;
        QCOMPARE(test::listed(made.ranks.size(), made.steps.size()), "8 | 20");
        QCOMPARE(test::listed(made.steps[0], made.ranks[5].machine), "100 | node1");
        QCOMPARE(made.ranks[5].localRank, std::optional<int64_t>(1));
        QCOMPARE(made.valueOf(Measure::Time, 5, 3), 1e8F);
        QCOMPARE(made.valueOf(Measure::OwnTime, 5, 3), 6e7F);
        QCOMPARE(made.valueOf(Measure::Waiting, 5, 3), 4e7F);
        QCOMPARE(made.valueOf(Measure::Launching, 5, 3), 4e6F);
        // The slow rank takes 20 % longer from the middle on.
        QVERIFY(std::abs(made.lateNs(5, 15) - 1.2e7F) < 10 && std::abs(made.ranks[5].lostNs - 1.2e8) < 100);
        QCOMPARE(test::listed(made.ranks[0].lostNs, made.rowOf(5)), test::listed(0.0, std::optional<size_t>(5)));
        QVERIFY(!made.rowOf(99));
        QCOMPARE(made.columnsOf({105, 109}), (std::pair<size_t, size_t>(5, 10)));
        QCOMPARE(made.columnsOf({500, 510}).first, made.columnsOf({500, 510}).second);
        QCOMPARE(made.findings.size(), size_t{1});
        QCOMPARE(made.findings[0].ranks, std::vector<int64_t>{5});
        QCOMPARE(made.findings[0].shownRanks, (std::vector<int64_t>{5, 4, 1}));
        QCOMPARE(made.findings[0].steps, (std::optional<StepRange>({110, 114})));
        QCOMPARE(made.medianStepNs(), 1e8);
        QVERIFY(made.notes.empty());
    }

    void outliersAreHighlighted() {
        const auto report = test::orFail(readFleetReport(made("strong.sqlite", {})));
        const MapScale scale = scaleOf(*report, Measure::Late);
        QCOMPARE(scale.low, -scale.high);
        QVERIFY(scale.shareOf(report->valueOf(Measure::Late, 5, 15)) > 0.7F);
        QCOMPARE(scale.shareOf(report->valueOf(Measure::Late, 0, 15)), 0.0F);
        QVERIFY(std::isnan(scale.shareOf(std::numeric_limits<float>::quiet_NaN())));
        for (size_t each = 0; each < measureCount; ++each) {
            const MapScale other = scaleOf(*report, static_cast<Measure>(each));
            QVERIFY(other.high >= other.low);
            QVERIFY(!name(static_cast<Measure>(each)).empty());
        }
    }

    void ranksAreSorted() {
        const auto report = test::orFail(readFleetReport(made("order.sqlite", {})));
        const OrderedRows machines = ordered(*report, RowOrder::Machine);
        QCOMPARE(machines.groups.size(), size_t{2});
        QCOMPARE(test::listed(machines.groups[1].label, machines.groups[1].first), "node1 | 4");
        QCOMPARE(machines.groups[1].count, size_t{4});
        const OrderedRows lost = ordered(*report, RowOrder::Lost);
        QCOMPARE(lost.rows.front(), 5U);
        QVERIFY(lost.groups.empty());
        QCOMPARE(ordered(*report, RowOrder::Role).groups.size(), size_t{1});
        QCOMPARE(ordered(*report, RowOrder::Rank).rows[5], 5U);
    }

    void wrongTypesAndNumbersAreSkipped() {
        const fs::path path = made("wrong.sqlite", {});
        edit(path,
             "UPDATE steps SET wall_ns = 'long' WHERE rank = 0 AND step = 100;"
             "UPDATE steps SET wall_ns = -5, against_role = 1e300 WHERE rank = 0 AND step = 101;"
             "UPDATE steps SET communication_ns = 9223372036854775807 WHERE rank = 0 AND step = 102;"
             "UPDATE steps SET against_role = x'00ff' WHERE rank = 0 AND step = 103;"
             "UPDATE ranks SET machine = 17, trace = zeroblob(1000000) WHERE rank = 1;"
             "UPDATE ranks SET machine = 'a' || char(27) || '[31m' WHERE rank = 2;"
             "UPDATE findings SET ranks = '5,x,-1,99999999999999999999,5', first_step = 9, "
             "last_step = 3, lost_ns = -7, sentence = NULL;"
             "INSERT INTO steps VALUES (77, 100, 0, 1, 0, 0, 0, 0, 0, 0)");
        const auto report = test::orFail(readFleetReport(path));
        const FleetReport& made = *report;
        QVERIFY(std::isnan(made.valueOf(Measure::Time, 0, 0)) && std::isnan(made.valueOf(Measure::Time, 0, 1)));
        QVERIFY(std::isnan(made.valueOf(Measure::Late, 0, 1)));
        QVERIFY(std::isnan(made.valueOf(Measure::OwnTime, 0, 2)));
        QVERIFY(std::isnan(made.valueOf(Measure::Late, 0, 3)));
        QVERIFY(std::isfinite(made.ranks[0].lostNs));
        QCOMPARE(made.ranks[1].machine, std::string("17"));
        QVERIFY(made.ranks[1].trace.size() <= 4096);
        QVERIFY(made.ranks[2].machine.find(char(27)) == std::string::npos);
        QCOMPARE(made.findings[0].ranks, (std::vector<int64_t>{5, 5}));
        QVERIFY(!made.findings[0].steps);
        QCOMPARE(test::listed(made.findings[0].lostNs, made.notes.size()), "0 | 2");
        QVERIFY(made.notes[0].starts_with("1 lists or texts of wrong.sqlite are too long"));
        QVERIFY(made.notes[1].find("invalid values of ") != std::string::npos);
    }

    void unknownFileIsRefusedInOneSentence() {
        const fs::path path = made("broken.sqlite", {});
        for (const char* table : {"ranks", "steps", "findings"}) {
            const fs::path other = folder_ / "less.sqlite";
            fs::copy_file(path, other, fs::copy_options::overwrite_existing);
            edit(other, (std::string("DROP TABLE ") + table).c_str());
            QCOMPARE(errorOf(other), other.string() + ": the table " + table +
                                         " is missing, so it cannot be shown. Create the report again "
                                         "with lanescope fleet.");
        }
        const fs::path earlier = made("earlier.sqlite", {});
        edit(earlier, "ALTER TABLE ranks DROP COLUMN lost_ns");
        QVERIFY(errorOf(earlier).find("without the losses of each rank") != std::string::npos);
        edit(path, "DROP TABLE steps; CREATE TABLE roles (role TEXT)");
        QVERIFY(errorOf(path).find("compares two jobs") != std::string::npos);
        const fs::path none = made("none.sqlite", {});
        edit(none, "DELETE FROM steps");
        QVERIFY(errorOf(none).find("nothing to show") != std::string::npos);
        edit(none, "PRAGMA application_id = 5");
        QVERIFY(!isFleetReport(none));
        QVERIFY(errorOf(none).find("not a report") != std::string::npos);
        std::ofstream(folder_ / "text.sqlite") << "nothing";
        for (const char* part : {"text.sqlite", "missing.sqlite"}) QVERIFY2(!isFleetReport(folder_ / part), part);
        QVERIFY(!isFleetReport(folder_.path()));
        QVERIFY(!errorOf(folder_ / "text.sqlite").empty());
    }

    /// Ranks without a common step would take the square of their number.
    void tooManyCellsAreRefused() {
        const fs::path path = made("many.sqlite", {});
        edit(path,
             "DELETE FROM steps; DELETE FROM ranks;"
             "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3999) "
             "INSERT INTO ranks (rank, machine, role) SELECT i, 'm', 'r' FROM n;"
             "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3999) "
             "INSERT INTO steps SELECT i, i * 1000, 0, 1, 0, 0, 0, 0, 0, 0 FROM n");
        QCOMPARE(errorOf(path), path.string() +
                                    ": 4,000 ranks and 4,000 steps or more are too many for a map of "
                                    "8,388,608 cells. Create a report of fewer ranks or steps.");
    }

    void viewsAreNotReadAsTables() {
        const fs::path path = made("view.sqlite", {});
        edit(path,
             "DROP TABLE steps; CREATE VIEW steps AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL "
             "SELECT i + 1 FROM n) SELECT 0 AS rank, i AS step FROM n");
        QVERIFY(errorOf(path).find("the table steps is missing") != std::string::npos);
    }

    /// A small file could yield a thousand findings of any size.
    void computedColumnsAreRefused() {
        const fs::path path = made("computed.sqlite", {});
        edit(path, "DROP TABLE notes; CREATE TABLE notes (place INTEGER, sentence TEXT AS (hex(zeroblob(1000000))))");
        QVERIFY(errorOf(path).find("columns that lanescope fleet does not write") != std::string::npos);
    }

    /// An index counts the steps, and the table may then contain others.
    void stepsMissingInTheIndexAreSkipped() {
        const fs::path path = made("index.sqlite", {});
        edit(path,
             "DROP TABLE steps; CREATE TABLE steps (rank INTEGER, step INTEGER, wall_ns INTEGER, "
             "communication_ns INTEGER, compute_ns INTEGER, copies_ns INTEGER, loading_ns INTEGER, "
             "against_role REAL); CREATE INDEX renamed ON steps (step);"
             "CREATE TABLE other (step INTEGER); CREATE INDEX others ON other (step);"
             "INSERT INTO other VALUES (1); INSERT INTO steps VALUES (7, 1000, 9, 1, 1, 1, 1, 0);"
             "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM "
             "sqlite_master WHERE name = 'others') WHERE name = 'renamed'");
        const auto report = test::orFail(readFleetReport(path));
        QCOMPARE(report->steps, std::vector<int64_t>{1});
        QVERIFY(!report->notes.empty());
        QCOMPARE(report->notes.back(), std::string("1 invalid values of index.sqlite were skipped."));
    }

    void cancellationIsReported() {
        const fs::path path = made("cancel.sqlite", {});
        const auto report = readFleetReport(path, [](double, std::string_view) { return false; });
        QVERIFY(!report);
        QCOMPARE(report.error().sentence, path.string() + ": reading was cancelled.");
    }

    void corruptFilesNeverCrash() {
        const fs::path path = made("corrupt.sqlite", {});
        const std::string whole = contentOf(path);
        for (size_t at = 100; at < whole.size(); at += 211) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ 0x5a);
            const fs::path other = folder_ / "bit.sqlite";
            std::ofstream(other, std::ios::binary) << bytes;
            if (const auto report = readFleetReport(other); report) {
                for (const RowOrder order : {RowOrder::Machine, RowOrder::Lost})
                    QCOMPARE(ordered(**report, order).rows.size(), (*report)->ranks.size());
                scaleOf(**report, Measure::Late);
            } else {
                QVERIFY(!report.error().sentence.empty());
            }
        }
    }

    void tracesAreFoundOnlyInTheirFolder() {
        const fs::path path = made("traces.sqlite", {});
        edit(path,
             "UPDATE ranks SET trace = '../secret' WHERE rank = 0;"
             "UPDATE ranks SET trace = '/etc/passwd' WHERE rank = 1;"
             "UPDATE ranks SET trace = '' WHERE rank = 2");
        const FleetReportPtr report = *readFleetReport(path);
        for (const size_t row : {size_t{0}, size_t{1}, size_t{2}}) {
            const auto files = tracesOf(*report, {row}, "/");
            QVERIFY(!files && files.error().sentence.find("no trace of rank") != std::string::npos);
        }
        const auto missing = tracesOf(*report, {5, 6});
        QVERIFY(!missing);
        QVERIFY(missing.error().sentence.starts_with("run.5.sqlite, the trace of rank 5, is not in "));
        const fs::path elsewhere = folder_ / "elsewhere";
        fs::create_directories(elsewhere);
        std::ofstream(elsewhere / "run.5.sqlite") << "x";
        std::ofstream(elsewhere / "run.6.sqlite.gz") << "x";
        const auto found = test::orFail(tracesOf(*report, {5, 6, 5}, elsewhere));
        QCOMPARE(found, (std::vector<fs::path>{elsewhere / "run.5.sqlite", elsewhere / "run.6.sqlite.gz"}));
        // Next to the report, if the report names no folder.
        std::ofstream(folder_ / "run.7.sqlite") << "x";
        QVERIFY(tracesOf(*report, {7}));
    }

    void folderOutsideTheReportIsNotSearched() {
        const fs::path reports = folder_ / "reports";
        fs::create_directories(reports / "below");
        fs::create_directories(folder_ / "secrets");
        std::ofstream(folder_ / "secrets" / "run.5.sqlite") << "x";
        std::ofstream(reports / "below" / "run.6.sqlite") << "x";
        const auto saying = [&](const std::string& folder) {
            const fs::path path = made("reports/folder.sqlite", {});
            edit(path, ("INSERT INTO job VALUES ('" + folder + "')").c_str());
            return *readFleetReport(path);
        };
        for (const std::string& folder :
             {(folder_ / "secrets").string(), (reports / "../secrets").string(), std::string("../secrets"),
              folder_.path().string(), reports.string() + "-more"}) {
            const FleetReportPtr report = saying(folder);
            QVERIFY2(folderElsewhere(*report), folder.c_str());
            QVERIFY(!tracesOf(*report, {5}));
        }
        QCOMPARE(folderElsewhere(*saying("../secrets")), std::optional(folder_ / "secrets"));
        for (const std::string& folder : {(reports / "below").string(), reports.string() + "/", reports.string(),
                                          (reports / "x/../below").string(), std::string()})
            QVERIFY2(!folderElsewhere(*saying(folder)), folder.c_str());
        QVERIFY(tracesOf(*saying((reports / "below").string()), {6}));
        // According to the report, not to the working directory.
        QVERIFY(tracesOf(*saying("below"), {6}));
    }

    void traceOfAnotherRunIsRefused() {
        const fs::path path = made("runs.sqlite", {.ranks = 2, .perMachine = 2});
        const TracePtr trace = simulatedTraining({.steps = 8, .gpuCount = 2});
        QVERIFY(writeTraceFile(*trace, folder_ / "all.sqlite"));
        edit(path, ("UPDATE ranks SET trace = 'all.sqlite', pid = " + std::to_string(trace->processes[1].pid) +
                    " WHERE rank = 1")
                       .c_str());
        {
            const auto summary = analysis::summarizeRun(*trace);
            auto database = openForWriting(folder_ / "all.sqlite");
            QVERIFY(summary && database && announceSeal(*database) && analysis::writeRunSummary(*database, *summary));
        }
        // As `record` leaves the file; a file that other programs wrote to loses its stored values.
        QVERIFY(sealPages(folder_ / "all.sqlite"));
        QVERIFY(tracesOf(**readFleetReport(path), {1}));
        edit(path, "UPDATE ranks SET pid = 99999 WHERE rank = 1");
        const auto other = tracesOf(**readFleetReport(path), {1});
        QVERIFY(!other);
        QVERIFY(other.error().sentence.find("belongs to another run than runs.sqlite") != std::string::npos);
    }

    void anyAttemptOfARankClaimsItsTrace() {
        const fs::path path = made("restarted.sqlite", {.ranks = 2, .perMachine = 2});
        const TracePtr trace = simulatedTraining({.steps = 8, .gpuCount = 2});
        QVERIFY(writeTraceFile(*trace, folder_ / "attempts.sqlite"));
        auto summary = analysis::summarizeRun(*trace);
        QVERIFY(summary && summary->workers.size() == 2);
        for (analysis::WorkerSummary& worker : summary->workers) worker.rank = 1;
        QVERIFY(summary->workers[0].pid != summary->workers[1].pid);
        {
            auto database = openForWriting(folder_ / "attempts.sqlite");
            QVERIFY(database && announceSeal(*database) && analysis::writeRunSummary(*database, *summary));
        }
        QVERIFY(sealPages(folder_ / "attempts.sqlite"));
        const auto stored = analysis::readRunSummary(folder_ / "attempts.sqlite");
        QVERIFY(stored && stored->workers.size() == 2);
        for (const auto& [pid, isOwn] : {std::pair(summary->workers[0].pid, true),
                                         std::pair(summary->workers[1].pid, true), std::pair(uint32_t{99999}, false)}) {
            edit(path, ("UPDATE ranks SET trace = 'attempts.sqlite', pid = " + std::to_string(pid) + " WHERE rank = 1")
                           .c_str());
            QCOMPARE(static_cast<bool>(tracesOf(**readFleetReport(path), {1})), isOwn);
        }
    }

    void truncationIsReported() {
        const fs::path path = made("long.sqlite", {});
        edit(path,
             "UPDATE findings SET sentence = printf('%.*c', 5000, 'x');"
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
             "INSERT INTO notes SELECT 'note ' || i FROM n;"
             "UPDATE ranks SET rank = 4294967296 WHERE rank = 7");
        const FleetReportPtr report = *readFleetReport(path);
        QCOMPARE(report->ranks.size(), size_t{7});
        QVERIFY(report->notes.size() < 1010);
        const auto isReported = [&](std::string_view words) {
            return std::any_of(report->notes.begin(), report->notes.end(),
                               [&](const std::string& note) { return note.find(words) != note.npos; });
        };
        QVERIFY(isReported("2 lists or texts of long.sqlite are too long") && isReported("invalid values of "));
    }

    void descriptionIsBounded() {
        ReportFinding finding;
        for (int64_t rank = 0; rank < 100; ++rank) finding.ranks.push_back(rank);
        finding.steps = StepRange{10, 1000};
        QCOMPARE(tellingPart(finding).ranks.size(), maxShownRanks);
        QCOMPARE(tellingPart(finding).steps, (std::optional<StepRange>({10, 17})));
        finding.shownRanks = {3, 4};
        QCOMPARE(tellingPart(finding).ranks, (std::vector<int64_t>{3, 4}));
        FleetReport none;
        QVERIFY(!tellingPart(none));
        QCOMPARE(tellingPart(**readFleetReport(made("telling.sqlite", {})))->ranks, (std::vector<int64_t>{5, 4, 1}));
    }

    void suggestedCommandsAreLanescopeCommands() {
        const fs::path path = made("command.sqlite", {});
        const auto commandOf = [&](const std::string& command) {
            editReport(path, "UPDATE findings SET command = '" + command + "'");
            return (*readFleetReport(path))->findings.front().command;
        };
        QCOMPARE(commandOf("lanescope view --merge a.sqlite ''b c.sqlite'' --steps 1-2"),
                 std::string("lanescope view --merge a.sqlite 'b c.sqlite' --steps 1-2"));
        for (const char* other : {"curl x", "lanescope info a; rm -r b", "lanescope info $(id)", "lanescope info `id`",
                                  "lanescope info a | sh", "lanescope info a > b", "lanescope info ''a",
                                  "lanescope info \"a\"", "lanescope info a & b"})
            QVERIFY2(commandOf(other).empty(), other);
    }

    void reportNextToTracesIsNotATrace() {
        const fs::path job = folder_ / "job";
        fs::create_directories(job);
        ReportMaker{}.write(job / "fleet.sqlite");
        for (const char* name : {"run.0.sqlite", "run.1.sqlite"}) std::ofstream(job / name) << "x";
        for (const fs::path& word : {job, job / "*.sqlite"}) {
            const auto files = test::orFail(filesMeantBy(std::vector{word.string()}));
            QCOMPARE(files.size(), size_t{2});
            QCOMPARE(files.front().filename().string(), std::string("run.0.sqlite"));
        }
        // A file named explicitly is meant.
        QCOMPARE(filesMeantBy(std::vector{(job / "fleet.sqlite").string()})->size(), size_t{1});
    }

  private:
    fs::path made(const char* name, const ReportMaker& maker) {
        const fs::path path = folder_ / name;
        fs::remove(path);
        maker.write(path);
        return path;
    }
    void edit(const fs::path& path, const char* sql) { editReport(path, sql); }
    std::string errorOf(const fs::path& path) {
        const auto report = readFleetReport(path);
        return report ? std::string() : report.error().sentence;
    }

    TemporaryFolder folder_;
};

LANESCOPE_TEST(tst_FleetReport, NoApplication)
#include "tst_FleetReport.moc"
