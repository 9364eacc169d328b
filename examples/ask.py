"""Ask a packaged person. Needs `ctrag[assistant]`: `python examples/ask.py`."""

from datetime import datetime
from pathlib import Path

from ctrag import Assistant

PEOPLE = Path(__file__).parents[1] / "synth" / "data" / "reference" / "dev"


def main() -> None:
    """Prints the items, tools, plan and trace of one request."""
    assistant = Assistant.open(str(PEOPLE), "p007")
    now = datetime(2023, 10, 26, 12, 40)
    answer = assistant.ask("what did the school lady want earlier", at=now)
    print("items:", [one.item.id for one in answer.items])
    print("tools:", [one.tool.api for one in answer.tools])
    print("plan:", answer.plan)
    for step in answer.trace.steps:
        print("trace:", step.name)


if __name__ == "__main__":
    main()
