// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "app/help/HelpFormatter.h"
#include "model/analysis/StepSelection.h"
#include "model/format/Result.h"
#include "model/format/Subprocess.h"
#include "model/format/UniqueFd.h"
#include "model/index/openTrace.h"
#include "model/pages/TimelineData.h"
#include "model/reports/reports.h"
#include "model/system/system.h"
#include "model/text/formatValue.h"

namespace lanescope::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t maxHeadBytes = 8192;
constexpr std::chrono::seconds maxHeadWait{5}, maxAnswerWait{60};

/// Waits until `events` are possible. Returns false at `last`.
bool isReady(int socket, short events, Clock::time_point last) {
    const auto leftMs = std::chrono::duration_cast<std::chrono::milliseconds>(last - Clock::now()).count();
    pollfd file{socket, events, 0};
    return leftMs > 0 && ::poll(&file, 1, static_cast<int>(leftMs)) > 0;
}

/// Reads the head of a request; nullopt if none comes in time.
std::optional<std::string> readHead(int socket) {
    const Clock::time_point last = Clock::now() + maxHeadWait;
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
        char part[2048];
        if (head.size() > maxHeadBytes || !isReady(socket, POLLIN, last)) return std::nullopt;
        const ssize_t got = ::recv(socket, part, sizeof part, MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return std::nullopt;
        head.append(part, static_cast<size_t>(got));
    }
    return head;
}

void sendAll(int socket, std::string_view text) {
    const Clock::time_point last = Clock::now() + maxAnswerWait;
    while (!text.empty() && isReady(socket, POLLOUT, last)) {
        const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_DONTWAIT);
        if (sent < 0 && errno != EINTR && errno != EAGAIN) return;
        text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(sent, 0)));
    }
}

std::string answer(std::string_view status, std::string_view type, std::string_view body) {
    return fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
        "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n{}",
        status, type, body.size(), body);
}

std::string refusal(std::string_view status) { return answer(status, "text/plain", fmt::format("{}\n", status)); }

/// Returns the value of a header; nullopt unless it occurs once.
std::optional<std::string_view> headerOf(std::string_view head, std::string_view name) {
    std::optional<std::string_view> value;
    for (size_t begin = head.find("\r\n"); begin != std::string_view::npos;) {
        begin += 2;
        const size_t end = head.find("\r\n", begin);
        const std::string_view line = head.substr(begin, end == std::string_view::npos ? end : end - begin);
        begin = end;
        const size_t colon = line.find(':');
        if (colon == std::string_view::npos || lowerCase(std::string(line.substr(0, colon))) != name) continue;
        if (value) return std::nullopt;
        value = trimmed(line.substr(colon + 1));
    }
    return value;
}

/// Compares in the same time for any difference.
bool isEqual(std::string_view one, std::string_view other) {
    unsigned difference = one.size() == other.size() ? 0 : 1;
    for (size_t at = 0; at < one.size() && at < other.size(); ++at)
        difference |= static_cast<unsigned char>(one[at]) ^ static_cast<unsigned char>(other[at]);
    return difference == 0;
}

/// Reads "time=A:B" or "steps=A-B"; nothing for the default part.
Result<report::TimelineRequest> requestOf(std::string_view query) {
    report::TimelineRequest request;
    constexpr std::string_view ofTime = "time=", ofSteps = "steps=";
    if (query.starts_with(ofTime)) {
        const auto range = parseRange(std::string(query.substr(ofTime.size())));
        if (!range) return fail(range.error());
        request.time = *range;
    } else if (query.starts_with(ofSteps)) {
        const auto steps = parseStepNumbers(query.substr(ofSteps.size()));
        if (!steps) return fail(steps.error());
        request.steps = *steps;
    } else if (!query.empty()) {
        return fail("Ask for ?time=START:END or ?steps=A-B.");
    }
    return request;
}

