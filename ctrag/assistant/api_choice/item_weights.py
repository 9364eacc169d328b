"""Classes of API models, and the weight of each retrieved item."""

import numpy as np
from numpy.typing import NDArray

from ctrag.assistant.context.item_arrays import Floats
from ctrag.toolbox import Toolbox

CONTEXT = 5
"""Items that are used at most."""


def classes_of(toolbox: Toolbox) -> list[str]:
    """All APIs, and `none`."""
    return [*toolbox.names, "none"]


def item_weights(relevance: Floats) -> NDArray[np.float64]:
    """Softmax over the retrieved items' LambdaMART scores."""
    shifted = np.exp(np.asarray(relevance, dtype=np.float64) - np.max(relevance, initial=-np.inf))
    return shifted / max(float(shifted.sum()), 1e-12)
