// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/TracePage.h"
#include "app/viewer/tracePanels.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "views/theme/Theme.h"

using namespace lanescope;
using namespace lanescope::views;
using namespace lanescope::viewer;

namespace {

/// The number of graphics kernels in the selected range.
class ToyPanel : public Panel {
  public:
    ToyPanel() : count_(new QLabel(this)) {
        auto* layout = new QVBoxLayout(this);
        layout->addWidget(count_);
    }
    void setTrace(TracePtr trace) override {
        trace_ = std::move(trace);
        refresh();
    }
    void setRange(std::optional<TimeRange> range) override {
        range_ = range;
        refresh();
    }
    void setTheme(const Theme& theme) override { color = theme.text; }
    QString text() const { return count_->text(); }

    QColor color;

  private:
    void refresh() {
        const KernelTable& kernels = trace_->kernels;
        int count = 0;
        for (uint32_t row = 0; row < kernels.size(); ++row)
            if (!range_ || range_->overlaps({kernels.startNs[row], kernels.endNs[row]})) ++count;
        count_->setText(QString::number(count));
    }

    TracePtr trace_;
    std::optional<TimeRange> range_;
    QLabel* count_;
};

const PanelKind toyPanel{.name = "toy",
                         .title = "Toy",
                         .make = [] { return new ToyPanel; },
                         .isUseful = [](const Trace& trace) { return trace.kernels.size() > 0; },
                         .remark = [](const Trace& trace) { return QString::number(trace.kernels.size()); }};

TracePtr traceOf(int kernels) {
    SimulatedTrace builder;
    const uint32_t stream = builder.defaultStream();
    builder.addApi(builder.defaultThread(), "cudaMalloc", 0, 50);
    for (int kernel = 0; kernel < kernels; ++kernel) builder.addKernel(stream, "gemm", 100 * kernel, 100 * kernel + 50);
    return builder.finish();
}

/// The panels of a page, and the toy.
struct ShownTables {
    explicit ShownTables(const TracePtr& trace) : page(trace) {
        std::vector<PanelKind> kinds = tracePanels(page);
        kinds.push_back(toyPanel);
        tables.addPanels(std::move(kinds), trace, firstPanel(*trace));
        tables.resize(900, 300);
        tables.show();
    }
    bool isToyVisible() { return tables.isTabVisible(tables.indexOf(&tables.tab("toy"))); }
    ToyPanel* toy() { return static_cast<ToyPanel*>(tables.tab("toy").panel()); }

    TracePage page;
    TraceTables tables;
};

}  // namespace

/// A panel that is added outside of the product.
class tst_ToyPanel : public QObject {
    Q_OBJECT

  private slots:
    void receivesTraceRangeAndTheme() {
        ShownTables shown(traceOf(3));
        shown.tables.setRange(TimeRange{0, 120});
        shown.tables.setTheme(Theme::dark());
        QVERIFY(!shown.toy());  // created when first shown
        shown.tables.setCurrentWidget(&shown.tables.tab("toy"));
        QTRY_VERIFY(shown.toy());
        QCOMPARE(shown.toy()->text(), QString("2"));
        QCOMPARE(shown.toy()->color, Theme::dark().text);
        shown.tables.setRange(std::nullopt);
        QCOMPARE(shown.toy()->text(), QString("3"));
        shown.tables.setTheme(Theme::light());
        QCOMPARE(shown.toy()->color, Theme::light().text);
        shown.tables.setTrace(traceOf(5));
        QCOMPARE(shown.toy()->text(), QString("5"));
        const int tab = shown.tables.indexOf(&shown.tables.tab("toy"));
        QCOMPARE(shown.tables.tabText(tab), QString("Toy (5)"));
    }

    void isInvisibleInATraceWithoutItsData() {
        ShownTables shown(traceOf(0));
        QVERIFY(!shown.isToyVisible());
        shown.tables.setTrace(traceOf(1));
        QVERIFY(shown.isToyVisible());
    }
};

LANESCOPE_TEST(tst_ToyPanel, QApplication)
#include "tst_ToyPanel.moc"