/// Answers browsers with the page of one trace, one request at a time. The address of the page has a secret, any other
/// path and host name is refused. Nothing of a request is trusted.
class WebDoor {
  public:
    /// Listens at an IP address of this machine; port 0 for any free one.
    static Result<WebDoor> open(const std::string& address, uint16_t port) {
        sockaddr_in6 six{};
        sockaddr_in four{};
        six.sin6_family = AF_INET6;
        four.sin_family = AF_INET;
        six.sin6_port = four.sin_port = htons(port);
        const bool isFour = ::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1;
        if (!isFour && ::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) != 1)
            return fail("--address: \"{}\" is no IP address. Use 127.0.0.1, or one of this machine.", address);
        auto* const place = isFour ? reinterpret_cast<sockaddr*>(&four) : reinterpret_cast<sockaddr*>(&six);
        socklen_t size = isFour ? sizeof four : sizeof six;
        UniqueFd socket(::socket(place->sa_family, SOCK_STREAM, 0));
        constexpr int maxWaiting = 16;
        if (socket < 0 || ::fcntl(socket, F_SETFD, FD_CLOEXEC) != 0 || ::bind(socket, place, size) != 0 ||
            ::listen(socket, maxWaiting) != 0 || ::getsockname(socket, place, &size) != 0)
            return fail("{}:{}: cannot listen there: {}. Choose another --address or --port.", address, port,
                        std::strerror(errno));
        const auto one = system::randomNumber(), other = system::randomNumber();
        if (!one || !other) return fail("No random numbers for the secret of the address. Try again.");
        return WebDoor(std::move(socket), address, ntohs(isFour ? four.sin_port : six.sin6_port),
                       fmt::format("{:016x}{:016x}", *one, *other));
    }

    const std::string& address() const { return address_; }
    uint16_t port() const { return port_; }
    /// Returns the address of the page.
    std::string url() const {
        const bool isSix = address_.find(':') != std::string::npos;
        return fmt::format("http://{}:{}/{}/", isSix ? "[" + address_ + "]" : address_, port_, secret_);
    }

    using PageMaker = std::function<Result<std::string>(const report::TimelineRequest& request)>;
    /// Serves until the process ends.
    void serve(const PageMaker& makePage) const {
        ::signal(SIGPIPE, SIG_IGN);
        for (;;) {
            const UniqueFd connection(::accept(socket_, nullptr, nullptr));
            if (connection < 0 && errno != EINTR && errno != ECONNABORTED) ::poll(nullptr, 0, 100);
            if (connection < 0) continue;
            if (const auto head = readHead(connection)) sendAll(connection, answerTo(*head, makePage));
        }
    }

  private:
    WebDoor(UniqueFd socket, std::string address, uint16_t port, std::string secret)
        : socket_(std::move(socket)), address_(std::move(address)), port_(port), secret_(std::move(secret)) {}

    /// Another site can lead a browser here by a name that it resolves to this address.
    bool isOwnHost(std::string_view host) const {
        const size_t colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
        host = host.substr(0, colon);
        if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
        return host == "127.0.0.1" || host == "localhost" || host == "::1" || host == address_;
    }

    /// Returns the whole answer to the head of a request.
    std::string answerTo(std::string_view head, const PageMaker& makePage) const {
        const std::string_view line = head.substr(0, head.find("\r\n"));
        const size_t first = line.find(' '), second = line.find(' ', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos ||
            line.substr(second + 1, 7) != "HTTP/1.")
            return refusal("400 Bad Request");
        if (const auto host = headerOf(head, "host"); !host || !isOwnHost(*host)) return refusal("403 Forbidden");
        if (line.substr(0, first) != "GET") return refusal("405 Method Not Allowed");
        const std::string_view target = line.substr(first + 1, second - first - 1);
        const std::string_view path = target.substr(0, target.find('?'));
        if (!isEqual(path, fmt::format("/{}/", secret_))) return refusal("404 Not Found");
        const Result<report::TimelineRequest> request =
            requestOf(path.size() < target.size() ? target.substr(path.size() + 1) : std::string_view());
        const Result<std::string> page = request ? makePage(*request) : fail(request.error());
        if (!page) return answer("400 Bad Request", "text/plain", printable(page.error().sentence) + "\n");
        return answer("200 OK", "text/html", *page);
    }

    UniqueFd socket_;
    std::string address_;
    uint16_t port_;
    std::string secret_;
};

constexpr const char* viewerName = "lanescope-viewer";

struct ViewOptions {
    std::vector<std::string> files;
    bool isMerged = false;
    MergeArguments merge;
    bool isForBrowser = false;
    std::string address = "127.0.0.1";
    uint16_t port = 0;
};

