/* Embeddings, positions, both stacks and the last linear layer become one model: chapter 10's transformer.py. */
((transformer_lib) => {
  "use strict";
  const { Linear } = transformer_lib.tensors;
  const { PositionalEncoding } = transformer_lib.positional_encoding;
  const { Encoder } = transformer_lib.encoder;
  const { Decoder } = transformer_lib.decoder;
  const { padding_mask, causal_mask, both_masks } = transformer_lib.masks;

  /** Look up each token's vector and multiply it by √d_model. */
  class TokenEmbedding {
    constructor(parameters, name) {
      this.weight = parameters.get(`${name}.weight`); // (vocab_size, d_model)
    }

    /** Shapes: `tokens` is (seq), ids; returns (seq, d_model). */
    forward(tokens) {
      const scale = Math.sqrt(this.weight[0].length);
      return tokens.map((token) => this.weight[token].map((number) => number * scale));
    }
  }

  /**
   * The encoder–decoder of the paper: token ids in, logits over the target's ids out. `state = start(source)` reads the
   * sentence, and each `decode(tokens, state)` goes on with some tokens more.
   *
   * `config` is that of the Python model. Here, positions are sinusoids, and one matrix serves both embeddings and the output.
   * `record` is explained in attention.js.
   *
   * Shapes: `source` is (source), `tokens` (target), all ids; the memory is (source, d_model); logits are (target, vocab).
   */
  class Transformer {
    constructor(config, parameters) {
      if (config.positions !== "sinusoidal" || !config.shared_vocabulary) {
        throw new Error("the page's model has sinusoidal positions and one shared vocabulary");
      }
      this.config = config;
      this.parameters = parameters;
      this.max_len = config.max_len;
      this.positional_encoding = new PositionalEncoding(config.d_model, config.max_len);
      this.source_embedding = new TokenEmbedding(parameters, "source_embedding");
      this.target_embedding = this.source_embedding;
      this.encoder = new Encoder(config, parameters, "encoder");
      this.decoder = new Decoder(config, parameters, "decoder");
      this.output = new Linear(parameters, "source_embedding"); // the same matrix, (vocab_size, d_model)
    }

    /** Read the sentence; return the state before the first token is written. */
    start(source, record) {
      const memory_mask = padding_mask(source); // (1, source)
      const x = this.positional_encoding.forward(this.source_embedding.forward(source)); // (source, d_model)
      const memory = this.encoder.forward(x, memory_mask, record); // (source, d_model)
      return { memory, memory_mask, tokens: [] };
    }

    /** Add `tokens` to what is written; return the logits of what follows each. */
    decode(tokens, state, record) {
      state.tokens = [...state.tokens, ...tokens]; // (written)
      let x = this.positional_encoding.forward(this.target_embedding.forward(state.tokens)); // (written, d_model)
      const causal = causal_mask(state.tokens.length); // (written, written)
      const self_mask = both_masks(padding_mask(state.tokens), causal); // (written, written)
      x = this.decoder.forward(x, state.memory, self_mask, state.memory_mask, record);
      // All that is written was computed again; return the logits of the new tokens.
      return this.output.forward(x.slice(-tokens.length)); // (target, vocab)
    }
  }

  transformer_lib.transformer = { TokenEmbedding, Transformer };
})((globalThis.transformer_lib ??= {}));
