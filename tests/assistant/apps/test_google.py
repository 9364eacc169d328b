"""The pages that the Google app opens."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest

from ctrag.assistant.apps.call import Effect
from ctrag.assistant.apps.execute import Result
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.stores import Stores

SEARCH = "https://www.google.com/search"
MAPS = "https://www.google.com/maps"
PAGES = [
    ('google_search(query="50% off? a&b=c #1 ñ")', SEARCH, {"q": "50% off? a&b=c #1 ñ"}),
    ('google_image_search(query="yellow tang")', SEARCH, {"q": "yellow tang", "tbm": "isch"}),
    ('google_shopping(product="shed 8x6")', SEARCH, {"q": "shed 8x6", "tbm": "shop"}),
    ('google_news(topic="Leclerc")', "https://news.google.com/search", {"q": "Leclerc"}),
    (
        'google_directions(destination="Rua dos Anjos 40, 2º", mode="cycling")',
        f"{MAPS}/dir/",
        {"api": "1", "destination": "Rua dos Anjos 40, 2º", "travelmode": "bicycling"},
    ),
    (
        'google_directions(destination="home")',
        f"{MAPS}/dir/",
        {"api": "1", "destination": "Elm Street 4, Bergen"},
    ),
    (
        'google_directions(destination="the office", mode="transit")',
        f"{MAPS}/dir/",
        {"api": "1", "destination": "Pier 2, Bergen", "travelmode": "transit"},
    ),
    (
        'google_nearby(category="cafe", near="work")',
        f"{MAPS}/search/",
        {"api": "1", "query": "cafe near Pier 2, Bergen"},
    ),
    ('google_nearby(category="pharmacy")', f"{MAPS}/search/", {"api": "1", "query": "pharmacy"}),
    (
        'google_translate(text="hello, you", target_language="Norwegian")',
        "https://translate.google.com/",
        {"sl": "auto", "tl": "no", "text": "hello, you", "op": "translate"},
    ),
    ('google_weather(location="Bergen")', SEARCH, {"q": "weather Bergen"}),
    (
        'google_weather(location="Bergen", date="2025-04-19")',
        SEARCH,
        {"q": "weather Bergen 19 April 2025"},
    ),
    (
        'google_flights(origin="Oslo", destination="Rome", date="2025-04-19")',
        "https://www.google.com/travel/flights",
        {"q": "flights from Oslo to Rome on 2025-04-19"},
    ),
]


@pytest.mark.parametrize(("plan", "page", "query"), PAGES, ids=[case[0] for case in PAGES])
def test_opens_a_page_and_leaves_a_record_of_it(
    plan: str, page: str, query: dict[str, str], ask: Callable[..., Effect]
) -> None:
    effect = ask(plan)
    assert effect.change is not None
    [entry] = effect.change.outbox
    assert (entry.kind, entry.recipient, entry.item_id) == ("open_url", None, None)
    url = urlsplit(entry.content["url"])
    assert f"{url.scheme}://{url.netloc}{url.path}" == page
    assert parse_qs(url.query, strict_parsing=True) == {key: [one] for key, one in query.items()}
    assert url.fragment == ""
    assert entry.content["url"].isascii()
    assert entry.content["url"] in effect.answer


def test_every_google_page_is_in_the_list() -> None:
    opening = {tool.api for tool in Toolbox.packaged() if tool.api.startswith("google_")}
    assert {Plan.parse(plan).api for plan, _, _ in PAGES} == opening


@pytest.mark.parametrize(("plan", "page", "query"), PAGES, ids=[case[0] for case in PAGES])
def test_no_page_opens_without_a_network(
    plan: str, page: str, query: dict[str, str], stores: Stores, run: Callable[..., Result]
) -> None:
    assert run(plan, online=False).status == "refused"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("French", "fr"),
        ("BASQUE", "eu"),
        ("Mandarin", "zh-CN"),
        ("Traditional Chinese", "zh-TW"),
        ("Chinese (Simplified)", "zh-CN"),
        ("Brazilian Portuguese", "pt"),
        ("Māori", "mi"),
        ("Haitian Creole", "ht"),
        ("sv", "sv"),
        ("portugese", "pt"),
        ("Ukranian", "uk"),
        ("Mexican Spanish", "es"),
    ],
)
def test_languages_go_by_name_or_code(language: str, code: str, ask: Callable[..., Effect]) -> None:
    effect = ask(f'google_translate(text="x", target_language="{language}")')
    assert f"&tl={code}&" in effect.answer


def test_a_page_is_recorded_without_a_question_and_can_be_undone(
    stores: Stores, run: Callable[..., Result]
) -> None:
    def never(question: str) -> bool:
        raise AssertionError(question)

    assert run('google_news(topic="Leclerc")', confirm=never).status == "done"
    [(app, row)] = stores.outbox("ada")
    assert (app, row.entry.kind) == ("google", "open_url")
    stores.undo("ada")
    assert stores.outbox("ada") == []
