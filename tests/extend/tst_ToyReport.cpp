// SPDX-License-Identifier: Apache-2.0
#include "tests/extend/toyReport.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class tst_ToyReport : public QObject {
    Q_OBJECT

  private slots:
    void toyReportIsMade() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addKernel(stream, "first", 0, 100);
        builder.addKernel(stream, "second", 200, 300);
        const TracePtr trace = builder.finish();
        const ReportTable whole = makeReport(toyReport, {*trace});
        QCOMPARE(whole.name, std::string("toy_kernels"));
        QCOMPARE(whole.title, std::string("Kernels by Stream"));
        QCOMPARE(whole.rows.size(), size_t{1});
        QVERIFY(whole.rows[0] == (std::vector<Cell>{int64_t{7}, int64_t{2}}));
        int parts = 0;
        makeReportInParts(toyReport, {*trace, TimeRange{0, 150}}, [&](const ReportTable& part) {
            ++parts;
            return part.rows[0][1] == Cell(int64_t{1});
        });
        QCOMPARE(parts, 1);
        QVERIFY(!findReport("toy_kernels"));  // the product does not have it
    }
};

LANESCOPE_TEST(tst_ToyReport, NoApplication)
#include "tst_ToyReport.moc"
