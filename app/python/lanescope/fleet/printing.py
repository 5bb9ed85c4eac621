# SPDX-License-Identifier: Apache-2.0
"""Texts of untrusted files, for terminals, pages and files."""

import re

# As in the program: C0, DEL and C1 move the cursor, the others change the writing direction or are no characters.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def printable(text) -> str:
    """Returns a text for one line of a terminal or page. Names in files are untrusted."""
    return _DIRECTIONS.sub("\ufffd", _CONTROLS.sub(" ", str(text)))


def encodable(text: str) -> str:
    """Returns a text for a file; bytes of a file name that are not UTF-8 are replaced."""
    return text.encode(errors="replace").decode()
