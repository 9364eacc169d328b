"""Ids, credentials and addresses are what a request gives as such, or nothing."""

from typing import Any

import pytest

from ctrag.agents.calls.plausible import Kind, kind_of_value, named_values, plausible, texts_in


@pytest.mark.parametrize(
    ("name", "schema", "kind"),
    [
        ("AccountSid", {}, "id"),
        ("customer_id", {}, "id"),
        ("userId", {}, "id"),
        ("id", {}, "id"),
        ("token", {}, "secret"),
        ("api_key", {}, "secret"),
        ("apiKey", {}, "secret"),
        ("password", {}, "secret"),
        ("To", {"description": "The recipient's phone number in E.164 format"}, "phone"),
        ("phone_number", {}, "phone"),
        ("to", {"format": "email"}, "email"),
        ("Body", {}, "text"),
        ("text", {}, "text"),
        ("grid", {}, "free"),
        ("valid", {}, "free"),
        ("keyboard", {}, "free"),
        ("key_signature_name", {}, "free"),
        ("email_body", {}, "text"),
        ("MediaUrl", {}, "url"),
        ("city", {}, "free"),
    ],
)
def test_the_kind_of_a_value_follows_from_name_format_and_description(
    name: str, schema: dict[str, Any], kind: Kind
) -> None:
    assert kind_of_value(name, schema) == kind


@pytest.mark.parametrize(
    ("kind", "name", "text", "values"),
    [
        ("id", "AccountSid", "send an SMS to +15551234567 saying I am late", []),
        ("id", "channel_id", "post it to channel C123", ["C123"]),
        ("id", "order_id", "cancel order 4512", ["4512"]),
        ("id", "user_id", "show the user john_doe", ["john_doe"]),
        ("id", "customer_id", "write to ann@x.org", []),
        ("id", "customer_id", "get the customer", []),
        ("id", "id", "open the one with id 'blue'", ["blue"]),
        ("secret", "token", "post it to channel C123", []),
        ("secret", "token", "post 'hello' with token xoxb-1", ["xoxb-1"]),
        ("secret", "api_key", "use the API key sk_live_12", ["sk_live_12"]),
        ("secret", "password", 'log in with the password "open sesame"', ["open sesame"]),
        ("secret", "password", "reset the password of Ann", []),
        ("email", "to", "mail ann@x.org and bo@y.co.uk", ["ann@x.org", "bo@y.co.uk"]),
        ("phone", "To", "text +1 555 123-4567 now", ["+1 555 123-4567"]),
        ("phone", "To", "text my brother at 7", []),
        ("url", "MediaUrl", "send an SMS to ann@x.org", []),
        ("url", "link", "open https://x.org/a?b=1.", ["https://x.org/a?b=1"]),
    ],
)
def test_only_what_is_given_as_such_is_plausible(
    kind: Kind, name: str, text: str, values: list[str]
) -> None:
    assert plausible(kind, name, text) == values


def test_a_value_follows_its_name() -> None:
    assert named_values("customer_id", "the customer ID is 77, order 3") == ["77"]
    assert named_values("token", "tokens are costly") == []


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("post 'hello team' to channel C123", ["hello team"]),
        ("send an SMS to +15551234567 saying I am late.", ["I am late"]),
        ("write to Ann with the message: see you at 7", ["see you at 7"]),
        ("what is the weather", []),
    ],
)
def test_what_is_to_be_said_is_quoted_or_follows_the_word_for_it(
    text: str, texts: list[str]
) -> None:
    assert texts_in(text) == texts
