"""Where a language model runs and in how many bits, checked before anything is loaded."""

import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ctrag.errors import InputError, MissingExtra

ALL = "all"
"""The device that stands for every GPU of the machine, each with some of the layers."""


@dataclass(frozen=True, slots=True)
class Placement:
    """On which device a model's weights are, and how they are kept."""

    device: str = "cpu"
    """`auto` (a GPU where torch sees one), `cpu`, `cuda`, `cuda:1`, `mps`, or `all` GPUs."""
    bits: int | None = None
    """4 or 8 by bitsandbytes, on a GPU; None for bfloat16 there and float32 on a processor."""

    @property
    def here(self) -> bool:
        """Whether nothing but a processor is asked for."""
        return self.device in ("auto", "cpu") and self.bits is None

    def check(self) -> None:
        """Raise what would go wrong while loading.

        Raises:
            ValueError: The device or the number of bits is unknown, or the device is not here.
            MissingExtra: accelerate or bitsandbytes is needed and not installed.
        """
        if not re.fullmatch(r"auto|cpu|mps|all|cuda(:\d+)?", self.device):
            raise InputError(
                f"device: must be auto, cpu, mps, cuda, cuda:N or {ALL}, not {self.device!r}"
            )
        if self.bits not in (None, 4, 8):
            raise InputError(f"bits: must be 4 or 8, not {self.bits}")
        if self.bits:
            _need_for_gpus(f"weights of {self.bits} bits", "bitsandbytes")
            _need_for_gpus(f"weights of {self.bits} bits", "accelerate")
        if self.device == ALL:
            _need_for_gpus("a model on several GPUs", "accelerate")
        _check_here(self)

    @property
    def place(self) -> str:
        """The device by torch's name; of `all` the first."""
        if self.device == ALL:
            return "cuda:0"
        if self.device == "auto":
            return "cuda" if gpus() else "cpu"
        return self.device

    @property
    def options(self) -> dict[str, Any]:
        """What `from_pretrained` needs besides the type of the weights."""
        found: dict[str, Any] = {}
        if self.device == ALL:
            found["device_map"] = "auto"
        elif self.bits:
            found["device_map"] = {"": self.place}
        if self.bits:
            import torch
            from transformers import BitsAndBytesConfig

            found["quantization_config"] = (
                BitsAndBytesConfig(
                    load_in_4bit=True,
                    bnb_4bit_quant_type="nf4",
                    bnb_4bit_compute_dtype=torch.bfloat16,
                )
                if self.bits == 4
                else BitsAndBytesConfig(load_in_8bit=True)
            )
        return found

    def loaded(self, folder: Any, dtype: Any) -> Any:
        """The causal model of a folder, where it belongs, its weights of that type."""
        from transformers import AutoModelForCausalLM

        model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **self.options)
        return model if self.options else model.to(self.place)


def _need_for_gpus(what: str, module: str) -> None:
    """Whether a package is here that no extra brings, as it is of use with a GPU only."""
    if find_spec(module) is None:
        raise MissingExtra(f"{what}: {module} is missing; install it with: pip install {module}")


def gpus() -> int:
    """How many GPUs torch sees."""
    import torch

    return int(torch.cuda.device_count()) if torch.cuda.is_available() else 0


def _check_here(placement: Placement) -> None:
    """Whether the device is on this machine."""
    import torch

    device, found = placement.device, gpus()
    wanted = int(device.partition(":")[2] or 0) + 1 if device.startswith("cuda") else 1
    needs = device == ALL or device.startswith("cuda")
    what = f"device: {device}" if needs else f"weights of {placement.bits} bits"
    if (needs or placement.bits) and found < wanted:
        seen = f"{found} GPU{'s' * (found != 1)}" if found else "no GPU"
        raise InputError(
            f"{what}, but torch {torch.__version__} sees {seen}; use --device cpu without bits, or "
            "a machine and a build of torch with CUDA"
        )
    if device == "mps" and not torch.backends.mps.is_available():
        raise InputError(f"device: mps, but torch {torch.__version__} has none here; use cpu")
