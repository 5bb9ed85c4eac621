// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "model/format/Result.h"
#include "model/format/UniqueFd.h"
#include "model/pages/TimelineData.h"

namespace lanescope::cli {

/// Answers browsers with the page of one trace, one request at a time. The address of the page has a secret, any other
/// path and host name is refused. Nothing of a request is trusted.
class WebDoor {
  public:
    /// Listens at an IP address of this machine; port 0 for any free one.
    static Result<WebDoor> open(const std::string& address, uint16_t port);

    const std::string& address() const { return address_; }
    uint16_t port() const { return port_; }
    /// Returns the address of the page.
    std::string url() const;

    using PageMaker = std::function<Result<std::string>(const report::TimelineRequest& request)>;
    /// Serves until the process ends.
    void serve(const PageMaker& makePage) const;
    /// Returns the whole answer to the head of a request.
    std::string answerTo(std::string_view head, const PageMaker& makePage) const;

  private:
    WebDoor(UniqueFd socket, std::string address, uint16_t port, std::string secret)
        : socket_(std::move(socket)), address_(std::move(address)), port_(port), secret_(std::move(secret)) {}
    bool isOwnHost(std::string_view host) const;

    UniqueFd socket_;
    std::string address_;
    uint16_t port_;
    std::string secret_;
};

}  // namespace lanescope::cli
