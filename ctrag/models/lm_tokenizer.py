"""Tokenizers of language models: SentencePiece files and `tokenizer.json` behind one interface.

SentencePiece puts a space before every text. A prompt is made of several pieces, and an answer
goes on where the prompt ends: only what begins a text gets that space, and what the model begins
every text with (BOS, where it has one).
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ctrag.models.chat_markup import END


class LmTokenizer:
    """Text to tokens and back, as a model reads and writes them."""

    def __init__(
        self,
        pieces: Sequence[bytes | None],
        whole: Callable[[str], list[int]],
        within: Callable[[str], list[int]],
        begin: Sequence[int],
        eos: int | None,
    ) -> None:
        """Use `tokenizer_files.load_tokenizer`.

        Args:
            pieces: The bytes of each token; None for one that stands for no text.
            whole: Tokens of a text from its beginning.
            within: Tokens of a text in the middle of another.
            begin: What every text begins with.
            eos: What ends a text; None where the tokenizer does not say.
        """
        self._pieces, self._whole = pieces, whole
        self.encode = within
        """Tokens of a text that goes on from another."""
        self.begin = tuple(begin)
        self.eos = eos
        marked = within(END)
        self.end: tuple[int, ...] = tuple(
            marked if len(marked) == 1 else [] if eos is None else [eos]
        )
        """What a model learns to end an answer with: the chat's mark where it is a token."""

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return len(self._pieces)

    def prompt(self, text: str) -> list[int]:
        """Tokens of a text that nothing stands before."""
        return [*self.begin, *self._whole(text)]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens, without those that stand for none."""
        return self.spelled(tokens).decode("utf-8", "replace")

    def spell(self, text: str) -> list[int]:
        """Tokens whose bytes are exactly those of the text.

        `encode`, unless the tokenizer normalises ("½" is "1⁄2" to many): then the longest pieces
        from the left. What no piece begins with ends it early.
        """
        tokens = self.encode(text)
        wanted = text.encode()
        if self.spelled(tokens) == wanted:
            return tokens
        known, longest = self._by_bytes
        found, at = [], 0
        while at < len(wanted):
            ends = range(min(at + longest, len(wanted)), at, -1)
            end = next((end for end in ends if wanted[at:end] in known), None)
            if end is None:
                break
            found.append(known[wanted[at:end]])
            at = end
        return found

    def spelled(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens, without those that stand for no text."""
        return b"".join(self._pieces[one] or b"" for one in tokens if one < len(self._pieces))

    @cached_property
    def _by_bytes(self) -> tuple[dict[bytes, int], int]:
        known = {one: token for token, one in enumerate(self._pieces) if one}
        return known, max(map(len, known), default=0)

    def guide(self, vocabulary: int, ends: Sequence[int]) -> Any:
        """The tokenizer as llguidance takes it.

        Args:
            vocabulary: How many logits the model has.
            ends: Tokens that end an answer.
        """
        import llguidance
        from llguidance import TokenizerWrapper

        tokens = [b"" if one is None else one for one in self._pieces]
        wrapped = TokenizerWrapper(_Wrapped(tokens, self.spell, self._pieces, min(ends)))
        return llguidance.LLTokenizer(
            wrapped, n_vocab=max(vocabulary, self.size), eos_token=min(ends)
        )


class _Wrapped:
    """What `llguidance.TokenizerWrapper` asks for."""

    bos_token_id = None

    def __init__(
        self,
        tokens: list[bytes],
        encode: Callable[[str], list[int]],
        pieces: Sequence[bytes | None],
        eos: int,
    ) -> None:
        self.tokens, self.eos_token_id, self._encode = tokens, eos, encode
        self.special_token_ids = [at for at, one in enumerate(pieces) if one is None]

    def __call__(self, text: bytes | str) -> list[int]:
        return self._encode(text.decode("utf-8") if isinstance(text, bytes) else text)


class ByteTokenizer(LmTokenizer):
    """A byte-level `tokenizer.json`, which llguidance reads itself."""

    def __init__(self, path: Path, tokenizer: Any, begin: Sequence[int], eos: int | None) -> None:
        self._path, self._tokenizer = path, tokenizer

        def encode(text: str) -> list[int]:
            return list(tokenizer.encode(text, add_special_tokens=False).ids)

        super().__init__([], encode, encode, begin, eos)

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return int(self._tokenizer.get_vocab_size())

    def spell(self, text: str) -> list[int]:
        """As `encode`."""
        return self.encode(text)  # bytes are never normalised

    def decode(self, tokens: Sequence[int]) -> str:
        """See `LmTokenizer.decode`."""
        found: str = self._tokenizer.decode(list(tokens))
        return found

    def guide(self, vocabulary: int, ends: Sequence[int]) -> Any:
        """See `LmTokenizer.guide`."""
        import llguidance

        return llguidance.LLTokenizer(
            str(self._path), n_vocab=max(vocabulary, self.size), eos_token=min(ends)
        )
