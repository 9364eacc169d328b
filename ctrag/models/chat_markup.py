"""The chat template of the planner, in training and inference."""

END = "<|im_end|>"
"""Ends a turn, the planner's own included."""


def opening(system: str, user: str = "") -> str:
    """The system's turn and the begin of the user's."""
    return f"<|im_start|>system\n{plain(system)}{turn()}{plain(user)}"


def closing(user: str) -> str:
    """The rest of the user's turn; the answer follows."""
    return f"{plain(user)}{END}\n<|im_start|>assistant\n"


def turn() -> str:
    """The end of a turn, and the user's turn up to its text."""
    return f"{END}\n<|im_start|>user\n"


def plain(text: str) -> str:
    """Text with its chat markers escaped: an item's text cannot end the turn."""
    return text.replace("<|", "< |")
