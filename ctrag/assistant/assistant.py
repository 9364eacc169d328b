"""The assistant: joins retrieval, planning and execution; every step can be used alone."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ctrag.assistant.answer import Answer, in_words
from ctrag.assistant.api_choice.retrieve import RankedTools, ToolRetriever, purpose
from ctrag.assistant.apps.about_contacts import told_of_contact
from ctrag.assistant.apps.call import UNKNOWN_SONG
from ctrag.assistant.apps.execute import Preview, Result, execute, preview
from ctrag.assistant.apps.lookup import one_line
from ctrag.assistant.apps.music import playing_after
from ctrag.assistant.artefacts import Artefacts, load_artefacts
from ctrag.assistant.context.item_arrays import PersonView, encode_items, load_view
from ctrag.assistant.context.personal_ranker import LearnedOfUse
from ctrag.assistant.context.retrieve import ContextRetriever, RetrievedContext
from ctrag.assistant.conversation.days import day_asked
from ctrag.assistant.conversation.focus import NOTHING_KNOWN, SURE_READING, Focus
from ctrag.assistant.conversation.small_talk import small_talk
from ctrag.assistant.open import open_stores
from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.grammar import plan_grammar
from ctrag.assistant.planning.interface import Planned, Planner, PlanRequest
from ctrag.assistant.planning.library import played_as
from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.assistant.planning.planner import make_planner, slot_filler
from ctrag.assistant.planning.planner_prompt import PlannerPrompt, planner_prompt
from ctrag.assistant.planning.ranked_values import rank_values
from ctrag.assistant.planning.slot_filler import SlotFiller
from ctrag.assistant.spoken import as_order, check_words, moment
from ctrag.assistant.trace import Trace
from ctrag.assistant.usage import Noticing, UsageLog
from ctrag.extras import need
from ctrag.models.encoder import Encoder, load_encoder
from ctrag.settings import Settings, settings
from ctrag.text.false_starts import as_meant
from ctrag.toolbox import Tool, Toolbox
from stores.database import StoreUnavailable
from stores.people.items import Person, Request
from stores.people.local_time import now_in
from stores.people.stores import Stores

if TYPE_CHECKING:
    from ctrag.assistant.conversation.conversation import Conversation


class Assistant:
    """Answers one person's requests on that person's stores.

    Example::

        assistant = Assistant.open("stores", "p007")
        answer = assistant.ask("how bad is it to the jetty", place="home")
        print(answer.plan)
    """

    def __init__(
        self,
        stores: Stores,
        person: str,
        *,
        encoder: Encoder,
        artefacts: Artefacts,
        planner: Planner,
        slots: SlotFiller | None = None,
        toolbox: Toolbox,
        options: Settings,
        frozen_clock: bool = False,
    ) -> None:
        self.stores = stores
        self.person: Person = stores.person(person)
        self.toolbox = toolbox
        self.retriever = ContextRetriever(encoder, artefacts.ranker, artefacts.adapter)
        self.tools = ToolRetriever(toolbox, encoder, artefacts.classifier)
        self.artefacts = artefacts
        self.planner = planner
        self.slots = slots
        self._encoder = encoder
        self._options = options
        self.frozen_clock = frozen_clock
        self.learned = LearnedOfUse(stores.root, person, encoder.name)
        self.usage = UsageLog(stores.root, person, options.record_use)
        self._seen: tuple[tuple[object, ...], PersonView, str | None] | None = None

    @classmethod
    def open(
        cls, path: str | Path, person: str, *, planner: str = "embedded", reset: bool = False
    ) -> "Assistant":
        """The assistant of one person.

        Args:
            path: A stores folder (`ctrag import` makes one) or a data set folder.
            person: Id of the person.
            planner: `embedded`, or `openai` for the endpoint that the settings name.
            reset: Begin with a fresh copy of a data set's person.

        Raises:
            FileNotFoundError: `path` is neither.
            ValueError: The person is unknown, or the data set breaks a rule.
            ModelMissing: A model is not installed.
            MissingExtra: The extra `assistant` is not installed.
        """
        need("the assistant", "torch", "transformers", "lightgbm", "llguidance", extra="assistant")
        options = settings()
        encoder = load_encoder(options.encoder)
        opened = open_stores(Path(path), person, encoder, reset=reset)
        return cls(
            opened.stores,
            person,
            encoder=encoder,
            artefacts=load_artefacts(options.artefacts),
            planner=make_planner(planner, options),
            slots=slot_filler(options) if planner == "embedded" else None,
            toolbox=opened.toolbox,
            options=options,
            frozen_clock=opened.frozen_clock,
        )

    def ask(
        self,
        text: str,
        at: datetime | None = None,
        place: str | None = None,
        *,
        playing: str | None = None,
        run: bool = False,
        confirm: Callable[[str], bool] = lambda question: False,
        explain: bool = False,
    ) -> Answer:
        """Answer one request.

        Args:
            text: What was said, 1 to 1,000 characters.
            at: When, local time; now in the person's time zone when None (for people of a data set,
                the time at which their phone's contents were captured).
            place: Where, as the person calls it: `home`, `work`, `commute`, …
            playing: Id of the song that is playing; the one of `playing()` when None.
            run: Whether to run the plan on the person's stores.
            confirm: Asked before outward effects; says no by default.
            explain: Whether items carry the reasons for their rank.

        Raises:
            ValueError: The text is empty or too long.
        """
        check_words(text, place, playing)
        text = as_meant(text)
        request = self.request(text, at, place, playing)
        if words := small_talk(text):
            return in_words(request, words)
        talk = self.conversation()
        parts = talk.requests(request)
        if len(parts) > 1:
            return talk.answer_each(parts, request, run=run, confirm=confirm, explain=explain)
        day = day_asked(text, request.asked_at)
        known = day is not None and self.toolbox.get(day.api) is not None
        focus = Focus(apis=(day.api,), plan=day) if day and known else NOTHING_KNOWN
        return self.answer(request, run=run, confirm=confirm, explain=explain, focus=focus)

    def conversation(self) -> "Conversation":
        """A conversation, in which what is said may lean on what was said before."""
        from ctrag.assistant.conversation.conversation import Conversation

        return Conversation(self)

    def answer(
        self,
        request: Request,
        *,
        run: bool = False,
        confirm: Callable[[str], bool] = lambda question: False,
        explain: bool = False,
        focus: Focus = NOTHING_KNOWN,
    ) -> Answer:
        """Answer one request for one call.

        Args:
            request: What was said, when and where.
            run, confirm, explain: As for `ask`.
            focus: What a conversation knows of the call before it is planned.
        """
        if focus == NOTHING_KNOWN and (
            words := told_of_contact(request.text, self.person, request.asked_at)
        ):
            return in_words(request, words)
        trace = Trace()
        view = self.view()
        order = as_order(request)
        with trace.step("context.retrieve", text=order.text, items=len(view)) as step:
            found = self.retriever.retrieve(
                view,
                order,
                self._options.items,
                explain=explain,
                personal=self.learned.of_now(),
            )
            ranked = self.usage.ranked(found)
            found = focus.first(found, view)
            step.outputs = {
                "items": [one.item.id for one in found.items],
                "candidates": found.candidates,
                "unavailable": found.unavailable,
            }
        with trace.step("tools.search", items=[one.item.id for one in found.items]) as step:
            tools = self.tools.search(
                order,
                [one.item for one in found.items],
                len(self.toolbox) if focus.apis else self._options.tools,
                relevance=found.relevance,
                context=found.context,
            )
            tools = focus.only(tools)
            step.outputs = {
                "tools": {one.tool.api: round(one.score, 3) for one in tools.tools},
                "none": round(tools.none, 3),
            }
        planned = self._plan(order, view, found, tools, trace, focus)
        plans = (NONE if planned.plan is None else planned.plan, *planned.alternatives)
        plan, *settled = (played_as(focus.settle(one), view.items) for one in plans)
        others: list[Plan] = []  # what is known may make plans equal
        for one in settled:
            if one != plan and one not in others:
                others.append(one)
        answer = Answer(
            found.items,
            tools.tools,
            plan,
            planned.confidence,
            None,
            trace,
            request,
            found.unavailable,
            tuple(others),
            ranked=ranked,
        )
        return self.carry_out(answer, confirm) if run else answer

    def carry_out(
        self, answer: Answer, confirm: Callable[[str], bool] = lambda question: False
    ) -> Answer:
        """An answer with what running its plan on the person's stores did.

        Args:
            answer: One that was not run.
            confirm: As for `ask`.
        """
        if answer.said:
            return answer
        doubt = "Not sure." if answer.confidence < self._options.sure else ""
        if doubt and answer.other is not None:
            doubt = f"Not sure; it could also be: {self.in_words(answer.other)}."
        known = frozenset(self.view().row)
        noticing = Noticing(confirm)
        done = replace(answer, result=self._run(answer, noticing, doubt))
        self.usage.keep(done, noticing.agreed, known)
        return done

    def sure(self, answer: Answer) -> bool:
        """Whether the answer's plan is sure enough to be run without a question."""
        return answer.confidence >= self._options.sure

    def in_words(self, plan: Plan) -> str:
        """What kind of thing a plan does, and with what: "pause what is playing now"."""
        tool = self.toolbox.get(plan.api)
        if tool is None:
            return "nothing that an application here can do"
        kind = purpose(tool).replace("the user's", "your").replace("the user", "you")
        values = ", ".join(
            ", ".join(value) if isinstance(value, list) else str(value)
            for value in plan.arguments.values()
        )
        return f"{kind} ({one_line(values)})" if values else kind

    def preview(self, answer: Answer) -> Preview:
        """What running an answer's plan would do now; nothing is done."""
        request = answer.request
        return preview(
            answer.plan,
            stores=self.stores,
            person=self.person,
            items=self.view().items,
            at=request.asked_at,
            toolbox=self.toolbox,
            playing=request.playing,
            preferred=[one.item.id for one in answer.items],
            online=self._options.online,
            said=request.text,
        )

    def view(self) -> PersonView:
        """The person's current items; read again only when a store has changed."""
        return self._now()[0]

    def playing(self) -> str | None:
        """Id of the song that plays by what the assistant started, skipped and paused last.

        `UNKNOWN_SONG` where it started music of which it does not know the song; else None.
        """
        return self._now()[1]

    def _now(self) -> tuple[PersonView, str | None]:
        signature = self.stores.signature()
        if self._seen is None or self._seen[0] != signature:
            view = load_view(self.stores, self.person.person_id, self._encoder)
            self._seen = (signature, view, self._last_started(view))
        return self._seen[1], self._seen[2]

    def _last_started(self, view: PersonView) -> str | None:
        if "music" in view.unavailable:
            return None
        try:
            sent = self.stores.outbox(self.person.person_id, "music")
        except StoreUnavailable:  # since the items were read
            return None
        song = playing_after([row.entry for _, row in sent])
        return song if song is None or song in view.row else UNKNOWN_SONG

    def request(
        self,
        text: str,
        at: datetime | None = None,
        place: str | None = None,
        playing: str | None = None,
    ) -> Request:
        """A request, with the time and the song that are assumed; arguments as for `ask`.

        Raises:
            ValueError: The text is empty or too long.
        """
        check_words(text, place, playing)
        if at is None:
            at = self.person.now if self.frozen_clock else now_in(self.person.profile.timezone)
        return Request(text, moment(at), place, self.playing() if playing is None else playing)

    def _plan(
        self,
        request: Request,
        view: PersonView,
        found: RetrievedContext,
        tools: RankedTools,
        trace: Trace,
        focus: Focus,
    ) -> Planned:
        if focus.plan is not None:
            return Planned(focus.plan, str(focus.plan), SURE_READING, 0, 0, 0.0)
        items = [one.item for one in found.items]
        exposed = [one.tool for one in tools.tools]
        planner, options, artefacts = self.planner, self._options, self.artefacts
        known = artefacts.plainness.card.encoder == self._encoder.name
        plain = artefacts.plainness.of(found.context.vector) if known else 1.0
        with trace.step("values.rank", tools=[tool.api for tool in exposed]) as step:
            sources = ValueSources.of(
                request, view.person, items, found.relevance, view.items, found.further
            )
            ranker = artefacts.arguments if planner.best_only else None
            grammar = plan_grammar(
                exposed,
                sources,
                best_only=planner.best_only,
                write_text=planner.writes_text,
                write_outward=planner.writes_outward,
                fillable=self.slots is not None,
                values=focus.fix(rank_values(exposed, sources, ranker)),
            )
            step.outputs = grammar.traced()

        def prompt() -> PlannerPrompt:
            budget, count = options.prompt_budget, planner.count_tokens
            with trace.step("prompt.assemble", budget=budget) as step:
                assembled = planner_prompt(
                    request, self.person, items, exposed, count, budget, brief=planner.brief
                )
                step.outputs = assembled.traced()
            return assembled

        def slots(tool: Tool) -> Mapping[str, FilledSlot]:
            with trace.step("slots.fill", api=tool.api) as step:
                filled = {} if self.slots is None else self.slots.fill(request, tool, items)
                step.outputs = {name: asdict(one) for name, one in filled.items()}
            return filled

        with trace.step("planner.plan", planner=type(planner).__name__) as step:
            planned = planner.plan(
                PlanRequest(
                    exposed,
                    grammar,
                    prompt,
                    tools.preferences,
                    options.sure,
                    None if self.slots is None else slots,
                    sources,
                    artefacts.choice,
                    plain,
                    None if self.slots is None else artefacts.calls,
                    None if self.slots is None else artefacts.confidence,
                )
            )
            step.outputs = planned.traced()
        return planned

    def _run(self, answer: Answer, confirm: Callable[[str], bool], doubt: str) -> Result:
        request = answer.request
        with answer.trace.step("apps.execute", plan=str(answer.plan)) as step:
            result = execute(
                answer.plan,
                stores=self.stores,
                person=self.person,
                items=self.view().items,
                at=request.asked_at,
                toolbox=self.toolbox,
                encode=partial(encode_items, self._encoder),
                confirm=confirm,
                playing=request.playing,
                preferred=[one.item.id for one in answer.items],
                online=self._options.online,
                doubt=doubt,
                said=request.text,
            )
            step.outputs = {"status": result.status, "answer": result.answer}
        return result
