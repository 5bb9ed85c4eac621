// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "model/format/Subprocess.h"
#include "model/format/UniqueFd.h"
#include "model/remote/RemoteTrace.h"
#include "model/remote/wire.h"

namespace lanescope {

/// Connection to `lanescope serve`, with a thread that exchanges messages and fills the pages of indexes. Nothing that
/// arrives is trusted. Any thread.
class RemoteLink : public std::enable_shared_from_this<RemoteLink> {
  public:
    /// Starts the program of `source`.
    static Result<std::shared_ptr<RemoteLink>> start(const RemoteSource& source);
    ~RemoteLink();

    /// Sends a request and waits for its answer, whose content is returned.
    Result<std::string> ask(Message type, std::string_view body, const LoadProgress& progress);
    /// Opens the file; nullptr if it has not changed. The pages of a first picture of this width follow, none for 0.
    Result<std::unique_ptr<RemoteIndex>> open(uint32_t widthPx, const LoadProgress& progress);
    /// Requests all pages of an index and waits for them.
    Result<void> fetchAll(RemoteIndex& index, const LoadProgress& progress);
    /// Returns false if indexes are fetched as a whole.
    bool fetchesPages() const;
    void requestView(const RemoteIndex& index, std::string_view body);
    std::string problem() const;

    const RemoteSource& source() const { return source_; }

  private:
    friend class RemoteIndex;
    using Clock = std::chrono::steady_clock;

    explicit RemoteLink(RemoteSource source) : source_(std::move(source)) {}
    Result<void> spawn();
    void run();
    void wake() const;

    // All below with `mutex_` locked.

    /// A request of any kind that was sent.
    struct Sent {
        Message type{};
        Clock::time_point sent, heard;  ///< Time of the last message about it.
        uint32_t generation = 0;
        std::vector<PageRun> runs = {};  ///< Requested pages.
        bool isAwaited = false, isDone = false, isFailure = false;
        std::string body = {};
        std::unique_ptr<RemoteIndex> opened = {};
        double fraction = 0;
        std::string what = {};
    };
    using Requests = std::map<uint32_t, Sent>;
    Requests::iterator send(Message type, std::string_view body);
    void cancel(Requests::iterator request);
    Result<void> wait(std::unique_lock<std::mutex>& lock, Requests::iterator request, const LoadProgress& progress);
    void readComplaints();
    void receive();
    bool greet();
    void take(const Frame& frame);
    bool takeOpened(Sent& request, std::string_view body);
    bool takePart(std::string_view body);
    void answerFaults();
    void requestPages(RemoteIndex& index, const std::vector<PageRun>& runs);
    PageRun aheadOf(const RemoteIndex& index, uint32_t page);
    void fill(RemoteIndex& index, uint32_t page, uint32_t count, const char* bytes);
    void breakLine(const std::string& why);
    std::string endOfProcess();
    void checkTimes();

    const RemoteSource source_;
    std::optional<Subprocess> process_;
    UniqueFd faults_, input_, output_, errors_, wakeRead_, wakeWrite_;
    mutable std::mutex mutex_;
    std::condition_variable arrived_;
    std::string unsent_, noise_, complaints_, problem_;
    FrameReader frames_{maxAnswerBytes};
    bool isGreeted_ = false, isStopping_ = false;
    Requests requests_;
    uint32_t lastRequest_ = 0;
    uint32_t openedBy_ = 0;  ///< Request whose pages still arrive, 0 if none.
    std::vector<RemoteIndex*> indexes_;
    struct Stream {
        uint32_t generation = 0, next = 0, length = 0;
    };
    std::array<Stream, 32> streams_{};  ///< Readers that go forward.
    size_t nextStream_ = 0;
    RemoteIndex::Traffic traffic_;
    std::thread thread_;
};

}  // namespace lanescope
