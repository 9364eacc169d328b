"""A Llama of two random layers in the files that OpenLLaMA comes in."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CORPUS = [
    "what did the school lady want earlier",
    'play_voicemail(contact="Mrs Adaora Nwosu")',
    "push it half an hour, the gate code is in the note",
    'read_note(title="Gate code")',
    "tell them I am late and remind me at six",
    "Items: Request: Now: APIs: Likely: mail calendar notes",
] * 8


def open_llama(folder: Path, vocabulary: int = 400) -> Path:
    """Write `config.json`, two shards of `pytorch_model.bin`, and a SentencePiece tokenizer."""
    folder.mkdir(exist_ok=True)
    sentence_pieces(folder / "tokenizer.model", vocabulary, "bpe")
    _write(
        folder / "tokenizer_config.json",
        {
            "add_bos_token": True,
            "add_eos_token": False,
            "bos_token": _token("<s>"),
            "eos_token": _token("</s>"),
            "unk_token": _token("<unk>"),
            "pad_token": None,
            "sp_model_kwargs": {},
            "tokenizer_class": "LlamaTokenizer",
        },
    )
    _llama(folder, vocabulary)
    return folder


def sentence_pieces(
    path: Path,
    vocabulary: int,
    kind: str,
    corpus: Sequence[str] = CORPUS,
    rule: str = "identity",
) -> None:
    """Train a SentencePiece tokenizer as Llama's are: bytes for unknown signs, no normalising."""
    import sentencepiece

    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus),
            model_writer=file,
            vocab_size=vocabulary,
            model_type=kind,
            byte_fallback=True,
            split_digits=True,
            normalization_rule_name=rule,
            remove_extra_whitespaces=False,
            unk_id=0,
            bos_id=1,
            eos_id=2,
            pad_id=-1,
            minloglevel=2,
            hard_vocab_limit=False,
            num_threads=1,
        )


def _llama(folder: Path, vocabulary: int) -> None:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        initializer_range=0.3,
        tie_word_embeddings=False,
    )
    state = LlamaForCausalLM(config).half().state_dict()
    written = config.to_dict() | {"architectures": ["LlamaForCausalLM"], "torch_dtype": "float16"}
    written.pop("dtype", None)
    _write(folder / "config.json", written)
    names = sorted(state)
    places = {
        name: f"pytorch_model-0000{1 + (at >= len(names) // 2)}-of-00002.bin"
        for at, name in enumerate(names)
    }
    for file in set(places.values()):
        own = {name: state[name].clone() for name in names if places[name] == file}
        torch.save(own, folder / file)
    _write(folder / "pytorch_model.bin.index.json", {"metadata": {}, "weight_map": places})


def _token(content: str) -> dict[str, Any]:
    return {"__type": "AddedToken", "content": content, "normalized": True}


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, default=str), encoding="utf-8")
