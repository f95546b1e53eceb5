"""What chapter 14's translator asks of the library `tokenizers`, for texts that its `normalise_text` made."""

import json
import re
from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from transformer_lib.validation import check_at_least, check_not_empty

UNKNOWN_ID = 3
SPECIAL_TOKENS = ["<pad>", "<sos>", "<eos>", "<unknown>"]  # ids 0 to 3
# Scripts without spaces between words: Thai to Burmese, Khmer, kana, and Han. Each letter counts as a word.
NO_SPACES = "[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
# Letters and digits with their marks, and with apostrophes between them only.
_LETTERS = rf"(?:(?!{NO_SPACES})[^\W_][\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff]*)+"
_WORD = re.compile(f"{NO_SPACES}|{_LETTERS}(?:'{_LETTERS})*")


def learn_pieces(sentences: Iterable[str], vocab_size: int) -> Tokenizer:
    """Return a tokenizer of at most `vocab_size` pieces; `ValueError` for no text, or too few places."""
    texts = list(sentences)
    check_not_empty("sentences", texts)
    letters = "".join({letter for text in texts for letter in text})
    # One more than the letters: what Metaspace writes for a space.
    check_at_least(len(SPECIAL_TOKENS) + len(letters) + 1, vocab_size=vocab_size)
    backend = Tokenizer(models.BPE(unk_token=SPECIAL_TOKENS[UNKNOWN_ID]))
    # For whoever reads the tokenizer's file without this library; `normalise_text` has done it already.
    backend.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace("’", "'")])
    # No token goes over a space or an apostrophe; Metaspace writes ▁ for the space.
    apostrophe = pre_tokenizers.Split("'", "merged_with_previous")
    # And "lake." is the word of "lake", with one token more.
    punctuation = pre_tokenizers.Split(Regex(r'[.,;:!?"()]'), "isolated")
    cuts = [pre_tokenizers.Metaspace(), apostrophe, punctuation]
    if re.search(NO_SPACES, letters):  # else a whole sentence could become one token
        cuts.append(pre_tokenizers.Split(Regex(NO_SPACES), "isolated"))
    backend.pre_tokenizer = pre_tokenizers.Sequence(cuts)
    backend.decoder = decoders.Metaspace()  # ▁ becomes a space again
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, special_tokens=SPECIAL_TOKENS, show_progress=False)
    # Nothing is learned over a <: no piece gets the name of a special token.
    backend.train_from_iterator((text.replace("<", "< ") for text in texts), trainer)
    return backend


def stored_pieces(saved: dict) -> Tokenizer:
    """Return the tokenizer that `saved` describes, if it is one that was made here."""
    backend = Tokenizer.from_str(json.dumps(saved))
    if [backend.id_to_token(index) for index in range(4)] != SPECIAL_TOKENS:
        raise ValueError("it is a tokenizer that was not made here")
    return backend


def known_letters(backend: Tokenizer, text: str) -> str:
    """Return `text` with a small letter for each capital that training never had."""
    known = backend.token_to_id
    return "".join(c if known(c) is not None else c.lower() for c in text)


def words_of(text: str) -> list[str]:
    """Return the words of `text`, without the marks around them."""
    return _WORD.findall(text)


def typed_text(backend: Tokenizer, text: str, longest: int | float) -> list[int]:
    """Return the ids of a text as people type it, at most `longest`; a last full stop and unknown capitals may go."""
    known = backend.token_to_id
    if text[-1:] in (".", "!") and known(text[-1]) is None:
        text = text[:-1].rstrip()
    ids = ids_of(backend, known_letters(backend, text))
    if UNKNOWN_ID in ids:
        strange = sorted({c for c in text if known(c.lower()) is None and c != " "})
        raise ValueError(
            f"text must be written in the characters of the training sentences, but {text!r} also holds {' '.join(strange)}"
        )
    if len(ids) > longest:
        raise ValueError(f"text must have at most {longest} tokens, but {text[:30]!r}… has {len(ids)}")
    return ids


def ids_of(backend: Tokenizer, text: str) -> list[int]:
    """Return the ids of the tokens of `text`; `ValueError` where it holds no word."""
    if not text:
        raise ValueError("text must hold at least one word, but it is empty")
    return backend.encode(text).ids
