"""Values that a plan made up: found in no item, contact, profile field, request or date.

A date counts as found when an item has it (or its full hour), when the words of an item name it
(seen from the item's own time), or when those of the request do; "an hour later" may hang on
any item.
"""

from dataclasses import asdict
from datetime import datetime

from ctrag.assistant.context.feature_context import FeatureContext
from ctrag.assistant.context.item_text import fields_of, time_of
from ctrag.assistant.planning.checks import stands_somewhere
from ctrag.assistant.planning.plan import Plan
from ctrag.text.dates.temporal_expressions import find_expressions, offered_dates, offered_datetimes
from ctrag.toolbox import Toolbox
from stores.people.items import Item
from stores.people.local_time import format_local_time


def ungrounded(plan: Plan, context: FeatureContext, toolbox: Toolbox) -> list[str]:
    """Names of the `value` arguments whose value appears nowhere.

    Values of an enum come from the schema and count as grounded; so do whole numbers that stand
    in the request.
    """
    tool = toolbox.get(plan.api)
    if tool is None:
        return []
    texts = known_texts(context)
    invented = []
    for name, value in plan.arguments.items():
        argument = tool.arguments_by_name.get(name)
        if argument is None or argument.match == "text" or argument.type == "enum":
            continue
        for one in value if isinstance(value, list) else [str(value)]:
            if argument.type in ("date", "datetime") and one in _dates(context):
                continue
            if not stands_somewhere(one, texts):
                invented.append(name)
                break
    return invented


def known_texts(context: FeatureContext) -> list[str]:
    """Every text that a value may be copied from."""
    person = context.view.person
    texts = [context.request.text, context.request.place or ""]
    for value in asdict(person.profile).values():
        texts += value if isinstance(value, list | tuple) else [str(value or "")]
    for contact in person.contacts:
        texts += [contact.name, contact.relation, contact.phone or "", contact.email or ""]
    for item in context.view.items:
        texts += [item.text(name) for name in item.fields]
    return texts


def _dates(context: FeatureContext) -> set[str]:
    """Times and days of items, those that the request names, and those that items' words name."""
    request = context.request
    timed = []
    for item in context.view.items:
        moment = time_of(item)
        if moment is not None:
            timed.append((item, moment))
    values = [value for item in context.view.items for value in item.fields.values()]
    moments = [value for value in values if isinstance(value, datetime)]
    hours = [moment.replace(minute=0) for moment in moments]
    found = {format_local_time(moment) for moment in [*moments, *hours]}
    found |= {moment.date().isoformat() for moment in moments}
    sayings = [(request.text, request.asked_at)]
    sayings += [(_words(item), moment) for item, moment in timed if _words(item)]
    for text, said_at in sayings:
        for near in [(), *((anchor,) for _, anchor in timed)]:
            times = offered_datetimes(text, said_at, near)
            found |= {format_local_time(moment) for moment in times}
            found |= {day.isoformat() for day in offered_dates(text, said_at, near)}
        found |= {moment.start.date().isoformat() for moment in find_expressions(text, said_at)}
    return found


def _words(item: Item) -> str:
    return " ".join(item.text(name) for role in ("title", "text") for name in fields_of(item, role))
