# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium through a pipe, without further packages."""

import base64
import json
import os
import shutil
import subprocess
import tempfile


def program():
    """Returns the path of a Chromium, or None."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page. `messages` are the lines of its log: errors of scripts, and violations of its policy."""

    def __init__(self, width=1600, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()
        words = [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--mute-audio",
                 "--force-color-profile=srgb", "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}", "about:blank"]
        # The pipes are descriptors 3 and 4 of the browser.
        script = f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", script, "-", *words], pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.pending, self.messages, self.requests, self.events = 0, b"", [], [], []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        os.close(self.to)
        os.close(self.back)
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def read(self):
        while b"\0" not in self.pending:
            part = os.read(self.back, 1 << 20)
            if not part:
                raise RuntimeError("The browser ended.")
            self.pending += part
        line, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(line)
        method, values = message.get("method"), message.get("params", {})
        if method == "Log.entryAdded":
            self.messages.append(values["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(each.get("value")) for each in values["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method:
            self.events.append(method)
        return message

    def call(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, url):
        """Opens a page and waits until its timelines are ready, if it has any."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.read()
        self.evaluate("new Promise(done => { const wait = () => document.querySelector('.timeline') && !document.documentElement.dataset.ready"
                      " ? setTimeout(wait, 5) : requestAnimationFrame(() => requestAnimationFrame(done)); wait(); })")

    def evaluate(self, expression):
        """Returns the value of an expression; awaits promises."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "failed"))
        return result["result"].get("value")

    def press(self, key, text=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": text or key} if kind == "keyDown" and len(key) == 1 else {}))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, **({"button": "left", "clickCount": 1} if kind != "Moved" else {}), **more)

    def click(self, x, y):
        self.mouse("Moved", x, y)
        self.mouse("Pressed", x, y)
        self.mouse("Released", x, y)

    def screenshot(self, path):
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
