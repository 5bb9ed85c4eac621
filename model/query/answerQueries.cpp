// SPDX-License-Identifier: Apache-2.0
// The process that `QueryProcess` starts. Its input is the socket.

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string_view>

#include "model/query/QueryProcess.h"
#include "model/query/queryMessages.h"
#include "model/system/process.h"

// A sanitizer reserves more memory than any limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LANESCOPE_HAS_SHADOW
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LANESCOPE_HAS_SHADOW
#endif
#endif

namespace lanescope {

namespace {

constexpr std::string_view processWord = "--answer-queries";
constexpr uint64_t longestRequest = 1 << 20;
constexpr std::chrono::milliseconds reportInterval{100};

bool receiveAll(void* to, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t got =
            ::recv(STDIN_FILENO, static_cast<char*>(to) + done, bytes - done, MSG_WAITALL);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += static_cast<size_t>(got);
    }
    return true;
}

/// The last resort: whoever asks ends this process earlier, and SQLite counts its own memory.
void limitBySystem(const QueryLimits& limits) {
    const int64_t ms = limits.time.count() + limits.time.count() / 10 + 1000;
    const itimerval once{{0, 0}, {ms / 1000, static_cast<suseconds_t>(ms % 1000 * 1000)}};
    ::setitimer(ITIMER_REAL, &once, nullptr);
#ifndef LANESCOPE_HAS_SHADOW
    // What is kept of a result is then written down.
    constexpr uint64_t spare = uint64_t{64} << 20;
    system::limitFurtherMemory(static_cast<uint64_t>(limits.workingBytes) +
                               4 * static_cast<uint64_t>(limits.resultBytes) + spare);
#endif
}

void endLimitOfTime() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
}

/// One trace, and who asks about it.
class Answering {
  public:
    bool answerNext() {
        QueryHeader header;
        if (!receiveAll(&header, sizeof header) || header.bytes > longestRequest) return false;
        std::string body(header.bytes, '\0');
        if (!receiveAll(body.data(), body.size())) return false;
        switch (header.kind) {
            case QueryMessage::Open:
                return open(body);
            case QueryMessage::Tables:
                return query_ && tables();
            case QueryMessage::Query:
                return query_ && run(body);
            default:
                return false;
        }
    }

  private:
    static bool refuse(const QueryError& error) {
        return sendMessage(STDIN_FILENO, QueryMessage::Failed, bodyOf(error));
    }

    bool open(const std::string& path) {
        auto next = std::chrono::steady_clock::now();
        auto opened = TraceQuery::open(path, [&](double fraction, std::string_view what) {
            const auto now = std::chrono::steady_clock::now();
            if (now < next) return true;
            next = now + reportInterval;
            QueryWriter writer;
            writer.number(static_cast<int64_t>(fraction * 1e6));
            writer.text(what);
            return sendMessage(STDIN_FILENO, QueryMessage::Progress, writer.bytes());
        });
        if (!opened) return refuse({opened.error().sentence, std::nullopt});
        query_.emplace(std::move(*opened));
        return sendMessage(STDIN_FILENO, QueryMessage::Opened, {});
    }

    bool tables() {
        const auto found = query_->tables();
        if (!found) return refuse({found.error().sentence, std::nullopt});
        return sendMessage(STDIN_FILENO, QueryMessage::TablesFound, bodyOf(*found));
    }

    bool run(const std::string& body) {
        const auto request = requestIn(body);
        if (!request) return false;
        limitBySystem(request->limits);
        auto found = query_->run(request->sql, request->limits);
        endLimitOfTime();
        if (!sendMessage(STDIN_FILENO, QueryMessage::Decided, {})) return false;
        if (!found) return refuse(found.error());
        const auto doubt = query_->doubt();
        std::string written =
            bodyOf(QueryAnswer{std::move(*found), doubt ? doubt->sentence : std::string()});
        return sendMessage(STDIN_FILENO, QueryMessage::Answer, written);
    }

    std::optional<TraceQuery> query_;
};

}  // namespace

bool isQueryProcess(int argc, char** argv) {
    return argc == 2 && argv[1] == processWord;
}

int answerQueries() {
    try {
        Answering answering;
        while (answering.answerNext()) {
        }
    } catch (const std::bad_alloc&) {
        (void)sendMessage(STDIN_FILENO, QueryMessage::Failed, {});
    }
    // Nothing of what a query left behind is looked at again.
    ::_exit(0);
}

}  // namespace lanescope
