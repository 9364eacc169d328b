"""The chat markup that the planner is trained and asked in."""

END = "<|im_end|>"
"""What closes a turn, the planner's own included."""


def opening(system: str, user: str = "") -> str:
    """The system's turn, and the user's as far as it is said."""
    return f"<|im_start|>system\n{plain(system)}{turn()}{plain(user)}"


def closing(user: str) -> str:
    """The rest of the user's turn; the answer follows."""
    return f"{plain(user)}{END}\n<|im_start|>assistant\n"


def turn() -> str:
    """The end of a turn, and the user's up to its text."""
    return f"{END}\n<|im_start|>user\n"


def plain(text: str) -> str:
    """Text that cannot end its turn: items' words may hold marks."""
    return text.replace("<|", "< |")
