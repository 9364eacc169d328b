"""The planner and the slot filler that the settings name."""

from pathlib import Path

from ctrag.assistant.planning.embedded import EmbeddedPlanner
from ctrag.assistant.planning.endpoint import EndpointPlanner
from ctrag.assistant.planning.interface import Planner
from ctrag.assistant.planning.slot_filler import SlotFiller
from ctrag.errors import InputError
from ctrag.models.lm_weights import is_packaged
from ctrag.models.lora import SLOTS, packaged_adapter
from ctrag.models.placement import Placement
from ctrag.settings import Settings, settings


def make_planner(name: str = "embedded", options: Settings | None = None) -> Planner:
    """The planner of that name, `embedded` or `openai`.

    Args:
        name: Which one.
        options: When None, the settings of this process.

    Raises:
        ValueError: There is no such planner.
    """
    options = settings() if options is None else options
    if name == "embedded":
        return embedded_planner(options)
    if name == "openai":
        import os

        key = options.openai_api_key.get_secret_value() or os.environ.get("OPENAI_API_KEY", "")
        return EndpointPlanner(
            options.openai_base_url,
            options.openai_model,
            key,
            options.openai_timeout,
            options.openai_answers,
        )
    raise InputError(f"planner: must be embedded or openai, not {name!r}")


def embedded_planner(options: Settings) -> EmbeddedPlanner:
    """The embedded planner with the adapter that the settings name.

    Raises:
        ValueError: See `Placement.check`.
        MissingExtra: The same.
    """
    adapter = options.planner_adapter or packaged_adapter(options.planner_model)
    placement = Placement(options.planner_device, options.planner_bits)
    if not placement.here:
        placement.check()
    return EmbeddedPlanner(
        options.planner_model,
        options.threads,
        adapter,
        options.planner_engine,
        options.write_text,
        options.planner_decides,
        placement,
    )


def has_own_planner(options: Settings) -> bool:
    """Whether the settings name a planner's model or adapter other than the packaged ones."""
    return options.planner_adapter is not None or not is_packaged(options.planner_model)


def slot_filler(options: Settings | None = None) -> SlotFiller | None:
    """The slot filler that the settings name; None without an adapter for its model.

    With a planner of one's own it stands back, unless it is one's own too: that planner writes the
    whole call, as it was trained to.

    Args:
        options: When None, the settings of this process.
    """
    options = settings() if options is None else options
    adapter = slot_adapter(options)
    if adapter is None or (has_own_planner(options) and options.slot_adapter is None):
        return None
    return SlotFiller(options.slot_model, options.threads, adapter, options.planner_engine)


def slot_adapter(options: Settings | None = None) -> Path | None:
    """Folder of the slot filler's adapter, or None; `options` as for `slot_filler`."""
    options = settings() if options is None else options
    return options.slot_adapter or packaged_adapter(options.slot_model, SLOTS)
