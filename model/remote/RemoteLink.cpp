// SPDX-License-Identifier: Apache-2.0
#include "model/remote/RemoteLink.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "model/format/version.h"
#include "model/system/missingPages.h"
#include "model/system/system.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

using namespace std::chrono_literals;

/// Without a message of the server: a user may have to type a password. A reader of pages may be the thread of the
/// window.
constexpr auto maxSilence = 60s, maxPageSilence = 10s, maxPageWait = 30s;
constexpr auto pollInterval = 100ms;
constexpr size_t maxNoise = size_t{1} << 16, maxComplaints = 4096;
/// Pages requested for a read that follows no other, and at most.
constexpr uint32_t minAhead = 4, maxAhead = 64;
constexpr uint64_t maxIndexBytes = uint64_t{1} << 40;

/// Returns the last line, fit for a sentence.
std::string lastLine(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == '.')) text.pop_back();
    return printable(text.substr(text.find_last_of('\n') + 1));
}

bool fillsPages(int descriptor) { return descriptor >= 0 && ::sysconf(_SC_PAGESIZE) == pageBytes; }

}  // namespace

Result<std::shared_ptr<RemoteLink>> RemoteLink::start(const RemoteSource& source) {
    std::shared_ptr<RemoteLink> link(new RemoteLink(source));
    if (auto spawned = link->spawn(); !spawned) return fail(spawned.error());
    link->thread_ = std::thread([self = link.get()] { self->run(); });
    return link;
}

Result<void> RemoteLink::spawn() {
    std::vector<std::string> words = source_.address.words(source_.ssh);
    std::array<std::array<int, 2>, 4> pipes{};
    for (auto& pipe : pipes)
        if (!system::openPipe(pipe)) return fail("{}: {}.", source_.address.text(), std::strerror(errno));
    const UniqueFd theirInput(pipes[0][0]), theirOutput(pipes[1][1]), theirErrors(pipes[2][1]);
    input_.reset(pipes[0][1]);
    output_.reset(pipes[1][0]);
    errors_.reset(pipes[2][0]);
    wakeRead_.reset(pipes[3][0]);
    wakeWrite_.reset(pipes[3][1]);
    for (const int descriptor : {int{input_}, int{output_}, int{errors_}, int{wakeRead_}, int{wakeWrite_}})
        ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
    faults_.reset(system::openMissingPages());
    const std::filesystem::path program = findProgram(words.front());
    if (program.empty())
        return fail("{}: the program {} is not installed here. Install OpenSSH.", source_.address.text(),
                    words.front());
    Subprocess::Options options{
        .input = theirInput, .output = theirOutput, .errors = theirErrors, .hasDefaultSignals = true};
    process_.emplace(Subprocess::spawn(program, words, options));
    if (process_->pid() < 0)
        return fail("{}: cannot start {}: {}.", source_.address.text(), words.front(), std::strerror(errno));
    return {};
}

RemoteLink::~RemoteLink() {
    {
        const std::lock_guard lock(mutex_);
        isStopping_ = true;
    }
    wake();
    if (thread_.joinable()) thread_.join();
}

void RemoteLink::wake() const { static_cast<void>(!::write(wakeWrite_, "w", 1)); }

void RemoteLink::run() {
    // A write to a program that has ended is an error, no signal.
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken, nullptr);
    for (;;) {
        std::array<pollfd, 5> files{{{faults_, POLLIN, 0},
                                     {output_, POLLIN, 0},
                                     {errors_, POLLIN, 0},
                                     {wakeRead_, POLLIN, 0},
                                     {-1, POLLOUT, 0}}};
        {
            const std::lock_guard lock(mutex_);
            if (isStopping_) return;
            if (!unsent_.empty()) files[4].fd = input_;
        }
        constexpr int intervalMs = 200;
        ::poll(files.data(), files.size(), intervalMs);
        char part[4096];
        const std::lock_guard lock(mutex_);
        while (::read(wakeRead_, part, sizeof part) > 0) continue;
        readComplaints();
        if (output_ >= 0) receive();
        answerFaults();
        checkTimes();
        if (!unsent_.empty() && input_ >= 0) {
            const ssize_t written = ::write(input_, unsent_.data(), unsent_.size());
            if (written > 0) unsent_.erase(0, static_cast<size_t>(written));
            // Its end is noticed by its output.
            if (written < 0 && errno != EAGAIN && errno != EINTR) unsent_.clear();
        }
    }
}

