// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
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

class tst_LatestJob : public QObject {
    Q_OBJECT

  private slots:
    void worksElsewhereAndPublishesHere() {
        LatestJob job;
        QSignalSpy finished(&job, &LatestJob::finished);
        QThread* workedOn = nullptr;
        QThread* publishedOn = nullptr;
        job.start([&]() -> LatestJob::Publish {
            workedOn = QThread::currentThread();
            return [&] { publishedOn = QThread::currentThread(); };
        });
        QVERIFY(finished.wait());
        QCOMPARE(publishedOn, QThread::currentThread());
        QVERIFY(workedOn != publishedOn);
        QVERIFY(!job.isRunning());
    }

    void outOfMemoryIsReported() {
        LatestJob job;
        QSignalSpy finished(&job, &LatestJob::finished), lost(&job, &LatestJob::ranOutOfMemory);
        job.start([]() -> LatestJob::Publish { throw std::bad_alloc(); });
        QVERIFY(finished.wait());
        QCOMPARE(lost.count(), 1);
        QVERIFY(!job.isRunning());
        // An empty answer is no lost answer.
        job.start([]() -> LatestJob::Publish { return {}; });
        QVERIFY(finished.wait());
        QCOMPARE(lost.count(), 1);
    }

    void invalidatedAnswerIsNotLost() {
        LatestJob job;
        QSemaphore gate;
        QSignalSpy finished(&job, &LatestJob::finished), lost(&job, &LatestJob::ranOutOfMemory);
        job.start([&]() -> LatestJob::Publish {
            gate.acquire();
            throw std::bad_alloc();
        });
        job.start([]() -> LatestJob::Publish { return {}; });
        gate.release();
        QVERIFY(finished.wait());
        QCOMPARE(lost.count(), 0);
    }

    void onlyTheNewestJobIsPublished() {
        LatestJob job;
        QSemaphore gate;
        QSignalSpy finished(&job, &LatestJob::finished);
        QList<int> published;
        std::atomic<int> worked = 0;
        for (int number = 0; number < 10; ++number) {
            job.start([&, number]() -> LatestJob::Publish {
                if (number == 0) gate.acquire();
                ++worked;
                return [&, number] { published << number; };
            });
        }
        gate.release();
        QVERIFY(finished.wait());
        QCOMPARE(published, QList<int>({9}));
        QCOMPARE(worked.load(), 2);  // those in between never began
    }

    void outdatedAnswerIsShownUntilTheNewestArrives() {
        LatestJob job;
        QSemaphore gate;
        QSignalSpy finished(&job, &LatestJob::finished);
        QList<int> published;
        QList<bool> outdated;
        for (int number = 0; number < 10; ++number)
            job.start(
                [&, number]() -> LatestJob::Publish {
                    gate.acquire();
                    return [&, number] {
                        published << number;
                        outdated << job.isOutdated();
                    };
                },
                LatestJob::Older::Published);
        gate.release();
        QTRY_COMPARE(published, QList<int>({0}));
        QVERIFY(job.isRunning());
        QCOMPARE(finished.count(), 0);
        gate.release();
        QVERIFY(finished.wait());
        QCOMPARE(published, QList<int>({0, 9}));
        QCOMPARE(outdated, QList<bool>({true, false}));
        QVERIFY(!job.isRunning());
    }

    void invalidationAppliesToAllOlderAnswers() {
        LatestJob job;
        QSemaphore gate;
        QSignalSpy finished(&job, &LatestJob::finished);
        QList<int> published;
        const auto start = [&](int number, LatestJob::Older older) {
            job.start(
                [&, number]() -> LatestJob::Publish {
                    gate.acquire();
                    return [&, number] { published << number; };
                },
                older);
        };
        start(1, LatestJob::Older::Published);
        start(2, LatestJob::Older::Void);
        start(3, LatestJob::Older::Published);
        gate.release(2);
        QVERIFY(finished.wait());
        QCOMPARE(published, QList<int>({3}));
    }

    void publishingMayStartTheNextJob() {
        LatestJob job;
        QSignalSpy finished(&job, &LatestJob::finished);
        QList<int> published;
        job.start([&]() -> LatestJob::Publish {
            return [&] {
                published << 1;
                job.start([&]() -> LatestJob::Publish { return [&] { published << 2; }; });
            };
        });
        QVERIFY(finished.wait());
        QCOMPARE(published, QList<int>({1, 2}));
        QCOMPARE(finished.count(), 1);
        QVERIFY(!job.isRunning());
    }

    void cancelledJobPublishesNothing() {
        LatestJob job;
        QSemaphore gate;
        bool isPublished = false;
        job.start([&]() -> LatestJob::Publish {
            gate.acquire();
            return [&] { isPublished = true; };
        });
        job.cancel();
        gate.release();
        test::settle();
        QVERIFY(!job.isRunning());
        QVERIFY(!isPublished);
    }

    void destroyedJobPublishesNothing() {
        auto* job = new LatestJob;
        auto gate = std::make_shared<QSemaphore>();
        auto done = std::make_shared<QSemaphore>();
        bool isPublished = false;
        job->start([&isPublished, gate, done]() -> LatestJob::Publish {
            gate->acquire();
            done->release();
            return [&isPublished] { isPublished = true; };
        });
        delete job;
        gate->release();
        done->acquire();
        test::settle();
        QVERIFY(!isPublished);
    }

    /// Qt paints in the same pool.
    void waitingJobsLeaveThreadsOfThePool() {
        QThreadPool& pool = *QThreadPool::globalInstance();
        auto gate = std::make_shared<QSemaphore>();
        std::vector<std::unique_ptr<LatestJob>> jobs;
        for (int number = 0; number <= pool.maxThreadCount(); ++number) {
            jobs.push_back(std::make_unique<LatestJob>());
            jobs.back()->start([gate] {
                gate->acquire();
                return LatestJob::Publish();
            });
        }
        auto painted = std::make_shared<QSemaphore>();
        pool.start([painted] { painted->release(); });
        const bool isPainted = painted->tryAcquire(1, 20'000);
        gate->release(static_cast<int>(jobs.size()));
        test::settle();
        QVERIFY(isPainted);
        QCOMPARE(pool.activeThreadCount(), 0);
    }

    void lastOwnerDoesNotFreeIt() {
        std::atomic<QThread*> freedOn{nullptr};
        auto value = freedInBackground(std::shared_ptr<const Noted>(new Noted{freedOn}));
        auto other = value;
        value.reset();
        QThreadPool::globalInstance()->waitForDone();
        QVERIFY(freedOn == nullptr);
        other.reset();
        QThreadPool::globalInstance()->waitForDone();
        QVERIFY(freedOn != nullptr && freedOn != QThread::currentThread());
    }

    void emptyPointerStaysEmpty() { QVERIFY(!freedInBackground(std::shared_ptr<int>())); }
};

LANESCOPE_TEST(tst_LatestJob, QCoreApplication)
#include "tst_LatestJob.moc"
