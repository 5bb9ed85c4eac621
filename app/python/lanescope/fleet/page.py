# SPDX-License-Identifier: Apache-2.0
"""The content of the report's page. The heat map of all ranks and steps comes first."""

from __future__ import annotations

import base64
import ctypes
import html
import os
import struct
import zlib

import numpy

from lanescope._library import load
from lanescope.fleet import FleetError
from lanescope.fleet.joining import Job
from lanescope.fleet.printing import printable
from lanescope.fleet.words import command, mfu, percent, seconds, sentence, shape
from lanescope.fleet.writing import against_role, publish

MOST_WIDE, MOST_HIGH = 2000, 4096
FULL_SHARE = 0.25  # from this share on a cell has the full colour
MOST_LISTED = 40

def escaped(text) -> str:
    """Returns a text for the page, with neither markup nor control characters."""
    return html.escape(printable(text))


def whole(title: str, content: str) -> str:
    """Returns a page with this content, which is HTML, by the writer of all pages."""
    library, error = load("python", "lanescopeAbi", 6), ctypes.c_void_p()
    library.lanescopePage.restype = ctypes.c_void_p
    text = ctypes.c_void_p(library.lanescopePage(title.encode(errors="replace"), content.encode(errors="replace"), ctypes.byref(error)))
    try:
        if not text:
            raise FleetError(ctypes.string_at(error).decode())
        return ctypes.string_at(text).decode()
    finally:
        for each in (text, error):
            library.lanescopeFree(each)


def _folded(values: numpy.ndarray, height: int, width: int) -> numpy.ndarray:
    """Returns at most that many cells: of several that share one, the most deviating."""
    for axis, most in ((0, height), (1, width)):
        if values.shape[axis] > most:
            edges = numpy.linspace(0, values.shape[axis], most, endpoint=False).astype(int)
            high = numpy.fmax.reduceat(values, edges, axis=axis)
            low = numpy.fmin.reduceat(values, edges, axis=axis)
            values = numpy.where(numpy.abs(high) >= numpy.abs(low), high, low)
    return values


def picture(values: numpy.ndarray) -> bytes:
    """Returns a PNG: red for longer than the role's median, blue for shorter, grey for unknown."""
    share = numpy.clip(numpy.nan_to_num(values, nan=0.0) / FULL_SHARE, -1, 1)
    strength = numpy.sqrt(numpy.abs(share))[..., None]
    target = numpy.where(share[..., None] > 0, numpy.array([178, 24, 43]), numpy.array([33, 102, 172]))
    colours = (247 + (target - 247) * strength).round()
    colours[numpy.isnan(values)] = 160
    rows = colours.astype(numpy.uint8)
    height, width = values.shape
    raw = numpy.concatenate([numpy.zeros((height, 1), numpy.uint8), rows.reshape(height, width * 3)], axis=1).tobytes()

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def _heat_map(job: Job) -> str:
    values = against_role(job)
    if not values.size:
        return "<p>There are no steps.</p>"
    # Ranks of one role next to each other, so that outliers are visible.
    order = sorted(range(len(job.ranks)), key=lambda row: (job.ranks[row].role, job.ranks[row].number))
    folded = _folded(values[order], MOST_HIGH, MOST_WIDE)
    image = base64.b64encode(picture(folded)).decode()
    high = max(160, min(900, 6 * folded.shape[0]))
    ranks, steps = [job.ranks[row].number for row in order], [int(step) for step in job.steps]
    return (f'<div class="map"><img alt="Ranks by steps" height="{high}" src="data:image/png;base64,{image}" '
            f'data-ranks="{ranks}" data-steps="{steps}"></div>'
            f'<div class="axis note"><span>step {steps[0]}</span><span class="said">each row a rank, by role</span><span>step {steps[-1]}</span></div>'
            f'<p class="note">Red took longer than the median of its role in that step, blue less; full at {percent(FULL_SHARE)}. Waiting for '
            "other ranks does not count: it is the time of who is waited for.</p>")


def table(columns: list, rows: list) -> str:
    """Returns a table. `columns` are titles; columns with a number in the first row are right-aligned."""
    def marked(value) -> str:
        return ' class="n"' if isinstance(value, (int, float)) else ""
    head = "".join(f"<th>{escaped(title)}</th>" for title in columns)
    body = "".join("<tr>" + "".join(f"<td{marked(cell)}>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _findings(job: Job, findings: list) -> str:
    if not findings:
        return "<p>No rank, link or host differs by more than equal ranks usually do, and no rank is missing. 'explain' names the rank that waits least.</p>"
    items = []
    for each in findings[:MOST_LISTED]:
        lost = f' <b class="lost">{seconds(each.lost_ns)} lost.</b>' if each.lost_ns else ""
        shown = command(job, each)
        steps = f" Steps {each.steps[0]} to {each.steps[1]} show it." if each.steps else ""
        items.append(f"<li>{escaped(sentence(job, each))}{lost}{steps}" + (f"<br><code>{escaped(shown)}</code>" if shown else "") + "</li>")
    more = f"<p>And {len(findings) - MOST_LISTED} more, in the SQLite file.</p>" if len(findings) > MOST_LISTED else ""
    return f"<ol>{''.join(items)}</ol>{more}"


def _lateness(job: Job) -> str:
    sums: dict = {}
    waits = job.waits
    for place in range(len(waits.get("row", ()))):
        each = sums.setdefault(int(waits["row"][place]), [0, 0, 0, 0])
        for at, name in enumerate(("calls", "last", "caused_ns", "waited_ns")):
            each[at] += int(waits[name][place])
    worst = sorted(sums.items(), key=lambda one: (-one[1][2], one[0]))[:10]
    if not worst:
        return '<p class="note">No collective of all ranks of a communicator is in the summaries.</p>'
    return table(["Rank", "Collectives", "Last", "Others waited for it", "It waited"],
                 [(job.ranks[row].number, calls, last, seconds(caused), seconds(waited)) for row, (calls, last, caused, waited) in worst])


def page(job: Job, findings: list, title: str) -> str:
    broken = "".join(f"<li>{escaped(os.path.basename(each.source))}: {escaped(each.sentence)}</li>" for each in job.broken[:MOST_LISTED])
    notes = "".join(f"<li>{escaped(note)}</li>" for note in job.notes[:MOST_LISTED])
    clocks = table(["Machine", "Ranks", "Clock", "+-", "Set meanwhile"], [
        (machine, sum(rank.machine == machine for rank in job.ranks), clock.method, seconds(clock.error_ns) if clock.error_ns >= 0 else "unknown",
         ", ".join(("+" if each.by_ns > 0 else "-") + seconds(abs(each.by_ns)) for each in clock.settings))
        for machine, clock in list(job.clocks.items())[:MOST_LISTED]])
    return whole(title,
            f'<p class="note">{shape(job)}. {mfu(job)}</p>'
            f"<section><h2>Every rank in every step</h2>{_heat_map(job)}</section>"
            f"<section><h2>What costs time</h2>{_findings(job, findings)}</section>"
            f"<section><h2>Who enters collectives last</h2>{_lateness(job)}</section>"
            + (f"<section><h2>Files that could not be read</h2><ul>{broken}</ul></section>" if broken else "")
            + (f"<section><h2>Notes</h2><ul>{notes}</ul></section>" if notes else "")
            + f"<section><h2>Clocks</h2>{clocks}</section>")


def write_page(text: str, path: str, is_forced: bool = False) -> None:
    publish(path, [text.encode(errors="replace")], is_forced)
