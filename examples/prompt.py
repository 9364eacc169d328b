"""A step's prompt from policies and tools. Runs with the bare core: `python examples/prompt.py`."""

import tempfile
from pathlib import Path

from ctrag import PromptBuilder

CATALOGUE = Path(__file__).parents[1] / "ctrag" / "toolbox.yaml"
POLICIES = {
    "mail.md": "# Mail\n\nBefore sending a mail, read its recipient and subject back.\n",
    "music.md": "# Music\n\nNever play music louder than the last volume that the user chose.\n",
    "calendar.md": "# Calendar\n\nCancel an event only after naming its date and guests.\n",
}


def main() -> None:
    """Prints the prompt of one request within 600 tokens."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in POLICIES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        prompt = PromptBuilder.open(folder, CATALOGUE).build("cancel my meeting", budget=600)
    print(prompt.text)


if __name__ == "__main__":
    main()
