/* Let each word that is being written look back, and across to the source: chapter 9's decoder.py. */
((transformer_lib) => {
  "use strict";
  const { MultiHeadAttention } = transformer_lib.attention;
  const { AddAndNorm, FeedForward } = transformer_lib.encoder;

  /** Masked self-attention, cross-attention to the encoder's output, feed-forward. */
  class DecoderLayer {
    constructor(config, parameters, name) {
      this.self_attention = new MultiHeadAttention(config, parameters, `${name}.self_attention`);
      this.cross_attention = new MultiHeadAttention(config, parameters, `${name}.cross_attention`);
      this.feed_forward = new FeedForward(parameters, `${name}.feed_forward`);
      this.self_attention_add_norm = new AddAndNorm(parameters, `${name}.self_attention_add_norm`);
      this.cross_attention_add_norm = new AddAndNorm(parameters, `${name}.cross_attention_add_norm`);
      this.feed_forward_add_norm = new AddAndNorm(parameters, `${name}.feed_forward_add_norm`);
    }

    /**
     * Shapes: `x` is (target, d_model), so is the result; `memory` is (source, d_model), `self_mask` (target, target),
     * `memory_mask` (1, source).
     */
    forward(x, memory, self_mask, memory_mask, record) {
      x = this.self_attention_add_norm.forward(x, (x) => this.self_attention.forward(x, x, x, self_mask, record));
      x = this.cross_attention_add_norm.forward(x, (x) =>
        this.cross_attention.forward(x, memory, memory, memory_mask, record),
      );
      return this.feed_forward_add_norm.forward(x, (x) => this.feed_forward.forward(x));
    }
  }

  /** A stack of `num_layers` decoder layers; each attends to the same `memory`. */
  class Decoder {
    constructor(config, parameters, name) {
      this.layers = Array.from(
        { length: config.num_layers },
        (_, layer) => new DecoderLayer(config, parameters, `${name}.layers.${layer}`),
      );
    }

    /** Shapes: as in `DecoderLayer`. */
    forward(x, memory, self_mask, memory_mask, record) {
      for (const layer of this.layers) x = layer.forward(x, memory, self_mask, memory_mask, record);
      return x;
    }
  }

  transformer_lib.decoder = { DecoderLayer, Decoder };
})((globalThis.transformer_lib ??= {}));
