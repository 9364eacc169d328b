"""Tokenizers from a model's files: SentencePiece's, `tokenizer.json`, what transformers reads."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ctrag.errors import InputError
from ctrag.extras import need
from ctrag.models.chat_markup import END
from ctrag.models.lm_tokenizer import ByteTokenizer, LmTokenizer

TOKENIZER, PIECES, CONFIG = "tokenizer.json", "tokenizer.model", "tokenizer_config.json"
_SPACE = "▁"
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def load_tokenizer(folder: Path) -> LmTokenizer:
    """The tokenizer of the model in a folder.

    Raises:
        ValueError: There is none, or its file cannot be read.
        MissingExtra: It is a SentencePiece file, and sentencepiece is not installed.
    """
    path = folder / CONFIG
    config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if (folder / TOKENIZER).exists():
        return _of_json(folder / TOKENIZER, (folder / TOKENIZER).read_text("utf-8"), config)
    if (folder / PIECES).exists():
        need("a SentencePiece tokenizer", "sentencepiece", extra="assistant")
        import sentencepiece

        try:
            model = sentencepiece.SentencePieceProcessor(model_file=str(folder / PIECES))
        except (RuntimeError, OSError) as error:
            raise InputError(f"{folder / PIECES}: no SentencePiece model ({error})") from None
        return _of_pieces(model, folder, config)
    return _of_transformers(folder, config)


def _of_pieces(model: Any, folder: Path, config: dict[str, Any]) -> LmTokenizer:
    """SentencePiece's own tokens: conversions of OpenLLaMA's file have read it wrongly."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as files

    proto: Any = files.ModelProto()
    proto.ParseFromString(model.serialized_model_proto())
    proto.normalizer_spec.add_dummy_prefix = False
    proto.normalizer_spec.remove_extra_whitespaces = False
    bare = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())
    pieces: list[bytes | None] = []
    for token in range(model.get_piece_size()):
        piece = model.id_to_piece(token)
        if model.is_byte(token):
            pieces.append(bytes.fromhex(piece[3:5]))
        elif model.is_control(token) or model.is_unknown(token) or model.is_unused(token):
            pieces.append(None)
        else:
            pieces.append(piece.replace(_SPACE, " ").encode())
    added = _added(folder, config, len(pieces))
    pieces += [None] * (max(added.values(), default=len(pieces) - 1) + 1 - len(pieces))
    begin = [model.bos_id()] if config.get("add_bos_token", True) and model.bos_id() >= 0 else []
    eos = model.eos_id() if model.eos_id() >= 0 else None

    def whole(text: str) -> list[int]:
        return list(model.encode(text))

    def within(text: str) -> list[int]:
        return list(bare.encode(text))

    return LmTokenizer(
        pieces,
        _with_added(whole, within, added),
        _with_added(within, within, added),
        begin,
        added.get(_content(config.get("eos_token")), eos),
    )


def _added(folder: Path, config: dict[str, Any], known: int) -> dict[str, int]:
    """Tokens that a tuned model has beside those of its SentencePiece file."""
    path = folder / "added_tokens.json"
    found: dict[str, int] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for token, added in config.get("added_tokens_decoder", {}).items():
        found[_content(added)] = int(token)
    return {text: token for text, token in found.items() if token >= known}


def _with_added(
    first: Callable[[str], list[int]], later: Callable[[str], list[int]], added: dict[str, int]
) -> Callable[[str], list[int]]:
    """An encoder that knows added tokens by their text."""
    if not added:
        return first
    mark = re.compile(f"({'|'.join(map(re.escape, sorted(added, key=len, reverse=True)))})")

    def encode(text: str) -> list[int]:
        found: list[int] = []
        for part in mark.split(text):
            if part in added:
                found.append(added[part])
            elif part:
                found += later(part) if found else first(part)
        return found

    return encode


def _content(token: Any) -> str:
    return str(token.get("content", "")) if isinstance(token, dict) else str(token or "")


