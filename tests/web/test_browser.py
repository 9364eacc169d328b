"""The pages in a real browser: by keyboard, twice, loaded again, on a phone, without a server.

Chromium is the one that is installed; a page that breaks its own security policy, fails to load
something or asks another host for anything fails its test.
"""

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from ctrag.web.pages import environment
from tests.web.conftest import FIND, MAIL, REMIND, UNSURE, ByHeart, Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

pytestmark = pytest.mark.slow
BINARIES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 120_000
"""Milliseconds that anything may take on a busy machine."""
ACCESSIBLE = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
"""Kinds of rules that axe looks for."""
PHONE = {"width": 375, "height": 812}
CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VEVENT
UID:1@test
SUMMARY:Boiler service
DTSTART:20250418T080000
DTEND:20250418T090000
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright, of dev")
    found = [path for path in map(shutil.which, BINARIES) if path]
    if not found:
        pytest.skip(f"no browser: install one of {', '.join(BINARIES)} to test the pages in it")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found[0], args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Tabs:
    """Tabs of one browser profile, and what went wrong in them."""

    context: "BrowserContext"
    served: Served
    wrong: list[str] = field(default_factory=list)

    def open(self, address: str = "") -> "Page":
        """A tab; without an address Ada's conversation, with the token."""
        page = self.context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))
        page.on("request", self._asked)
        page.goto(address or self.served.address)
        if not address:
            page.wait_for_selector("#text")
        return page

    def _console(self, message: Any) -> None:
        if message.type == "error" or "Content Security Policy" in message.text:
            self.wrong.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.served.url, "blob:", "data:")):
            self.wrong.append(f"asked for {request.url}")


@pytest.fixture
def tabs_on(chromium: "Browser", pages: Served) -> Iterator[Callable[..., Tabs]]:
    """`tabs_on(viewport=…, color_scheme=…)`: a browser profile of its own."""
    made: list[Tabs] = []

    def make(**how: Any) -> Tabs:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **how})
        context.set_default_timeout(PATIENCE)
        made.append(Tabs(context, pages))
        return made[-1]

    yield make
    for tabs in made:
        tabs.context.close()
        assert tabs.wrong == []


@pytest.fixture
def tabs(tabs_on: Callable[..., Tabs]) -> Tabs:
    return tabs_on()


