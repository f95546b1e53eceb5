"""Famous bugs, each a change of a line or two in one function of the library; and the switch that turns one on for a while."""

import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType

from transformer_lib._language import _

__all__ = ["BUGS", "Bug", "inject_bug"]


@dataclass(frozen=True, kw_only=True)
class Bug:
    """One bug: what stands in the library, what stands there when the bug is on, and the test that then fails.

    `where` is a function of the library, module first, as in "attention.MultiHeadAttention.look_up". `right` is a piece of its
    source that stands there once, and `wrong` takes its place. `gives_away` says what shows the bug, `test` is pytest's name
    of the test that fails.
    """

    name: str
    what: str
    where: str
    right: str
    wrong: str
    gives_away: str
    test: str

    @property
    def function(self) -> Callable:
        """Return the library's function, without what decorates it."""
        module, *path = self.where.split(".")
        found = importlib.import_module(f"transformer_lib.{module}")
        for name in path:
            found = getattr(found, name)
        return inspect.unwrap(getattr(found, "__func__", found))

    def __str__(self) -> str:
        """Return the change as a diff shows it."""
        wrong = textwrap.dedent(f"    {self.wrong}").splitlines()  # lines after the first carry the function's indentation
        return "\n".join([f"{self.where}:", f"- {self.right}", *(f"+ {line}" for line in wrong)])


def _changed_code(bug: Bug) -> CodeType:
    """Return the code of the bug's function with `wrong` in place of `right`."""
    source = textwrap.dedent(inspect.getsource(bug.function))
    if (found := source.count(bug.right)) != 1:
        raise ValueError(f"{bug.name}: its right line stands {found} times in {bug.where}, expected once:\n{bug.right}")
    source = source.replace(bug.right, bug.wrong)
    _, *path = bug.where.split(".")
    # A method is compiled in a class again: `super()` needs it.
    for level in reversed(path[:-1]):
        source = f"class {level}:\n{textwrap.indent(source, '    ')}"
    code = compile(source, f"<{bug.name}>", "exec")
    for level in path:
        code = next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == level)
    return code


@contextmanager
def inject_bug(bug: Bug) -> Iterator[None]:
    """Let the library have `bug` inside the block.

    The function itself stays, and gets other code: so every module that has imported it meets the bug too.

    Raises: `ValueError` if `right` does not stand exactly once in the function.
    """
    function, code = bug.function, _changed_code(bug)
    before = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = before


