// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/displayProblem.h"

#include <QByteArray>
#include <QLibrary>
#include <cstdlib>

namespace lanescope::viewer {
namespace {

constexpr auto advice =
    "use --render FILE.png to make a picture, or run the viewer on a workstation with the trace "
    "copied there.";

bool willUseX11() {
    const QByteArray platform = qgetenv("QT_QPA_PLATFORM");
    if (!platform.isEmpty()) return platform.startsWith("xcb");
    return qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

/// By libxcb, which Qt is about to load anyway; true as well where there is none to ask.
bool isX11Reachable() {
    QLibrary xcb(QStringLiteral("xcb"), 1);
    using Connect = void* (*)(const char*, int*);
    using HasError = int (*)(void*);
    using Disconnect = void (*)(void*);
    const auto connect = reinterpret_cast<Connect>(xcb.resolve("xcb_connect"));
    const auto hasError = reinterpret_cast<HasError>(xcb.resolve("xcb_connection_has_error"));
    const auto disconnect = reinterpret_cast<Disconnect>(xcb.resolve("xcb_disconnect"));
    if (!connect || !hasError || !disconnect) return true;
    void* connection = connect(nullptr, nullptr);
    const bool isReachable = hasError(connection) == 0;
    disconnect(connection);
    return isReachable;
}

}  // namespace

std::string displayProblem() {
    const QByteArray display = qgetenv("DISPLAY");
    const bool hasPlatform = !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM");
    if (!willUseX11()) return {};
    if (display.isEmpty())
        return hasPlatform
                   ? "The variable DISPLAY names no display; set it, or " + std::string(advice)
                   : "There is no display here: " + std::string(advice);
    if (isX11Reachable()) return {};
    return "The display \"" + display.toStdString() +
           "\" cannot be reached; check DISPLAY and that you may use it (ssh -X, xauth), or " +
           advice;
}

}  // namespace lanescope::viewer
