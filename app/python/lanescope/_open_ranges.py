# SPDX-License-Identifier: Apache-2.0
"""Ranges that one call opens and another closes, as the callbacks of trainers do."""

from lanescope.marks import is_recorded


class OpenRanges:
    """The open ranges of this thread, outermost first. Does nothing if no tool records."""

    def __init__(self):
        self._open = []

    def enter(self, opened):
        if is_recorded():
            self._open.append(opened.__enter__())

    def leave(self, kept=0):
        """Closes all but the outermost `kept`."""
        while len(self._open) > kept:
            self._open.pop().__exit__(None, None, None)
