/* Tell the model where each word stands: chapter 5's positional_encoding.py. */
((transformer_lib) => {
  "use strict";
  const { add } = transformer_lib.tensors;

  /** Return the sinusoidal table, (max_len, d_model): sine and cosine of pos / 10000^(2i / d_model), in turn. */
  function sinusoidal_table(max_len, d_model) {
    return Array.from({ length: max_len }, (_, pos) =>
      Float32Array.from({ length: d_model }, (_, dimension) => {
        const pair = dimension >> 1; // i: dimensions 2i and 2i + 1 share an angle
        const angle = pos / 10000 ** ((2 * pair) / d_model);
        return dimension % 2 ? Math.cos(angle) : Math.sin(angle);
      }),
    );
  }

  /** Add the table's rows to word vectors. `offset` is the number of tokens that were written before. */
  class PositionalEncoding {
    constructor(d_model, max_len) {
      this.table = sinusoidal_table(max_len, d_model); // (max_len, d_model)
    }

    /** Shapes: `x` is (seq, d_model); so is the result. */
    forward(x, offset = 0) {
      if (offset + x.length > this.table.length) {
        throw new Error(`the model has ${this.table.length} positions, but ${offset + x.length} are asked for`);
      }
      return add(x, this.table.slice(offset, offset + x.length));
    }
  }

  transformer_lib.positional_encoding = { sinusoidal_table, PositionalEncoding };
})((globalThis.transformer_lib ??= {}));
