// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/symbolNames.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

class tst_symbolNames : public QObject {
    Q_OBJECT

  private slots:
    void demanglesNames() {
        QCOMPARE(demangled("_ZN2at6native4fillIfEEvi"), "void at::native::fill<float>(int)");
        QCOMPARE(demangled("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
        QCOMPARE(demangled("_Znonsense"), "_Znonsense");
        QCOMPARE(demangled(""), "");
    }

    /// Each back reference may double the length; names that may exceed 1 MiB are not demangled.
    void namesWithManyBackReferencesStayMangled() {
        std::string name = "_Z1fN1a1bE";
        for (int parameter = 0; parameter < 30; ++parameter) name += "S0_";
        QCOMPARE(demangled(name), name);
    }

    /// Each template argument is the previous one, twice: 24 of them are a gigabyte, 40 never end.
    void hugeExpansionStaysMangled_data() {
        QTest::addColumn<int>("depth");
        for (const int depth : {14, 24, 40}) QTest::addRow("%d", depth) << depth;
    }
    void hugeExpansionStaysMangled() {
        QFETCH(int, depth);
        // f(a<b, b>, a<S, S>, a<S1, S1>, ...), with substitutions for earlier parts.
        const auto reference = [](int number) {
            static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
            std::string text;
            for (int rest = number - 1; number > 0; rest = rest / 36 - 1) {
                text.insert(text.begin(), digits[rest % 36]);
                if (rest < 36) break;
            }
            return "S" + text + "_";
        };
        std::string name = "_Z1f1aI1bS0_E";  // candidates: a, b, a<b, b>
        for (int level = 1; level < depth; ++level)
            name += reference(0) + "I" + reference(level + 1) + reference(level + 1) + "E";
        const std::string text = demangled(name);
        QCOMPARE(text, name);
    }

    void shortensNames_data() {
        QTest::addColumn<QString>("full");
        QTest::addColumn<QString>("brief");
        QTest::newRow("plain") << "gemm"
                               << "gemm";
        QTest::newRow("parameters") << "saxpy(int, float*)"
                                    << "saxpy";
        QTest::newRow("template") << "void at::native::fill<4, std::array<char*, 1ul> >(int)"
                                  << "fill";
        QTest::newRow("anonymous") << "void (anonymous namespace)::kernel<float>(float)"
                                   << "kernel";
        QTest::newRow("inner anonymous")
            << "void at::native::(anonymous namespace)::softmax<8>(int, (anonymous namespace)::T)"
            << "softmax";
        QTest::newRow("call operator") << "void Functor::operator()<int>(int) const"
                                       << "operator()";
        QTest::newRow("shift operator") << "Stream& operator<<<int>(Stream&, int)"
                                        << "operator<<";
        QTest::newRow("clone") << "foo(int) [clone .kd]"
                               << "foo";
        QTest::newRow("scoped template") << "Outer<a::B>::run<c::D>(e::F)"
                                         << "run";
        QTest::newRow("empty") << ""
                               << "";
        QTest::newRow("unbalanced") << "foo<bar("
                                    << "foo";
    }
    void shortensNames() {
        QFETCH(QString, full);
        QFETCH(QString, brief);
        const std::string name = full.toStdString();
        QCOMPARE(QString::fromStdString(std::string(shortFunctionName(name))), brief);
    }

    void everyTruncationOfANameIsSafe() {
        const std::string name =
            "void at::(anonymous namespace)::f<4, "
            "x>::operator()<int>(int)::{lambda(a<b>)#1}::run(c)";
        for (size_t from = 0; from <= name.size(); ++from)
            for (size_t length = 0; from + length <= name.size(); ++length) {
                const std::string part = name.substr(from, length);
                QVERIFY(shortFunctionName(part).size() <= part.size());
            }
    }
};

LANESCOPE_TEST(tst_symbolNames, QCoreApplication)
#include "tst_symbolNames.moc"
