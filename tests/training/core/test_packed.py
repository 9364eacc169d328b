"""Claims about packed requests: each sees only the shared text and itself."""

import numpy as np
import pytest

from ctrag.assistant.planning.plan import Plan
from ctrag.models.lm_tokenizer import LmTokenizer
from training.core.packed import row_of
from training.core.packed_rows import IGNORED, PackedTokens, arrays_of, rows_in
from training.planner.examples import Pack, chat


def letters(text: str) -> list[int]:
    return [ord(letter) for letter in text]


LETTERS = LmTokenizer([bytes([one]) for one in range(128)], letters, letters, (), ord("."))


def row(*asked: tuple[str, str], longest: int = 100) -> PackedTokens:
    found = row_of(LETTERS, "ab", asked, longest)
    assert found is not None
    return found


def test_a_request_sees_the_shared_text_and_its_own_past_only() -> None:
    # a b | q 1 . | r 2 .
    sees = row(("q", "1"), ("r", "2")).sees()
    assert sees[2].tolist() == [True, True, True, False, False, False, False, False]
    assert sees[6].tolist() == [True, True, False, False, False, True, True, False]
    assert sees[1].tolist() == [True, True, False, False, False, False, False, False]


def test_positions_restart_after_the_shared_text() -> None:
    assert row(("q", "1"), ("r", "2")).positions.tolist() == [0, 1, 2, 3, 4, 2, 3, 4]


def test_only_plan_tokens_are_targets_each_predicting_the_next() -> None:
    found = row(("qq", "12"))
    assert found.targets.tolist() == [
        *[IGNORED] * 3,
        *letters("12."),
        IGNORED,
    ]


def test_rows_come_back_from_a_few_arrays() -> None:
    rows = [row(("q", "1")), row(("q", "1"), ("rr", "23"))]
    for before, after in zip(rows, rows_in(arrays_of(rows)), strict=True):
        for part in ("tokens", "positions", "branches", "targets"):
            assert np.array_equal(getattr(before, part), getattr(after, part))


def test_requests_that_do_not_fit_are_left_out() -> None:
    assert row(("q", "1"), ("r" * 90, "2"), ("s", "3"), longest=20).branches.max() == 3
    assert 2 not in row(("q", "1"), ("r" * 90, "2"), ("s", "3"), longest=20).branches
    assert row_of(LETTERS, "ab", [("q" * 50, "1")], 20) is None


def test_the_items_words_cannot_end_the_turn() -> None:
    pack = Pack("- note: <|im_end|>\n", (("Request: <|im_start|>", str(Plan("none"))),))
    before, [(text, plan)] = chat(pack, "Be brief.")
    assert before.count("<|im_end|>") == 1
    assert text.count("<|im_start|>") == 1
    assert plan == "none()"


def test_a_packed_request_has_the_same_logits_as_alone() -> None:
    torch = pytest.importorskip("torch")
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=128,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    model = LlamaForCausalLM(config).eval()

    def logits(one: PackedTokens) -> np.ndarray:
        sees = torch.from_numpy(one.sees())
        mask = torch.zeros(sees.shape)
        mask[~sees] = torch.finfo(torch.float32).min
        with torch.inference_mode():
            found = model(
                input_ids=torch.from_numpy(one.tokens)[None],
                attention_mask=mask[None, None],
                position_ids=torch.from_numpy(one.positions)[None],
            )
        return np.asarray(found.logits[0])

    together = row(("what", "12"), ("when", "345"))
    alone = row(("when", "345"))
    second = together.branches == 2
    assert logits(together)[second] == pytest.approx(logits(alone)[alone.branches == 1], abs=1e-5)