void RemoteLink::readComplaints() {
    char part[4096];
    ssize_t got = -1;
    constexpr int maxReads = 16;  // Others wait for this thread.
    for (int reads = 0; reads < maxReads && errors_ >= 0 && (got = ::read(errors_, part, sizeof part)) > 0; ++reads) {
        complaints_.append(part, static_cast<size_t>(got));
        if (complaints_.size() > maxComplaints) complaints_.erase(0, complaints_.size() - maxComplaints);
    }
    if (got == 0) errors_.reset();
}

void RemoteLink::receive() {
    constexpr size_t maxAtOnce = size_t{1} << 20;  // Faults are answered in between.
    std::string part(1 << 16, '\0');
    for (size_t all = 0; all < maxAtOnce && output_ >= 0;) {
        const ssize_t got = ::read(output_, part.data(), part.size());
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) return breakLine(endOfProcess());
        all += static_cast<size_t>(got);
        traffic_.bytes += static_cast<uint64_t>(got);
        const std::string_view bytes(part.data(), static_cast<size_t>(got));
        if (!isGreeted_) {
            noise_ += bytes;
            if (!greet()) continue;
        } else {
            frames_.add(bytes);
        }
        // A message may break the line.
        for (std::optional<Frame> frame; output_ >= 0 && (frame = frames_.next());) take(*frame);
        if (output_ >= 0 && frames_.isBroken()) breakLine("invalid answer");
    }
}

/// A shell may print something before the server starts.
bool RemoteLink::greet() {
    const size_t begin = noise_.find(wireMagic);
    if (begin == std::string::npos) {
        if (noise_.size() > maxNoise) breakLine("no greeting of lanescope serve");
        return false;
    }
    WireReader reader(std::string_view(noise_).substr(begin + wireMagic.size()));
    bool isSame = true;
    for (const uint32_t version : wireVersions) isSame = reader.number<uint32_t>() == version && isSame;
    const std::string product(reader.text());
    if (!reader.isGood()) {
        if (noise_.size() > maxNoise) breakLine("no greeting of lanescope serve");
        return false;
    }
    if (!isSame) {
        problem_ = fmt::format("{}: Lanescope {} there and {} here do not fit. Install the same version on both.",
                               source_.address.host, printable(product), productVersion());
        breakLine({});
        return false;
    }
    isGreeted_ = true;
    for (auto& [number, request] : requests_) {
        request.heard = Clock::now();
        request.what.clear();
    }
    frames_.add(reader.rest());
    noise_.clear();
    arrived_.notify_all();
    return true;
}

