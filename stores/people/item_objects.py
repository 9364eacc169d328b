"""An item as the JSON object that a data set holds of it, checked against its application."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from stores.people.app_spec import AppSpec, FieldSpec
from stores.people.items import Item, Usage, Value
from stores.people.lines import validated
from stores.people.local_time import LocalTime, format_local_time

_Text = Annotated[str, StringConstraints(min_length=1)]
_Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
_Hour = Annotated[int, Field(ge=0, le=23)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Usage(_Strict):
    opens_30d: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    last_opened: LocalTime | None = None
    usual_hours: list[_Hour] = []
    usual_place: str | None = None


def _python_type(field: FieldSpec) -> Any:
    if field.values:
        kind: Any = Literal[field.values]
    else:
        kind = {
            "string": str,
            "text": str,
            "datetime": LocalTime,
            "boolean": bool,
            "integer": _Int64,
            "strings": list[str],
        }[field.type]
    return kind if field.required else kind | None


@cache
def item_model(app: AppSpec) -> type[BaseModel]:
    """What an item of the application must be in a data set, as a strict pydantic model."""
    fields: dict[str, Any] = {"id": (_Text, ...), "usage": (_Usage, _Usage())}
    for field in app.fields:
        default = ... if field.required else field.default
        # By alias: a field may be called `copy` or `json`, which pydantic keeps for itself.
        fields[f"field_{field.name}"] = (
            _python_type(field),
            Field(default, validation_alias=field.name),
        )
    return create_model(f"{app.name}_item", __base__=_Strict, **fields)


def read_item(raw: Mapping[str, Any], app: AppSpec, where: str) -> Item:
    """An item from the object that a data set holds of it.

    Args:
        raw: `id`, `usage` and the application's fields.
        app: The application.
        where: What the message of an error begins with.

    Raises:
        ValueError: The object breaks a rule of the application.
    """
    model: Any = validated(item_model(app), raw, where)
    return Item(
        id=model.id,
        app=app.name,
        fields={
            field.name: _value(getattr(model, f"field_{field.name}"))
            for field in app.fields
            if not field.sparse or f"field_{field.name}" in model.model_fields_set
        },
        usage=Usage(
            opens_30d=model.usage.opens_30d,
            last_opened=model.usage.last_opened,
            usual_hours=tuple(model.usage.usual_hours),
            usual_place=model.usage.usual_place,
        ),
    )


def dump_item(item: Item, app: AppSpec) -> dict[str, Any]:
    """The object that `read_item` reads; fields that have their default are left out."""
    dumped: dict[str, Any] = {"id": item.id}
    for field in app.fields:
        if field.sparse and field.name not in item.fields:
            continue
        value = item.fields.get(field.name)
        usual = not field.required and field.default is not None and value == field.default
        if usual and not field.sparse:
            continue
        if value is None and not field.required and field.type == "strings":
            continue  # data sets from before the field keep their form
        dumped[field.name] = _dump_value(value)
    usage = item.usage
    dumped["usage"] = {
        "opens_30d": usage.opens_30d,
        "last_opened": _dump_value(usage.last_opened),
        "usual_hours": list(usage.usual_hours),
        "usual_place": usage.usual_place,
    }
    return dumped


def _dump_value(value: Value) -> Any:
    if isinstance(value, datetime):
        return format_local_time(value)
    return list(value) if isinstance(value, tuple) else value


def _value(value: Any) -> Value:
    return tuple(value) if isinstance(value, list) else value
