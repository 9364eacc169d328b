"""The embedded planner: a small Llama model on the CPU, decoding under a request's grammar."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ctrag.assistant.planning.compose import compose, covered
from ctrag.assistant.planning.confidence import Evidence
from ctrag.assistant.planning.decoded import (
    Decoded,
    next_best,
    none_in_vain,
    notes_down,
    only_new_note,
    unlikely_astray,
)
from ctrag.assistant.planning.exact_names import by_exact_name, by_named_person
from ctrag.assistant.planning.genres import artist_for_genre
from ctrag.assistant.planning.grammar import PlanGrammar
from ctrag.assistant.planning.interface import Planned, PlanRequest
from ctrag.assistant.planning.limits import (
    UNSURE,
    does_half,
    moves_unnamed,
    of_another_day,
    reaches_unnamed,
    removes_unnamed,
    takes_away_what_is_added,
)
from ctrag.assistant.planning.plan import NONE, Plan, PlanSyntaxError
from ctrag.assistant.planning.planner_prompt import PlannerPrompt
from ctrag.assistant.planning.slots import SAID
from ctrag.models.chat_markup import closing, opening
from ctrag.models.language_model import LanguageModel
from ctrag.models.lm_engine import CPU, EngineName
from ctrag.models.lora import is_merged, load_card, weights_sha256
from ctrag.models.placement import Placement
from ctrag.text.language import is_english
from stores.people.items import Item

_CLEAR = 0.95
"""Share of an API from which no other one is looked at."""
_UNLIKELY = 0.03
"""Share of an API below which it is not looked at beside others."""
_MAIL, _NOTE = "send_mail", "create_note"
_MOST = 3
"""Calls that are composed to choose from."""


class EmbeddedPlanner(LanguageModel):
    """The small language model as a planner: it decides what retrieval and grammar leave open."""

    def __init__(
        self,
        name_or_path: str | None = None,
        threads: int = 2,
        adapter: Path | None = None,
        engine: EngineName | None = None,
        write_text: bool | None = None,
        decides: bool = False,
        placement: Placement = CPU,
    ) -> None:
        """Nothing is loaded before the first request.

        Args:
            name_or_path, threads, adapter, engine, placement: As for `LanguageModel`.
            write_text: Whether it writes free text; None: as `writes_text` says.
            decides: Whether it chooses API and values itself, among those that the grammar allows.
        """
        super().__init__(name_or_path, threads, adapter, engine, placement=placement)
        self._write_text = write_text
        self._decides = decides

    @property
    def best_only(self) -> bool:
        """Unless it decides: a small model cannot choose values."""
        return not self._decides

    @property
    def brief(self) -> bool:
        """Whether it was trained on the packaged APIs."""
        return self.adapter is not None or is_merged(self.folder)

    @property
    def writes_text(self) -> bool:
        """True where it was trained or decides, unless the constructor argument sets it."""
        return self.brief or self._decides if self._write_text is None else self._write_text

    @property
    def writes_outward(self) -> bool:
        """Only where it decides or the constructor argument sets it: the small model invents facts
        there."""
        return self._decides if self._write_text is None else self._write_text

    @property
    def described(self) -> dict[str, str | None]:
        """See `Planner.described`."""
        return {
            "planner_model": self.name,
            "engine": self.engine_name,
            "adapter": None if self.adapter is None else load_card(self.adapter).command,
        }

    @property
    def identity(self) -> str:
        """See `Planner.identity`."""
        adapter = "" if self.adapter is None else weights_sha256(self.adapter)
        where = (self._placement.bits, self._decides)
        return f"{self.name} {self.engine_name} {adapter} {where}"

    def plan(self, request: PlanRequest) -> Planned:
        """Decode one plan, greedily.

        With preferences, the best API that the grammar allows is called: composed of its slots
        where the request has them, else the model fills in its arguments. Without preferences, or
        where it decides, the model chooses the API too. It is not run where nothing is left open.
        """
        began = time.perf_counter()
        prompt = _PromptIds(lambda: self._prompt_ids(request.prompt()))
        grammar, preferences = request.grammar, request.preferences
        alternatives: tuple[Plan, ...] = ()
        evidence = None
        considered: tuple[tuple[Plan, Evidence], ...] = ()
        if grammar is None:
            tokens, confidence, _ = self.free(prompt())
            decoded = self._parsed(tokens)
        elif preferences is None or self._decides:
            until = None if self._decides else "("
            tokens, confidence, _ = self.bound(prompt, grammar.lark, until=until)
            decoded = self._parsed(tokens)
            if self._decides and _asks_first(decoded.plan, request):
                confidence = min(confidence, UNSURE)
            confidence *= 1.0 if decoded.plan is None else grammar.belief.get(decoded.plan.api, 1.0)
        else:
            calls, rest = self._calls(request, grammar, preferences, prompt)
            weighed = [(0, calls[0][1])]
            if request.calls is not None:
                weighed = request.calls.weighed([found for _, found in calls])
            best, evidence = weighed[0]
            decoded = calls[best][0]
            considered = tuple((one.plan, found) for one, found in calls if one.plan is not None)
            sure = request.confidence
            confidence = evidence.product if sure is None else sure.of(evidence)
            said = "" if request.sources is None else request.sources.request.text
            api = "" if decoded.plan is None else decoded.plan.api
            unasked = removes_unnamed(api, evidence.named, evidence.plain)
            unasked |= takes_away_what_is_added(api, said)
            if request.sources is not None and decoded.plan is not None:
                asked, owned = request.sources.request, request.sources.owned
                unasked |= of_another_day(decoded.plan, said, asked.asked_at, owned)
                unasked |= evidence.plain > SAID and moves_unnamed(decoded.plan, said, owned)
            unasked |= (
                decoded.vain
                or decoded.astray
                or (decoded.instead and evidence.named < 1)
                or reaches_unnamed(api, evidence.named, evidence.plain)
            )
            if unasked or (_changes(decoded.plan, request) and does_half(said)):
                confidence = min(confidence, UNSURE)
            if confidence < request.sure:
                alternatives = next_best([(calls[at][0], found) for at, found in weighed])
                for api in rest[: 0 if alternatives else 1]:
                    further = self._call(api, request, grammar, prompt).plan
                    alternatives = () if further is None else (further,)
        return Planned(
            decoded.plan,
            decoded.text,
            confidence,
            len(prompt.ids),
            decoded.tokens,
            time.perf_counter() - began,
            self.engine_name if prompt.ids else "",
            alternatives,
            evidence,
            considered,
        )

    def _calls(
        self,
        request: PlanRequest,
        grammar: PlanGrammar,
        preferences: Mapping[str, float],
        prompt: "_PromptIds",
    ) -> tuple[list[tuple[Decoded, Evidence]], list[str]]:
        """Calls of the likeliest APIs with their evidence, likeliest first, and the other APIs.

        Where retrieval is sure of the first API, only that one is called. What is not English is
        not understood: nothing is called.
        """
        if request.sources is not None and not is_english(request.sources.request.text):
            return [(Decoded(NONE, str(NONE), 0), Evidence(1.0, 0.0, none=True))], []
        ordered = _ordered(grammar, preferences)
        if request.slots is not None and request.sources is not None:
            said = request.sources.request.text
            ordered = by_exact_name(ordered, request.tools, grammar.values, said)
            contacts = request.sources.person.contacts
            owned = request.sources.owned
            ordered = by_named_person(ordered, request.tools, said, contacts, owned)
        made: list[Decoded] = []
        shares: list[float] = []
        left = list(ordered)
        while left and not (made and _enough(shares, left[0][1], request)):
            api, share = left.pop(0)
            decoded = self._call(api, request, grammar, prompt)
            if decoded.plan is not None or request.slots is None:  # else it lacks a value
                made.append(decoded)
                shares.append(share)
        while made and made[0].vain and left and len(made) < _MOST:
            api, share = left.pop(0)
            decoded = self._call(api, request, grammar, prompt)
            if decoded.plan is not None:
                made.append(decoded)
                shares.append(share)
        none_in_vain(made, shares)
        if any(one.astray for one in made):
            left = self._addressed(made, shares, left, request, grammar, prompt)
        if request.sources is not None:
            said = request.sources.request.text
            wants = [one for one in left if one[0] == _NOTE and notes_down(made, said)]
            for api, share in wants:
                note = self._call(api, request, grammar, prompt)
                if note.plan is not None:
                    left = [one for one in left if one[0] != api]
                    made.append(note)
                    shares.append(share)
            only_new_note(made, shares, said)
        genres = (one.text("genre").casefold() for one in _owned(request))
        artist_for_genre(made, shares, frozenset(genres))
        if not made:
            made, shares = [Decoded(NONE, str(NONE), 0)], [0.0]
        called = [one.plan.api for one in made if one.plan is not None]
        others = max((share for api, share in ordered if api not in called), default=0.0)
        found = [
            Evidence(
                share,
                max([others, *shares[:place], *shares[place + 1 :]]),
                math.prod(one.beliefs),
                min(one.beliefs, default=1.0),
                one.plan == NONE,
                one.covered,
                request.plain,
                one.named,
            )
            for place, (one, share) in enumerate(zip(made, shares, strict=True))
        ]
        rest = [api for api, _ in left if api != NONE.api]
        return list(zip(made, found, strict=True)), rest

    def _addressed(
        self,
        made: list[Decoded],
        shares: list[float],
        left: list[tuple[str, float]],
        request: PlanRequest,
        grammar: PlanGrammar,
        prompt: "_PromptIds",
    ) -> list[tuple[str, float]]:
        """Make calls that send to others than the one addressed unlikely, in place, beside a mail
        to that one; the APIs that are left."""
        if not any(one.plan is not None and one.plan.api == _MAIL for one in made):
            waiting = [(api, share) for api, share in left if api == _MAIL]
            for api, share in waiting:
                mail = self._call(api, request, grammar, prompt)
                if mail.plan is not None and not mail.astray:
                    left = [one for one in left if one[0] != api]
                    made.append(mail)
                    shares.append(share)
        unlikely_astray(made, shares)
        return left

    def _call(
        self, api: str, request: PlanRequest, grammar: PlanGrammar, prompt: "_PromptIds"
    ) -> Decoded:
        """The call of one API, or `none()`."""
        if api == NONE.api:
            return Decoded(NONE, str(NONE), 0)
        if request.slots is None or request.sources is None:
            found = self._parsed(self.bound(prompt, grammar.lark, f"{api}(")[0])
            return replace(found, beliefs=(grammar.belief.get(api, 1.0),))
        tool = next(tool for tool in request.tools if tool.api == api)
        made = compose(
            tool,
            grammar.values[api],
            request.slots(tool),
            request.sources,
            request.choice,
            request.plain,
        )
        return Decoded(
            made.plan,
            str(made.plan),
            0,
            made.beliefs,
            made.variants,
            covered(request.sources.request.text, made),
            made.named,
            made.astray,
            made.vain,
        )

    def _parsed(self, tokens: list[int]) -> Decoded:
        text = self.decode(tokens).strip()
        try:
            return Decoded(Plan.parse(text), text, len(tokens))
        except PlanSyntaxError:
            return Decoded(None, text, len(tokens))

    def _prompt_ids(self, prompt: PlannerPrompt) -> list[int]:
        text = opening(prompt.system) + closing(prompt.user)
        return self.begin(text)


class _PromptIds:
    """Tokens of a prompt, computed lazily."""

    def __init__(self, make: Callable[[], list[int]]) -> None:
        self._make = make
        self.ids: list[int] = []
        """Empty until they are needed."""

    def __call__(self) -> list[int]:
        if not self.ids:
            self.ids = self._make()
        return self.ids


def _owned(request: PlanRequest) -> Sequence[Item]:
    return () if request.sources is None else request.sources.owned


def _changes(plan: Plan | None, request: PlanRequest) -> bool:
    """Whether the plan does more than read."""
    return any(
        plan is not None and one.api == plan.api for one in request.tools if one.effect != "read"
    )


def _asks_first(plan: Plan | None, request: PlanRequest) -> bool:
    """Whether a call that the model chose alone takes something away, or does half of what was
    said."""
    said = "" if request.sources is None else request.sources.request.text
    removes = plan is not None and removes_unnamed(plan.api, 0.0, 1.0)
    return removes or (_changes(plan, request) and does_half(said))


def _enough(shares: Sequence[float], following: float, request: PlanRequest) -> bool:
    """Whether the calls made so far are all to choose from, `following` being the next share."""
    if request.calls is None or request.slots is None:
        return True
    return shares[0] >= _CLEAR or following < _UNLIKELY or len(shares) == _MOST


def _ordered(grammar: PlanGrammar, preferences: Mapping[str, float]) -> list[tuple[str, float]]:
    """The APIs (and `none`) that the grammar allows with their shares of all, best first."""
    possible = [api for api in (*grammar.apis, NONE.api) if api in preferences]
    if not possible:
        return [(NONE.api, 1.0)]
    scores = np.array([preferences[api] for api in possible])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    return [(possible[at], float(shares[at])) for at in np.argsort(-shares, kind="stable")]
