"""Settings: defaults, overridden by environment variables that begin with `CTRAG_`."""

from functools import cache
from pathlib import Path
from typing import Literal

from platformdirs import user_cache_path, user_data_path
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from ctrag.errors import InputError
from ctrag.models import packages
from stores.files import make_private_folder


class Settings(BaseSettings):
    """All settings; each field is `CTRAG_<NAME>` in the environment."""

    model_config = SettingsConfigDict(env_prefix="CTRAG_", extra="ignore")

    home: Path = Field(default_factory=lambda: user_data_path("ctrag"))
    """Where a user's own stores are."""
    cache: Path = Field(default_factory=lambda: user_cache_path("ctrag"))
    """Converted models and stores of data sets, made anew where they are missing. With it go
    approvals of policies (`ctrag review`), paid answers of `ctrag synth --provider openai`, and
    what the assistant changed on packaged people."""
    weights: Path = Field(default_factory=lambda: user_cache_path("ctrag") / "weights")
    """Encoders assembled and converted from packages; can be deleted at any time."""
    encoder: str = packages.PAIR
    """Encoder of items and requests: a packaged name, or a folder of `ctrag train encoder`."""
    tool_encoder: str = packages.TOOL_ENCODER
    """Encoder of tool catalogues of any agent: small, so that thousands of tools take seconds. A
    name, or a folder of `ctrag train tool-encoder`."""
    tool_ranker: Path | None = None
    """File of `ctrag train tool-ranker`; when not set, the packaged weights."""
    surfacing: Path | None = None
    """File of `ctrag train surfacing`: what of a search is given; when not set, the packaged
    rule."""
    tool_store: str | None = None
    """Store of a served tool catalogue: a DuckDB file, or a `postgresql://` address. When not set,
    `tools.duckdb` in the home folder."""
    artefacts: Path | None = None
    """Folder with artefacts that `ctrag train` wrote; when not set, the packaged ones."""
    planner_model: str = packages.PLANNER
    """Name, folder or hub name of the embedded planner's base model. With another model or
    adapter than the packaged ones, it writes a call's arguments, and no slot filler does."""
    threads: int = Field(default=2, ge=1)
    """Threads of the embedded planner."""
    planner_engine: Literal["onnxruntime", "transformers"] | None = None
    """Engine of the embedded planner's model: a graph on ONNX Runtime, or transformers.
    When not set, ONNX Runtime for the packaged model and transformers for others."""
    planner_device: str = "auto"
    """Where transformers runs the embedded planner's model: `auto` (a GPU where torch sees one),
    `cpu`, `cuda`, `cuda:1`, `mps`, or `all` GPUs; in bfloat16 on a GPU."""
    planner_bits: Literal[4, 8] | None = None
    """Keep its weights in so few bits (a GPU and bitsandbytes needed)."""
    planner_decides: bool = False
    """Let the embedded model choose API and values itself among those that retrieval found, as a
    fine-tuned model of some billion weights can; otherwise tool search and rankers choose."""
    record_use: bool = False
    """Keep a record of what each person's requests were answered with, beside their stores and for
    its owner alone, from which `ctrag train ranker --from-usage` learns."""
    items: int = Field(default=5, ge=1, le=50)
    """Items retrieved for a request."""
    mail_longest_body: int = Field(default=50_000, ge=100)
    """Characters of a mail's text that an import stores; what is cut is said."""
    tools: int = Field(default=5, ge=1, le=59)
    """Tools exposed to the planner."""
    prompt_budget: int = Field(default=380, ge=100)
    """Tokens of the planner's prompt; the chat template adds about a dozen, so that the whole
    stays under 400."""
    planner_adapter: Path | None = None
    """Folder with a LoRA adapter that `ctrag train planner` wrote; when not set, the packaged one
    for the embedded model and none for others."""
    write_text: bool | None = None
    """Let the embedded model write free text arguments; otherwise they are the person's own words.
    When not set, it writes only with an adapter, and nothing that is sent to others: an untuned
    model writes worse than the person speaks, and a tuned one invents facts in mails."""
    byte_weights: bool | None = None
    """Compute with 8-bit weights in encoders, and in the slot model's prompts. When not set, where
    this processor does that about as fast as with float32, which takes three times the memory: it
    is measured once. Set it where weights are prepared for another machine."""
    slot_model: str = packages.INSTRUCT
    """Name, folder or hub name of the model that reads a call's arguments off a request."""
    slot_adapter: Path | None = None
    """Folder with an adapter that `ctrag train slots` wrote for it; when not set, the packaged
    one."""
    sure: float = Field(default=0.85, ge=0, le=1)
    """Plans of lower confidence are shown with the next best one, and change nothing without
    confirmation."""
    dependency: Path | None = None
    """Folder of `ctrag train dependency`, or traces that are counted at the start (demonstrations,
    or a recording): ranks tools by the calls so far, in searches, sessions and prompts; when not
    set, calls so far are ignored."""
    dependency_weight: float = Field(default=0.3, ge=0, le=1)
    """Its weight against the search score, 0 (ignored) to 1 (alone)."""
    dependency_prompt_weight: float = Field(default=1.0, ge=0)
    """Factor of its log probability in the score of a prompt's tools; 0 turns it off."""
    request_weight: float | None = Field(default=None, ge=0)
    """Factor of the request's own score in the score of a prompt's tools. When not set, 0.33 beside
    a next-tool model, since a request names the end of a task and most steps only lead up to it,
    and 1 without one."""
    gains: Path | None = None
    """File of `ctrag train gains`, or of `Gains.save`: what earlier steps used of their tools."""
    reranker: Path | None = None
    """Folder of `ctrag train reranker`: re-ranks the tools of `ctrag prompt` and
    `PromptBuilder.open` where they get none; when not set, the packaged hybrid weights."""
    review: bool = False
    """Prompts of `PromptBuilder.open` contain policies only as approved."""
    online: bool = True
    """False disables whatever needs a network."""
    openai_base_url: str = "https://api.openai.com/v1"
    """Of an endpoint that speaks the chat-completions protocol."""
    openai_model: str = "gpt-4o-mini"
    """The model that it is asked for."""
    openai_api_key: SecretStr = SecretStr("")
    """Also read from OPENAI_API_KEY."""
    openai_timeout: float = Field(default=60.0, gt=0)
    """Seconds that an answer may take."""
    openai_answers: Literal["json", "tools", "call"] = "json"
    """What `--planner openai` holds the model to: a JSON Schema, tools, or nothing; where the
    server refuses that, nothing. Answers are read in each of the three forms."""
    openai_retries: int = Field(default=3, ge=0)
    """Retries after 429, 5xx, a time-out or a broken connection."""
    openai_concurrency: int = Field(default=8, ge=1)
    """Concurrent requests of the synthesizer."""
    openai_price_prompt: float | None = Field(default=None, ge=0)
    """Price of a million prompt tokens; needed for `ctrag synth --max-cost`."""
    openai_price_completion: float | None = Field(default=None, ge=0)
    """Price of a million completion tokens."""


@cache
def settings() -> Settings:
    """The settings of this process.

    Raises:
        ValueError: A variable breaks a rule; the message names it, not its value.
    """
    try:
        return Settings()
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        name = "".join(str(part) for part in problem["loc"][:1]).upper()
        raise InputError(f"CTRAG_{name}: {problem['msg']}") from None


def cache_folder() -> Path:
    """The cache folder, made when missing."""
    folder = settings().cache.expanduser()
    make_private_folder(folder)
    return folder
