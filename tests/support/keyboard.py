"""A page worked by keyboard, in a real Chromium."""

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.support.house import until

PATIENCE_SECONDS = 20.0


def press(browser: Chrome, *keys: str) -> None:
    """Keys, one after another, wherever focus is."""
    for key in keys:
        browser.switch_to.active_element.send_keys(key)


def one(browser: Chrome, css: str) -> WebElement:
    """The element of that selector."""
    return browser.find_element(By.CSS_SELECTOR, css)


def text_of(browser: Chrome, css: str) -> str:
    """The words that are seen in the first element of that selector, all on one line; empty where there is none."""
    # In one step in the page: what a page renews may be gone between two.
    seen = browser.execute_script(
        "const it = document.querySelector(arguments[0]); return it?.checkVisibility() ? it.innerText : ''", css
    )
    return " ".join(str(seen).split())


def sees(browser: Chrome, css: str, *words: str) -> None:
    """Waits until all those words are seen there."""
    try:
        until(f"{css} shows {words}", lambda: all(word in text_of(browser, css) for word in words), PATIENCE_SECONDS)
    except AssertionError as error:
        raise AssertionError(f"{error}; it shows: {text_of(browser, css)}") from None


def focus_is_in(browser: Chrome, css: str) -> bool:
    """Whether what has focus is that element or inside it."""
    return bool(browser.execute_script("return document.activeElement.closest(arguments[0]) !== null", css))


__all__ = ["Keys", "focus_is_in", "one", "press", "sees", "text_of"]