BUGS: tuple[Bug, ...] = (
    # It sees what it should not.
    Bug(
        name="future",
        what=_("the causal mask is missing"),
        where="transformer.Transformer.decode",
        right="self_mask = padding_mask(state.tokens) & causal",
        wrong="self_mask = padding_mask(state.tokens)",
        gives_away=_("change a later word: an earlier output moves"),
        test="tests/unit/test_transformer.py::test_a_later_word_moves_no_earlier_output",
    ),
    Bug(
        name="off-by-one",
        what=_("the triangle is one diagonal too wide"),
        where="masks.causal_mask",
        right=".tril()",
        wrong=".tril(diagonal=1)",
        gives_away=_("row 0 of the mask has two places"),
        test="tests/unit/test_masks.py::test_look_ahead_row_by_row",
    ),
    Bug(
        name="not-shifted",
        what=_("the decoder reads the word that it has to say"),
        where="training.shift_right",
        right="return F.pad(target[:, :-1], (1, 0), value=sos_id)",
        wrong="return target",
        gives_away=_("one batch by hand: the library reads what it has to say"),
        test="tests/unit/test_training.py::test_the_decoder_reads_one_word_behind",
    ),
    Bug(
        name="training-only",
        what=_("the causal mask is there in training only"),
        where="transformer.Transformer.decode",
        right="padding_mask(state.tokens) & causal",
        wrong="padding_mask(state.tokens) & (causal | (not self.training))",
        gives_away=_("change a later word, in evaluation mode too"),
        test="tests/unit/test_transformer.py::test_a_later_word_moves_no_earlier_output",
    ),
    Bug(
        name="padding-rows",
        what=_("padding hides rows, not columns"),
        where="transformer.Transformer.start",
        right="self.encoder(x, memory_mask)",
        wrong="self.encoder(x, memory_mask.transpose(2, 3))",
        gives_away=_("the same sentence, alone and padded: other logits"),
        test="tests/unit/test_transformer.py::test_padding_on_the_right_moves_no_real_word",
    ),
    # It computes something else.
    Bug(
        name="heads-by-view",
        what=_("the heads are cut without changing the axes"),
        where="attention.split_heads",
        right="return x.transpose(1, 2)",
        wrong="return x.reshape(x.size(0), num_heads, x.size(1), x.size(3))",
        gives_away=_("number the words: a head holds some of them twice"),
        test="tests/unit/test_attention.py::test_each_head_gets_its_part_of_every_word",
    ),
    Bug(
        name="scale",
        what=_("scores are divided by √d_model, not by √d_k"),
        where="attention.MultiHeadAttention.look_up",
        right="scaled_dot_product_attention(q, k, v, mask)",
        wrong="scaled_dot_product_attention(q / self.num_heads**0.5, k, v, mask)",
        gives_away=_("the formula, computed beside it, gives other numbers"),
        test="tests/unit/test_attention.py::test_equals_torchs_layer",
    ),
    Bug(
        name="norm",
        what=_("layer norm divides by n − 1, ε outside the root"),
        where="encoder.LayerNorm.forward",
        right="return F.layer_norm(x, [self.d_model], self.weight, self.bias, self.eps)",
        wrong="centred = x - x.mean(-1, keepdim=True)\n"
        "    x = centred / (x.std(-1, keepdim=True) + self.eps)\n"
        "    return x * self.weight + self.bias",
        gives_away=_("[1, 0, 0, 0] begins with 1.5, not with 1.732"),
        test="tests/unit/test_encoder.py::test_layer_norm_equals_the_formula",
    ),
    Bug(
        name="frequencies",
        what=_("the exponent of the sinusoids has the factor 2 twice"),
        where="positional_encoding.sinusoidal_table",
        right="2 * i / d_model",
        wrong="4 * i / d_model",
        gives_away=_("one word further, half as many waves move"),
        test="tests/unit/test_positional_encoding.py::test_every_entry_follows_the_formula",
    ),
    Bug(
        name="one-layer",
        what=_("all layers of the encoder are the same one"),
        where="encoder.Encoder.__init__",
        right="EncoderLayer(config) for _ in range(config.num_layers)",
        wrong="[EncoderLayer(config)] * config.num_layers",
        gives_away=_("count the parameters: those of a layer are missing"),
        test="tests/unit/test_encoder.py::test_all_layers_start_different_and_get_the_settings",
    ),
    Bug(
        name="start",
        what=_("the shared matrix starts with deviation 1"),
        where="transformer.TokenEmbedding.__init__",
        right="start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)",
        wrong="start = torch.randn(vocab_size, d_model)",
        gives_away=_("the first loss is far above log V"),
        test="tests/unit/test_transformer.py::test_first_loss_is_within_a_tenth_of_log_v",
    ),
    # It trains in another way.
    Bug(
        name="all-places",
        what=_("the loss is divided by all places, padding too"),
        where="training.training_step",
        right="/ batch.num_tokens",
        wrong="/ batch.target_out.numel()",
        gives_away=_("below the floor, and lower with each column of padding"),
        test="tests/unit/test_training.py::test_more_padding_moves_nothing",
    ),
    Bug(
        name="no-zero-grad",
        what=_("old gradients are never thrown away"),
        where="training.training_step",
        right="optimizer.zero_grad()",
        wrong="pass",
        gives_away=_("the same batch twice: gradients twice as long"),
        test="tests/unit/test_training.py::test_train_is_a_plain_torch_loop",
    ),
    Bug(
        name="stays-quiet",
        what=_("after the first evaluation dropout never comes back"),
        where="eval_mode.eval_mode",
        right="part.training = was",
        wrong="part.training = False",
        gives_away=_("model.training, after a call of evaluate"),
        test="tests/unit/test_training.py::test_evaluate_has_no_dropout_and_no_gradients",
    ),
    # It goes wrong only when it writes.
    Bug(
        name="dropout-writes",
        what=_("dropout is on while the model writes"),
        where="seq2seq.generate",
        right="eval_mode(model)",
        wrong="eval_mode(model, training=True)",
        gives_away=_("write the same sentences twice: other words"),
        test="tests/unit/test_decoding.py::test_dropout_is_off_while_writing_and_every_mode_is_put_back",
    ),
    Bug(
        name="position-zero",
        what=_("with a cache, each new word stands at position 0"),
        where="decoding.CachedTransformer.decode",
        right="offset=done",
        wrong="offset=0",
        gives_away=_("with and without the cache: other logits"),
        test="tests/unit/test_decoding.py::test_a_cache_changes_no_score_of_any_step",
    ),
    Bug(
        name="after-the-end",
        what=_("a finished sentence goes on while others do"),
        where="seq2seq.generate",
        right="chosen[:, None].masked_fill(finished, PAD_ID)",
        wrong="chosen[:, None]",
        gives_away=_("words after an EOS, and only in a batch"),
        test="tests/unit/test_seq2seq.py::test_a_finished_sentence_stays_finished",
    ),
)
