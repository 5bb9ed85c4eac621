// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/runTest.h"
#include "views/theme/Theme.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Returns a colour as seen without one kind of cone, after Machado, Oliveira and Fernandes (2009),
/// in linear light, in CIELAB.
std::array<double, 3> seen(const QColor& color, const std::array<double, 9>& deficiency) {
    const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    const std::array<double, 3> from{linear(color.redF()), linear(color.greenF()), linear(color.blueF())};
    std::array<double, 3> rgb{};
    for (size_t row = 0; row < 3; ++row) {
        for (size_t column = 0; column < 3; ++column) rgb[row] += deficiency[row * 3 + column] * from[column];
        rgb[row] = std::clamp(rgb[row], 0.0, 1.0);
    }
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505);
    const double y = f(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]);
    const double z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

using Matrix = std::array<double, 9>;

}  // namespace

Q_DECLARE_METATYPE(Matrix)

class tst_Theme : public QObject {
    Q_OBJECT

  private slots:
    void pagesKnowTheNumbersOfCategoriesAndParts() {
        QFile file(LANESCOPE_SOURCE_DIR "/resources/report/timelineData.js");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray script = file.readAll();
        QVERIFY(script.contains("firstPart: " + QByteArray::number(qulonglong(sliceCategoryCount))));
        QVERIFY(script.contains("partCount = " + QByteArray::number(qulonglong(analysis::stepPartCount))));
    }

    void pagesHaveTheSameColours() {
        QFile file(LANESCOPE_SOURCE_DIR "/resources/report/timelineColors.js");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString script = QString::fromUtf8(file.readAll());
        qsizetype from = 0;
        for (const Theme& theme : {Theme::light(), Theme::dark()}) {
            const auto next = [&](const char* name) {
                from = script.indexOf(QStringLiteral("%1: \"").arg(name), from);
                const qsizetype begin = script.indexOf('"', from) + 1;
                return script.mid(begin, script.indexOf('"', begin) - begin);
            };
            const auto listOf = [](const auto& colors) {
                QStringList texts;
                for (const QColor& color : colors) texts << color.name().mid(1);
                return texts.join(' ');
            };
            QCOMPARE(next("canvas"), theme.canvas.name());
            QCOMPARE(next("text"), theme.text.name());
            QCOMPARE(next("accent"), theme.accent.name());
            QCOMPARE(next("busyGpu"), theme.busyGpu.name());
            QCOMPARE(next("categories"), listOf(theme.categories));
            QCOMPARE(next("parts"), listOf(theme.parts));
            QCOMPARE(next("kernels"), listOf(theme.kernels));
            QCOMPARE(next("ranges"), listOf(theme.ranges));
        }
    }

    void textIsReadableOnEveryFill_data() { themes(); }
    void textIsReadableOnEveryFill() {
        const Theme theme = tst_Theme::theme();
        std::vector<QColor> fills(theme.categories.begin(), theme.categories.end());
        fills.insert(fills.end(), theme.kernels.begin(), theme.kernels.end());
        fills.insert(fills.end(), theme.ranges.begin(), theme.ranges.end());
        for (const QColor& fill : fills) {
            const double contrast = Theme::contrast(fill, theme.textOn(fill));
            QVERIFY2(contrast >= 4.5, qPrintable(QString("%1: %2").arg(fill.name()).arg(contrast)));
        }
    }

    void textIsReadableOnEverySurface_data() { themes(); }
    void textIsReadableOnEverySurface() {
        const Theme theme = tst_Theme::theme();
        for (const QColor& surface : {theme.window, theme.canvas, theme.band, theme.panel, theme.card}) {
            for (const QColor& ink : {theme.text, theme.mutedText, theme.information, theme.warning, theme.error,
                                      theme.faster, theme.slower}) {
                const double contrast = Theme::contrast(surface, ink);
                QVERIFY2(contrast >= 4.2,
                         qPrintable(QString("%1 on %2: %3").arg(ink.name(), surface.name()).arg(contrast)));
            }
        }
        QVERIFY(Theme::contrast(theme.accent, theme.accentText) >= 4.5);
    }

    void nameKeepsItsColour() {
        const Theme theme = Theme::light();
        const char* const name = "sm90_xmma_gemm_bf16";
        QCOMPARE(theme.colorOf(SliceCategory::Kernel, name), Theme::light().colorOf(SliceCategory::Kernel, name));
        // A fixed value: another hash would recolour every shared picture.
        const auto at =
            std::find(theme.kernels.begin(), theme.kernels.end(), theme.colorOf(SliceCategory::Kernel, name));
        const Theme dark = Theme::dark();
        QCOMPARE(dark.colorOf(SliceCategory::Kernel, name), dark.kernels[at - theme.kernels.begin()]);
        std::set<QRgb> used;
        for (int i = 0; i < 200; ++i) {
            used.insert(theme.colorOf(SliceCategory::Kernel, "kernel" + std::to_string(i)).rgb());
        }
        QCOMPARE(used.size(), theme.kernels.size());
    }

