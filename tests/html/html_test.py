#!/usr/bin/env python3
"""The HTML page in headless Chromium: what a reader sees and does, what a hostile report must not do, how fast it is.

Usage: html_test.py PROGRAM SOURCE_FOLDER SCREENSHOT_FOLDER [unittest arguments]
Exit code 77 where there is no Chromium, chromedriver or selenium.
LT_AUDIT_TIME_FACTOR multiplies the time limits, for slow machines.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import selenium  # noqa: F401
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("skipped: no python3-selenium")
    sys.exit(77)
import browser
import reports

PROGRAM, SOURCE, SCREENSHOTS = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
FACTOR = float(os.environ.get("LT_AUDIT_TIME_FACTOR", "1"))
FOLDER = tempfile.TemporaryDirectory(prefix="lt-audit-html-")
PLACE = pathlib.Path(FOLDER.name)


def page_of(report):
    """The page that the program makes of a report file."""
    page = report.with_suffix(".html")
    subprocess.run([PROGRAM, "show", "-q", report, "--html", page], check=True, stdout=subprocess.DEVNULL)
    return page


def setUpModule():
    global WINDOW, GPU, GPU_REPORT, SIMULATOR, SIMULATOR_REPORT
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    committed = SOURCE / "docs/reports/h200-cublaslt-13.1.0.json"
    GPU_REPORT = json.loads(committed.read_text(encoding="utf-8"))
    GPU = PLACE / "h200.html"
    subprocess.run([PROGRAM, "show", "-q", committed, "--html", GPU], check=True, stdout=subprocess.DEVNULL)
    report = PLACE / "simulator.json"
    subprocess.run([PROGRAM, "run", "alignment", "compute-type", "workspace", "cublas-parity", "--target", "simulator", "--depth",
                    "quick", "--inject", "wrong-element", "--json", report],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    SIMULATOR_REPORT = json.loads(report.read_text(encoding="utf-8"))
    SIMULATOR = page_of(report)
    WINDOW = browser.Browser()


def tearDownModule():
    WINDOW.close()
    FOLDER.cleanup()


class PageTest(unittest.TestCase):
    def setUp(self):
        self.page = WINDOW
        self.page.scripts(True)
        self.page.media("light")
        self.page.size(1280, 1000)

    def texts(self, selector):
        return self.page.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def shown(self):
        return int(self.page.run("return document.getElementById('shown').textContent.match(/[\\d,]+/)[0].replaceAll(',', '')"))

    def key(self, *keys):
        self.page.driver.switch_to.active_element.send_keys(*keys)

    def choose(self, select, start):
        """Chooses the option whose text starts so, as a reader does."""
        self.page.run("""const one = document.getElementById(arguments[0]);
            one.value = [...one.options].find((option) => option.text.startsWith(arguments[1])).value;
            one.dispatchEvent(new Event('change', {bubbles: true}));""", select, start)

    def search(self, words):
        self.page.run("""const one = document.getElementById('search'); one.value = arguments[0];
            one.dispatchEvent(new Event('input', {bubbles: true}));""", words)
        self.page.run("return new Promise((done) => setTimeout(done, 150))")

    def assert_quiet(self, path):
        """No message on the console, no request but for the page itself."""
        messages, urls = self.page.logs()
        self.assertEqual(messages, [])
        self.assertEqual({url for url in urls if not url.startswith("data:")}, {"file://" + str(path)})


class ContentTest(PageTest):
    def test_gpu_page_is_quiet_and_says_what_was_audited(self):
        self.page.open(GPU)
        self.assert_quiet(GPU)
        self.assertEqual(self.texts("h1"), ["cuBLASLt 13.1.0 on NVIDIA H200"])
        self.assertIn(GPU_REPORT["environment"]["driver"], self.texts(".facts dd"))
        findings = [one for one in GPU_REPORT["findings"] if one["status"] != "skip"]
        self.assertEqual(len(self.texts("#findings > .finding")), len(findings))
        for finding in findings:
            self.assertIn(finding["repro"], self.texts(".finding .command code"))
        self.assertEqual(self.page.run("return lt.total"), GPU_REPORT["summary"]["total"])

    def test_simulator_and_planted_fault_are_loud(self):
        self.page.open(SIMULATOR)
        self.assert_quiet(SIMULATOR)
        self.assertEqual(self.texts(".banner strong"), ["SIMULATOR", "FAULT PLANTED"])

    def test_incomplete_audit_is_loud(self):
        page = page_of(reports.write({**SIMULATOR_REPORT, "complete": False, "incomplete_reason": "interrupted"},
                                     PLACE / "incomplete.json"))
        self.page.open(page)
        self.assertIn("INCOMPLETE", self.texts(".banner strong"))

    def test_summary_and_findings_need_no_script(self):
        self.page.scripts(False)
        self.page.open(GPU, ready=None)
        text = self.page.run("return document.querySelector('main').innerText")
        self.assertIn(GPU_REPORT["findings"][0]["title"], text)
        self.assertIn("needs JavaScript", text)
        self.assertNotIn("Show in the table", text)

    def test_every_picture_is_there(self):
        self.page.open(GPU)
        titles = self.texts("figure h4")
        for title in ("Which types are accepted", "What a workspace limit costs", "cuBLASLt against cuBLAS",
                      "Pointers whose alignment is declared to the heuristic", "Pointers that are aligned less than declared"):
            self.assertIn(title, titles)
        # Colour alone says nothing: each cell has a shape or a number, and words for those who hear it.
        self.assertEqual(self.page.run("""return [...document.querySelectorAll('td[data-case]')].filter((cell) =>
            (cell.querySelector('use') === null && cell.textContent.trim() === '') || !cell.getAttribute('aria-label')).length"""), 0)

    def test_matrix_shows_what_the_report_says(self):
        self.page.open(GPU)
        check = next(one for one in GPU_REPORT["checks"] if one["id"] == "compute-type")
        cells = self.page.run("""const first = lt.first[lt.checks.findIndex((one) => one.id === 'compute-type')];
            return [...document.querySelectorAll('#check-' + lt.checks.findIndex((one) => one.id === 'compute-type') +
              ' td[data-case]')].map((cell) => [Number(cell.dataset.case) - first, cell.querySelector('use').getAttribute('href')])""")
        self.assertGreater(len(cells), 400)
        for place, shape in cells:
            self.assertEqual(shape, "#g-" + check["cases"][place]["outcome"])

    def test_ids_are_unique_and_controls_have_names(self):
        self.page.open(GPU)
        ids = self.page.run("return [...document.querySelectorAll('[id]')].map((one) => one.id)")
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(self.page.run("""return [...document.querySelectorAll('input, select, button')].filter((one) =>
            one.textContent.trim() === '' && one.closest('label') === null).length"""), 0)


class TableTest(PageTest):
    def setUp(self):
        super().setUp()
        self.page.open(GPU)

    def count(self, matches):
        return sum(1 for check in GPU_REPORT["checks"] for case in check["cases"] if matches(check, case))

    def test_filters_by_check_and_status(self):
        self.assertEqual(self.shown(), GPU_REPORT["summary"]["total"])
        self.choose("filter-check", "alignment")
        self.assertEqual(self.shown(), self.count(lambda check, case: check["id"] == "alignment"))
        for status in ("pass", "skip"):
            self.page.run("[...document.querySelectorAll('.chip')].find((one) => one.textContent.includes(arguments[0])).click()", status)
        self.assertEqual(self.shown(), self.count(lambda check, case: check["id"] == "alignment" and case["status"] not in ("pass", "skip")))
        self.page.run("document.getElementById('clear').click()")
        self.assertEqual(self.shown(), GPU_REPORT["summary"]["total"])

    def test_filters_by_outcome_and_reason(self):
        self.choose("filter-outcome", "out of bounds")
        self.assertEqual(self.shown(), self.count(lambda check, case: case["outcome"] == "out_of_bounds"))
        self.choose("filter-outcome", "all")
        reason = next(case["reason"] for check in GPU_REPORT["checks"] for case in check["cases"] if case["status"] == "warn")
        self.choose("filter-reason", reason + " (")
        self.assertEqual(self.shown(), self.count(lambda check, case: case["reason"] == reason))

    def test_search_finds_words_of_ids_problems_and_logs(self):
        self.search("lda=97 F64")
        self.assertEqual(self.shown(), self.count(lambda check, case: "lda=97" in case["problem"] and "f64" in json.dumps(case).lower()))
        self.search("no such words anywhere")
        self.assertEqual(self.shown(), 0)
        log = next(line["text"] for check in GPU_REPORT["checks"] for case in check["cases"]
                   for line in case["observation"].get("log", []))
        self.search(log)
        self.assertGreater(self.shown(), 0)

    def test_rows_sort_both_ways(self):
        ids = sorted(case["id"] for check in GPU_REPORT["checks"] for case in check["cases"])
        self.page.run("document.querySelector('[data-sort=id]').click()")
        self.assertEqual(self.texts(".open-case")[0], ids[0])
        self.page.run("document.querySelector('[data-sort=id]').click()")
        self.assertEqual(self.texts(".open-case")[0], ids[-1])
        self.assertEqual(self.page.run("return document.querySelector('[data-sort=id]').parentElement.getAttribute('aria-sort')"), "descending")

    def test_pages_show_every_case_once(self):
        self.choose("filter-check", "graph-capture")
        seen = []
        for _ in range(10):
            seen += self.texts(".open-case")
            if self.page.run("const next = document.querySelector('[data-page=next]'); if (next.disabled) return true; next.click(); return false"):
                break
        check = next(one for one in GPU_REPORT["checks"] if one["id"] == "graph-capture")
        self.assertEqual(sorted(seen), sorted(case["id"] for case in check["cases"]))

    def test_details_hold_the_observation_of_a_failed_case(self):
        check = next(one for one in GPU_REPORT["checks"] if one["id"] == "compute-type")
        place, case = next((place, one) for place, one in enumerate(check["cases"]) if one["outcome"] == "out_of_bounds")
        self.page.run("lt.showCase(lt.first[lt.checks.findIndex((one) => one.id === 'compute-type')] + arguments[0])", place)
        text = self.texts(".case-detail")[0]
        for part in (case["message"], case["rule"], case["observation"]["stages"][0]["call"],
                     "bytes behind d", str(case["observation"]["heuristic"][0]["algo_id"])):
            self.assertIn(part, text)
        self.assertNotIn("Shortened", text)

    def test_details_of_a_passed_case_say_what_is_left_out(self):
        self.page.run("lt.showCase(lt.status.indexOf(0))")
        self.assertIn("in the JSON report", self.texts(".case-detail")[0])

    def test_finding_leads_to_its_cases(self):
        finding = next(one for one in GPU_REPORT["findings"] if one["status"] == "fail")
        self.page.run("document.querySelector(`[data-finding='${arguments[0]}']`).click()", finding["id"])
        self.assertEqual(self.shown(), finding["count"])


class KeyboardTest(PageTest):
    def setUp(self):
        super().setUp()
        self.page.open(GPU)

    def active(self, script):
        return self.page.run("const here = document.activeElement; " + script)

    def test_first_stop_skips_to_the_findings(self):
        self.page.driver.find_element("tag name", "body").send_keys(Keys.TAB)
        self.assertEqual(self.active("return here.textContent"), "Skip to the findings")
        self.assertGreaterEqual(self.active("return here.getBoundingClientRect().top"), 0)
        self.key(Keys.ENTER)
        self.assertEqual(self.active("return here.id"), "findings")

    def test_slash_searches_and_arrows_open_a_case(self):
        self.page.driver.find_element("tag name", "body").send_keys("/")
        self.assertEqual(self.active("return here.id"), "search")
        self.page.run("document.querySelector('.open-case').focus()")
        first = self.texts(".open-case")
        self.key(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        self.assertEqual(self.active("return here.textContent"), first[2])
        self.key(Keys.ENTER)
        self.assertEqual(self.active("return here.getAttribute('aria-expanded')"), "true")
        self.assertEqual(len(self.texts(".case-detail")), 1)
        self.key(Keys.ESCAPE)
        self.assertEqual(len(self.texts(".case-detail")), 0)
        self.key(Keys.PAGE_DOWN)
        self.assertNotIn(self.active("return here.textContent"), first)

    def test_arrows_move_in_a_matrix_with_a_tooltip_and_one_stop(self):
        self.page.run("document.querySelector('.grid td[tabindex=\"0\"]').focus()")
        where = "return [here.parentElement.rowIndex, here.cellIndex]"
        row, column = self.active(where)
        self.key(Keys.ARROW_RIGHT)
        self.assertEqual(self.active(where), [row, column + 1])
        self.key(Keys.ARROW_DOWN)
        self.assertGreater(self.active(where)[0], row)
        self.assertFalse(self.page.run("return document.getElementById('tip').hidden"))
        self.assertIn(self.active("return lt.idOf(Number(here.dataset.case))"), self.texts("#tip")[0])
        self.assertEqual(self.active("return here.closest('table').querySelectorAll('[tabindex=\"0\"]').length"), 1)
        # The tooltip follows a cell that scrolls.
        self.page.run("scrollBy(0, 40); return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        gap = self.active("return document.getElementById('tip').getBoundingClientRect().top - here.getBoundingClientRect().bottom")
        self.assertAlmostEqual(gap, 6, delta=1)
        outline = self.active("return getComputedStyle(here).outlineStyle")
        self.assertNotEqual(outline, "none")
        self.key(Keys.ESCAPE)
        self.assertTrue(self.page.run("return document.getElementById('tip').hidden"))
        the_case = self.active("return lt.idOf(Number(here.dataset.case))")
        self.key(Keys.ENTER)
        self.assertEqual(self.active("return here.textContent"), the_case)
        self.assertEqual(len(self.texts(".case-detail")), 1)


class LookTest(PageTest):
    def background(self):
        return self.page.run("return getComputedStyle(document.body).backgroundColor")

    def test_themes_follow_the_system_and_the_button(self):
        self.page.open(GPU)
        light = self.background()
        self.page.media("dark")
        dark = self.background()
        self.assertNotEqual(light, dark)
        button = "document.getElementById('theme').click()"
        self.page.run(button)
        self.assertEqual(self.background(), light)
        self.page.media("light")
        self.page.run(button)
        self.assertEqual(self.background(), dark)
        self.page.run(button)
        self.assertEqual(self.background(), light)

    def contrast(self, selector):
        """Least contrast of text to the nearest background that is not transparent (WCAG 2)."""
        return self.page.run("""
            const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
            const light = (colour) => { const [r, g, b] = colour.map((c) => { c /= 255;
              return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
            const behind = (one) => { for (; one; one = one.parentElement) {
              const colour = rgb(getComputedStyle(one).backgroundColor); if (colour[3] !== 0) return colour.slice(0, 3); }
              return [255, 255, 255]; };
            return Math.min(...[...document.querySelectorAll(arguments[0])].slice(0, 400).map((one) => {
              const [a, b] = [light(rgb(getComputedStyle(one).color).slice(0, 3)), light(behind(one))].sort((x, y) => y - x);
              return (a + .05) / (b + .05); }))""", selector)

    def test_texts_have_contrast_in_both_themes(self):
        for theme in ("light", "dark"):
            self.page.media(theme)
            self.page.open(GPU)
            for selector in (".status", ".muted", "dt", "dd", ".cases td", "button.quiet", ".cell.time", "a"):
                with self.subTest(theme=theme, selector=selector):
                    self.assertGreaterEqual(self.contrast(selector), 4.5)
            # Shapes need 3 to 1; a refusal that is expected is meant to stay in the background.
            for selector in (".cell.good", ".cell.late", ".cell.bad", ".cell.lost"):
                with self.subTest(theme=theme, selector=selector):
                    self.assertGreaterEqual(self.contrast(selector), 3)

    def test_nothing_is_wider_than_a_narrow_screen(self):
        for path in (GPU, SIMULATOR):
            self.page.size(400, 900)
            self.page.open(path)
            self.assertLessEqual(self.page.run("return document.documentElement.scrollWidth"), 400)

    def test_pictures_of_the_page_are_not_blank(self):
        places = {"top": "scrollTo(0, 0)", "types": "document.getElementById('check-1').scrollIntoView()",
                  "alignment": "document.getElementById('check-0').scrollIntoView()",
                  "times": "document.getElementById('check-2').scrollIntoView()",
                  "workspace": "document.querySelector('.grid.times').scrollIntoView()",
                  "case": "lt.showCase([...lt.status].indexOf(2))"}
        for theme in ("light", "dark"):
            for width in (1280, 400):
                self.page.media(theme)
                self.page.size(width, 1000)
                self.page.open(GPU)
                for name, script in places.items():
                    self.page.run(script)
                    rows = self.page.picture(SCREENSHOTS / f"{name}-{theme}-{width}.png")
                    self.assertGreater(rows, 100, f"{name} {theme} {width}")

    def test_print_is_light_and_holds_all_findings(self):
        self.page.media("dark")
        self.page.open(GPU)
        pdf = base64.b64decode(self.page.command("Page.printToPDF", preferCSSPageSize=True)["data"])
        (SCREENSHOTS / "print.pdf").write_bytes(pdf)
        self.assertTrue(pdf.startswith(b"%PDF") and len(pdf) > 50_000)
        self.page.media("dark", "print")
        self.assertEqual(self.background(), "rgb(255, 255, 255)")
        for hidden in ("#filters", ".bar", "#pager", ".finding .copy"):
            self.assertEqual(self.page.run("return getComputedStyle(document.querySelector(arguments[0])).display", hidden), "none")
        self.page.run("window.dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.page.run("return document.querySelectorAll('details:not([open])').length"), 0)


class HostileTest(PageTest):
    def test_no_field_becomes_a_script_a_link_or_a_request(self):
        small = json.loads((SOURCE / "docs/reports/h200x2-cublaslt-13.1.0.json").read_text(encoding="utf-8"))
        for check in small["checks"]:
            bad = [case for case in check["cases"] if case["status"] != "pass"]
            check["cases"] = (bad + check["cases"])[:60]
        for number, report in enumerate((small, SIMULATOR_REPORT)):
            page = page_of(reports.write(reports.hostile(report), PLACE / f"hostile{number}.json"))
            self.page.open(page)
            # Every case opened, every tooltip shown, every filter used.
            self.page.run("""for (let index = 0; index < lt.total; ++index) { lt.detailOf(index); }
                for (const cell of [...document.querySelectorAll('td[data-case]')].slice(0, 300)) cell.focus();
                for (const button of document.querySelectorAll('.show-finding, .show-cases, .copy')) button.click();""")
            self.search("window.__ran")
            self.page.run("document.querySelector('.open-case')?.click()")
            self.page.picture(SCREENSHOTS / f"hostile{number}.png")
            self.assertIsNone(self.page.run("return window.__ran === undefined ? null : window.__ran"))
            self.assertEqual(self.page.run("""return [...document.querySelectorAll('*')].flatMap((one) =>
                [...one.attributes].filter((a) => /^on/i.test(a.name) || /^\\s*javascript:/i.test(a.value) && a.name === 'href')).length"""), 0)
            self.assertEqual(self.page.run("return document.querySelectorAll('img, iframe, base, main link, main style, meta[http-equiv=refresh]').length"), 0)
            self.assertEqual(self.page.run("return document.querySelectorAll('script').length"), 8)
            # No control character and nothing that turns the direction reaches the reader.
            self.assertFalse(self.page.run("return /[\\u0000-\\u0008\\u001b\\u202a-\\u202e]/.test(document.querySelector('main').innerText)"))
            self.assert_quiet(page)


class SpeedTest(PageTest):
    def milliseconds(self, page):
        """Best of three, from the navigation to the first painted row of cases: others use this machine too."""
        times = []
        for _ in range(3):
            self.page.open(page)
            times.append(self.page.wait("return window.__first"))
        return min(times)

    def test_twenty_thousand_cases_open_in_under_a_second(self):
        page = page_of(reports.write(reports.large(GPU_REPORT, 20_000), PLACE / "large.json"))
        took = self.milliseconds(page)
        print(f"20,000 cases: first row after {took:.0f} ms, page of {page.stat().st_size / 2**20:.1f} MiB", file=sys.stderr)
        self.assertEqual(self.page.run("return lt.total"), 20_000)
        self.assertLess(took, 1000 * FACTOR)

    def test_fifty_thousand_cases_stay_usable(self):
        page = page_of(reports.write(reports.large(GPU_REPORT, 50_000), PLACE / "huge.json"))
        took = self.milliseconds(page)
        searched = self.page.run("""const began = performance.now(); const one = document.getElementById('search');
            one.value = 'off64'; return new Promise((done) => { new MutationObserver(() => done(performance.now() - began))
              .observe(document.getElementById('case-rows'), {childList: true});
              one.dispatchEvent(new Event('input', {bubbles: true})); })""")
        print(f"50,000 cases: first row after {took:.0f} ms, first search {searched:.0f} ms, page of "
              f"{page.stat().st_size / 2**20:.1f} MiB", file=sys.stderr)
        self.assertLess(took, 2500 * FACTOR)
        self.assertLess(searched, 1000 * FACTOR)


if __name__ == "__main__":
    if browser.found() is None:
        print("skipped: no chromium with chromedriver")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
