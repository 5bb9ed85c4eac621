// SPDX-License-Identifier: Apache-2.0
#include "model/format/Result.h"
#include "tests/support/runTest.h"

using namespace lanescope;

/// `tests/layering/check-results` enforces that results are used.
class tst_Result : public QObject {
    Q_OBJECT

  private slots:
    void copyEqualsTheOriginal() {
        // A result converts to bool, from which a result of a bool can be constructed.
        Result<bool> no = false, failed = fail("It failed.");
        const Result<bool> copyOfNo = no, copyOfFailed = failed;
        QCOMPARE(*copyOfNo, false);
        QVERIFY(!copyOfFailed);
        QCOMPARE(copyOfFailed.error().sentence, std::string("It failed."));
        failed = no;
        QCOMPARE(*failed, false);
        const Result<bool> moved = std::move(no);
        QCOMPARE(*moved, false);
    }

    void constructibleFromArgumentsOfItsValue() {
        const Result<std::string> text = "text";
        QCOMPARE(*text, std::string("text"));
        Result<std::unique_ptr<int>> owned = std::make_unique<int>(7);
        const Result<std::shared_ptr<const int>> shared = std::move(owned);
        QCOMPARE(**shared, 7);
        const Result<void> nothing;
        QVERIFY(nothing);
    }

    void errorIsPropagated() {
        const Result<int> number = fail("There are {} of {}.", 2, "them");
        const Result<void> none = fail(number.error());
        QCOMPARE(none.error().sentence, std::string("There are 2 of them."));
    }

    void errorMayBeAStructuredType() {
        const Result<bool, int> coded = tl::unexpected(3);
        QCOMPARE(coded.error(), 3);
    }
};

LANESCOPE_TEST(tst_Result, NoApplication)
#include "tst_Result.moc"