def _of_json(path: Path, text: str, config: dict[str, Any]) -> LmTokenizer:
    from tokenizers import Tokenizer

    try:
        spec: dict[str, Any] = json.loads(text)
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library raises plain exceptions
        raise InputError(f"{path}: no tokenizer that can be read ({error})") from None
    eos = tokenizer.token_to_id(_content(config.get("eos_token")))
    begin = _begin(tokenizer, config)
    if _kinds(spec, "decoder") & {"ByteLevel"} and path.exists():
        return ByteTokenizer(path, tokenizer, begin, eos)
    bare = Tokenizer.from_str(json.dumps(_without_prefix(spec)))
    if tokenizer.token_to_id(END) is None:
        # Nothing of the chat's markup is a token, so that none is to be read off a text.
        tokenizer.encode_special_tokens = bare.encode_special_tokens = True

    def whole(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    def within(text: str) -> list[int]:
        return list(bare.encode(text, add_special_tokens=False).ids)

    return LmTokenizer(_pieces_of(tokenizer, spec), whole, within, begin, eos)


def _begin(tokenizer: Any, config: dict[str, Any]) -> list[int]:
    """What the tokenizer puts before every text."""
    own = list(tokenizer.encode("a", add_special_tokens=False).ids)
    every = list(tokenizer.encode("a", add_special_tokens=True).ids)
    before = every[: every.index(own[0])] if own and own[0] in every else []
    bos = tokenizer.token_to_id(_content(config.get("bos_token")))
    if config.get("add_bos_token") and bos is not None:
        return [bos]
    return [] if config.get("add_bos_token") is False else before


def _kinds(spec: dict[str, Any], part: str) -> set[str]:
    """Types of a part of a `tokenizer.json`, those within a sequence too."""
    own = spec.get(part) or {}
    inner = own.get("decoders") or own.get("normalizers") or own.get("pretokenizers") or []
    return {str(one.get("type")) for one in (own, *inner)}


def _pieces_of(tokenizer: Any, spec: dict[str, Any]) -> list[bytes | None]:
    """The bytes of a vocabulary that spells spaces as SentencePiece does, or byte by byte."""
    byte_level = "ByteLevel" in _kinds(spec, "decoder")
    sizes = tokenizer.get_vocab(with_added_tokens=True)
    special = {one["id"] for one in spec.get("added_tokens", []) if one.get("special")}
    special.add(sizes.get((spec.get("model") or {}).get("unk_token"), -1))
    if isinstance(place := (spec.get("model") or {}).get("unk_id"), int):
        special.add(place)
    letters = _byte_letters() if byte_level else {}
    pieces: list[bytes | None] = [None] * (max(sizes.values(), default=-1) + 1)
    for piece, token in sizes.items():
        if token in special:
            continue
        if byte_level and all(letter in letters for letter in piece):
            pieces[token] = bytes(letters[letter] for letter in piece)
        elif found := _BYTE.fullmatch(piece):
            pieces[token] = bytes.fromhex(found[1])
        else:
            pieces[token] = piece.replace(_SPACE, " ").encode()
    return pieces


def _byte_letters() -> dict[str, int]:
    """GPT-2's letter → byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    found = {chr(byte): byte for byte in plain}
    return found | {chr(256 + place): byte for place, byte in enumerate(others)}


def _without_prefix(spec: dict[str, Any]) -> dict[str, Any]:
    """A `tokenizer.json` that puts no space before a text."""

    def changed(part: Any) -> Any:
        if isinstance(part, list):
            return [changed(one) for one in part if not _prepends(one)]
        if not isinstance(part, dict):
            return part
        found = {name: changed(value) for name, value in part.items()}
        if found.get("type") == "Metaspace":
            found |= {"prepend_scheme": "never"}
            found.pop("add_prefix_space", None)
        elif found.get("type") == "ByteLevel":
            found["add_prefix_space"] = False
        return found

    def bare(part: Any) -> Any:
        return None if _prepends(part) else changed(part)

    parts = ("normalizer", "pre_tokenizer")
    return spec | {part: bare(spec.get(part)) for part in parts}


def _prepends(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "Prepend"


def _of_transformers(folder: Path, config: dict[str, Any]) -> LmTokenizer:
    """Any other format that transformers converts, such as `vocab.json` with `merges.txt`."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        text = loaded.backend_tokenizer.to_str()
    except Exception as error:  # whatever a converter makes of somebody's files
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"{folder}: holds neither {TOKENIZER} nor {PIECES}, and nothing that transformers "
            f"makes a tokenizer of ({first})"
        ) from None
    return _of_json(folder / TOKENIZER, text, {"eos_token": loaded.eos_token} | config)
