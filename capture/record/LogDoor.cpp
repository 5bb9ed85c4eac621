// SPDX-License-Identifier: Apache-2.0
#include "capture/record/LogDoor.h"

#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace lanescope::capture {

namespace {

constexpr int maxPendingConnections = 128;
constexpr int maxAncestors = 1000;
constexpr timeval connectionTimeout{0, 200'000};

/// Returns 0 if there is no such process.
pid_t parentOf(pid_t pid) {
    const std::string line = readSystemFile("/proc/" + std::to_string(pid) + "/stat").value_or(std::string());
    // "pid (name) state parent ..."; the name may contain any character.
    const size_t nameEnd = line.rfind(") ");
    if (nameEnd == std::string::npos || nameEnd + 4 >= line.size()) return 0;
    return static_cast<pid_t>(std::atol(line.c_str() + nameEnd + 4));
}

bool isDescendant(pid_t pid) {
    const pid_t self = ::getpid();
    for (int generation = 0; pid > 0 && generation < maxAncestors; ++generation) {
        pid = parentOf(pid);
        if (pid == self) return true;
    }
    return false;
}

std::string programOf(pid_t pid) {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
}

bool isLogFile(std::string_view name) {
    const size_t at = name.rfind(".log");
    if (at == std::string_view::npos || at == 0) return false;
    const std::string_view rest = name.substr(at + 4);
    return rest.empty() || (rest.size() > 1 && rest.front() == '.' &&
                            rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

}  // namespace

LogDoor::LogDoor() {
    uint64_t number[2] = {};
    if (::getrandom(number, sizeof number, GRND_NONBLOCK) != sizeof number) return;
    const std::string name = "lanescope-" + std::to_string(number[0]) + "-" + std::to_string(number[1]);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    socket_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket_ >= 0 && ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
        ::listen(socket_, maxPendingConnections) == 0)
        name_ = name;
    else
        socket_.reset();
}

LogDoor::~LogDoor() {
    if (!thread_.joinable()) return;
    isStopping_ = true;
    ::shutdown(socket_, SHUT_RDWR);  // wakes it
    thread_.join();
}

void LogDoor::open(const Folder& runFolder) {
    if (name_.empty()) return;
    folder_ = runFolder.again();
    if (!folder_) return;
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
        // Most processes are recorded without it too.
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

void LogDoor::run() {
    constexpr int checkPeriodMs = 1000;  // checks for the end, in case nothing wakes it
    while (!isStopping_) {
        pollfd source{socket_, POLLIN, 0};
        if (::poll(&source, 1, checkPeriodMs) <= 0) continue;
        const UniqueFd connection(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
        if (connection < 0) continue;
        try {
            answer(connection);
        } catch (const std::exception&) {
            // Without memory the requester gets no answer, and reports the failure itself.
        }
    }
}

void LogDoor::answer(int connection) {
    for (const int time : {SO_SNDTIMEO, SO_RCVTIMEO})
        ::setsockopt(connection, SOL_SOCKET, time, &connectionTimeout, sizeof connectionTimeout);
    ucred peer{};
    socklen_t length = sizeof peer;
    log::DoorRequest question;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || !isDescendant(peer.pid) ||
        ::recv(connection, &question, sizeof question, 0) != sizeof question)
        return;
    UniqueFd descriptor;
    log::DoorReply received{fulfil(question, peer.pid, descriptor)};
    iovec part{&received, sizeof received};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = room;
        message.msg_controllen = sizeof room;
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        *reinterpret_cast<int*>(CMSG_DATA(header)) = descriptor;
    }
    ::sendmsg(connection, &message, MSG_NOSIGNAL);
}

/// Leaves the sign, which survives this process, or else remembers it.
int LogDoor::keepLost(const std::string& sign, int error, int pid) {
    LostLog lost{0, error, programOf(pid)};
    if (::symlinkat(log::lostLogText(error, lost.program).c_str(), folder_->descriptor(), sign.c_str()) == 0) return 0;
    // "<host>.<rank>.<pid>.lost"
    const std::string name = sign.substr(0, sign.size() - log::lostLogEnding.size());
    lost.pid = std::atoi(name.substr(name.rfind('.') + 1).c_str());
    const std::lock_guard lock(mutex_);
    if (lost_.size() >= maxLostLogs) return ENOSPC;
    lost_.push_back(std::move(lost));
    return 0;
}

std::vector<LogDoor::LostLog> LogDoor::takeLost() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lost_, {});
}

/// Opens the requested file and sets `descriptor`. Returns 0, or errno.
int LogDoor::fulfil(const log::DoorRequest& question, int pid, UniqueFd& descriptor) {
    const std::string name(question.name, ::strnlen(question.name, sizeof question.name));
    if (question.version != log::DoorRequest::currentVersion || !log::isLogName(name)) return EINVAL;
    if (question.action == log::DoorAction::Lost) {
        if (!name.ends_with(log::lostLogEnding)) return EINVAL;
        return keepLost(name, question.error, pid);
    }
    const bool isNew = question.action == log::DoorAction::BeginLog;
    if (!isLogFile(name) || (!isNew && question.action != log::DoorAction::OpenAgain)) return EINVAL;
    descriptor =
        isNew ? folder_->createFile(name, Folder::Access::Append) : folder_->openFile(name, Folder::Access::Append);
    return descriptor >= 0 ? 0 : errno;
}

}  // namespace lanescope::capture
