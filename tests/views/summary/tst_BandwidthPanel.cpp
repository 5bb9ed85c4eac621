#include <qcustomplot.h>

#include <QSignalSpy>
#include <QTest>

#include "model/summary/Bandwidth.h"
#include "tests/support/TraceBuilder.h"
#include "views/summary/BandwidthChart.h"
#include "views/summary/BandwidthPanel.h"
#include "views/summary/ReportModel.h"
#include "views/summary/ReportView.h"

using namespace lanescope;

namespace {

/// Fast pinned copies first, slow pageable ones later, and one inside the GPU.
TracePtr simulatedCopies() {
    TraceBuilder builder;
    const uint32_t stream = builder.defaultStream();
    builder.addMemcpy(stream, MemcpyKind::HtoD, 5'000'000, 0, 100'000);
    builder.addMemcpy(stream, MemcpyKind::HtoD, 6'000'000, 200'000, 300'000);
    builder.addMemcpy(stream, MemcpyKind::DtoD, 200'000'000, 400'000, 500'000, 0,
                      MemoryKind::Device, MemoryKind::Device);
    builder.addMemcpy(stream, MemcpyKind::HtoD, 1'000'000, 1'000'000, 1'100'000, 0,
                      MemoryKind::Pageable);
    return builder.finish();
}

void compareWithModel(const ReportView& view, const std::vector<BandwidthRow>& rows) {
    const ReportModel& model = view.model();
    QCOMPARE(model.rowCount(), int(rows.size()));
    const auto cell = [&](int row, const char* columnName) {
        for (int column = 0; column < model.columnCount(); ++column) {
            if (model.headerData(column, Qt::Horizontal).toString() == QLatin1String(columnName)) {
                return model.index(row, column).data(ReportModel::SortRole);
            }
        }
        return QVariant();
    };
    for (int row = 0; row < model.rowCount(); ++row) {
        const BandwidthRow& expected = rows[size_t(row)];
        QCOMPARE(cell(row, "Count").toLongLong(), expected.count);
        QCOMPARE(cell(row, "Total").toLongLong(), expected.bytes);
        QCOMPARE(cell(row, "Total Time").toLongLong(), expected.timeNs);
        QCOMPARE(cell(row, "Min").toDouble(), expected.minimumGBps);
        QCOMPARE(cell(row, "Med").toDouble(), expected.medianGBps);
        QCOMPARE(cell(row, "Mean").toDouble(), expected.meanGBps());
        QCOMPARE(cell(row, "Max").toDouble(), expected.maximumGBps);
    }
}

void waitForRows(BandwidthPanel& panel) {
    QTRY_VERIFY(!panel.isStale());
}

}  // namespace

class TestBandwidthPanel : public QObject {
    Q_OBJECT
  private slots:
    void showsWhatTheModelCounts() {
        const TracePtr trace = simulatedCopies();
        BandwidthPanel panel;
        panel.show();
        panel.setTrace(trace);
        waitForRows(panel);
        compareWithModel(panel.wholeView(), bandwidthByKind(*trace));
        QVERIFY(panel.selectedView().isHidden() || !panel.selectedView().isVisible());
    }

    void countsASelectedRangeBesideTheWholeTrace() {
        const TracePtr trace = simulatedCopies();
        const TimeRange range{900'000, 1'200'000};
        BandwidthPanel panel;
        panel.show();
        panel.setTrace(trace);
        panel.setRange(range);
        waitForRows(panel);
        compareWithModel(panel.wholeView(), bandwidthByKind(*trace));
        compareWithModel(panel.selectedView(), bandwidthByKind(*trace, range));
        QVERIFY(panel.selectedView().isVisible());
        panel.setRange(std::nullopt);
        waitForRows(panel);
        QVERIFY(!panel.selectedView().isVisible());
    }

    void countsNothingWhileItIsNotOnTheScreen() {
        BandwidthPanel panel;
        panel.setTrace(simulatedCopies());
        QTest::qWait(30);
        QVERIFY(panel.isStale());
        QSignalSpy updated(&panel, &BandwidthPanel::updated);
        panel.show();
        QVERIFY(updated.wait());
        QVERIFY(!panel.isStale());
    }

    void theChartHasABarForEachKindAndARangeOfRates() {
        BandwidthPanel panel;
        panel.show();
        const TracePtr trace = simulatedCopies();
        panel.setTrace(trace);
        waitForRows(panel);
        const QCustomPlot& plot = panel.chart().plot();
        QCOMPARE(plot.plottableCount(), 2 * int(bandwidthByKind(*trace).size()));
        // Copies inside a GPU are a hundred times as fast as pageable ones.
        QCOMPARE(plot.yAxis->scaleType(), QCPAxis::stLogarithmic);
    }

    void aTraceWithoutCopiesSaysSo() {
        BandwidthPanel panel;
        panel.show();
        TraceBuilder builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 10);
        panel.setTrace(builder.finish());
        waitForRows(panel);
        QCOMPARE(panel.wholeView().model().rowCount(), 0);
    }
};

QTEST_MAIN(TestBandwidthPanel)
#include "tst_BandwidthPanel.moc"
