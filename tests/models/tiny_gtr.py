"""A T5 encoder of two random layers in the files that GTR-T5 comes in."""

import json
from pathlib import Path
from typing import Any

from tests.models.open_llama import CORPUS

WIDTH, REACHED = 32, 24
"""Of the hidden states; of the vectors, after the dense projection."""


def tiny_gtr(folder: Path) -> Path:
    """Write `modules.json`, the encoder, its SentencePiece tokenizer, pooling and projection."""
    import sentencepiece
    import torch
    from transformers import T5Config, T5EncoderModel

    folder.mkdir(exist_ok=True)
    with (folder / "spiece.model").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(CORPUS),
            model_writer=file,
            vocab_size=200,
            model_type="unigram",
            pad_id=0,
            eos_id=1,
            unk_id=2,
            bos_id=-1,
            hard_vocab_limit=False,
            minloglevel=2,
            num_threads=1,
        )
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=328, d_model=WIDTH, d_kv=8, d_ff=64, num_layers=2, num_heads=4, pad_token_id=0
    )
    written = config.to_dict() | {"architectures": ["T5EncoderModel"], "torch_dtype": "float32"}
    written.pop("dtype", None)
    _write(folder / "config.json", written)
    torch.save(T5EncoderModel(config).state_dict(), folder / "pytorch_model.bin")
    names = ("", "1_Pooling", "2_Dense", "3_Normalize")
    kinds = ("Transformer", "Pooling", "Dense", "Normalize")
    modules = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (path, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    _write(folder / "modules.json", modules)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 512, "do_lower_case": False})
    _write(
        folder / "1_Pooling" / "config.json",
        {
            "word_embedding_dimension": WIDTH,
            "pooling_mode_cls_token": False,
            "pooling_mode_mean_tokens": True,
            "pooling_mode_max_tokens": False,
            "pooling_mode_mean_sqrt_len_tokens": False,
        },
    )
    _write(
        folder / "2_Dense" / "config.json",
        {
            "in_features": WIDTH,
            "out_features": REACHED,
            "bias": False,
            "activation_function": "torch.nn.modules.linear.Identity",
        },
    )
    projection = {"linear.weight": torch.randn(REACHED, WIDTH)}
    torch.save(projection, folder / "2_Dense" / "pytorch_model.bin")
    _write(
        folder / "tokenizer_config.json",
        {
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "pad_token": "<pad>",
            "extra_ids": 100,
            "model_max_length": 512,
            "tokenizer_class": "T5Tokenizer",
        },
    )
    return folder


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=1, default=str), encoding="utf-8")
