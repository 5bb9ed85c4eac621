# SPDX-License-Identifier: Apache-2.0
"""The page of a trace: its numbers are those of the command line, its names are text, and it loads nothing.

The script of the page runs in Node.js for the numbers and in Chromium for the rest; what is not installed is skipped.
"""

import gzip
import json
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import browser

LANESCOPE, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="lanescope-page-"))
SAMPLES = sorted([*SOURCE.glob("resources/samples/*.sqlite.gz"), *SOURCE.glob("tests/golden/*/*.sqlite.gz")])
NODE = shutil.which("node")
HOSTILE = ["</script><script>window.broken=1</script>", "<img src=x onerror=window.broken=1>", "\u202eevil\u202c", "<!--<script>", "]]>&amp;\"'`${window.broken=1}",
           "x" * 1700, "\x1b[31mred", "javascript:window.broken=1"]


def run(*words, **more):
    return subprocess.run([LANESCOPE, *map(str, words)], capture_output=True, text=True, check=True, **more).stdout


def sample(name):
    """Unpacks a sample, once."""
    path = FOLDER / (name.parent.name + "-" + name.name[:-3])
    if not path.exists():
        path.write_bytes(gzip.decompress(name.read_bytes()))
    return path


def changed(name, *statements, source=None):
    """Returns a copy of a sample after SQL statements; pairs are a statement and its values."""
    path = FOLDER / name
    shutil.copy(sample(source or SOURCE / "tests/golden/compare-pairs/bf16.sqlite.gz"), path)
    with sqlite3.connect(path) as database:
        for each in statements:
            database.execute(*(each if isinstance(each, tuple) else (each,)))
    database.close()
    return path


def page_of(trace, *words):
    page = FOLDER / (trace.stem + "".join(str(each).strip("-").replace("/", "") for each in words) + ".html")
    run("page", trace, "-o", page, *words)
    return page


def numbers_of(page, ranges=()):
    return json.loads(subprocess.run([NODE, pathlib.Path(__file__).with_name("numbers.mjs"), page, json.dumps(list(ranges))], capture_output=True, text=True,
                                     check=True).stdout)


