"""Makes the pictures of docs/web.md: `python docs/screenshots.py`.

Serves the pages for the packaged person of `ctrag demo`, on copies in a temporary folder, and
drives the installed Chromium through them. With `--time` it makes no picture, and prints how long
it takes from the command to the first answer.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OUT = Path(__file__).parent / "web"
PERSON = "p204"
REMIND = "remind me to buy crib sheets tomorrow at six"
TELL = "tell Gord I can't make it tonight"
PATIENCE = 300_000
"""Milliseconds."""
QUALITY = 40


def main() -> None:
    """Write the pictures, or with `--time` print the time to the first answer."""
    from playwright.sync_api import sync_playwright

    binary = shutil.which("chromium") or shutil.which("google-chrome")
    if binary is None:
        sys.exit("docs/screenshots.py: no chromium and no google-chrome is installed")
    OUT.mkdir(exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        home = {"CTRAG_HOME": f"{folder}/home"}
        command = "from ctrag.cli.main import main; main()"
        with subprocess.Popen(
            [sys.executable, "-c", command, "serve", "web", "--port", "0"],
            stdout=subprocess.PIPE,
            env={**os.environ, **home},
            text=True,
        ) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            try:
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(
                        executable_path=binary, args=["--no-sandbox"]
                    )
                    if "--time" in sys.argv:
                        clock(browser, address, began)
                    else:
                        take(browser, address)
                    browser.close()
            finally:
                server.terminate()


def clock(browser: "Browser", address: str, began: float) -> None:
    """Print the seconds since the command at which each thing is there."""

    def tell(what: str) -> None:
        print(f"{time.monotonic() - began:5.1f} s  {what}")

    tell("the address is printed")
    page = page_of(browser, address, 1280, 800, "light")
    tell("the first page is shown")
    page.get_by_role("link", name="Bram Whynacht").click()
    page.locator("#text").wait_for()
    tell("the assistant is open")
    say(page, REMIND)
    page.locator(".turn .actions").first.wait_for()
    tell("the first request is answered")


def take(browser: "Browser", address: str) -> None:
    """The pictures: a desk's screen in light and dark, and a phone's."""
    desk = page_of(browser, address, 1280, 800, "light")
    save(desk, "start")
    base = desk.url.rstrip("/")
    desk.goto(f"{base}/p/{PERSON}/data")
    desk.get_by_role("button", name="Take everything back").click()
    desk.goto(f"{base}/p/{PERSON}/")
    say(desk, REMIND)
    desk.locator(".turn .actions").first.wait_for()
    say(desk, TELL)
    desk.locator(".ask, .confirm").first.wait_for()
    if desk.locator(".ask").count():
        desk.locator(".ask button").first.click()
        desk.locator(".confirm").wait_for()
    save(desk, "talk")
    desk.get_by_role("button", name="No, leave it").click()
    desk.wait_for_selector("[data-working]", state="detached")
    desk.goto(f"{base}/p/{PERSON}/things")
    save(desk, "week")
    desk.goto(f"{base}/p/{PERSON}/things?app=reminders")
    save(desk, "reminders")
    dark = page_of(browser, address, 1280, 800, "dark")
    dark.goto(f"{base}/p/{PERSON}/?turn=1")
    save(dark, "dark")
    phone = page_of(browser, address, 390, 780, "light")
    phone.goto(f"{base}/p/{PERSON}/")
    save(phone, "phone")
    phone.goto(f"{base}/p/{PERSON}/?turn=1")
    save(phone, "phone-why")


def page_of(browser: "Browser", address: str, width: int, height: int, theme: str) -> "Page":
    """A screen of that size, signed in."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, locale="en-GB"
    )  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(address)
    return page


def say(page: "Page", text: str) -> None:
    """Type a request and send it."""
    page.locator("#text").fill(text)
    page.keyboard.press("Enter")


def save(page: "Page", name: str) -> None:
    """One picture, as a small WebP."""
    from io import BytesIO

    from PIL import Image

    page.wait_for_timeout(500)
    Image.open(BytesIO(page.screenshot())).save(OUT / f"{name}.webp", quality=QUALITY, method=6)


if __name__ == "__main__":
    main()
