/* Attention, a small network, and what lets both be stacked: chapter 7's encoder.py. */
((transformer_lib) => {
  "use strict";
  const { add, Linear } = transformer_lib.tensors;
  const { MultiHeadAttention } = transformer_lib.attention;

  const EPS = 1e-5;

  /** Give each vector mean 0 and variance 1, then scale by γ (`weight`) and shift by β (`bias`), both (d_model). */
  class LayerNorm {
    constructor(parameters, name) {
      this.weight = parameters.get(`${name}.weight`)[0]; // (d_model)
      this.bias = parameters.get(`${name}.bias`)[0]; // (d_model)
    }

    /** Shapes: `x` is (seq, d_model); so is the result. */
    forward(x) {
      return x.map((row) => {
        const mean = row.reduce((sum, number) => sum + number, 0) / row.length;
        const variance = row.reduce((sum, number) => sum + (number - mean) ** 2, 0) / row.length;
        const deviation = Math.sqrt(variance + EPS);
        return row.map((number, i) => ((number - mean) / deviation) * this.weight[i] + this.bias[i]);
      });
    }
  }

  /** Two linear layers with a ReLU between them, the same for every position. */
  class FeedForward {
    constructor(parameters, name) {
      this.inner = new Linear(parameters, `${name}.inner`);
      this.outer = new Linear(parameters, `${name}.outer`);
    }

    /** Shapes: `x` is (seq, d_model); so is the result. */
    forward(x) {
      const inside = this.inner.forward(x).map((row) => row.map((number) => Math.max(number, 0))); // (seq, d_ff)
      return this.outer.forward(inside); // (seq, d_model)
    }
  }

  /** Add & norm: norm(x + sublayer(x)), as in the paper. */
  class AddAndNorm {
    constructor(parameters, name) {
      this.norm = new LayerNorm(parameters, `${name}.norm`);
    }

    /** Shapes: `x` is (seq, d_model); so is what `sublayer` returns; so is the result. */
    forward(x, sublayer) {
      return this.norm.forward(add(x, sublayer(x)));
    }
  }

  /** Self-attention, then a feed-forward network, each with its residual connection. */
  class EncoderLayer {
    constructor(config, parameters, name) {
      this.attention = new MultiHeadAttention(config, parameters, `${name}.attention`);
      this.feed_forward = new FeedForward(parameters, `${name}.feed_forward`);
      this.attention_add_norm = new AddAndNorm(parameters, `${name}.attention_add_norm`);
      this.feed_forward_add_norm = new AddAndNorm(parameters, `${name}.feed_forward_add_norm`);
    }

    /** Shapes: `x` is (seq, d_model); so is the result; `mask` is (seq or 1, seq). */
    forward(x, mask, record) {
      x = this.attention_add_norm.forward(x, (x) => this.attention.forward(x, x, x, mask, record));
      return this.feed_forward_add_norm.forward(x, (x) => this.feed_forward.forward(x));
    }
  }

  /** A stack of `num_layers` encoder layers, each with weights of its own. */
  class Encoder {
    constructor(config, parameters, name) {
      this.layers = Array.from(
        { length: config.num_layers },
        (_, layer) => new EncoderLayer(config, parameters, `${name}.layers.${layer}`),
      );
    }

    /** Shapes: `x` is (seq, d_model); so is the result; `mask` is (seq or 1, seq). */
    forward(x, mask, record) {
      for (const layer of this.layers) x = layer.forward(x, mask, record);
      return x;
    }
  }

  transformer_lib.encoder = { LayerNorm, FeedForward, AddAndNorm, EncoderLayer, Encoder };
})((globalThis.transformer_lib ??= {}));
