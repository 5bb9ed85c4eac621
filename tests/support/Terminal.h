// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <QByteArray>
#include <QProcess>
#include <cstdlib>

namespace lanescope {

/// A terminal with a number of columns, as stdout for programs under test.
class Terminal {
  public:
    explicit Terminal(unsigned short columns) : own_(::posix_openpt(O_RDWR | O_NOCTTY)) {
        if (own_ < 0 || ::grantpt(own_) != 0 || ::unlockpt(own_) != 0) qFatal("no terminal");
        programs_ = ::open(::ptsname(own_), O_RDWR | O_NOCTTY);
        const winsize size{.ws_row = 50, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        if (programs_ < 0 || ::ioctl(programs_, TIOCSWINSZ, &size) != 0) qFatal("no terminal");
        ::fcntl(own_, F_SETFL, O_NONBLOCK);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal() {
        ::close(own_);
        ::close(programs_);
    }

    /// Runs a program with this terminal as stdout; returns its output.
    QByteArray run(QProcess& process, const QString& program, const QStringList& arguments) const {
        process.setStandardInputFile(QProcess::nullDevice());
        process.setChildProcessModifier([descriptor = programs_] { ::dup2(descriptor, STDOUT_FILENO); });
        process.start(program, arguments);
        QByteArray text;
        // A terminal's buffer is small, and a writer blocks when it is full.
        for (int waits = 0; !process.waitForFinished(20); ++waits) {
            if (waits > 3000) qFatal("the program does not end");
            text += take();
        }
        text += take();
        return text.replace("\r\n", "\n");
    }

  private:
    QByteArray take() const {
        QByteArray text;
        char part[4096];
        for (ssize_t count = 0; (count = ::read(own_, part, sizeof part)) > 0;) text.append(part, count);
        return text;
    }

    int own_, programs_ = -1;
};

}  // namespace lanescope
