"""In which numbers a training computes: bfloat16 where that is faster, float32 elsewhere.

Processors multiply bfloat16 since about 2020 to 2022 (AVX512-BF16, AMX); on one of 2017 with AVX2
a product takes 126 times as long as in float32, and a training a day in place of an hour. Needs
torch alone: packed training jobs carry this module.
"""

import time
from functools import cache
from typing import Any

_ROWS, _IN, _OUT = 64, 256, 256
_TURNS = 10


def halves(device: Any = "cpu") -> bool:
    """Whether layers compute in bfloat16 there: on a GPU always, on a processor where it is
    faster than float32, measured once a process."""
    import torch

    return torch.device(device).type != "cpu" or _fast_here()


def number_type(device: Any = "cpu") -> Any:
    """torch's type of the weights that are read but not learned."""
    import torch

    return torch.bfloat16 if halves(device) else torch.float32


@cache
def _fast_here() -> bool:
    import torch

    return _seconds(torch.bfloat16) < _seconds(torch.float32)


def _seconds(kind: Any) -> float:
    """Of one product on one thread, the fastest of some: threads wait for each other where the
    processor has other work."""
    import torch

    given, weight = torch.ones(_ROWS, _IN, dtype=kind), torch.ones(_IN, _OUT, dtype=kind)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    took = []
    for _ in range(_TURNS):
        began = time.perf_counter()
        torch.mm(given, weight)
        took.append(time.perf_counter() - began)
    torch.set_num_threads(threads)
    return min(took)
