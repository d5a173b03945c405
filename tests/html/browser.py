"""A headless Chromium that notes what a page does: errors, requests, and when its first row of cases is there."""

import base64
import json
import os
import shutil
import struct
import zlib

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

# Runs in the page before its own scripts: when the first case stands in the table and has been painted.
WATCH = """
window.__first = 0;
new MutationObserver((changes, observer) => {
  if (document.querySelector('#case-rows .case-row') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.__first = performance.now(); }));
}).observe(document, {childList: true, subtree: true});
"""


def found():
    """The programs, or None."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    return (chromium, driver) if chromium and driver else None


class Browser:
    def __init__(self):
        chromium, driver = found()
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--disable-background-networking", "--no-first-run"]
        # Chromium's sandbox does not start as root, as which continuous integration runs.
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        for argument in arguments:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        # A page that leads elsewhere must fail a test, not hang it.
        self.driver.set_page_load_timeout(30)
        self.driver.set_script_timeout(30)
        self.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        self.size(1280, 1000)

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def size(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, theme="light", kind=""):
        self.command("Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": theme}])

    def scripts(self, on):
        self.command("Emulation.setScriptExecutionDisabled", value=not on)

    def open(self, path, ready="all"):
        self.logs()
        self.driver.get("file://" + str(path))
        if ready:
            self.wait(f"return document.documentElement.dataset.ready === '{ready}'")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments, seconds=20):
        from selenium.webdriver.support.ui import WebDriverWait
        return WebDriverWait(self.driver, seconds, poll_frequency=0.02).until(lambda _: self.run(script, *arguments))

    def logs(self):
        """Console messages and addresses of requests since the last call."""
        messages = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return messages, urls

    def picture(self, path):
        """Screenshot to a file; returns how many different rows of pixels it has."""
        data = base64.b64decode(self.driver.get_screenshot_as_base64())
        path.write_bytes(data)
        return different_rows(data)

    def close(self):
        self.driver.quit()


def different_rows(png):
    """Rows of an unfiltered PNG would be equal where the page is blank; filtered ones of a blank page are too."""
    width, height = struct.unpack(">II", png[16:24])
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    pixels = zlib.decompress(data)
    stride = len(pixels) // height
    assert width > 0 and stride * height == len(pixels)
    return len({pixels[row * stride:(row + 1) * stride] for row in range(height)})
