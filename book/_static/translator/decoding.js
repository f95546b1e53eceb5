/* Search for the best sentence, draw a word, and never compute a word twice: chapter 13's decoding.py. */
((transformer_lib) => {
  "use strict";
  const { log_softmax, softmax } = transformer_lib.tensors;
  const { padding_mask, causal_mask, both_masks } = transformer_lib.masks;
  const { SOS_ID, EOS_ID, next_logits } = transformer_lib.seq2seq;
  const { Transformer } = transformer_lib.transformer;

  /** Keys and values of one decoder layer, each (heads, seq, d_k): of the source, and of what is written. */
  class KVCache {
    constructor(cross_kv, self_kv) {
      this.cross_kv = cross_kv;
      this.self_kv = self_kv;
    }

    /** Make the cache of `layer` for `memory`, (source, d_model); nothing is written yet. */
    static of(layer, memory) {
      const cross_kv = layer.cross_attention.keys_and_values(memory, memory);
      return new KVCache(cross_kv, layer.self_attention.keys_and_values([], []));
    }

    /** Add keys and values of new tokens, each (heads, target, d_k). Old lists stay as they are, so copies may share them. */
    append(k, v) {
      const [past_k, past_v] = this.self_kv;
      this.self_kv = [past_k.map((head, i) => [...head, ...k[i]]), past_v.map((head, i) => [...head, ...v[i]])];
    }
  }

  /** Run `layer` on new tokens, `x`, (target, d_model); what it knows of those before is in `cache`. */
  function decode_with_cache(layer, x, cache, self_mask, memory_mask, record) {
    const look_back = (x) => {
      cache.append(...layer.self_attention.keys_and_values(x, x));
      return layer.self_attention.attend(x, ...cache.self_kv, self_mask, record);
    };

    x = layer.self_attention_add_norm.forward(x, look_back);
    x = layer.cross_attention_add_norm.forward(x, (x) =>
      layer.cross_attention.attend(x, ...cache.cross_kv, memory_mask, record),
    );
    return layer.feed_forward_add_norm.forward(x, (x) => layer.feed_forward.forward(x));
  }

  /** What a `CachedTransformer` knows between two tokens: one `KVCache` a layer, `memory_mask` (1, source), the tokens. */
  class CachedState {
    constructor(layers, memory_mask, tokens) {
      this.layers = layers;
      this.memory_mask = memory_mask;
      this.tokens = tokens;
    }

    /** Return a state that goes on from here by itself. */
    copy() {
      const layers = this.layers.map((cache) => new KVCache(cache.cross_kv, cache.self_kv));
      return new CachedState(layers, this.memory_mask, this.tokens);
    }
  }

  /** A Transformer that computes keys and values of each token once, and keeps them. Shapes: as in `Transformer`. */
  class CachedTransformer extends Transformer {
    start(source, record) {
      const { memory, memory_mask, tokens } = super.start(source, record);
      const layers = this.decoder.layers.map((layer) => KVCache.of(layer, memory));
      return new CachedState(layers, memory_mask, tokens);
    }

    decode(tokens, state, record) {
      const done = state.tokens.length;
      let x = this.positional_encoding.forward(this.target_embedding.forward(tokens), done); // (target, d_model)
      state.tokens = [...state.tokens, ...tokens]; // (written)
      const causal = causal_mask(state.tokens.length).slice(done); // the triangle's last rows, (target, written)
      const self_mask = both_masks(padding_mask(state.tokens), causal); // (target, written)
      this.decoder.layers.forEach((layer, i) => {
        x = decode_with_cache(layer, x, state.layers[i], self_mask, state.memory_mask, record);
      });
      return this.output.forward(x); // (target, vocab)
    }
  }

  /**
   * Return the probabilities, (vocab), to draw the next token from. Logits, (vocab), are divided by `temperature`. Then only
   * the `top_k` most probable tokens stay, then only the fewest whose probabilities reach `top_p` together.
   */
  function sampling_probabilities(logits, temperature = 1, top_k = Infinity, top_p = 1) {
    // The largest logit becomes 0, so that no temperature can make an infinity.
    const largest = logits.reduce((a, b) => Math.max(a, b));
    const all = softmax(logits.map((logit) => (logit - largest) / temperature)); // (vocab)
    const tokens = [...all.keys()].sort((a, b) => all[b] - all[a]).slice(0, top_k); // best first
    const wanted = top_p * tokens.reduce((sum, token) => sum + all[token], 0);
    let before = 0; // what the better ones hold
    const kept = tokens.filter((token, rank) => {
      const stays = rank === 0 || top_p >= 1 || before < wanted;
      before += all[token];
      return stays;
    });
    const sum = kept.reduce((total, token) => total + all[token], 0);
    const probabilities = new Float32Array(all.length);
    for (const token of kept) probabilities[token] = all[token] / sum;
    return probabilities;
  }

  /** Return what a hypothesis's log-probability is divided by: ((5 + length) / 6)^α. */
  function length_penalty(length, alpha) {
    return ((5 + length) / 6) ** alpha;
  }

  /** Return the hypothesis { tokens, log_probability, score } of `tokens`, (written). */
  function hypothesis(tokens, log_probability, alpha) {
    return { tokens, log_probability, score: log_probability / length_penalty(tokens.length, alpha) };
  }

  /**
   * Return up to `beam_size` hypotheses, best first: { tokens, log_probability, score }.
   *
   * A hypothesis that has written EOS leaves the beam. Those that `max_len` cut off come after all that ended. The search
   * goes on until no hypothesis in the beam can still come among the best. `watch`, if it is given, is called after each
   * step with the hypotheses that were kept: { tokens, log_probability, score, parent, ended }, where `parent` is the place
   * in the step before.
   *
   * Shapes: `source` is (source), ids.
   */
  function beam_hypotheses(model, source, max_len, beam_size = 4, alpha = 0.6, watch = undefined) {
    const largest_penalty = length_penalty(max_len, alpha);
    const found = [];
    // What is in the beam. At the start all hypotheses would be alike, so there is one.
    let live = [{ tokens: [], token: SOS_ID, log_probability: 0, state: model.start(source), place: 0 }];
    for (let length = 0; length < max_len && live.length > 0; length++) {
      const candidates = live.flatMap((parent) => {
        const steps = log_softmax(next_logits(model, parent.token, parent.state)); // (vocab)
        return Array.from(steps, (step, token) => ({ parent, token, log_probability: parent.log_probability + step }));
      }); // (live · vocab)
      const kept = candidates
        .filter((candidate) => candidate.log_probability > -Infinity)
        .sort((a, b) => b.log_probability - a.log_probability)
        .slice(0, beam_size)
        .map(({ parent, token, log_probability }, place) => ({
          ...hypothesis([...parent.tokens, token], log_probability, alpha),
          ended: token === EOS_ID,
          token,
          place,
          parent,
        }));
      watch?.(
        kept.map(({ tokens, log_probability, score, ended, parent }) => ({
          ...{ tokens, log_probability, score, ended },
          parent: parent.place,
        })),
      );
      found.push(...kept.filter((one) => one.ended));
      live = kept.filter((one) => !one.ended);
      // A sum only falls, and the penalty only grows: this is the best score to hope for.
      const hope = live.reduce((best, one) => Math.max(best, one.log_probability), -Infinity) / largest_penalty;
      const worst = found.map((one) => one.score).sort((a, b) => b - a)[beam_size - 1] ?? -Infinity;
      if (hope <= worst) live = [];
      live = live.map((one) => ({ ...one, state: one.parent.state.copy() }));
    }
    found.push(...live); // those that were cut off
    const ended = (one) => Number(one.tokens.at(-1) === EOS_ID);
    return found
      .sort((a, b) => ended(b) - ended(a) || b.score - a.score)
      .slice(0, beam_size)
      .map(({ tokens, log_probability, score }) => ({ tokens, log_probability, score }));
  }

  transformer_lib.decoding = {
    KVCache,
    decode_with_cache,
    CachedState,
    CachedTransformer,
    sampling_probabilities,
    length_penalty,
    beam_hypotheses,
  };
})((globalThis.transformer_lib ??= {}));
