/* Look words up by similarity, with several heads side by side: chapter 6's attention.py. */
((transformer_lib) => {
  "use strict";
  const { dot, softmax, Linear } = transformer_lib.tensors;

  /**
   * Return [softmax(QKᵀ / √d_k) V, the weights]. `mask` is true where a query may attend to a key; a mask of one row
   * serves all queries. A query that may attend to nothing gets zeros.
   *
   * Shapes: `query` is (query, d_k), `key` (key, d_k), `value` (key, d_v), `mask` (query or 1, key); returns
   * (query, d_v) and (query, key).
   */
  function scaled_dot_product_attention(query, key, value, mask) {
    const scale = Math.sqrt(query[0].length);
    const weights = query.map((q, row) => {
      const allowed = mask.length === 1 ? mask[0] : mask[row]; // (key)
      if (!allowed.includes(true)) return new Float32Array(key.length);
      return softmax(key.map((k, place) => (allowed[place] ? dot(q, k) / scale : -Infinity))); // (key)
    }); // (query, key)
    const output = weights.map((row) => {
      const mixed = new Float32Array(value[0].length); // (d_v)
      row.forEach((weight, place) => {
        for (let i = 0; i < mixed.length; i++) mixed[i] += weight * value[place][i];
      });
      return mixed;
    }); // (query, d_v)
    return [output, weights];
  }

  /** Cut each row into `num_heads` parts: (seq, d_model) becomes (heads, seq, d_k). Nothing is copied. */
  function split_heads(x, num_heads) {
    return Array.from({ length: num_heads }, (_, head) =>
      x.map((row) => row.subarray((head * row.length) / num_heads, ((head + 1) * row.length) / num_heads)),
    );
  }

  /** Undo `split_heads`: (heads, seq, d_k) becomes (seq, d_model). */
  function join_heads(heads) {
    return heads[0].map((_, place) => Float32Array.from(heads.flatMap((head) => [...head[place]])));
  }

  /**
   * Attend in `num_heads` subspaces of width d_k = d_model / num_heads. `name` is the module's name in the Python model,
   * such as `decoder.layers.1.cross_attention`. Where a function takes `record`, it may be left out; if it is there,
   * `record(name, weights)` is called with the weights, (heads, query, key).
   */
  class MultiHeadAttention {
    constructor(config, parameters, name) {
      this.name = name;
      this.num_heads = config.num_heads;
      this.W_q = new Linear(parameters, `${name}.W_q`);
      this.W_k = new Linear(parameters, `${name}.W_k`);
      this.W_v = new Linear(parameters, `${name}.W_v`);
      this.W_o = new Linear(parameters, `${name}.W_o`);
    }

    /** Shapes: `query` is (query, d_model), `key` and `value` (key, d_model); returns (query, d_model). */
    forward(query, key, value, mask, record) {
      return this.attend(query, ...this.keys_and_values(key, value), mask, record);
    }

    /** Return k and v, each (heads, key, d_k), of `key` and `value`, each (key, d_model). */
    keys_and_values(key, value) {
      const k = split_heads(this.W_k.forward(key), this.num_heads);
      const v = split_heads(this.W_v.forward(value), this.num_heads);
      return [k, v];
    }

    /** Shapes: `query` is (query, d_model), `k` and `v` are (heads, key, d_k); returns (query, d_model). */
    attend(query, k, v, mask, record) {
      const q = split_heads(this.W_q.forward(query), this.num_heads); // (heads, query, d_k)
      const heads = q.map((_, head) => scaled_dot_product_attention(q[head], k[head], v[head], mask));
      record?.(this.name, heads.map(([, weights]) => weights)); // (heads, query, key)
      const x = join_heads(heads.map(([output]) => output)); // (query, d_model)
      return this.W_o.forward(x);
    }
  }

  /**
   * Return { kept, record }. What is given to `record` is kept by the module's name, (heads, query, key); if a module is
   * called again with further queries, their rows follow.
   */
  function capture_attention() {
    const kept = {};
    const record = (name, weights) => {
      kept[name] ??= weights.map(() => []);
      weights.forEach((rows, head) => kept[name][head].push(...rows));
    };
    return { kept, record };
  }

  transformer_lib.attention = {
    scaled_dot_product_attention,
    split_heads,
    join_heads,
    MultiHeadAttention,
    capture_attention,
  };
})((globalThis.transformer_lib ??= {}));