def say(page: "Page", text: str) -> None:
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def tab_to(page: "Page", words: str) -> None:
    """Press Tab until the element that has the focus begins with these words."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if focused(page).startswith(words):
            return
    raise AssertionError(f"no Tab leads to {words!r}")


def focused(page: "Page") -> str:
    return str(page.evaluate("() => document.activeElement.innerText || ''"))


def last_turn(page: "Page") -> "Locator":
    return page.locator(".turn").last


def test_a_whole_conversation_by_keyboard(tabs: Tabs) -> None:
    page = tabs.open()
    say(page, REMIND)
    page.wait_for_selector("text=Created the reminder")
    why = page.locator("#why")
    why.get_by_text("create_reminder(title=").first.wait_for()
    assert why.locator(".from-computed").inner_text() == "computed"
    assert page.input_value("#text") == ""

    say(page, MAIL)
    card = page.locator(".confirm")
    card.wait_for()
    assert "<omar@example.mx>" in card.inner_text()
    assert "Is the crane free?" in card.inner_text()
    page.keyboard.press("Enter")  # nothing is agreed to by accident
    assert card.is_visible()
    tab_to(page, "Yes, do it")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Agreed to")
    page.wait_for_selector("[data-working]", state="detached")

    page.locator("#text").focus()
    say(page, UNSURE)
    page.locator(".ask").wait_for()
    tab_to(page, "Create the reminder")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn:nth-of-type(4) .actions")
    assert "New code" in last_turn(page).inner_text()

    page.locator(".skip").focus()
    tab_to(page, "Undo")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Taken back: Created the reminder “New code”")
    page.locator(".skip").focus()
    tab_to(page, "Why?")
    page.keyboard.press("Enter")
    why.get_by_role("heading", name=f"Why: “{REMIND}”").or_(
        why.get_by_role("heading", name=f"Why: {REMIND}")
    ).wait_for()
    assert "turn=1" in page.url


def test_texts_of_items_stay_text(tabs: Tabs) -> None:
    page = tabs.open()
    for app in ("mail", "notes", "calendar", "music", "phonecall", "reminders", "people"):
        page.goto(f"{tabs.served.url}/p/ada/things?app={app}")
        assert page.locator("main script, main img, main iframe").count() == 0
    page.goto(f"{tabs.served.url}/p/ada/things?q=<script>alert(1)</script>")
    assert "<script>alert(1)</script>" in page.locator("h2").inner_text()
    page.goto(f"{tabs.served.url}/p/ada/")
    say(page, "<img src=x onerror=alert(1)> which mails are there")
    page.wait_for_selector(".turn .actions")
    assert "<img src=x" in page.locator(".said").inner_text()
    assert page.locator("main img").count() == 0


def test_a_number_beside_an_arabic_name_is_not_turned(chromium: "Browser") -> None:
    page = chromium.new_page()
    asked = "Call سارة الخطيب (+971 4 000 1122)?"
    template = environment().from_string("<p>{{ asked | isolated }}</p>")
    page.set_content(template.render(asked=asked))
    plus, two = page.evaluate(
        """() => {
          const text = document.querySelector('p').lastChild
          return ['+', '2'].map((sign) => {
            const range = document.createRange()
            range.setStart(text, text.data.lastIndexOf(sign))
            range.setEnd(text, text.data.lastIndexOf(sign) + 1)
            return range.getBoundingClientRect().left
          })
        }"""
    )
    assert plus < two
    page.close()


def test_what_is_written_while_something_is_asked_answers_it(tabs: Tabs) -> None:
    page = tabs.open()
    say(page, MAIL)
    page.locator(".confirm").wait_for()
    page.locator("#text").focus()
    say(page, FIND)
    page.wait_for_selector(".turn:nth-of-type(2) .actions")
    assert "Declined" in page.locator(".turn").first.inner_text()
    say(page, MAIL)
    page.locator(".confirm").wait_for()
    page.locator("#text").focus()
    say(page, "yes")
    page.wait_for_selector("text=Agreed to")
    page.wait_for_selector("[data-working]", state="detached")
    assert page.locator(".turn").count() == 3


def news(page: "Page") -> list[str]:
    """What a screen reader was told beside the focus."""
    return page.locator("#news p").all_inner_texts()


def test_a_screen_reader_is_told_each_answer_once(tabs: Tabs) -> None:
    page = tabs.open()
    for number, text in enumerate((REMIND, FIND), 1):
        say(page, text)
        page.wait_for_selector(f".turn:nth-of-type({number}) .actions")
        page.wait_for_function(
            "n => document.querySelectorAll('#news p').length >= n", arg=2 * number
        )
    told = news(page)
    assert len([one for one in told if "Created the reminder" in one]) == 1
    assert len([one for one in told if one == "It is worked on."]) == 2
    assert page.locator("#turns").locator("[role=log], [role=status], [role=alert]").count() == 0
    page.reload()
    page.wait_for_selector(".turn .actions")
    assert news(page) == []


def test_who_writes_is_not_interrupted_by_a_question(tabs: Tabs, by_heart: ByHeart) -> None:
    by_heart.wait = threading.Event()
    page = tabs.open()
    say(page, MAIL)
    page.locator(".reply.working").wait_for()
    page.wait_for_function("() => document.getElementById('text').value === ''")
    page.keyboard.type("and re")
    by_heart.wait.set()
    page.locator(".confirm").wait_for()
    page.keyboard.type("mind me")
    assert page.input_value("#text") == "and remind me"
    assert "Is the crane free?" in " ".join(news(page))


def test_a_long_text_is_not_cut_and_its_lines_are_kept(tabs: Tabs) -> None:
    page = tabs.open()
    page.locator("#text").fill("note x\n" * 200)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=at most 1000 characters")
    assert page.input_value("#text") == "note x\n" * 200
    assert tabs.wrong.pop().startswith(("Response Status Error", "Failed to load"))
    tabs.wrong.clear()
    page.locator("#text").fill("milk")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("eggs")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn .actions")
    assert page.locator(".said").inner_text().endswith("milk\neggs")


def test_an_enlarged_page_scrolls_as_a_whole(tabs_on: Callable[..., Tabs]) -> None:
    tabs = tabs_on(viewport={"width": 320, "height": 256})
    page = tabs.open()
    say(page, REMIND)
    page.wait_for_selector(".turn .actions")
    assert fits(page)
    page.locator(".said").scroll_into_view_if_needed()
    height = page.evaluate("() => document.getElementById('scroll').clientHeight")
    assert height > 256, "the conversation is not squeezed between head and field"


def test_two_tabs_show_one_conversation(tabs: Tabs) -> None:
    one, other = tabs.open(), tabs.open()
    say(one, MAIL)
    other.locator(".confirm").wait_for()
    other.get_by_role("button", name="No, leave it").click()
    one.wait_for_selector("text=Declined")
    for page in (one, other):
        page.wait_for_selector("text=Nothing was done.")
        assert page.locator(".turn").count() == 1


def test_a_page_that_is_loaded_again_goes_on(tabs: Tabs, by_heart: ByHeart) -> None:
    by_heart.wait = threading.Event()
    page = tabs.open()
    say(page, MAIL)
    page.locator(".reply.working").wait_for()
    page.reload()
    page.locator(".reply.working").wait_for()
    by_heart.wait.set()
    page.locator(".confirm").wait_for()
    page.reload()
    page.get_by_role("button", name="Yes, do it").click()
    page.wait_for_selector("text=Agreed to")
    page.wait_for_selector("[data-working]", state="detached")
    page.reload()
    assert page.locator(".turn").count() == 1


def test_a_server_that_is_gone_is_said_and_nothing_typed_is_lost(tabs: Tabs) -> None:
    page = tabs.open()
    page.keyboard.type(REMIND)
    tabs.served.stop()
    page.keyboard.press("Enter")
    page.wait_for_selector("#notice[data-kind=lost]")
    assert "ctrag serve web" in page.locator("#notice").inner_text()
    assert page.input_value("#text") == REMIND
    told = ("Failed to load resource", "htmx:")
    assert all(one.startswith(told) for one in tabs.wrong), tabs.wrong
    tabs.wrong.clear()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_every_page_without_scrolling_sideways(
    tabs_on: Callable[..., Tabs], theme: str
) -> None:
    tabs = tabs_on(viewport=PHONE, color_scheme=theme, has_touch=True)
    page = tabs.open()
    say(page, REMIND)
    page.wait_for_selector(".turn .actions")
    page.get_by_role("link", name="Why?").click()
    page.get_by_role("heading", name="Call").wait_for()
    assert fits(page)
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.locator(".top :focus").count() == 0, "nothing that is covered has the focus"
    page.keyboard.press("Escape")
    page.locator("#why").wait_for(state="hidden")
    assert focused(page).startswith("Why?"), "the focus goes back to where it was"
    for path in (
        "/p/ada/",
        "/p/ada/things",
        "/p/ada/things?app=mail",
        "/p/ada/things?app=people",
        "/p/ada/data",
        "/",
    ):
        page.goto(tabs.served.url + path)
        assert fits(page), path
        assert small_targets(page) == []
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(243, 245, 247)", "dark": "rgb(13, 15, 18)"}[theme]


def test_no_page_breaks_a_rule_of_accessibility(tabs: Tabs) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="of dev").Axe()
    page = tabs.open()
    say(page, REMIND)
    page.wait_for_selector(".turn .actions")
    say(page, MAIL)
    page.locator(".confirm").wait_for()
    broken: list[str] = []
    for path in ("?turn=1", "things", "things?app=reminders", "data?ask=forget", "../.."):
        page.goto(f"{tabs.served.url}/p/ada/{path}")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            found = axe.run(page, options={"runOnly": list(ACCESSIBLE)})
            for one in found.response["violations"]:
                broken.append(f"{path}, {theme}: {one['id']}: {one['nodes'][0]['html'][:200]}")
    assert broken == []


def fits(page: "Page") -> bool:
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))


def small_targets(page: "Page") -> list[str]:
    """Buttons and fields that are lower than 24 pixels."""
    found: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('button, input:not([type=hidden]), .button')]"
        ".filter(one => one.offsetParent && one.getBoundingClientRect().height < 24)"
        ".map(one => one.outerHTML)"
    )
    return found


def test_files_are_imported_by_dropping_them(tabs: Tabs) -> None:
    page = tabs.open()
    page.goto(f"{tabs.served.url}/p/ada/data")
    dropped = page.evaluate_handle(
        "texts => { const all = new DataTransfer(); for (const [name, text] of texts)"
        " all.items.add(new File([text], name)); return all; }",
        [["home.ics", CALENDAR], ["broken.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:never"]],
    )
    page.dispatch_event("h1", "drop", {"dataTransfer": dropped})  # beside the area
    page.wait_for_selector("text=2 files: home.ics, broken.ics")
    page.get_by_role("button", name="Import").click()
    page.get_by_role("heading", name="Imported").wait_for()
    assert "1 added" in page.locator("#job .lead").inner_text()
    assert (
        "broken.ics" in page.locator(".left-out").inner_text()
        or page.locator(".left-out summary").count()
    )
    page.get_by_role("link", name="Look at it").click()
    assert "Boiler service" in page.locator(".week").inner_text()


def test_export_and_forget_ask_before_they_act(tabs: Tabs) -> None:
    page = tabs.open()
    page.goto(f"{tabs.served.url}/p/ada/data")
    page.get_by_role("link", name="Export …").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Yes, download it").click()
    assert download.value.suggested_filename == "ctrag-ada.zip"
    page.get_by_role("link", name="Forget …").click()
    page.get_by_role("link", name="No, keep it").click()
    page.get_by_role("link", name="Forget …").click()
    page.get_by_role("button", name="Yes, erase everything").dblclick()
    page.get_by_role("heading", name="Ada Quist is forgotten").wait_for()
    page.goto(tabs.served.url)
    assert "Ada Quist" not in page.locator("main").inner_text()
