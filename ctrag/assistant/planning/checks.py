"""Checks of a finished plan against the exposed tools and the candidate values."""

from collections.abc import Sequence

from ctrag.assistant.planning.candidate_values import OPEN
from ctrag.assistant.planning.grammar import PlanGrammar
from ctrag.assistant.planning.plan import Plan, check
from ctrag.text.words import words
from ctrag.toolbox import Tool, Toolbox


def violations(plan: Plan, tools: Sequence[Tool], grammar: PlanGrammar) -> list[str]:
    """Violations of a plan that was not decoded under the request's grammar.

    Args:
        plan: The plan to check.
        tools: The exposed tools.
        grammar: The grammar made for the request.

    Returns:
        One sentence per problem; empty when the plan may run.
    """
    if plan.is_none:
        return []
    if plan.api not in grammar.apis:
        return [f"{plan.api} is not among the APIs that can be called: {', '.join(grammar.apis)}"]
    toolbox = Toolbox(tools)
    problems = check(plan, toolbox)
    tool = toolbox.get(plan.api)
    assert tool is not None
    for argument in tool.arguments:
        if argument.name not in plan.arguments or argument.match == "text":
            continue
        if argument.name in OPEN or argument.type == "integer":
            continue
        known = {
            candidate.value for candidate in grammar.candidates[plan.api].get(argument.name, ())
        }
        value = plan.arguments[argument.name]
        for one in value if isinstance(value, list) else [value]:
            if str(one) not in known:
                possible = ", ".join(sorted(known)[:8])
                problems.append(f"{argument.name}: {one!r} stands nowhere; possible: {possible}")
    return problems


def stands_somewhere(value: str, texts: Sequence[str]) -> bool:
    """Whether the words of `value` occur as a phrase in one of the texts."""
    wanted = " ".join(words(value))
    return bool(wanted) and any(f" {wanted} " in f" {' '.join(words(text))} " for text in texts)
