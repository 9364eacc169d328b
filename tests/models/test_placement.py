"""Claims about where a model runs, and about adapters merged into it or kept beside it."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctrag.assistant.planning.embedded import EmbeddedPlanner
from ctrag.assistant.planning.interface import Planned
from ctrag.assistant.planning.planner import embedded_planner, slot_filler
from ctrag.errors import MissingExtra, ModelMissing
from ctrag.models import placement as module
from ctrag.models.language_model import LanguageModel
from ctrag.models.lm_engine import TransformersEngine, open_engine
from ctrag.models.lm_weights import READY, check_weights, load_model, write_merged
from ctrag.models.lora import PlannerCard, attach, save_adapter
from ctrag.models.placement import Placement
from ctrag.settings import Settings
from tests.models.open_llama import open_llama
from training.core.adapter import base_of

TOKENS = [1, 5, 17, 3, 80]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_llama(tmp_path_factory.mktemp("base") / "open_llama")


@pytest.fixture(scope="module")
def adapter(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    torch.manual_seed(1)
    prefix = "base_model.model.model.layers.1.mlp.down_proj"
    card = PlannerCard(
        command="none", base=str(base), rank=4, alpha=8, settings={}, data="", data_sha256="",
        seed=1, figures={}, versions={},
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("adapter")
    weights = {
        f"{prefix}.lora_A.weight": torch.randn(4, 64) / 8,
        f"{prefix}.lora_B.weight": torch.randn(32, 4) / 8,
    }
    save_adapter(folder, weights, card)
    return folder


def test_shards_of_pytorch_model_bin_are_read_and_served(base: Path) -> None:
    logits, cache = TransformersEngine(base, 1).forward(TOKENS)
    assert logits.shape == (1, 400)
    assert logits.dtype == np.float32
    more, _ = TransformersEngine(base, 1).forward([*TOKENS, 9])
    again, _ = TransformersEngine(base, 1).forward([9], cache)
    np.testing.assert_allclose(again, more, atol=1e-3)


def test_the_graph_of_such_a_model_has_its_logits(
    base: Path, tmp_path: Path, configure: Callable[..., None]
) -> None:
    configure(weights=tmp_path / "weights")
    ours, _ = open_engine("onnxruntime", base, 1, None).forward(TOKENS)
    theirs, _ = TransformersEngine(base, 1).forward(TOKENS)
    np.testing.assert_allclose(ours, theirs, atol=0.01 * np.abs(theirs).max())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda one: [path.unlink() for path in one.glob("pytorch_*")], "holds no weights"),
        (
            lambda one: (one / "pytorch_model-00002-of-00002.bin").unlink(),
            "its index names pytorch_model-00002-of-00002.bin, which is not there",
        ),
        (
            lambda one: (one / "pytorch_model-00001-of-00002.bin").write_bytes(
                b"version https://git-lfs.github.com/spec/v1"
            ),
            "is a pointer of Git LFS, not the weights; run `git lfs pull` there",
        ),
    ],
)
def test_weights_that_are_not_there_are_missed_before_any_work(
    base: Path, tmp_path: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    check_weights(base)
    copy = shutil.copytree(base, tmp_path / "copy")
    spoil(copy)
    with pytest.raises(ModelMissing, match=re.escape(message)):
        base_of(str(copy))


def test_the_graph_on_a_processor_takes_neither_a_gpu_nor_bits() -> None:
    with pytest.raises(ValueError, match="set CTRAG_PLANNER_ENGINE=transformers"):
        LanguageModel(placement=Placement("cuda"))
    with pytest.raises(ValueError, match="bits 4: the onnxruntime engine runs on the processor"):
        LanguageModel(placement=Placement("auto", 4))


def test_an_adapter_beside_the_weights_does_what_a_merged_one_does(
    base: Path, adapter: Path
) -> None:
    import torch

    ids = torch.tensor([TOKENS])
    plain = load_model(base, 1)
    before = plain(ids).logits.detach().numpy().copy()
    kept = plain.get_submodule("model.layers.1.mlp.down_proj").weight.clone()
    attach(plain, adapter)
    assert torch.equal(plain.get_submodule("model.layers.1.mlp.down_proj").weight, kept)
    with torch.inference_mode():
        beside = plain(ids).logits.numpy()
        merged = load_model(base, 1, adapter)(ids).logits.numpy()
    assert np.abs(merged - before).max() > 0.1
    np.testing.assert_allclose(beside, merged, atol=0.02 * np.abs(merged).max())


def test_a_merged_model_runs_alone_and_is_known_as_trained(
    base: Path, adapter: Path, tmp_path: Path
) -> None:
    merged = write_merged(str(base), adapter, tmp_path / "merged")
    alone, _ = TransformersEngine(merged, 1).forward(TOKENS)
    both, _ = TransformersEngine(base, 1, adapter).forward(TOKENS)
    np.testing.assert_allclose(alone, both, atol=0.01 * np.abs(both).max())
    planner = EmbeddedPlanner(str(merged))
    assert planner.brief
    assert planner.writes_text
    assert planner.begin("the note") == EmbeddedPlanner(str(base)).begin("the note")
    assert not EmbeddedPlanner(str(base)).brief


def test_an_adapter_of_another_width_is_refused(base: Path, adapter: Path, tmp_path: Path) -> None:
    import torch

    from ctrag.models.lora import load_card

    prefix = "base_model.model.model.layers.0.self_attn.q_proj"
    wrong = {
        f"{prefix}.lora_A.weight": torch.zeros(4, 8),
        f"{prefix}.lora_B.weight": torch.zeros(8, 4),
    }
    save_adapter(tmp_path, wrong, load_card(adapter))
    with pytest.raises(ValueError, match=r"is \(32, 32\) in the model and \(8, 8\) in the adapter"):
        attach(load_model(base, 1), tmp_path)


def test_what_is_missing_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"weights of 4 bits: .*: pip install bitsandbytes"):
        Placement(bits=4).check()
    with pytest.raises(MissingExtra, match=r"several GPUs: .*: pip install accelerate"):
        Placement("all").check()


def test_bits_need_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    monkeypatch.setattr(module, "gpus", lambda: 0)
    with pytest.raises(ValueError, match=r"weights of 8 bits, but torch .* sees no GPU"):
        Placement(bits=8).check()
    monkeypatch.setattr(module, "gpus", lambda: 1)
    Placement("cuda", 8).check()
    with pytest.raises(ValueError, match=r"device: cuda:1, but torch .* sees 1 GPU;"):
        Placement("cuda:1").check()


def test_layers_are_spread_over_all_gpus_and_bits_stay_on_the_one_that_is_named() -> None:
    assert Placement("all").options == {"device_map": "auto"}
    found = Placement("cuda:1", 4).options
    assert found["device_map"] == {"": "cuda:1"}
    assert found["quantization_config"].load_in_4bit
    assert Placement("cpu").options == {}


def test_a_planner_of_ones_own_writes_the_call_alone(base: Path, tmp_path: Path) -> None:
    assert slot_filler(Settings()) is not None
    assert slot_filler(Settings(planner_model=str(base))) is None
    assert slot_filler(Settings(planner_adapter=tmp_path)) is None
    (tmp_path / READY).touch()  # the packaged model where it was converted to
    assert slot_filler(Settings(planner_model=str(tmp_path))) is not None
    own = Settings(planner_model=str(base), slot_adapter=tmp_path)
    assert slot_filler(own) is not None
    deciding = embedded_planner(Settings(planner_model=str(base), planner_decides=True))
    assert not deciding.best_only
    assert deciding.writes_text
    assert deciding.writes_outward


def test_a_model_that_decides_takes_nothing_away_unasked(base: Path) -> None:
    from datetime import datetime

    from ctrag.assistant.planning.candidate_values import ValueSources
    from ctrag.assistant.planning.grammar import plan_grammar
    from ctrag.assistant.planning.interface import PlanRequest
    from ctrag.assistant.planning.limits import UNSURE
    from ctrag.assistant.planning.planner_prompt import planner_prompt
    from ctrag.toolbox import Toolbox
    from stores.people.items import Item, Person, Profile, Request

    now = datetime(2025, 4, 17, 12, 0)
    note = {"title": "Gate code", "body": "4711", "folder": "Home", "modified_at": now}
    items = [Item("n1", "notes", note)]
    request, ada = Request("get rid of that note", now), Person("ada", now, Profile("Ada Q"), ())
    tools = [one for one in Toolbox.packaged() if one.api in ("delete_note", "read_note")]
    sources = ValueSources(request, ada, items)
    planner = EmbeddedPlanner(str(base), 1, decides=True)

    def planned(api: str) -> Planned:
        own = [one for one in tools if one.api == api]
        grammar = replace(plan_grammar(own, sources), lark=f'start: "{api}(title=\\"Gate code\\")"')
        prompt = planner_prompt(request, ada, items, own, planner.count_tokens, 2000)
        return planner.plan(PlanRequest(own, grammar, lambda: prompt, {api: 0.0}, sources=sources))

    assert planned("read_note").confidence == 1.0  # nothing else could be said
    assert planned("delete_note").confidence == UNSURE
