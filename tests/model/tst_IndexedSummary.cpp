// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "model/explain/Explanation.h"
#include "model/export/traceFile.h"
#include "model/importers/TraceFormat.h"
#include "model/index/indexedSummary.h"
#include "model/index/openTrace.h"
#include "model/pages/makeComparison.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/sampleExports.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using analysis::RunSummary;

/// The summary of a trace that has none of its own, stored with its index.
class tst_IndexedSummary : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((*folder_ / "cache").string()));
        path_ = *folder_ / "trace.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 8}), path_).has_value());
        stored_ = summaryPathOf(indexPaths(path_).front());
        const auto made = analysis::summarizeRun(**loadTrace(path_));
        QVERIFY(made.has_value() && made->workers.front().steps.size() > 3);
        made_ = *made;
        opened_ = 0;
    }

    void secondSummaryReadsNoEvents() {
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, 1);
        QVERIFY(std::filesystem::exists(stored_));
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, 1);
        // Not even the index is needed.
        std::filesystem::remove(indexPaths(path_).front());
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, 1);
    }

    void everySampleIsExplainedAsWithoutIndex() {
        int stored = 0, all = 0;
        std::vector<std::filesystem::path> samples = sampleExports();
        const std::filesystem::path source = LANESCOPE_SOURCE_DIR;
        for (const char* name :
             {"resources/samples/resnet152-nvlink.sqlite.gz", "tests/golden/compare-pairs/stall.sqlite.gz",
              "tests/golden/compare-pairs/workers0.sqlite.gz"})
            samples.push_back(source / name);
        for (const std::filesystem::path& sample : samples) {
            path_ = folder_->path() / sample.filename();
            std::filesystem::copy_file(sample, path_);
            const auto trace = loadTrace(path_);
            const auto made = trace ? analysis::summarizeRun(**trace) : fail(trace.error());
            if (!made) continue;
            for (int time = 0; time < 2; ++time) {
                QVERIFY2(explain::explain(summary()) == explain::explain(*made), sample.c_str());
                QVERIFY2(summary() == *made, sample.c_str());
            }
            ++all;
            stored += std::filesystem::exists(summaryPathOf(indexPaths(path_).front())) ? 1 : 0;
        }
        QVERIFY(all >= 3);
        QCOMPARE(stored, all);
    }

    void otherSelectionsAreNeitherStoredNorAnswered() {
        CompareSelection selection;
        selection.numbers = parseStepNumbers("3-4").value();
        const auto few = summarizeFile(path_.string(), selection, opener());
        QVERIFY(few.has_value() && few->workers.front().steps.size() == 2);
        QVERIFY(!std::filesystem::exists(stored_));
        QVERIFY(summary() == made_);
        const auto again = summarizeFile(path_.string(), selection, opener());
        QVERIFY(again.has_value() && *again == *few);
        QCOMPARE(opened_, 3);
    }

    void changedTraceIsSummarizedAgain() {
        QVERIFY(summary() == made_);
        std::filesystem::remove(path_);
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 6}), path_).has_value());
        const RunSummary other = summary();
        QCOMPARE(opened_, 2);
        QVERIFY(other == *analysis::summarizeRun(**loadTrace(path_)));
        QVERIFY(other != made_);
        QVERIFY(summary() == other);
        QCOMPARE(opened_, 2);
    }

    void corruptFileIsReplaced() {
        QVERIFY(summary() == made_);
        const std::string whole = contentOf(stored_);
        std::vector<std::string> wrong{"", whole.substr(0, 10), whole.substr(0, whole.size() / 2),
                                       whole.substr(0, whole.size() - 1), whole + "x"};
        // The header, and places in the tables.
        for (size_t byte = 0; byte < whole.size(); byte += byte < 64 ? 1 : whole.size() / 16) {
            wrong.push_back(whole);
            wrong.back()[byte] = static_cast<char>(wrong.back()[byte] ^ 4);
        }
        for (const std::string& content : wrong) {
            put(stored_, content);
            QVERIFY(!readIndexedSummary(path_));
        }
        const int before = opened_;
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, before + 1);
        QVERIFY(contentOf(stored_) == whole);
    }

    void corruptIndexIsReadAgain() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::filesystem::path index = indexPaths(path_).front();
        const std::string whole = contentOf(index);
        int twice = 0;
        for (int flip = 0; flip < 12; ++flip) {
            std::string damaged = whole;
            const size_t at = whole.size() / 8 + static_cast<size_t>(flip) * (whole.size() / 20);
            damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
            put(index, damaged);
            std::filesystem::remove(stored_);
            const int before = opened_;
            QVERIFY(summary() == made_);
            twice += opened_ - before == 2 ? 1 : 0;
        }
        QVERIFY(twice > 0);
    }

    void fileOfAnotherKeyIsNotUsed() {
        QVERIFY(summary() == made_);
        std::filesystem::remove(*cacheFolder("index") / "key");
        QVERIFY(!readIndexedSummary(path_));
        QVERIFY(summary() == made_);
        QVERIFY(readIndexedSummary(path_));
    }

    void fileThatOthersCanWriteIsNotUsed() {
        QVERIFY(summary() == made_);
        QCOMPARE(::chmod(stored_.c_str(), 0666), 0);
        QVERIFY(!readIndexedSummary(path_));
    }

    void summaryIsCachedIfTheFolderIsReadOnly() {
        // A folder with that name blocks even root.
        std::filesystem::create_directories(stored_ / "x");
        QVERIFY(summary() == made_);
        QVERIFY(std::filesystem::exists(summaryPathOf(indexPaths(path_).back())));
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, 1);
    }

    void traceIsSummarizedIfNothingCanBeWritten() {
        std::filesystem::create_directories(stored_ / "x");
        std::filesystem::create_directories(indexPaths(path_).front() / "x");
        std::ofstream(*folder_ / "cache") << "no folder";
        for (int time = 1; time <= 2; ++time) {
            QVERIFY(summary() == made_);
            QCOMPARE(opened_, time);
        }
    }

    void traceWithoutIndexGetsNoSummary() {
        const auto open = [](const std::filesystem::path& path) {
            return openTrace(path, {.minBytes = uint64_t{1} << 40});
        };
        QVERIFY(summarizeFile(path_.string(), {}, open).has_value());
        QVERIFY(!std::filesystem::exists(stored_));
    }

    void traceChangedWhileReadIsNotStored() {
        const auto source = sourceKeyOf(path_);
        QVERIFY(source.has_value());
        QVERIFY(writeIndexedSummary(made_, path_, *source).has_value());
        std::filesystem::remove(stored_);
        SourceKey other = *source;
        ++other.modifiedNs;
        QVERIFY(!writeIndexedSummary(made_, path_, other).has_value());
        QVERIFY(!std::filesystem::exists(stored_));
    }

    void inconsistentSummaryIsNotStored() {
        RunSummary wrong = made_;
        wrong.workers.front().steps.front().wallNs += 1;
        QVERIFY(!writeIndexedSummary(wrong, path_, *sourceKeyOf(path_)).has_value());
        QVERIFY(!std::filesystem::exists(stored_));
    }

    void concurrentWritersProduceOneSummary() {
        std::vector<std::thread> threads;
        std::array<RunSummary, 4> runs;
        std::atomic<int> opened = 0;
        const auto open = [&opened](const std::filesystem::path& path) {
            ++opened;
            return openTrace(path, {.minBytes = 0});
        };
        for (RunSummary& each : runs)
            threads.emplace_back([&] {
                if (auto run = summarizeFile(path_.string(), {}, open)) each = std::move(*run);
            });
        for (std::thread& thread : threads) thread.join();
        for (const RunSummary& each : runs) QVERIFY(each == made_);
        QVERIFY(readIndexedSummary(path_) == made_);
        size_t files = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_->path()))
            files += entry.is_regular_file() ? 1 : 0;
        QCOMPARE(files, size_t{3});
    }

    void summaryHasThePermissionsOfTheTrace() {
        for (const auto& [traces, expected] : {std::pair<mode_t, mode_t>{0600, 0600}, {0644, 0644}, {0664, 0644}}) {
            QCOMPARE(::chmod(path_.c_str(), traces), 0);
            std::filesystem::remove(stored_);
            QVERIFY(summary() == made_);
            struct stat status {};
            QCOMPARE(::stat(stored_.c_str(), &status), 0);
            QCOMPARE(status.st_mode & 0777, expected);
        }
    }

    void summaryIsRemovedWithTheIndex() {
        QVERIFY(summary() == made_);
        QCOMPARE(*removeIndexes(path_), 2);
        QVERIFY(!std::filesystem::exists(stored_));
    }

  private:
    TraceOpener opener() {
        return [this](const std::filesystem::path& path) {
            ++opened_;
            return openTrace(path, {.minBytes = 0});
        };
    }
    RunSummary summary() {
        const auto run = summarizeFile(path_.string(), {}, opener());
        return run ? *run : RunSummary{};
    }

    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path path_, stored_;
    RunSummary made_;
    int opened_ = 0;
};

LANESCOPE_TEST(tst_IndexedSummary, NoApplication)
#include "tst_IndexedSummary.moc"