@unittest.skipUnless(NODE, "Node.js is not installed")
class Numbers(unittest.TestCase):
    def test_tables_steps_and_findings_are_those_of_the_command_line(self):
        for each in SAMPLES:
            with self.subTest(each.name):
                trace = sample(each)
                [page] = numbers_of(page_of(trace))
                reports = json.loads(run("stats", trace, "-r", "cuda_gpu_kern_sum", "-r", "memcpy_bandwidth", "-f", "json"))
                shown = {table["name"]: table["rows"] for table in page["tables"]}
                for name, rows in reports.items():
                    self.assertEqual([list(row.values()) for row in rows][:500], shown.get(name, []))
                explained = json.loads(run("explain", trace, "-f", "json"))
                self.assertEqual(page["card"]["sentence"], explained["sentence"])
                self.assertEqual([finding["sentence"] for finding in page["card"]["findings"]], [finding["sentence"] for finding in explained["findings"]])
                self.assertEqual([finding["gain"] for finding in page["card"]["findings"]], [finding["mostGainNs"] for finding in explained["findings"]])

    def test_sums_of_fifty_random_ranges_are_those_of_stats(self):
        pick = random.Random(12)
        for each in SAMPLES:
            trace = sample(each)
            whole = numbers_of(page_of(trace))[0]
            if whole["end"] <= whole["start"]:
                continue
            # A part, so that its edges are tested as well.
            length = whole["end"] - whole["start"]
            cut = [whole["start"] + length // 4, whole["end"] - length // 5]
            page = page_of(trace, "--time", f"{cut[0]}ns:{cut[1]}ns")
            ranges = [sorted(pick.sample(range(*cut), 2)) for _ in range(50 if each.parent.name == "samples" else 6)]
            [answer] = numbers_of(page, ranges)
            self.assertEqual(answer["full"], cut)
            for (begin, end), sums in zip(ranges, answer["sums"]):
                with self.subTest(each.name, begin=begin, end=end):
                    reports = json.loads(run("stats", trace, "-r", "cuda_gpu_kern_sum", "-r", "memcpy_bandwidth", "-f", "json", "--range", f"{begin}ns:{end}ns"))
                    kernels = {row["Name"]: (row["Total Time (ns)"], row["Instances"], row["Min (ns)"], row["Max (ns)"]) for row in reports["cuda_gpu_kern_sum"]}
                    self.assertEqual({group["name"]: (group["total"], group["count"], group["min"], group["max"]) for group in sums["kernels"]}, kernels)
                    rows = [row for row in reports["memcpy_bandwidth"] if row["Kind"] != "memset"]
                    self.assertEqual(sum(group["count"] for group in sums["copies"]), sum(row["Count"] for row in rows))
                    self.assertEqual(sum(group["bytes"] for group in sums["copies"]), sum(row["Bytes (B)"] for row in rows))

    def test_every_gap_of_the_full_part_is_on_the_page(self):
        [page] = numbers_of(page_of(sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")))
        self.assertGreater(len(page["gaps"]), 100)
        for begin, end, reason in page["gaps"]:
            self.assertLess(begin, end)
            self.assertTrue(reason)

    def test_anonymous_page_has_no_folder_host_or_user(self):
        names = {"forward": "/home/carol/secret-project/train.py:3 on node-17.example", "step 3": "secret-project/part/x.py by carol", "step 4": "carol@node-17: 3 GB/s"}
        trace = changed("named.sqlite", *[("UPDATE StringIds SET value = ? WHERE value = ?", [name, each]) for each, name in names.items()],
                        "UPDATE LANESCOPE_PROPERTIES SET value = 'node-17.example' WHERE name = 'host'",
                        "INSERT INTO LANESCOPE_PROPERTIES VALUES (NULL, 'homeDirectory', '/home/carol')",
                        "UPDATE LANESCOPE_PROPERTIES SET value = 'python3 secret-project/train.py --data secret-project/x' WHERE name = 'commandLine'")
        text = json.dumps(numbers_of(page_of(trace, "--anonymous")))
        for word in ("/home", "carol", "secret-project", "node-17"):
            self.assertNotIn(word, text)
        for word in ("train.py:3", "x.py by user", "user@host: 3 GB/s"):
            self.assertIn(word, text)

    def test_table_of_a_range_counts_the_values_of_counters(self):
        trace = sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")
        page = page_of(trace)
        begin, end = numbers_of(page)[0]["full"]
        middle = (begin + end) // 2
        whole, first, second = [sums["counters"] for sums in numbers_of(page, [[begin, end], [begin, middle], [middle, end]])[0]["sums"]]
        self.assertGreater(len(whole), 5)
        for [count, low, high], one, other in zip(whole, first, second):
            self.assertLessEqual(low, high)
            # The value in the middle is in both halves.
            self.assertIn(one[0] + other[0] - count, (0, 1))
            self.assertEqual((low, high), (min(one[1], other[1]), max(one[2], other[2])))

    def test_collectives_lead_from_the_last_rank_to_the_waiting_one(self):
        [page] = numbers_of(page_of(sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")))
        for cause_parent, effect_parent, cause, effect in page["flows"]:
            self.assertNotEqual(cause_parent, effect_parent)
            self.assertLess(abs(cause - effect), 1e5)

    def test_script_is_small(self):
        page = page_of(sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")).read_text()
        sizes = [len(script.encode()) for script in re.findall(r"<script>(.*?)</script>", page, re.S)]
        self.assertLessEqual(max(sizes), 60_000)
        self.assertLessEqual(sum(sizes), 60 * 1024)

    def test_chosen_steps_are_in_full(self):
        trace = sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")
        [page] = numbers_of(page_of(trace, "--steps", "4-5"))
        steps = {step[0]: step for step in page["steps"][0]["steps"]}
        self.assertLessEqual(page["full"][0], steps[4][1])
        self.assertGreaterEqual(page["full"][1], steps[5][1] + steps[5][2])


@unittest.skipUnless(browser.program(), "Chromium is not installed")
class Shown(unittest.TestCase):
    def shown(self, page, width=1600, height=900, dark=False, link=""):
        opened = browser.Browser(width, height, dark)
        self.addCleanup(opened.__exit__)
        opened.open(page.as_uri() + link)
        self.assertEqual(opened.messages, [])
        self.assertEqual([url for url in opened.requests if not url.startswith("file:")], [])
        self.assertEqual(len(opened.requests), 1)
        return opened

    def test_hostile_names_are_text(self):
        statements = [("UPDATE StringIds SET value = ? || id WHERE id % ? = ?", [name, len(HOSTILE), index]) for index, name in enumerate(HOSTILE)]
        trace = changed("hostile.sqlite", *statements)
        page = page_of(trace)
        text = page.read_text()
        self.assertEqual(text.count("<script"), 3)
        self.assertNotIn("\u202e", text)
        opened = self.shown(page)
        opened.evaluate("views[0].panels.showTab('Kernels'), views[0].search('x'), views[0].nextHit(1)")
        opened.mouse("Moved", 700, 400)
        self.assertIsNone(opened.evaluate("window.broken"))
        self.assertEqual(opened.evaluate("document.querySelectorAll('img, iframe, object').length"), 0)
        self.assertEqual(opened.messages, [])

    def test_empty_trace_and_trace_without_gpu(self):
        tables = ["CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"]
        without = changed("without-gpu.sqlite", *[f"DELETE FROM {table}" for table in tables])
        self.assertGreater(self.shown(page_of(without)).evaluate("views[0].rows.length"), 0)
        with sqlite3.connect(without) as database:
            found = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        database.close()
        empty = changed("empty.sqlite", *[f"DELETE FROM {name}" for name in found if name.startswith(("CUPTI_ACTIVITY", "NVTX_EVENTS", "LANESCOPE_")) or name == "GPU_METRICS"])
        self.shown(page_of(empty))

    def test_keys_and_mouse_move_search_select_and_measure(self):
        opened = self.shown(page_of(sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")))
        view = "views[0]"
        span = f"{view}.to - {view}.from"
        before = opened.evaluate(span)
        opened.evaluate(f"{view}.canvas.focus()")
        opened.press("w")
        self.assertLess(opened.evaluate(span), before)
        opened.press("0")
        self.assertGreater(opened.evaluate(span), before)
        opened.press("z")
        opened.press("/")
        opened.call("Input.insertText", text="nccl")
        opened.press("Enter")
        self.assertIn("hits", opened.evaluate("document.querySelector('.count').textContent"))
        opened.evaluate(f"{view}.show(...{view}.trace.full), {view}.selected = null, {view}.nextHit(1), {view}.nextHit(1), {view}.nextHit(1), {view}.nextHit(1)")
        self.assertIn("nccl", opened.evaluate("document.querySelector('.details .name').textContent").lower())
        link = opened.evaluate(f"{view}.link()")
        self.assertRegex(link, r"^#t=[\d.]+s-[\d.]+s&sel=\d+\.\d+$")
        other = self.shown(pathlib.Path(opened.evaluate("decodeURI(location.pathname)")), link=link)
        self.assertEqual(other.evaluate(f"{view}.link()"), link)
        box = opened.evaluate("(box => [box.left, box.top])(document.querySelector('canvas').getBoundingClientRect())")
        opened.mouse("Moved", box[0] + 500, box[1] + 45)
        opened.mouse("Pressed", box[0] + 500, box[1] + 45)
        opened.mouse("Moved", box[0] + 800, box[1] + 45, buttons=1)
        opened.mouse("Released", box[0] + 800, box[1] + 45)
        self.assertIsNotNone(opened.evaluate(f"{view}.range"))
        self.assertIn("selected", opened.evaluate("document.querySelector('.panel').textContent"))
        opened.evaluate("document.querySelector('.finding').click()")
        self.assertEqual(opened.evaluate(f"[{view}.from, {view}.to]"), opened.evaluate(f"{view}.trace.card.findings[0].view"))
        rows = opened.evaluate(f"{view}.rows.length")
        opened.evaluate(f"{view}.setScroll(0)")
        opened.click(box[0] + 60, box[1] + 72)
        self.assertLess(opened.evaluate(f"{view}.rows.length"), rows)

    def test_flow_leads_from_kernel_to_call(self):
        opened = self.shown(page_of(sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")))
        opened.evaluate("views[0].select(views[0].trace.kind.findIndex((kind, item) => kind === 1 && views[0].trace.arrows(item).length), true)")
        opened.evaluate("views[0].follow(-1)")
        self.assertIn("CUDA", opened.evaluate("document.querySelector('.details .note').textContent"))
        self.assertEqual(opened.messages, [])

    def test_theme_and_small_screen(self):
        opened = self.shown(page_of(sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")), 390, 844, dark=True)
        background = opened.evaluate("getComputedStyle(document.body).backgroundColor")
        opened.evaluate("setDark(false)")
        self.assertNotEqual(opened.evaluate("getComputedStyle(document.body).backgroundColor"), background)
        self.assertLessEqual(opened.evaluate("document.documentElement.scrollWidth"), 390)

    def test_new_size_shows_no_empty_frame(self):
        opened = self.shown(page_of(sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")))
        # Observers run in the order of their creation, right before the frame is shown.
        light = opened.evaluate("""new Promise(done => {
          const view = views[0], stage = view.canvas.parentElement, height = stage.clientHeight;
          const observer = new ResizeObserver(() => {
            if (stage.clientHeight === height) return;
            observer.disconnect();
            done(view.context.getImageData(10, 100, 1, 1).data[0]);
          });
          observer.observe(stage);
          stage.style.flex = "none";
          stage.style.height = (height - 60) + "px";
        })""")
        self.assertGreater(light, 0)

    def test_button_of_a_served_page_loads_the_visible_part_in_full(self):
        server = subprocess.Popen([LANESCOPE, "view", "--web", sample(SOURCE / "resources/samples/resnet152-nvlink.sqlite.gz")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.addCleanup(server.stdout.close)
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+/\w+/", line)))
        opened = browser.Browser()
        self.addCleanup(opened.__exit__)
        opened.open(address)
        before = opened.evaluate("views[0].trace.full")
        opened.evaluate("views[0].show(views[0].trace.start, views[0].trace.start + (views[0].trace.end - views[0].trace.start) / 20)")
        visible = opened.evaluate("[views[0].from, views[0].to]")
        opened.events.clear()
        opened.evaluate("[...document.querySelectorAll('button')].find(each => each.textContent === 'In full').click()")
        while "Page.loadEventFired" not in opened.events:
            opened.read()
        opened.evaluate("new Promise(done => { const wait = () => document.documentElement.dataset.ready ? done() : setTimeout(wait, 5); wait(); })")
        full = opened.evaluate("views[0].trace.full")
        self.assertNotEqual(full, before)
        self.assertAlmostEqual(full[0], visible[0], delta=1)
        self.assertAlmostEqual(full[1], visible[1], delta=1)
        self.assertEqual(opened.messages, [])
        self.assertTrue(all(url.startswith(address) for url in opened.requests), opened.requests)

    def test_sixty_four_ranks_are_folded(self):
        events = []
        for rank in range(64):
            for number in range(60):
                start, link = number * 100 + rank, rank * 1000 + number + 1
                events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5000 + rank, "tid": 1, "ts": start, "dur": 5, "args": {"correlation": link}})
                events.append({"ph": "X", "cat": "kernel", "name": f"kernel{number % 3}", "pid": rank, "tid": 7, "ts": start + 10, "dur": 50,
                               "args": {"device": rank, "stream": 7, "correlation": link}})
        ranks = FOLDER / "ranks.json"
        ranks.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": rank, "name": "GPU"} for rank in range(64)], "traceEvents": events}))
        opened = self.shown(page_of(ranks))
        self.assertEqual(opened.evaluate("views[0].trace.gpus"), 64)
        self.assertTrue(opened.evaluate("views[0].rows.every(row => row.track.depth === 0)"))


if __name__ == "__main__":
    if not NODE and not browser.program():
        print("Skipped: neither Node.js nor Chromium is installed.")
        sys.exit(77)
    try:
        unittest.main(verbosity=2)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
