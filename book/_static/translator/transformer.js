/* Embeddings, positions, both stacks and the last linear layer become one model: chapter 10's transformer.py. */
((transformer_lib) => {
  "use strict";
  const { Linear } = transformer_lib.tensors;
  const { PositionalEncoding } = transformer_lib.positional_encoding;
  const { Encoder } = transformer_lib.encoder;
  const { Decoder } = transformer_lib.decoder;
  const { padding_mask, look_ahead_mask, both_masks } = transformer_lib.masks;

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
   * The encoder–decoder of the paper: from token ids to logits over the target words. `state = start(source)` reads the
   * sentence, and each `decode(words, state)` goes on with some words more.
   *
   * `config` is that of the Python model. Here, layers are post-norm, positions are sinusoids, and one matrix serves both
   * embeddings and the output. `record` is explained in attention.js.
   *
   * Shapes: `source` is (source), `words` (target), all ids; the memory is (source, d_model); logits are (target, vocab).
   */
  class Transformer {
    constructor(config, parameters) {
      if (config.pre_norm || config.positions !== "sinusoidal" || !config.shared_vocabulary) {
        throw new Error("the page's model is post-norm, with sinusoidal positions and one shared vocabulary");
      }
      this.config = config;
      this.max_len = config.max_len;
      this.positions = new PositionalEncoding(config.d_model, config.max_len);
      this.source_embedding = new TokenEmbedding(parameters, "source_embedding");
      this.target_embedding = this.source_embedding;
      this.encoder = new Encoder(config, parameters, "encoder");
      this.decoder = new Decoder(config, parameters, "decoder");
      this.output = new Linear(parameters, "source_embedding"); // the same matrix, (vocab_size, d_model)
    }

    encode(source, record) {
      const x = this.positions.forward(this.source_embedding.forward(source)); // (source, d_model)
      return this.encoder.forward(x, padding_mask(source), record);
    }

    start(source, record) {
      const memory = this.encode(source, record); // (source, d_model)
      return { memory, memory_mask: padding_mask(source), words: [] };
    }

    decode(words, state, record) {
      const written = [...state.words, ...words]; // (written)
      let x = this.positions.forward(this.target_embedding.forward(written)); // (written, d_model)
      state.words = written;
      const self_mask = both_masks(padding_mask(written), look_ahead_mask(written.length)); // (written, written)
      x = this.decoder.forward(x, state.memory, self_mask, state.memory_mask, record);
      // All written words were computed again; return the logits of the new ones.
      return this.output.forward(x.slice(-words.length)); // (target, vocab)
    }
  }

  transformer_lib.transformer = { TokenEmbedding, Transformer };
})((globalThis.transformer_lib ??= {}));
