// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "capture/collector/symbolNames.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

class tst_symbolNames : public QObject {
    Q_OBJECT

  private slots:
    void demangles() {
        QCOMPARE(demangled("_ZN2at6native4fillIfEEvi"), "void at::native::fill<float>(int)");
        QCOMPARE(demangled("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
        QCOMPARE(demangled("_Znonsense"), "_Znonsense");
        QCOMPARE(demangled(""), "");
    }

    void shortens_data() {
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
    void shortens() {
        QFETCH(QString, full);
        QFETCH(QString, brief);
        const std::string name = full.toStdString();
        QCOMPARE(QString::fromStdString(std::string(shortFunctionName(name))), brief);
    }

    void everyCutOfANameIsSafe() {
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