/// Returns the reason for the end of the output, also for a line that was never whole.
std::string RemoteLink::endOfProcess() {
    input_.reset();
    constexpr int maxTries = 20;
    std::optional<int> status;
    for (int tries = 0; tries < maxTries && !(status = process_->poll()); ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    readComplaints();
    const int code = status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
    const std::string line = lastLine(complaints_);
    constexpr int notFound = 127, ofSsh = 255, ofUsage = 2;
    const auto& [user, host, port, path] = source_.address;
    const std::string command =
        fmt::format("ssh {}{}{}", port.empty() ? port : "-p " + port + " ", user.empty() ? user : user + "@", host);
    if (!isGreeted_ && code == notFound)
        problem_ = fmt::format(
            "{0}: the program lanescope was not found there. Install version {1} on that machine, so "
            "that \"{2} lanescope --version\" prints it.",
            host, productVersion(), command);
    else if (!isGreeted_ && code == ofUsage)
        problem_ = fmt::format("{}: Lanescope there is too old for this viewer. Install version {} on that machine.",
                               host, productVersion());
    else if (!isGreeted_ && code == ofSsh)
        problem_ = fmt::format("{}: ssh failed: {}. Check that \"{}\" works in a terminal without a question.", host,
                               line.empty() ? "no reason given" : line, command);
    return line;
}

void RemoteLink::breakLine(const std::string& why) {
    output_.reset();
    input_.reset();
    if (process_->pid() > 0) process_->kill();
    if (problem_.empty())
        problem_ = fmt::format("{}: {}{}{}. {}", source_.address.host,
                               isGreeted_ ? "the connection is broken" : "no connection", why.empty() ? "" : ": ", why,
                               isGreeted_ ? "Parts that were not fetched are empty. Connect again." : "Try again.");
    unsent_.clear();
    for (RemoteIndex* index : indexes_)
        for (uint32_t page = 0; page < index->pages_.size(); ++page)
            if (index->pages_[page] == RemoteIndex::Page::Requested) fill(*index, page, 1, nullptr);
    for (auto& [number, request] : requests_) {
        request.isDone = request.isFailure = true;
        request.body = problem_;
    }
    std::erase_if(requests_, [](const auto& each) { return !each.second.isAwaited; });
    arrived_.notify_all();
}

void RemoteLink::checkTimes() {
    const Clock::time_point now = Clock::now();
    for (const auto& [number, request] : requests_) {
        if (request.isDone || request.type == Message::Cancel) continue;
        const bool isOfPages = request.type == Message::Pages || request.type == Message::View;
        const auto silence = now - request.heard;
        if (silence > (isOfPages ? maxPageSilence : maxSilence) || (isOfPages && now - request.sent > maxPageWait))
            return breakLine("no answer");
    }
}

RemoteLink::Requests::iterator RemoteLink::send(Message type, std::string_view body) {
    const Clock::time_point now = Clock::now();
    const auto request = requests_.emplace(++lastRequest_, Sent{.type = type, .sent = now, .heard = now}).first;
    unsent_ += frameOf(type, lastRequest_, body);
    wake();
    return request;
}

void RemoteLink::cancel(Requests::iterator request) {
    unsent_ += frameOf(Message::Cancel, 0, WireWriter().number(request->first).bytes());
    request->second.isAwaited = false;
    wake();
}

Result<void> RemoteLink::wait(std::unique_lock<std::mutex>& lock, Requests::iterator request,
                              const LoadProgress& progress) {
    request->second.isAwaited = true;
    while (!request->second.isDone) {
        arrived_.wait_for(lock, pollInterval);
        const double fraction = request->second.fraction;
        const std::string what = request->second.what;
        lock.unlock();
        const bool isWanted = !progress || progress(fraction, what);
        lock.lock();
        if (isWanted || request->second.isDone) continue;
        cancel(request);
        return fail("{}: cancelled.", source_.address.text());
    }
    return {};
}

Result<std::string> RemoteLink::ask(Message type, std::string_view body, const LoadProgress& progress) {
    std::unique_lock lock(mutex_);
    // The pages of the first picture come before a large summary.
    constexpr std::chrono::seconds maxDelay{1};
    const auto isDrawing = [this] {
        const auto isView = [](const auto& each) { return each.second.type == Message::View; };
        return problem_.empty() && (openedBy_ != 0 || std::ranges::any_of(requests_, isView));
    };
    const auto begun = Clock::now();
    while (type == Message::Summary && isDrawing() && Clock::now() - begun < maxDelay) {
        arrived_.wait_for(lock, pollInterval);
        lock.unlock();
        const bool isWanted = !progress || progress(0, "waiting for the first picture");
        lock.lock();
        if (!isWanted) break;
    }
    if (!problem_.empty()) return fail("{}", problem_);
    const auto request = send(type, body);
    if (auto waited = wait(lock, request, progress); !waited) return fail(waited.error());
    Sent answer = std::move(request->second);
    requests_.erase(request);
    if (answer.isFailure) return fail("{}", printable(answer.body));
    return std::move(answer.body);
}

Result<std::unique_ptr<RemoteIndex>> RemoteLink::open(uint32_t widthPx, const LoadProgress& progress) {
    std::unique_lock lock(mutex_);
    if (!problem_.empty()) return fail("{}", problem_);
    // Sent before the greeting arrives, to save a round trip.
    const auto request = send(Message::Open, WireWriter().number(uint32_t{0}).number(widthPx).bytes());
    request->second.what = isGreeted_ ? "" : "connecting";
    if (auto waited = wait(lock, request, progress); !waited) return fail(waited.error());
    Sent answer = std::move(request->second);
    requests_.erase(request);
    lock.unlock();  // An index that is not used locks itself.
    if (answer.isFailure) return fail("{}", printable(answer.body));
    return std::move(answer.opened);
}

Result<void> RemoteLink::fetchAll(RemoteIndex& index, const LoadProgress& progress) {
    const auto count = static_cast<uint32_t>(index.pages_.size());
    for (uint32_t first = 0; first < count; first += maxRequestedPages / 4) {
        std::unique_lock lock(mutex_);
        if (!problem_.empty()) return fail("{}", problem_);
        const PageRun run{first, std::min(maxRequestedPages / 4, count - first)};
        requestPages(index, {run});
        const auto request = std::prev(requests_.end());
        const double fraction = double(first) / double(count);
        const auto ofPart = [&](double, std::string_view) {
            return !progress || progress(fraction, "fetching the index");
        };
        if (auto waited = wait(lock, request, ofPart); !waited) return fail(waited.error());
        const bool isFailure = request->second.isFailure;
        requests_.erase(request);
        if (isFailure) return fail("{}", problem_);
    }
    return {};
}

bool RemoteLink::fetchesPages() const { return fillsPages(faults_); }

void RemoteLink::requestView(const RemoteIndex& index, std::string_view body) {
    const std::lock_guard lock(mutex_);
    if (!problem_.empty()) return;
    send(Message::View, body)->second.generation = index.generation_;
}

std::string RemoteLink::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

void RemoteLink::take(const Frame& frame) {
    const auto found = requests_.find(frame.request);
    if (frame.type == Message::Answer && frame.request == openedBy_) {
        openedBy_ = 0;
        return arrived_.notify_all();
    }
    if (found == requests_.end()) {
        // An answer to a cancelled request, or the first pages of an opened file.
        if (frame.type == Message::Part && !takePart(frame.body)) breakLine("invalid pages");
        return;
    }
    Sent& request = found->second;
    request.heard = Clock::now();
    switch (frame.type) {
        case Message::Progress: {
            WireReader reader(frame.body);
            const auto fraction = reader.number<double>();
            if (fraction >= 0 && fraction <= 1) request.fraction = fraction;
            constexpr size_t maxLetters = 80;
            request.what = printable(reader.text().substr(0, maxLetters));
            return;
        }
        case Message::Part:
            if (!takePart(frame.body)) breakLine("invalid pages");
            return;
        case Message::Answer:
        case Message::Failure: break;
        default: return breakLine("invalid answer");
    }
    if (request.isDone) return;
    if (request.type == Message::Open && !request.isAwaited) {
        requests_.erase(found);  // It was cancelled.
        return;
    }
    request.isDone = true;
    request.isFailure = frame.type == Message::Failure;
    auto body = request.isFailure ? std::string(frame.body) : unpackedAnswer(frame.body);
    if (!body) return breakLine("invalid answer");
    request.body = std::move(*body);
    if (request.type == Message::Open && !request.isFailure && !takeOpened(request, request.body))
        return breakLine("invalid answer");
    if (request.opened) openedBy_ = frame.request;
    for (RemoteIndex* index : indexes_) {
        if (index->generation_ != request.generation) continue;
        for (const PageRun& run : request.runs)
            for (uint32_t page = run.first; page < run.first + run.count; ++page)
                if (index->pages_[page] == RemoteIndex::Page::Requested) return breakLine("missing pages");
    }
    if (!request.isAwaited) requests_.erase(found);
    arrived_.notify_all();
}

bool RemoteLink::takeOpened(Sent& request, std::string_view body) {
    WireReader reader(body);
    const bool isGrowing = reader.number<uint8_t>() != 0;
    if (reader.number<uint8_t>() == 0) return reader.isAtEnd();
    const auto generation = reader.number<uint32_t>();
    const auto bytes = reader.number<uint64_t>();
    const bool hasShapes = reader.number<uint8_t>() != 0;
    const bool isNew =
        std::ranges::none_of(indexes_, [&](const RemoteIndex* each) { return each->generation_ == generation; });
    if (!reader.isAtEnd() || bytes == 0 || bytes > maxIndexBytes || !isNew) return false;
    auto index = std::make_unique<RemoteIndex>(shared_from_this(), generation, static_cast<size_t>(bytes));
    const auto size = index->pages_.size() * pageBytes;
    void* memory = fillsPages(faults_) ? system::reserveMissing(faults_, size)
                                       : ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == nullptr || memory == MAP_FAILED) return false;
    index->memory_ = static_cast<std::byte*>(memory);
    index->isGrowing_ = isGrowing;
    index->hasShapes_ = hasShapes;
    indexes_.push_back(index.get());
    request.opened = std::move(index);
    return true;
}

