"""Schemas of every dialect are kept, and shown as the APIs of models take them."""

import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctrag.agents.catalogue.dialects import modern
from ctrag.agents.catalogue.formats import openai_tools, tool_arguments
from ctrag.agents.catalogue.schema_walk import pointed, subschemas
from ctrag.agents.catalogue.schemas import original_arguments, wire_schema
from ctrag.agents.catalogue.shown import EVERYTHING, ShownLimits, cut_text, shown_schema
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.fields import parameter_texts

PATTERNS_LEFT_ALONE = jsonschema.FormatChecker(())


def check(schema: dict[str, Any]) -> None:
    """Fails unless both APIs take the schema."""
    jsonschema.Draft202012Validator.check_schema(schema, format_checker=PATTERNS_LEFT_ALONE)
    assert schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "not", "enum", "$ref"} & set(schema)
    for one in subschemas(schema):
        if "array" in one.get("type", ()):
            assert isinstance(one.get("items"), dict)
        for name in one.get("properties", {}):
            assert re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name)


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


NUMBERS = [{"type": "number"}, {"type": "number"}]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            of(p={"type": "array", "items": NUMBERS, "additionalItems": False}),
            of(p={"type": "array", "prefixItems": NUMBERS, "items": False}),
        ),
        (
            of(n={"minimum": 1, "exclusiveMinimum": True, "maximum": 3, "exclusiveMaximum": False}),
            of(n={"exclusiveMinimum": 1, "maximum": 3}),
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"A": {}}}
            | of(a={"$ref": "#/definitions/A"}),
            {"$defs": {"A": {}}} | of(a={"$ref": "#/$defs/A"}),
        ),
        (
            {"dependencies": {"a": ["b"], "c": {"required": ["d"]}, "e": None}},
            {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
        ),
        (
            of(a={"type": "string", "nullable": True, "enum": ["x"]}),
            of(a={"type": ["string", "null"], "enum": ["x", None]}),
        ),
        (
            of(a={"type": "string", "required": True}),
            {**of(a={"type": "string"}), "required": ["a"]},
        ),
        (of(a={"type": "any"}, b={"type": "String"}), of(a={}, b={"type": "string"})),
        (
            {"$id": "https://x/y", "$defs": {"A": {"$anchor": "a"}}} | of(b={"$ref": "#a"}),
            {"$defs": {"A": {}}} | of(b={"$ref": "#/$defs/A"}),
        ),
        (of(c={"$recursiveRef": "#"}), of(c={"$ref": "#"})),
        ({"$dynamicAnchor": "node"} | of(c={"$dynamicRef": "#node"}), of(c={"$ref": "#"})),
        (
            {"$id": "https://x/y.json", "$defs": {"A": {}}}
            | of(a={"$ref": "https://x/y.json#/$defs/A"}, b={"$ref": "y.json#/$defs/A"}),
            {"$defs": {"A": {}}} | of(a={"$ref": "#/$defs/A"}, b={"$ref": "#/$defs/A"}),
        ),
        (
            {"$defs": {"A": {"$id": "https://x/a", **of(n={})}}}
            | of(a={"$ref": "https://x/a"}, n={"$ref": "https://x/a#/properties/n"}),
            {"$defs": {"A": of(n={})}}
            | of(a={"$ref": "#/$defs/A"}, n={"$ref": "#/$defs/A/properties/n"}),
        ),
        (
            of(p={**of(x={"$ref": "#/$defs/A"}), "$defs": {"A": {"type": "string"}}}),
            of(
                p={
                    **of(x={"$ref": "#/properties/p/$defs/A"}),
                    "$defs": {"A": {"type": "string"}},
                }
            ),
        ),
        (
            of(a={"type": ["string", None]}, b={"type": None, "description": "d"}),
            of(a={"type": ["string", "null"]}, b={"description": "d"}),
        ),
        (
            of(
                a={
                    "type": "string",
                    "contentMediaType": None,
                    "contentEncoding": None,
                    "$schema": None,
                }
            )
            | {"dependentRequired": None, "$dynamicRef": None},
            of(a={"type": "string"}),
        ),
        (
            {"dependentRequired": {"a": "b", "c": None}},
            {"dependentRequired": {"a": ["b"]}},
        ),
        (
            of(
                a={"$defs": {"Item": {"type": "string"}}, "items": {"$ref": "#/$defs/Item"}},
                b={"$defs": {"Item": {"type": "integer"}}, "items": {"$ref": "#/$defs/Item"}},
            ),
            of(
                a={
                    "$defs": {"Item": {"type": "string"}},
                    "items": {"$ref": "#/properties/a/$defs/Item"},
                },
                b={
                    "$defs": {"Item": {"type": "integer"}},
                    "items": {"$ref": "#/properties/b/$defs/Item"},
                },
            ),
        ),
        (of(a={"enum": ["x", "x", 1, True]}, b={"enum": []}), of(a={"enum": ["x", 1, True]}, b={})),
        (
            {"to": {"type": "string"}, "text": {"type": "string"}},
            of(to={"type": "string"}, text={"type": "string"}),
        ),
    ],
)
def test_every_dialect_becomes_the_newest(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert modern(old) == new
    check(wire_schema(old))


def test_arguments_that_have_the_names_of_keywords_are_arguments() -> None:
    schema = of(id={"type": "string"}, items={"type": "array"}, required={"type": "boolean"})
    assert modern(schema) == schema


@pytest.mark.parametrize("union", ["anyOf", "oneOf"])
def test_a_union_at_the_root_becomes_all_its_arguments(union: str) -> None:
    either = [
        {**of(iban={}, to={}), "required": ["iban", "to"]},
        {**of(card={}, to={}), "required": ["to"]},
    ]
    schema = wire_schema({union: either})
    assert list(schema["properties"]) == ["iban", "to", "card"]
    assert schema["required"] == ["to"]
    assert schema["description"] == "Give iban and to, or to."
    check(schema)


def test_parts_and_references_at_the_root_become_arguments() -> None:
    schema = wire_schema(
        {
            "$ref": "#/$defs/Whole",
            "$defs": {
                "Whole": {"allOf": [{"$ref": "#/$defs/Part"}, {**of(b={}), "required": ["b"]}]},
                "Part": of(a={"$ref": "#/$defs/Part"}),
            },
        }
    )
    assert schema["properties"] == {"a": {"$ref": "#/$defs/Part"}, "b": {}}
    assert schema["required"] == ["b"]
    assert list(schema["$defs"]) == ["Part"]
    check(schema)


def test_a_reference_into_a_union_of_the_root_finds_its_target() -> None:
    inner = of(x={"type": "integer"})
    schema = wire_schema({"anyOf": [inner, of(y={"$ref": "#/anyOf/0/properties/x"})]})
    assert schema["properties"]["y"] == {"$ref": "#/$defs/anyOf_0/properties/x"}
    assert schema["$defs"] == {"anyOf_0": inner}


def test_a_reference_to_nothing_here_allows_anything() -> None:
    schema = of(a={"$ref": "other.json#/A"}, b={"$ref": "#/$defs/Gone", "description": "d"})
    assert wire_schema(schema)["properties"] == {"a": {}, "b": {"description": "d"}}


def test_odd_names_are_spelled_for_the_apis_and_come_back() -> None:
    schema = {
        **of(**{"StartTime": {}, "StartTime<": {"description": "before"}, "StartTime_lt": {}}),
        "required": ["StartTime<"],
    }
    schema["properties"]["filter[$eq]"] = {
        "type": "array",
        "items": of(**{"日期": {}, "x" * 70: {}}),
    }
    tool = CatalogueTool("t", "", "s", schema)
    [listed] = openai_tools([tool])
    told = listed["parameters"]
    check(told)
    [renamed] = told["required"]
    assert renamed.startswith("StartTime_lt_")
    assert told["properties"][renamed]["description"] == "`StartTime<`: before"
    [array] = [name for name in told["properties"] if name.startswith("filter")]
    inner = dict.fromkeys(told["properties"][array]["items"]["properties"], 1)
    sent = tool_arguments(tool, {"StartTime": 1, renamed: 2, "StartTime_lt": 3, array: [inner]})
    assert sent == {
        "StartTime": 1,
        "StartTime<": 2,
        "StartTime_lt": 3,
        "filter[$eq]": [{"日期": 1, "x" * 70: 1}],
    }
    assert tool_arguments(tool, {"StartTime<": 2}) == {"StartTime<": 2}


def test_names_inside_of_an_argument_are_the_schemas_or_the_models_own() -> None:
    free = {"type": "object"}
    schema = {
        **of(**{"$filter": {"type": "string"}, "body": free, "rows": {"type": "array"}}),
        "$defs": {"Part": of(**{"$filter": {}, "free": free})},
    }
    schema["properties"]["part"] = {"anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]}
    schema["properties"]["parts"] = {"additionalProperties": {"$ref": "#/$defs/Part"}}
    sent = {
        "filter": "a eq 1",
        "body": {"filter": "keep", "x": [{"filter": 1}]},
        "rows": [{"filter": 2}],
        "part": {"filter": 3, "free": {"filter": 4}},
        "parts": {"filter": {"filter": 5}},
    }
    assert original_arguments(schema, sent) == {
        "$filter": "a eq 1",
        "body": {"filter": "keep", "x": [{"filter": 1}]},
        "rows": [{"filter": 2}],
        "part": {"$filter": 3, "free": {"filter": 4}},
        "parts": {"filter": {"$filter": 5}},
    }


def test_a_shortened_schema_refers_to_nothing_that_was_cut() -> None:
    far = {"type": "number", "description": "d" * 200}
    start = of(place=of(geo=of(lat=far)))
    end = of(geo={"$ref": "#/properties/start/properties/place/properties/geo"})
    many = {f"f{n}": of(a=of(**{f"k{m}": far for m in range(12)})) for n in range(40)}
    for limit in (12_000, 8_000, 4_000, 3_000, 2_000):
        told, cut = shown_schema(of(start=start, end=end, **many), ShownLimits(schema=limit))
        assert cut
        for one in subschemas(told):
            assert "$ref" not in one or pointed(told, one["$ref"]) is not None


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sets(st.text(min_size=1, max_size=80), min_size=1, max_size=8))
def test_any_names_go_out_for_the_apis_and_come_back(names: set[str]) -> None:
    schema = of(**{key: {"type": "string"} for key in sorted(names)})
    told = wire_schema(schema)
    check(told)
    assert len(told["properties"]) == len(names)
    sent = original_arguments(schema, {name: name for name in told["properties"]})
    assert set(sent) == names


def test_every_array_says_what_its_items_are() -> None:
    pair = [{"type": "string"}, {"type": "number"}]
    told = wire_schema(
        of(
            ids={"type": "array"},
            maybe={"type": ["array", "null"], "items": True},
            pair={"type": "array", "items": pair},
            point={"type": "array", "items": NUMBERS, "additionalItems": False},
            inner=of(rows={"type": "array", "items": {"type": "array"}}),
        )
    )["properties"]
    assert told["ids"]["items"] == told["maybe"]["items"] == {}
    assert told["pair"]["items"] == {"anyOf": pair}
    assert told["point"]["items"] == {"type": "number"}
    assert told["inner"]["properties"]["rows"]["items"] == {"type": "array", "items": {}}
    long = {f"a{n}": {"type": "array", "items": of(x={"description": "d" * 90})} for n in range(99)}
    check(shown_schema(of(**long), ShownLimits(schema=3_000))[0])


def test_a_recursive_schema_stays_as_it_is_and_its_words_are_searched() -> None:
    node = of(street_of_recipient={"description": "where"}, child={"$ref": "#/$defs/Node"})
    schema = {**of(root={"$ref": "#/$defs/Node"}), "$defs": {"Node": node}}
    assert wire_schema(schema) == schema
    assert "street of recipient" in list(parameter_texts(schema))


@pytest.mark.parametrize(
    "schema",
    [
        of(**{f"f{n}": {"type": "string", "description": "what it is for " * 3} for n in range(300)}),
        of(**{f"f{n}": {"type": "string"} for n in range(5_000)}),
        of(airport={"enum": [f"AP{n:05d}" for n in range(4_000)]}),
        {**of(**{"d": {"$ref": "#/$defs/D0"}}), "$defs": {
            f"D{n}": of(**{"n": {"$ref": f"#/$defs/D{n + 1}"}, "t": {"description": "t" * 150}})
            for n in range(300)}},
        of(a=of(b=of(c=of(d=of(**{f"f{n}": {"description": "x" * 99} for n in range(300)}))))),
        {**of(**{f"r{n}": {"type": "string"} for n in range(3_000)}),
         "required": [f"r{n}" for n in range(3_000)]},
    ],
)  # fmt: skip
def test_a_long_schema_is_shown_within_its_limit_and_kept_whole(schema: dict[str, Any]) -> None:
    shown, cut = shown_schema(schema, ShownLimits(schema=8_000))
    assert cut
    assert len(json.dumps(shown, ensure_ascii=False)) <= 9_000
    assert shown["properties"]
    check(shown)
    whole, cut = shown_schema(schema, EVERYTHING)
    assert (len(whole["properties"]), cut) == (len(schema["properties"]), False)


def test_of_a_long_enumeration_examples_are_shown_and_no_limit_is_claimed() -> None:
    schema = of(airport={"enum": [f"AP{n:05d}" for n in range(4_000)]})
    [airport] = shown_schema(schema)[0]["properties"].values()
    assert airport["description"].startswith("One of 4,000 values, such as AP00000, AP00001")
    assert "enum" not in airport


def test_texts_are_shown_up_to_their_limit() -> None:
    schema = of(a={"description": "d" * 400})
    shown, cut = shown_schema(schema, ShownLimits(argument=300))
    assert (len(shown["properties"]["a"]["description"]), cut) == (300, True)
    assert cut_text("abc", None) == "abc"


@pytest.mark.parametrize("name", ["description", "argument", "schema"])
def test_a_limit_that_shows_next_to_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: must be at least 100 characters or null, not 7"):
        ShownLimits(**{name: 7})