    void numbersInRangeNamesDoNotChangeTheColour() {
        const Theme theme = Theme::dark();
        QCOMPARE(theme.colorOf(SliceCategory::Nvtx, "step 1"), theme.colorOf(SliceCategory::Nvtx, "step 27"));
    }

    void copiesNcclAndKernelsAreDistinct_data() { themes(); }
    void copiesNcclAndKernelsAreDistinct() {
        const Theme theme = tst_Theme::theme();
        std::set<QRgb> colors;
        const auto categories = {SliceCategory::NcclKernel, SliceCategory::MemcpyHtoD, SliceCategory::MemcpyDtoH,
                                 SliceCategory::MemcpyDtoD, SliceCategory::MemcpyPtoP, SliceCategory::MemcpyOther,
                                 SliceCategory::Memset};
        for (const SliceCategory category : categories) colors.insert(theme.colorOf(category).rgb());
        for (const QColor& kernel : theme.kernels) colors.insert(kernel.rgb());
        QCOMPARE(colors.size(), categories.size() + theme.kernels.size());
    }

    /// Grey is for what is disabled or unknown.
    void timeThatIsAProblemHasAColour_data() { themes(); }
    void timeThatIsAProblemHasAColour() {
        using analysis::StepPart;
        const Theme theme = tst_Theme::theme();
        constexpr int minSaturation = 90;
        for (const StepPart part : {StepPart::LaunchBound, StepPart::Synchronization, StepPart::DataLoading}) {
            const QColor color = theme.colorOf(part);
            QVERIFY2(color.hsvSaturation() >= minSaturation, qPrintable(color.name()));
        }
        QVERIFY(theme.colorOf(StepPart::LaunchBound).hsvSaturation() > 150);
        // Waiting is fainter than work: it is not the brightest colour of a dark window.
        if (theme.isDark)
            QVERIFY(theme.colorOf(StepPart::WaitingForRanks).lightness() <
                    theme.colorOf(StepPart::Compute).lightness());
        for (const QColor& range : theme.ranges) QVERIFY2(range.hsvSaturation() >= 35, qPrintable(range.name()));
    }

    void unknownCategoriesHaveAColour() { QVERIFY(Theme::light().colorOf(static_cast<SliceCategory>(200)).isValid()); }

    void familiesAreDistinctForColourBlindEyes_data() {
        QTest::addColumn<Matrix>("deficiency");
        QTest::newRow("none") << Matrix{1, 0, 0, 0, 1, 0, 0, 0, 1};
        QTest::newRow("protanopia") << Matrix{0.152286, 1.052583,  -0.204868, 0.114503, 0.786281,
                                              0.099216, -0.003882, -0.048116, 1.051998};
        QTest::newRow("deuteranopia") << Matrix{0.367322, 0.860646,  -0.227968, 0.280085, 0.672501,
                                                0.047413, -0.011820, 0.042940,  0.968881};
        QTest::newRow("tritanopia") << Matrix{1.255528, -0.076749, -0.178779, -0.078411, 0.930809,
                                              0.147602, 0.004733,  0.691367,  0.303900};
    }
    void familiesAreDistinctForColourBlindEyes() {
        QFETCH(Matrix, deficiency);
        for (const Theme& theme : {Theme::light(Palette::ColorBlindSafe), Theme::dark(Palette::ColorBlindSafe)}) {
            std::vector<std::pair<QColor, QColor>> pairs;
            const auto families = {SliceCategory::Kernel,     SliceCategory::NcclKernel, SliceCategory::MemcpyHtoD,
                                   SliceCategory::MemcpyDtoH, SliceCategory::MemcpyDtoD, SliceCategory::MemcpyPtoP};
            for (const SliceCategory a : families)
                for (const SliceCategory b : families)
                    if (a < b) pairs.emplace_back(theme.colorOf(a), theme.colorOf(b));
            pairs.emplace_back(theme.faster, theme.slower);
            for (const auto& [a, b] : pairs) {
                const double difference = distance(seen(a, deficiency), seen(b, deficiency));
                QVERIFY2(difference >= 25, qPrintable(QString("%1, %2: %3").arg(a.name(), b.name()).arg(difference)));
            }
        }
    }

  private:
    static void themes() {
        QTest::addColumn<bool>("isDark");
        QTest::addColumn<Palette>("palette");
        QTest::newRow("light") << false << Palette::Standard;
        QTest::newRow("dark") << true << Palette::Standard;
        QTest::newRow("light, colour-blind safe") << false << Palette::ColorBlindSafe;
        QTest::newRow("dark, colour-blind safe") << true << Palette::ColorBlindSafe;
    }
    static Theme theme() {
        QFETCH(bool, isDark);
        QFETCH(Palette, palette);
        return isDark ? Theme::dark(palette) : Theme::light(palette);
    }
};

LANESCOPE_TEST(tst_Theme, NoApplication)
#include "tst_Theme.moc"
