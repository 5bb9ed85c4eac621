// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/ViewerOptions.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::viewer;

namespace {

Result<ViewerOptions, int> parse(std::initializer_list<const char*> arguments) {
    std::vector<const char*> all{"lanescope-viewer"};
    all.insert(all.end(), arguments);
    return parseViewerOptions(int(all.size()), all.data());
}

}  // namespace

class TestViewerOptions : public QObject {
    Q_OBJECT
  private slots:
    void filesOpenInTheirOrder() {
        const auto options = parse({"a.lanescope", "b.sqlite"});
        QVERIFY(options.has_value());
        QCOMPARE(options->files.size(), size_t(2));
        QCOMPARE(options->files[1].string(), std::string("b.sqlite"));
        QVERIFY(!options->isComparison);
        QVERIFY(!options->render);
    }

    void compareTakesBaselineAndCandidate() {
        const auto options = parse({"--compare", "a", "b"});
        QVERIFY(options.has_value());
        QVERIFY(options->isComparison);
        QCOMPARE(options->files[0].string(), std::string("a"));
        QCOMPARE(parse({"--compare", "a"}).error(), 2);
    }

    void severalRunsPerSideAreTwoPrograms() {
        const auto options = parse({"--baseline", "a1", "a2", "--candidate", "b1", "b2", "b3"});
        QVERIFY(options.has_value());
        QVERIFY(options->isComparison);
        QCOMPARE(options->baselineRuns, size_t(2));
        QCOMPARE(options->files.size(), size_t(5));
        QCOMPARE(options->files[2].string(), std::string("b1"));
        QCOMPARE(parse({"--compare", "a", "b"})->baselineRuns, size_t(0));
        QCOMPARE(parse({"--baseline", "a1", "a2"}).error(), 2);
        QCOMPARE(parse({"--candidate", "b1"}).error(), 2);
        QCOMPARE(parse({"--compare", "a", "b", "--baseline", "c", "--candidate", "d"}).error(), 2);
    }

    void renderAcceptsSizeThemeAndSelection() {
        const auto options = parse({"a", "--render", "p.png", "--size", "800x600", "--theme", "dark", "--select",
                                    "10ms:25.5ms", "--find", "gemm"});
        QVERIFY(options.has_value());
        QVERIFY(options->render.has_value());
        QCOMPARE(options->render->size, QSize(800, 600));
        QVERIFY(options->render->isDark);
        QCOMPARE(options->render->select, std::optional(TimeRange{10'000'000, 25'500'000}));
        QCOMPARE(options->render->find, std::string("gemm"));
    }

    void usageErrorsEndWithStatusTwo() {
        QCOMPARE(parse({"--no-such-option"}).error(), 2);
        QCOMPARE(parse({"a", "--render", "p.png", "--size", "huge"}).error(), 2);
        QCOMPARE(parse({"a", "--size", "800x600"}).error(), 2);
        QCOMPARE(parse({"--version"}).error(), 0);
        QCOMPARE(parse({"--help"}).error(), 0);
    }

    void rangesAcceptUnits_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<qlonglong>("start");
        QTest::addColumn<qlonglong>("end");
        QTest::newRow("milliseconds") << "1.5ms:2ms" << 1'500'000ll << 2'000'000ll;
        QTest::newRow("seconds by default") << "0.5:1" << 500'000'000ll << 1'000'000'000ll;
        QTest::newRow("mixed") << "10ns:1us" << 10ll << 1'000ll;
    }
    void rangesAcceptUnits() {
        QFETCH(QString, text);
        QFETCH(qlonglong, start);
        QFETCH(qlonglong, end);
        const auto range = parseTimeRange(text.toStdString());
        QVERIFY(range.has_value());
        QCOMPARE(*range, (TimeRange{start, end}));
    }

    void nonsenseIsNoRangeAndNoSize() {
        for (const char* text :
             {"", ":", "1s", "2s:1s", "1s:1s", "a:b", "1d:2d", "nan:inf", "1e300:1e301", "0s:1s:2s"}) {
            QVERIFY2(!parseTimeRange(text).has_value(), text);
        }
        for (const char* text : {"", "x", "100x", "800x600x2", "10x10", "99999x600", "-800x600"}) {
            QVERIFY2(!parseSize(text).has_value(), text);
        }
    }
};

LANESCOPE_TEST(TestViewerOptions, NoApplication)
#include "tst_ViewerOptions.moc"
