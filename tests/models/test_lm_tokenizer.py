"""Claims about tokenizers: BOS, the leading space, bytes, and grammars over their pieces."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ctrag.models.lm_tokenizer import LmTokenizer
from ctrag.models.tokenizer_files import load_tokenizer
from tests.models.open_llama import CORPUS, sentence_pieces

KINDS = ("sentencepiece", "unigram", "llama.json", "metaspace.json", "neox.json", "merges")
SAID = 'read_note(title="Gate code") and "the note"'
NEW = "naïve 日本語 😀\n\tx"


def json_tokenizer(folder: Path, kind: str) -> None:
    """A `tokenizer.json` as converters write it for Llama, Unigram models and GPT-NeoX."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from tokenizers.processors import TemplateProcessing

    special = ["<unk>", "<s>", "</s>"]
    if kind == "neox.json":
        found = Tokenizer(models.BPE())
        found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        found.decoder = decoders.ByteLevel()
        letters = pre_tokenizers.ByteLevel.alphabet()
        trainer: Any = trainers.BpeTrainer(
            vocab_size=400, special_tokens=special, initial_alphabet=letters, show_progress=False
        )
        found.train_from_iterator(CORPUS, trainer)
    else:
        pieces = [(one, -20.0) for one in (*special, *(f"<0x{byte:02X}>" for byte in range(256)))]
        words = {word for line in CORPUS for word in line.replace(" ", " ▁").split()}
        known = dict.fromkeys([*sorted({sign for word in words for sign in word}), *sorted(words)])
        pieces += [(one, -1.0 - 1 / len(one)) for one in known]
        if kind == "metaspace.json":
            found = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
            found.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        else:
            vocabulary = {piece: at for at, (piece, _) in enumerate(dict(pieces).items())}
            found = Tokenizer(
                models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True, fuse_unk=True)
            )
            found.normalizer = normalizers.Sequence(
                [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
            )
        found.decoder = decoders.Sequence(
            [
                decoders.Replace("▁", " "),
                decoders.ByteFallback(),
                decoders.Fuse(),
                decoders.Strip(" ", 1, 0),
            ]
        )
        found.add_special_tokens(special)
        found.post_processor = TemplateProcessing(
            single="<s> $A", pair=None, special_tokens=[("<s>", found.token_to_id("<s>"))]
        )
    found.save(str(folder / "tokenizer.json"))


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("tokenizer")
    kind: str = request.param
    config = {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True}
    if kind in ("sentencepiece", "unigram"):
        name = "bpe" if kind == "sentencepiece" else "unigram"
        sentence_pieces(folder / "tokenizer.model", 400, name)
    elif kind == "merges":
        config = {"eos_token": "</s>", "tokenizer_class": "GPT2Tokenizer"}
        json_tokenizer(folder, "neox.json")
        model = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]
        (folder / "tokenizer.json").unlink()
        (folder / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
        merges = [" ".join(one) if isinstance(one, list) else one for one in model["merges"]]
        (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]), encoding="utf-8")
        (folder / "config.json").write_text('{"model_type": "gpt_neox"}', encoding="utf-8")
    else:
        json_tokenizer(folder, kind)
        if kind == "neox.json":
            config = {"eos_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return load_tokenizer(folder)


def test_what_goes_on_has_no_space_that_nobody_wrote(tokenizer: LmTokenizer) -> None:
    for text in (SAID, NEW, " begins with a space", "  two", "ends with one "):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        apart = tokenizer.encode("one;") + tokenizer.encode(text)
        assert tokenizer.decode(apart) == f"one;{text}"


def test_a_prompt_begins_as_the_model_has_learned_texts_to(tokenizer: LmTokenizer) -> None:
    tokens = tokenizer.prompt("what did the school lady want")
    if not tokenizer.begin:  # GPT-NeoX has neither BOS nor a leading space
        assert tokens == tokenizer.encode("what did the school lady want")
        return
    assert tokenizer.begin == (1,)
    assert tokens[0] == 1
    assert 1 not in tokens[1:]
    assert tokenizer.decode(tokens) == " what did the school lady want"


def test_an_answer_ends_with_the_end_of_a_text_where_the_chat_mark_is_none(
    tokenizer: LmTokenizer,
) -> None:
    assert tokenizer.end == (tokenizer.eos,) == (2,)


@pytest.mark.parametrize("value", ["Gate code", "the gate", "日本語 naïve", "two\nlines"])
def test_every_plan_of_a_grammar_can_be_spelled(tokenizer: LmTokenizer, value: str) -> None:
    import llguidance

    from ctrag.text.lark import literal

    plan = f'read_note(title="{value}")'
    lark = f"start: {literal(plan)} | " + '"none()"'
    guide = tokenizer.guide(tokenizer.size, [2])
    matcher = llguidance.LLMatcher(guide, llguidance.LLMatcher.grammar_from_lark(lark))
    assert not matcher.is_error()
    assert matcher.consume_tokens(tokenizer.encode(plan)), matcher.get_error()
    assert matcher.is_accepting()
    other = llguidance.LLMatcher(guide, llguidance.LLMatcher.grammar_from_lark(lark))
    written = tokenizer.encode("read")
    assert other.consume_tokens(written)
    written += other.compute_ff_tokens()
    assert plan.startswith(tokenizer.decode(written))
    assert len(tokenizer.decode(written)) > len("read_note(")


def test_added_tokens_of_a_tuned_model_are_known_by_their_text(tmp_path: Path) -> None:
    sentence_pieces(tmp_path / "tokenizer.model", 400, "bpe")
    size = load_tokenizer(tmp_path).size
    added = {"<|im_start|>": size, "<|im_end|>": size + 1}
    (tmp_path / "added_tokens.json").write_text(json.dumps(added), encoding="utf-8")
    found = load_tokenizer(tmp_path)
    assert found.encode("play<|im_end|>") == [*found.encode("play"), size + 1]
    assert found.end == (size + 1,)
    assert found.prompt("<|im_start|>the note")[:2] == [1, size]
    assert found.decode(found.prompt("<|im_start|>the note")) == "the note"


def test_special_tokens_are_not_read_off_what_people_write(tmp_path: Path) -> None:
    json_tokenizer(tmp_path, "llama.json")
    assert 2 not in load_tokenizer(tmp_path).encode("ends here </s> does it")


def test_a_folder_without_a_tokenizer_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds neither tokenizer.json nor tokenizer.model"):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.model").write_bytes(b"\x00\x01 not pieces")
    with pytest.raises(ValueError, match=r"tokenizer.model: no SentencePiece model"):
        load_tokenizer(tmp_path)
    shutil.copy(tmp_path / "tokenizer.model", tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match=r"tokenizer.json: no tokenizer that can be read"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("value", ["a▁b", "½ cup", "ﬁne…", "Gate\u00a0Code", "e\u0301"])
@pytest.mark.parametrize("rule", ["identity", "nmt_nfkc_cf"])
def test_what_the_tokenizer_would_rewrite_is_planned_as_it_stands(
    tmp_path: Path, rule: str, value: str
) -> None:
    import llguidance

    from ctrag.text.lark import literal

    sentence_pieces(tmp_path / "tokenizer.model", 400, "unigram", rule=rule)
    tokenizer = load_tokenizer(tmp_path)
    plan = f'read_note(title="{value}")'
    guide = tokenizer.guide(tokenizer.size, [2])
    lark = f"start: {literal(plan)} | " + '"none()"'
    matcher = llguidance.LLMatcher(guide, llguidance.LLMatcher.grammar_from_lark(lark))
    written = tokenizer.spell("read_note(")
    assert matcher.consume_tokens(written)
    while forced := matcher.compute_ff_tokens():
        assert matcher.consume_tokens(forced), matcher.get_error()
        written += forced
    assert tokenizer.decode(written) == plan
    assert tokenizer.decode(tokenizer.spell(plan)) == plan
