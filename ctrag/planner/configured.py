"""The planner that the settings name, and what it may write."""

from ctrag.planner.adapter import packaged_adapter
from ctrag.planner.embedded import EmbeddedPlanner
from ctrag.planner.endpoint import EndpointPlanner
from ctrag.settings import Settings

Planner = EmbeddedPlanner | EndpointPlanner


def make_planner(name: str, options: Settings) -> Planner:
    """The planner of that name.

    Raises:
        ValueError: There is no such planner.
    """
    if name == "embedded":
        return embedded_planner(options)
    if name == "openai":
        import os

        key = options.openai_api_key.get_secret_value() or os.environ.get("OPENAI_API_KEY", "")
        return EndpointPlanner(
            options.openai_base_url, options.openai_model, key, options.openai_timeout
        )
    raise ValueError(f"planner: must be embedded or openai, not {name!r}")


def embedded_planner(options: Settings) -> EmbeddedPlanner:
    """The embedded planner with the adapter that the settings name."""
    adapter = options.planner_adapter or packaged_adapter(options.planner_model)
    return EmbeddedPlanner(options.planner_model, options.threads, adapter, options.planner_engine)


def is_tuned(planner: Planner) -> bool:
    """Whether the planner knows the packaged APIs by training."""
    return isinstance(planner, EmbeddedPlanner) and planner.adapter is not None


def writes_text(planner: Planner, options: Settings) -> bool:
    """Whether the planner writes free text: an endpoint does, the embedded one with an adapter."""
    if isinstance(planner, EndpointPlanner):
        return True
    return is_tuned(planner) if options.write_text is None else options.write_text


def writes_outward(planner: Planner, options: Settings) -> bool:
    """Whether the planner also writes what reaches others: an endpoint does; the small model
    invents facts there, so that it does only where the settings say so."""
    return isinstance(planner, EndpointPlanner) or bool(options.write_text)
