"""A screen as people see it: a page in a real Chromium, read by what stands where."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

READ_AMOUNTS = """
// Of each strip, the digit that stands behind its window now; nothing where the strip is between two.
return [...document.querySelectorAll(arguments[0] + " .amount .seen")].map((seen) => [...seen.children].map((part) => {
  const strip = part.querySelector("i");
  if (!strip) return part.textContent;
  const place = (part.getBoundingClientRect().top - strip.getBoundingClientRect().top) / part.getBoundingClientRect().height;
  return Math.abs(place - Math.round(place)) < 0.02 ? String(Math.round(place) % 10) : "";
}).join(""));
"""
READ_TEXTS = """
return [...document.querySelectorAll(arguments[0])]
  .filter((one) => one.checkVisibility({ visibilityProperty: true })).map((one) => one.textContent);
"""
READ_ROWS = """
return [...document.querySelectorAll(arguments[0])]
  .map((one) => arguments[1].map((part) => one.querySelector(part).textContent));
"""
WATCH = """
// Set before the page's own script: when the page last heard of its feed, when the connection broke, when it said so.
window.moments = {};
const Plain = window.EventSource;
window.EventSource = class extends Plain {
  constructor(url) {
    super(url);
    for (const name of ["snapshot", "delta", "heartbeat"]) this.addEventListener(name, () => { moments.heard = Date.now(); });
    this.addEventListener("heartbeat", (beat) => { if (!JSON.parse(beat.data).fresh) moments.told ??= Date.now(); });
    this.addEventListener("error", () => { moments.broke ??= Date.now(); });
  }
};
document.addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
  if (document.body.classList.contains("stale")) moments.stale ??= Date.now();
}).observe(document.body, { attributes: true }));
"""


def browser() -> str:
    """Where Chromium is. Fails with what is to be done where it or its driver is missing."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    missing = [
        name for name, there in (("Chromium", found), ("chromedriver", shutil.which("chromedriver"))) if not there
    ]
    assert found and not missing, (
        f"{' and '.join(missing)}: not installed. Pages are tested in a real browser: say `make browser`,"
        " or on Debian `apt-get install chromium chromium-driver`."
    )
    return found


class Screen:
    """One page on one screen."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})

    def show(self, url: str, width: int = 1280, height: int = 720, mobile: bool = False) -> None:
        """Opens a page on a screen of that size, in CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(url)

    def run(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def amounts(self, within: str = "#levels") -> list[str]:
        """The amounts of the levels as their digits stand, from the first to the last."""
        return list(self.run(READ_AMOUNTS, within))

    def texts(self, selector: str) -> list[str]:
        """The text of every element that is visible."""
        return list(self.run(READ_TEXTS, selector))

    def rows(self, selector: str, *parts: str) -> list[tuple[str, ...]]:
        """Of every element, at one moment, the text of these parts of it."""
        return [tuple(row) for row in self.run(READ_ROWS, selector, parts)]

    def text(self, selector: str) -> str:
        return " | ".join(self.texts(selector))

    @property
    def stale(self) -> bool:
        return bool(self.run("return document.body.classList.contains('stale')"))

    def overflow(self) -> list[str]:
        """What is wider than the screen: the page itself, or amounts that leave it or their own box."""
        return list(
            self.run(
                """
                const wide = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
                for (const one of document.querySelectorAll(".amount")) {
                  const inner = document.createRange();
                  inner.selectNodeContents(one.querySelector(".seen") ?? one);
                  const { left, right } = inner.getBoundingClientRect();
                  if (left < 0 || right > innerWidth) wide.push(one.textContent);
                }
                return wide;
                """
            )
        )

    def picture(self, path: str) -> None:
        """A PNG of it, to look at."""
        self.driver.save_screenshot(path)


@contextmanager
def screen() -> Iterator[Screen]:
    """A Chromium without a window, closed afterwards."""
    options = Options()
    options.binary_location = browser()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        yield Screen(driver)
    finally:
        driver.quit()
