"""Answers as the text that another front end shows."""

import re
from collections.abc import Mapping

from ctrag.assistant.answer import Answer, Question
from ctrag.text.bidi import isolated
from ctrag.text.terminal import message, visible

AGREE = "Answer “yes” to do it; with anything else it is not done."
# What a page that reads Markdown would fetch, run, or hide behind other words: images and links,
# what they refer to, and HTML; an address in angle brackets is shown as it is. A backslash of the
# text must not take an escape's effect away.
_ACTIVE = re.compile(
    r"!(?=\[)|\](?=[(\[:])|<(?=[A-Za-z/!?])(?![^<>\s@]+@[^<>\s@]+>)|[`]|\\(?=[!-/:-@\[-`{-~])"
)


_FOLDERS = re.compile(r"(?<![\w:/])/(?:[^\s/'\":]+/)+")


def failure(error: Exception) -> str:
    """What went wrong, for somebody who need not know where the files are."""
    return message(_FOLDERS.sub("", str(error)))


def without_folders(unavailable: Mapping[str, str]) -> dict[str, str]:
    """Why stores do not answer, without where they are."""
    return {app: _FOLDERS.sub("", why) for app, why in unavailable.items()}


def told(answer: Answer) -> str:
    """All that the assistant says, without the question that is open."""
    return "\n".join(filter(None, map(_part, answer.parts)))


def asked(answer: Answer) -> Question | None:
    """The question that is open after an answer."""
    return next((one.question for one in answer.parts if one.question is not None), None)


def in_full(answer: Answer) -> str:
    """All that the assistant says and asks, where only a message can answer."""
    question = asked(answer)
    return "\n".join(filter(None, [told(answer), "" if question is None else spelled(question)]))


def spelled(question: Question) -> str:
    """A question with its choices by number."""
    text = visible(question.text)
    if question.confirms:
        return f"{text}\n{AGREE}"
    choices = [f"{number}. {visible(one)}" for number, one in enumerate(question.choices, start=1)]
    return "\n".join([text, *choices])


def as_markdown(text: str) -> str:
    """The text with what items say kept as text, where a page reads Markdown and HTML; names that
    are written right to left do not turn the numbers beside them."""
    return isolated(_ACTIVE.sub(lambda found: f"\\{found[0]}", text))


def _part(answer: Answer) -> str:
    unavailable = without_folders(answer.unavailable)
    said = [f"(the {app} store did not answer: {why})" for app, why in unavailable.items()]
    if answer.question is None and answer.said:
        said.append(answer.said)
    elif answer.question is None and answer.result is not None:
        said.append(answer.result.answer)
    return visible("\n".join(said))
