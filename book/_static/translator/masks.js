/* Say which positions each position may see: chapter 8's masks.py. True means "may attend". */
((transformer_lib) => {
  "use strict";
  const { PAD_ID } = transformer_lib.seq2seq;

  /** Return true for each real token of `tokens`, (seq): a mask of one row, (1, seq), which serves every query. */
  function padding_mask(tokens) {
    return [tokens.map((token) => token !== PAD_ID)];
  }

  /** Return the lower triangle, (length, length): position t may attend to positions 0 … t. */
  function causal_mask(length) {
    return Array.from({ length }, (_, query) => Array.from({ length }, (_, key) => key <= query));
  }

  /** Return both together, (query, key): `padding` is (1, key), `causal` is (query, key). */
  function both_masks(padding, causal) {
    return causal.map((row) => row.map((allowed, key) => allowed && padding[0][key]));
  }

  transformer_lib.masks = { padding_mask, causal_mask, both_masks };
})((globalThis.transformer_lib ??= {}));