/// Returns the files for the viewer: one merged trace of several files if requested, or for a folder.
Result<std::vector<std::string>> filesToOpen(const ViewOptions& options) {
    const bool isFolder = std::ranges::any_of(options.files, [](const std::string& file) {
        std::error_code ignored;
        return std::filesystem::is_directory(file, ignored);
    });
    const bool isCut = !options.merge.cut.isWhole();
    if (!options.isMerged && !isFolder && !isCut) return options.files;
    if (isCut && options.files.empty()) return fail("--ranks and --steps: need traces. Name them, or their folder.");
    const auto files = filesToRead(options.files);
    if (!files) return fail(files.error());
    if (files->size() == 1 && !isCut) return std::vector{files->front().string()};
    const Result<std::filesystem::path> merged = mergeForCommand(*files, options.merge);
    if (!merged) return fail(merged.error());
    return std::vector{merged->string()};
}

/// Answers a browser until this process is ended.
Result<void> serveBrowser(const ViewOptions& options) {
    const auto files = filesToOpen(options);
    if (!files) return fail(files.error());
    if (files->size() != 1) return fail("--web: shows one trace. Name one.");
    Result<WebDoor> door = WebDoor::open(options.address, options.port);
    if (!door) return fail(door.error());
    const Result<TracePtr> trace = loadForCommand(files->front());
    if (!trace) return fail(trace.error());
    reportTraceWarnings(**trace);
    auto printed = printOutput(
        fmt::format("{0}\nOpen this address in a browser here. For a browser on another machine, run there: ssh "
                    "-L {1}:{2}:{1} HOST\n",
                    door->url(), door->port(), door->address()));
    if (!printed) return printed;
    door->serve([&trace](const report::TimelineRequest& request) -> Result<std::string> {
        Result<std::string> page = report::tracePage(**trace, request);
        if (const Result<void> sound = checkIndex(**trace); !sound) return fail(sound.error());
        return page;
    });
    return {};
}

/// Replaces this process by the viewer, which compares two files; returns only if that fails.
Error becomeViewer(const std::vector<std::string>& files) {
    std::vector<std::string> words{viewerName};
    if (files.size() == 2) words.emplace_back("--compare");
    words.insert(words.end(), files.begin(), files.end());
    const std::vector<char*> arguments = pointersTo(words);

    // The viewer of the same build is installed next to this program; it is tried first.
    const std::filesystem::path self = system::ownProgram();
    if (!self.empty()) ::execv((self.parent_path() / viewerName).c_str(), arguments.data());
    const std::filesystem::path found = findProgram(viewerName);
    if (!found.empty()) ::execv(found.c_str(), arguments.data());
    if (found.empty())
        return {
            fmt::format("{0}: not found next to this program or in PATH. Install the package {0} of the same release "
                        "on the machine with your screen, and copy the trace to it.",
                        viewerName)};
    return {fmt::format("Cannot start {}: {}.", viewerName, std::strerror(errno))};
}

}  // namespace

void addView(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<ViewOptions>();
    CLI::App* command = app.add_subcommand("view", "Open traces in the viewer");
    command->add_option("FILE", options->files,
                        "Traces to open; two are compared side by side, those of a folder are merged");
    command->add_flag("--merge", options->isMerged, "The traces belong to ranks of one job: merge them");
    addMergeOptions(*command, options->merge);
    CLI::Option* web = command->add_flag("--web", options->isForBrowser,
                                         "Show one trace in a browser, at an address with a secret; Ctrl+C ends it");
    help::addValue(*command, "--address", "IP", options->address, "IP address of this machine for --web")
        ->needs(web)
        ->capture_default_str();
    help::addNumber(*command, "--port", "N", 0, UINT16_MAX, options->port, "Port for --web (default: any free one)")
        ->needs(web)
        ->default_str("");
    command->footer(
        "Examples:\n  lanescope view run.sqlite\n  lanescope view before.sqlite after.sqlite\n  lanescope view --merge "
        "rank0.json.gz rank1.json.gz\n  lanescope view --merge traces/ --ranks 0,17,517 --steps 120-124\n  lanescope "
        "view fleet.sqlite\n  lanescope view --web run.sqlite");
    command->callback([options, &exitStatus] {
        const auto openViewer = [&] {
            const auto files = filesToOpen(*options);
            return reportFailure(files ? becomeViewer(*files) : files.error());
        };
        exitStatus = options->isForBrowser ? statusOf(serveBrowser(*options)) : openViewer();
    });
}

}  // namespace lanescope::cli