bool RemoteLink::takePart(std::string_view body) {
    WireReader reader(body);
    const auto generation = reader.number<uint32_t>();
    std::vector<PageRun> runs;
    uint64_t count = 0;
    for (uint32_t left = reader.count(2 * sizeof(uint32_t)); left > 0 && reader.isGood(); --left) {
        const auto first = reader.number<uint32_t>(), pages = reader.number<uint32_t>();
        runs.push_back({first, pages});
        count += pages;
        if (count > maxPartPages) return false;
    }
    if (!reader.isGood() || count == 0) return false;
    const auto index = std::ranges::find_if(
        indexes_, [generation](const RemoteIndex* each) { return each->generation_ == generation; });
    if (index == indexes_.end()) return true;  // It was closed meanwhile.
    const auto bytes = inflated(reader.rest(), static_cast<size_t>(count * pageBytes));
    if (!bytes) return false;
    const char* from = bytes->data();
    for (const PageRun& run : runs) {
        if (run.first >= (*index)->pages_.size() || run.count > (*index)->pages_.size() - run.first) return false;
        fill(**index, run.first, run.count, from);
        from += size_t{run.count} * pageBytes;
    }
    return true;
}

/// Fills those of the pages that are missing; with zeros if `bytes` is null.
void RemoteLink::fill(RemoteIndex& index, uint32_t page, uint32_t count, const char* bytes) {
    using Page = RemoteIndex::Page;
    for (uint32_t at = 0; at < count;) {
        const auto isMissing = [&](uint32_t each) { return index.pages_[page + each] < Page::Present; };
        uint32_t end = at;
        for (; end < count && isMissing(end); ++end) index.pages_[page + end] = bytes ? Page::Present : Page::Lost;
        const size_t offset = size_t{page + at} * pageBytes;
        const auto* const from = bytes ? reinterpret_cast<const std::byte*>(bytes) + size_t{at} * pageBytes : nullptr;
        if (fillsPages(faults_))
            system::fillPages(faults_, index.memory_ + offset, from, size_t{end - at} * pageBytes);
        else if (from != nullptr && end > at)
            std::memcpy(index.memory_ + offset, from, size_t{end - at} * pageBytes);
        at = end + 1;
    }
}

