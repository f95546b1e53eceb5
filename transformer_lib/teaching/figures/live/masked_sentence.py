"""One head of a trained decoder on the reader's own sentence: its scores, its mask, its weights."""

import html
import json
from importlib.resources import as_file, files

from torch import Tensor

from transformer_lib._language import _
from transformer_lib.attention import scaled_dot_product_attention
from transformer_lib.checkpoint import open_tensors, renamed
from transformer_lib.positional_encoding import sinusoidal_table
from transformer_lib.teaching.figures.live.figure import LiveFigure
from transformer_lib.teaching.figures.live.tensors import in_half_precision

# Words of chapter 14's grammar that are one token each. The reader's sentence is made of them.
_WORDS = """
je tu il elle nous ils un une le la les ce cette ces mon ma mes son sa ses suis es est sommes sont ne pas et mais souvent
toujours ici dans au homme femme fille garçon enfant frère sœur oncle voisin étudiant médecin musicien avocat chien chat vache
cheval oiseau hibou hommes femmes filles garçons enfants frères sœurs chiens chats vaches chevaux oiseaux hiboux maison voiture
livre lettre journal histoire pomme poire orange robe chapeau gâteau arbre jardin marché rue parc gare église grand grande
grands petit petite petits petites bon bonne beau belle jeune vieux vieille triste tristes heureux heureuse fort forte fatigué
lourd lourde blanc blanche noir rouge nouveau nouvelle intelligent mange dort danse chante nage rit court travaille regarde
cherche trouve aime voit lit aide mangent dorment dansent chantent nagent lisent regardent cherchent
""".split()
_ATTENTION = "decoder.layers.0.self_attention"


def masked_sentence() -> LiveFigure:
    """Return the first head of the translator's masked self-attention, with a sentence to edit and both masks to put on."""
    with as_file(files("transformer_lib") / "pretrained" / "translator.pt") as path, open_tensors(path, "translator") as saved:
        ids, stored = json.loads(saved["tokenizer"])["model"]["vocab"], renamed(saved["weights"])
        d_k = saved["config"]["d_model"] // saved["config"]["num_heads"]
        rows = [ids["<pad>"], ids["<sos>"], *(ids[f"▁{word}"] for word in _WORDS)]
        parameters = {"embedding": stored["target_embedding.weight"][rows]}
        for name in ("W_q.weight", "W_q.bias", "W_k.weight", "W_k.bias"):
            parameters[name] = stored[f"{_ATTENTION}.{name}"][:d_k]
    words, sentence = ["<PAD>", "<SOS>", *_WORDS], "je suis étudiant"
    return LiveFigure(
        "masked_sentence",
        title=_("Which scores may count? Tick a mask and see"),
        still=_weights_table(["<SOS>", *sentence.split(), "<PAD>"], words, parameters),
        says=_("The weights of one trained head on “{sentence}” with one place of padding, no mask yet.", sentence=sentence),
        data={"words": words, "sentence": sentence, "parameters": in_half_precision(parameters)},
        uses=("tensors",),
    )


def _weights_table(names: list[str], words: list[str], parameters: dict[str, Tensor]) -> str:
    """Return the weights with no mask as a table; a word's place in `words` is its row of the embedding."""
    weight = {name: value.double() for name, value in parameters.items()}
    d_model = weight["embedding"].size(1)
    x = weight["embedding"][[words.index(name) for name in names]]  # (seq, d_model)
    x = x * d_model**0.5 + sinusoidal_table(len(names), d_model)
    q, k = (x @ weight[f"W_{name}.weight"].T + weight[f"W_{name}.bias"] for name in "qk")  # each (seq, d_k)
    _, weights = scaled_dot_product_attention(q, k, x)  # (seq, seq)
    heads = [f"<th>{html.escape(name)}</th>" for name in names]
    rows = ["".join(f"<td>{weight:.2f}</td>" for weight in row) for row in weights.tolist()]
    body = "".join(f"<tr>{head}{row}</tr>" for head, row in zip(heads, rows, strict=True))
    return f"<table><tr><td></td>{''.join(heads)}</tr>{body}</table>"
