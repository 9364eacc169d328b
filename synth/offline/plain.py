"""Plain requests about what is on the phone: questions, and orders that an item completes."""

from collections.abc import Iterator

from synth.offline.asking import Asking
from synth.offline.plain_orders import ORDERS
from synth.offline.plain_questions import QUESTIONS
from synth.provider import LabelledRequest, Level


def plain(asking: Asking, level: Level) -> Iterator[LabelledRequest]:
    """Questions (`ask`) or orders (`tell`), the applications in turn at random; endless."""
    ways = QUESTIONS if level == "ask" else ORDERS
    draw = asking.draw
    while True:
        app = draw.choice(list(ways))
        way = draw.choice(ways[app])
        try:
            yield from way(asking)
        except KeyError:  # a template's value is missing in this life
            continue