void RemoteLink::answerFaults() {
    if (faults_ < 0) return;
    std::map<RemoteIndex*, std::vector<PageRun>> wanted;
    while (const auto address = system::nextMissingRead(faults_)) {
        const auto* const at = reinterpret_cast<const std::byte*>(*address);
        const auto found = std::ranges::find_if(indexes_, [at](const RemoteIndex* each) {
            return at >= each->memory_ && at < each->memory_ + each->pages_.size() * pageBytes;
        });
        if (found == indexes_.end()) continue;
        RemoteIndex& index = **found;
        const auto page = static_cast<uint32_t>(static_cast<size_t>(at - index.memory_) / pageBytes);
        ++traffic_.waits;
        if (index.pages_[page] == RemoteIndex::Page::Missing && problem_.empty()) {
            const PageRun run = aheadOf(index, page);
            for (uint32_t each = 0; each < run.count; ++each)
                index.pages_[run.first + each] = RemoteIndex::Page::Requested;
            wanted[&index].push_back(run);
        } else if (index.pages_[page] != RemoteIndex::Page::Requested) {
            if (index.pages_[page] == RemoteIndex::Page::Missing)
                fill(index, page, 1, nullptr);
            else
                system::fillPages(faults_, index.memory_ + size_t{page} * pageBytes, nullptr, pageBytes);
        }
    }
    for (const auto& [index, runs] : wanted) requestPages(*index, runs);
}

/// Returns the missing pages to request for a read: more of them for readers that go forward.
PageRun RemoteLink::aheadOf(const RemoteIndex& index, uint32_t page) {
    const auto known = std::ranges::find_if(streams_, [&](const Stream& each) {
        return each.length > 0 && each.generation == index.generation_ && each.next == page;
    });
    Stream& stream = known != streams_.end() ? *known : streams_[nextStream_++ % streams_.size()];
    const uint32_t length = known != streams_.end() ? std::min(2 * stream.length, maxAhead) : minAhead;
    PageRun run{page, 0};
    const auto pages = static_cast<uint32_t>(index.pages_.size());
    while (run.count < length && page + run.count < pages &&
           index.pages_[page + run.count] == RemoteIndex::Page::Missing)
        ++run.count;
    stream = {index.generation_, page + run.count, length};
    return run;
}

void RemoteLink::requestPages(RemoteIndex& index, const std::vector<PageRun>& runs) {
    WireWriter writer;
    writer.number(index.generation_).number(static_cast<uint32_t>(runs.size()));
    for (const PageRun& run : runs) {
        writer.number(run.first).number(run.count);
        for (uint32_t page = run.first; page < run.first + run.count; ++page)
            if (index.pages_[page] == RemoteIndex::Page::Missing) index.pages_[page] = RemoteIndex::Page::Requested;
    }
    Sent& request = send(Message::Pages, writer.bytes())->second;
    request.generation = index.generation_;
    request.runs = runs;
}

}  // namespace lanescope
