// SPDX-License-Identifier: Apache-2.0
#include "capture/log/logDoor.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "model/format/UniqueFd.h"
#include "model/format/text.h"

namespace lanescope::log {

namespace {

constexpr timeval replyTimeout{0, 200'000};

int readAnswer(int socket) {
    DoorReply answer;
    iovec part{&answer, sizeof answer};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    const ssize_t bytes = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (bytes < 0) return -1;
    UniqueFd descriptor;
    if (const cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int)))
        descriptor.reset(*reinterpret_cast<const int*>(CMSG_DATA(header)));
    if (bytes == sizeof answer && answer.error == 0) {
        errno = 0;
        return descriptor.release();
    }
    errno = bytes == sizeof answer ? answer.error : EPROTO;
    return -1;
}

}  // namespace

int requestLog(std::string_view door, DoorAction action, std::string_view name, int error) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    DoorRequest question;
    question.action = action;
    question.error = error;
    // The first byte stays 0: an abstract name, not in any file system.
    if (door.empty() || door.size() + 1 > sizeof address.sun_path || name.size() >= sizeof question.name) {
        errno = EINVAL;
        return -1;
    }
    std::memcpy(address.sun_path + 1, door.data(), door.size());
    std::memcpy(question.name, name.data(), name.size());
    const UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (socket < 0) return -1;
    for (const int time : {SO_SNDTIMEO, SO_RCVTIMEO})
        ::setsockopt(socket, SOL_SOCKET, time, &replyTimeout, sizeof replyTimeout);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + door.size());
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
        ::send(socket, &question, sizeof question, MSG_NOSIGNAL) == sizeof question)
        return readAnswer(socket);
    return -1;
}

std::string lostLogText(int error, std::string_view program) {
    std::string text = std::to_string(error);
    text += ' ';
    text += program.empty() ? std::string_view("-") : program;
    return text;
}

bool isLogName(std::string_view name) {
    return !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), [](char c) {
        return isDigit(c) || isLetter(c) || c == '.' || c == '-' || c == '_';
    });
}

}  // namespace lanescope::log
