"""The assistant's steps from a request to its plan, opened once for an experiment."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import JsonValue

from ctrag.assistant.api_choice.retrieve import ToolRetriever
from ctrag.assistant.artefacts import Artefacts, load_artefacts
from ctrag.assistant.context.retrieve import ContextRetriever
from ctrag.assistant.planning.interface import Planned, Planner
from ctrag.assistant.planning.plan import Plan, PlanSyntaxError
from ctrag.assistant.planning.planner import make_planner, slot_filler
from ctrag.assistant.planning.slot_filler import SlotFiller
from ctrag.models.encoder import Encoder, load_encoder
from ctrag.models.lora import weights_sha256
from ctrag.settings import Settings, settings
from ctrag.toolbox import Toolbox
from eval.core.examples import RankingExample
from eval.planner.rows import PlannerInputs, PlanRow, decode, planned


@dataclass(frozen=True, slots=True)
class PlanningSteps:
    """Retrieval and planning with one set of models."""

    options: Settings
    encoder: Encoder
    artefacts: Artefacts
    retriever: ContextRetriever
    planner: Planner
    filler: SlotFiller | None
    show: PlannerInputs

    @classmethod
    def open(
        cls, model: Path | None, toolbox: Toolbox, planner: str = "embedded"
    ) -> "PlanningSteps":
        """With the models that the settings name.

        Args:
            model: A ranker's folder; the packaged one when None.
            toolbox: The APIs.
            planner: `embedded`, or `openai` for the endpoint that the settings name.
        """
        options = settings()
        encoder = load_encoder(options.encoder)
        artefacts = load_artefacts(model)
        retriever = ContextRetriever(encoder, artefacts.ranker, artefacts.adapter)
        tools = ToolRetriever(toolbox, encoder, artefacts.classifier)
        return cls(
            options,
            encoder,
            artefacts,
            retriever,
            make_planner(planner, options),
            slot_filler(options) if planner == "embedded" else None,
            PlannerInputs(retriever, tools, toolbox, options, artefacts),
        )

    @property
    def depends_on(self) -> tuple[object, ...]:
        """What a plan depends on besides request, person and toolbox."""
        artefacts, options, planner = self.artefacts, self.options, self.planner
        ranker, filler = artefacts.ranker, self.filler
        return (
            sha256((ranker.model + ranker.second + artefacts.arguments.model).encode()).hexdigest(),
            None if artefacts.adapter is None else artefacts.adapter.digest,
            artefacts.classifier.digest,
            self.encoder.name,
            planner.identity,
            options.items,
            options.tools,
            options.prompt_budget,
            planner.writes_text,
            planner.writes_outward,
            None if filler is None or filler.adapter is None else weights_sha256(filler.adapter),
            None if filler is None else options.slot_model,
            (artefacts.confidence.weights, artefacts.confidence.bias),
            (artefacts.choice.weights, artefacts.choice.bias),
            artefacts.calls.weights,
            artefacts.plainness.digest,
        )

    @property
    def described(self) -> dict[str, JsonValue]:
        """Settings, as an experiment's JSON has them."""
        options, planner = self.options, self.planner
        return {
            **planner.described,
            "slot_model": None if self.filler is None else options.slot_model,
            "items": options.items,
            "tools": options.tools,
            "prompt_budget": options.prompt_budget,
            "write_text": planner.writes_text,
            "write_outward": planner.writes_outward,
        }

    def plan(self, example: RankingExample, setting: str) -> Planned:
        """Plan one request in one setting; see `eval.planner.rows.planned`."""
        return planned(example, setting, False, self.show, self.planner, self.filler, self.options)[
            0
        ]

    def decode(self, example: RankingExample, setting: str, free: bool, run: str) -> PlanRow:
        """Decode one request in one setting; see `eval.planner.rows.decode`."""
        return decode(
            example, setting, free, self.show, self.planner, self.filler, self.options, run
        )


def run_hash(depends_on: tuple[object, ...]) -> str:
    """What marks the rows of a run, so that a resumed run reads only its own."""
    return sha256("|".join(str(one) for one in depends_on).encode()).hexdigest()[:32]


def parsed(text: str) -> Plan | None:
    """The plan that a text spells; None where it is no plan."""
    try:
        return Plan.parse(text)
    except PlanSyntaxError:
        return None
