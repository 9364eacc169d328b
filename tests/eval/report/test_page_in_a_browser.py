"""The page in a real browser: a phone shows it without scrolling sideways, in light and in dark.

Chromium is driven through its debugging pipe, because `--window-size` never goes below 500 pixels.
"""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from eval.context.report import context_report
from eval.context.run import METHODS
from eval.core.experiment import Experiment
from eval.report.page import write_report

BINARIES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--remote-debugging-pipe"
).split()
MEASURES = [f"{what}@{k}" for what in ("recall", "ndcg") for k in (3, 5, 10)]
LONG = "averyverylongwordthatcannotbebrokenanywhere" * 4


class Browser:
    """A headless Chromium with one tab, spoken to in the DevTools protocol."""

    def __init__(self, binary: str, folder: Path) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()

        def as_three_and_four() -> None:
            high = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [binary, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(3, 4),
            preexec_fn=as_three_and_four,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in = os.fdopen(ours_out, "wb", 0), os.fdopen(ours_in, "rb")
        self._number = 0
        self._session: dict[str, str] = {}
        self.asked_for: list[str] = []
        targets = self("Target.getTargets")["targetInfos"]
        [tab] = [one["targetId"] for one in targets if one["type"] == "page"]
        found = self("Target.attachToTarget", targetId=tab, flatten=True)
        self._session = {"sessionId": found["sessionId"]}
        self("Page.enable")
        self("Network.enable")

    def __call__(self, method: str, **params: Any) -> Any:
        """The result of a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, **self._session}
        self._out.write(json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _read(self) -> Any:
        """The next message; addresses that the page asks for are kept."""
        found = bytearray()
        while (byte := self._in.read(1)) != b"\0":
            assert byte, "the browser left"
            found += byte
        message = json.loads(found)
        if message.get("method") == "Network.requestWillBeSent":
            self.asked_for.append(message["params"]["request"]["url"])
        return message

    def show(self, page: Path, width: int, height: int, theme: str) -> None:
        """Load a page as a screen of that size with that theme would."""
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        feature = {"name": "prefers-color-scheme", "value": theme}
        self("Emulation.setEmulatedMedia", features=[feature])
        self("Page.navigate", url=page.as_uri())
        while self._read().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, expression: str) -> Any:
        answer = self("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self) -> bytes:
        return base64.b64decode(self("Page.captureScreenshot")["data"])

    def close(self) -> None:
        with suppress(OSError, AssertionError):
            self("Browser.close")
        self._out.close()
        self._in.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = [path for path in map(shutil.which, BINARIES) if path]
    if not found:
        pytest.skip(f"no browser: install one of {', '.join(BINARIES)} to test the page in it")
    running = Browser(found[0], tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with all methods, many kinds and words that cannot be broken."""
    figures: dict[str, Any] = {
        method: dict.fromkeys(MEASURES, 90.0 - 7 * number)
        for number, method in enumerate(METHODS[:-2])
    }
    kinds = [f"kind-number-{number}" for number in range(9)]
    experiment = Experiment(
        experiment="context",
        data=f"some/{LONG}",
        data_sha256="ab" * 32,
        seed=0,
        versions={"python": "3.11.7"},
        settings={LONG: LONG},
        figures=figures,
        intervals={method: {one: [10.0, 95.0] for one in MEASURES} for method in figures},
        extra={
            "curves": {
                method: [min(100.0, 5.0 * k + number) for k in range(1, 21)]
                for number, method in enumerate(figures)
            },
            "by_kind": {
                method: {kind: {"recall@3": 50.0, "recall@10": 70.0} for kind in kinds}
                for method in figures
            },
            "misses": [{"query_id": LONG, "text": LONG, "found": [LONG, LONG]}],
        },
        skipped=dict.fromkeys(METHODS[-2:], f"because {LONG}"),
        seconds=1.0,
    )
    return write_report(experiment, context_report, tmp_path_factory.mktemp("page"))


def on_the_phone(browser: Browser, page: Path, theme: str) -> None:
    browser.show(page, 375, 812, theme)
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_the_page_without_scrolling_sideways(
    browser: Browser, page: Path, theme: str, tmp_path: Path
) -> None:
    on_the_phone(browser, page, theme)
    assert browser.evaluate("window.innerWidth") == 375
    assert browser.evaluate("document.documentElement.scrollWidth") <= 375
    picture = browser.screenshot()
    (tmp_path / f"phone-{theme}.png").write_bytes(picture)
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20]) == 375


def test_wide_tables_scroll_inside_their_own_frame(browser: Browser, page: Path) -> None:
    on_the_phone(browser, page, "light")
    frames = "[...document.querySelectorAll('.scroll')]"
    assert browser.evaluate(f"{frames}.some(one => one.scrollWidth > one.clientWidth)")
    assert browser.evaluate(f"{frames}.every(one => one.getBoundingClientRect().right <= 375)")
    assert browser.evaluate(
        f"{frames}.every(one => {{ one.scrollLeft = 1e6;"
        " const head = one.querySelector('tbody th').getBoundingClientRect();"
        " return head.left >= 0 && head.right <= 375 * 0.6; })"
    ), "the heads of the rows stay in sight"


def test_the_words_of_a_plot_are_large_enough_on_a_phone_and_inside_it(
    browser: Browser, page: Path
) -> None:
    on_the_phone(browser, page, "light")
    words = "[...document.querySelectorAll('svg text')]"
    assert browser.evaluate(f"{words}.length") > 20
    assert (
        browser.evaluate(f"Math.min(...{words}.map(one => one.getBoundingClientRect().height))")
        >= 10
    )
    assert browser.evaluate(
        f"{words}.every(one => {{ const word = one.getBoundingClientRect();"
        " const plot = one.ownerSVGElement.getBoundingClientRect();"
        " return word.left >= plot.left - 1 && word.right <= plot.right + 1; })"
    )


def test_the_page_follows_the_theme(browser: Browser, page: Path) -> None:
    def colours(theme: str) -> list[str]:
        browser.show(page, 375, 812, theme)
        style = "getComputedStyle(document.querySelector('{}')).{}"
        wanted = (("body", "backgroundColor"), ("body", "color"), ("svg text", "fill"))
        return [browser.evaluate(style.format(*one)) for one in wanted]

    light, dark = colours("light"), colours("dark")
    assert light[0] == "rgb(255, 255, 255)"
    assert all(one != other for one, other in zip(light, dark, strict=True))


def test_the_browser_asks_for_nothing_but_the_page(browser: Browser, page: Path) -> None:
    browser.asked_for.clear()
    browser.show(page, 1280, 900, "light")
    assert browser.asked_for == [page.as_uri()]
    assert browser.evaluate("document.documentElement.scrollWidth") <= 1280
