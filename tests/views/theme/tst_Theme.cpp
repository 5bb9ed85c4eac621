#include <QTest>
#include <set>

#include "views/theme/Theme.h"

using namespace lanescope;

class tst_Theme : public QObject {
    Q_OBJECT

  private slots:
    void textCanBeReadOnEveryFill_data() { themes(); }
    void textCanBeReadOnEveryFill();
    void textCanBeReadOnEverySurface_data() { themes(); }
    void textCanBeReadOnEverySurface();
    void aNameKeepsItsColour();
    void numbersInRangeNamesDoNotChangeTheColour();
    void copiesNcclAndKernelsAreDistinct_data() { themes(); }
    void copiesNcclAndKernelsAreDistinct();
    void unknownCategoriesHaveAColour();

  private:
    static void themes() {
        QTest::addColumn<bool>("isDark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    static Theme theme() {
        QFETCH(bool, isDark);
        return isDark ? Theme::dark() : Theme::light();
    }
};

void tst_Theme::textCanBeReadOnEveryFill() {
    const Theme theme = tst_Theme::theme();
    std::vector<QColor> fills(theme.categories.begin(), theme.categories.end());
    fills.insert(fills.end(), theme.kernels.begin(), theme.kernels.end());
    fills.insert(fills.end(), theme.ranges.begin(), theme.ranges.end());
    for (const QColor& fill : fills) {
        const double contrast = Theme::contrast(fill, theme.textOn(fill));
        QVERIFY2(contrast >= 4.5, qPrintable(QString("%1: %2").arg(fill.name()).arg(contrast)));
    }
}

void tst_Theme::textCanBeReadOnEverySurface() {
    const Theme theme = tst_Theme::theme();
    for (const QColor& surface :
         {theme.window, theme.canvas, theme.band, theme.panel, theme.card}) {
        for (const QColor& ink : {theme.text, theme.mutedText, theme.information, theme.warning,
                                  theme.error, theme.faster, theme.slower}) {
            const double contrast = Theme::contrast(surface, ink);
            QVERIFY2(
                contrast >= 4.2,
                qPrintable(QString("%1 on %2: %3").arg(ink.name(), surface.name()).arg(contrast)));
        }
    }
    QVERIFY(Theme::contrast(theme.accent, theme.accentText) >= 4.5);
}

void tst_Theme::aNameKeepsItsColour() {
    const Theme theme = Theme::light();
    const char* const name = "sm90_xmma_gemm_bf16";
    QCOMPARE(theme.colorOf(SliceCategory::Kernel, name),
             Theme::light().colorOf(SliceCategory::Kernel, name));
    // A fixed value: another hash would recolour every picture people have shared.
    const auto at = std::find(theme.kernels.begin(), theme.kernels.end(),
                              theme.colorOf(SliceCategory::Kernel, name));
    const Theme dark = Theme::dark();
    QCOMPARE(dark.colorOf(SliceCategory::Kernel, name), dark.kernels[at - theme.kernels.begin()]);
    std::set<QRgb> used;
    for (int i = 0; i < 200; ++i) {
        used.insert(theme.colorOf(SliceCategory::Kernel, "kernel" + std::to_string(i)).rgb());
    }
    QCOMPARE(used.size(), theme.kernels.size());
}

void tst_Theme::numbersInRangeNamesDoNotChangeTheColour() {
    const Theme theme = Theme::dark();
    QCOMPARE(theme.colorOf(SliceCategory::Nvtx, "step 1"),
             theme.colorOf(SliceCategory::Nvtx, "step 27"));
}

void tst_Theme::copiesNcclAndKernelsAreDistinct() {
    const Theme theme = tst_Theme::theme();
    std::set<QRgb> colors;
    const auto categories = {SliceCategory::NcclKernel, SliceCategory::MemcpyHtoD,
                             SliceCategory::MemcpyDtoH, SliceCategory::MemcpyDtoD,
                             SliceCategory::MemcpyPtoP, SliceCategory::MemcpyOther,
                             SliceCategory::Memset};
    for (const SliceCategory category : categories) colors.insert(theme.colorOf(category).rgb());
    for (const QColor& kernel : theme.kernels) colors.insert(kernel.rgb());
    QCOMPARE(colors.size(), categories.size() + theme.kernels.size());
}

void tst_Theme::unknownCategoriesHaveAColour() {
    QVERIFY(Theme::light().colorOf(static_cast<SliceCategory>(200)).isValid());
}

QTEST_APPLESS_MAIN(tst_Theme)
#include "tst_Theme.moc"
