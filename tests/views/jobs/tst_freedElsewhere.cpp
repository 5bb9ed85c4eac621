// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/runTest.h"
#include "views/jobs/LatestJob.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Object that records the thread of its destruction.
struct Noted {
    std::atomic<QThread*>& freedOn;
    ~Noted() { freedOn = QThread::currentThread(); }
};

}  // namespace

class tst_freedElsewhere : public QObject {
    Q_OBJECT

  private slots:
    void lastOwnerDoesNotFreeIt() {
        std::atomic<QThread*> freedOn{nullptr};
        auto value = freedInBackground(std::shared_ptr<const Noted>(new Noted{freedOn}));
        auto other = value;
        value.reset();
        QThreadPool::globalInstance()->waitForDone();
        QVERIFY(freedOn == nullptr);
        other.reset();
        QThreadPool::globalInstance()->waitForDone();
        QVERIFY(freedOn != nullptr);
        QVERIFY(freedOn != QThread::currentThread());
    }

    void emptyPointerStaysEmpty() { QVERIFY(!freedInBackground(std::shared_ptr<int>())); }
};

LANESCOPE_TEST(tst_freedElsewhere, QCoreApplication)
#include "tst_freedElsewhere.moc"
