# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML page without other files. The heat map of all ranks and steps comes first."""

from __future__ import annotations

import base64
import hashlib
import html
import os
import struct
import zlib

import numpy

from lanescope.fleet.joining import Job
from lanescope.fleet.printing import printable
from lanescope.fleet.words import command, mfu, percent, seconds, sentence, shape
from lanescope.fleet.writing import against_role, publish

MOST_WIDE, MOST_HIGH = 2000, 4096
FULL_SHARE = 0.25  # from this share on a cell has the full colour
MOST_LISTED = 40

STYLE = """
:root { color-scheme: light dark; --page: #f3f5f8; --card: #fff; --text: #1d2430; --muted: #5c6675; --line: #dfe3ea; --warn: #b3402a }
@media (prefers-color-scheme: dark) { :root { --page: #15181d; --card: #1d2128; --text: #e4e8ee; --muted: #97a1b0; --line: #323843; --warn: #ff8f73 } }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
main { max-width: 1120px; margin: 0 auto; padding: 24px } h1 { font-size: 24px } h2 { font-size: 17px; margin: 0 0 8px }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 20px 22px; margin: 0 0 16px }
.note { color: var(--muted); font-size: 13px } code { font-size: 13px; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100%; font-size: 13.5px } th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line) }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } ol { padding-left: 22px } li { margin: 0 0 10px }
.map { position: relative } .map img { width: 100%; image-rendering: pixelated; border: 1px solid var(--line); display: block }
.axis { display: flex; justify-content: space-between } .lost { color: var(--warn); font-weight: 650 }
"""

# Over the map: the rank and step under the pointer.
SCRIPT = """
const map = document.getElementById('map'), said = document.getElementById('said');
const ranks = JSON.parse(map.dataset.ranks), steps = JSON.parse(map.dataset.steps);
map.addEventListener('mousemove', event => {
  const box = map.getBoundingClientRect();
  const at = (values, share) => values[Math.min(values.length - 1, Math.max(0, Math.floor(share * values.length)))];
  said.textContent = 'rank ' + at(ranks, (event.clientY - box.top) / box.height) + ', step ' + at(steps, (event.clientX - box.left) / box.width);
});
"""


def escaped(text) -> str:
    """Returns a text for the page, with neither markup nor control characters."""
    return html.escape(printable(text))


def head(title: str, script: str = "") -> str:
    """Returns the start of a page that loads nothing and runs no script but its own."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            f"img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'\">"
            f'<meta name="viewport" content="width=device-width"><title>{escaped(title)}</title><style>{STYLE}</style><main><h1>{escaped(title)}</h1>')


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
    return (f'<div class="map"><img id="map" alt="Ranks by steps" style="height:{high}px" src="data:image/png;base64,{image}" '
            f'data-ranks="{ranks}" data-steps="{steps}"></div>'
            f'<div class="axis note"><span>step {steps[0]}</span><span id="said">each row a rank, by role</span><span>step {steps[-1]}</span></div>'
            f'<p class="note">Red took longer than the median of its role in that step, blue less; full at {percent(FULL_SHARE)}. Waiting for '
            "other ranks does not count: it is the time of who is waited for.</p>")


def table(columns: list, rows: list) -> str:
    """Returns a table. `columns` are titles; columns with a number in the first row are right-aligned."""
    def marked(value) -> str:
        return ' class="n"' if isinstance(value, (int, float)) else ""
    head = "".join(f"<th>{escaped(title)}</th>" for title in columns)
    body = "".join("<tr>" + "".join(f"<td{marked(cell)}>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _findings(job: Job, findings: list) -> str:
    if not findings:
        return "<p>No rank, link or host differs by more than equal ranks usually do, and no rank is missing. 'explain' names the rank that waits least.</p>"
    items = []
    for each in findings[:MOST_LISTED]:
        lost = f' <span class="lost">{seconds(each.lost_ns)} lost.</span>' if each.lost_ns else ""
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
    return (head(title, SCRIPT) +
            f'<p class="note">{shape(job)}. {mfu(job)}</p>'
            f"<section><h2>Every rank in every step</h2>{_heat_map(job)}</section>"
            f"<section><h2>What costs time</h2>{_findings(job, findings)}</section>"
            f"<section><h2>Who enters collectives last</h2>{_lateness(job)}</section>"
            + (f"<section><h2>Files that could not be read</h2><ul>{broken}</ul></section>" if broken else "")
            + (f"<section><h2>Notes</h2><ul>{notes}</ul></section>" if notes else "")
            + f"<section><h2>Clocks</h2>{clocks}</section></main><script>{SCRIPT}</script></html>\n")


def write_page(text: str, path: str, is_forced: bool = False) -> None:
    publish(path, [text.encode(errors="replace")], is_forced)
