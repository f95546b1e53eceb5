/* Write token by token: what chapter 1's seq2seq.py gives to every model that has `start` and `decode`. */
((transformer_lib) => {
  "use strict";
  const { argmax } = transformer_lib.tensors;

  const PAD_ID = 0;
  const SOS_ID = 1;
  const EOS_ID = 2;

  /** Return the logits, (vocab), of what follows `token`; -∞ for padding and SOS, which nobody writes. */
  function next_logits(model, token, state, record) {
    const logits = model.decode([token], state, record)[0]; // (vocab)
    if (logits.some(Number.isNaN)) throw new Error("the model's scores are NaN: its weights are broken");
    logits[PAD_ID] = -Infinity;
    logits[SOS_ID] = -Infinity;
    return logits;
  }

  /**
   * Write token by token until EOS, at most `max_len` tokens. `choose` gets the logits of the next token, (vocab), and
   * returns its id. This is a generator, so that a page can show each token before the next one is computed: it yields
   * { word, logits }, where `word` is the id.
   *
   * Shapes: `source` is (source), ids; the logits are (vocab).
   */
  function* generate(model, source, max_len, choose, record) {
    const state = model.start(source, record);
    let word = SOS_ID;
    for (let written = 0; written < max_len && word !== EOS_ID; written++) {
      const logits = next_logits(model, word, state, record); // (vocab)
      word = choose(logits);
      yield { word, logits };
    }
  }

  /** Return the ids, (written), of the tokens that are each the most probable one; the last is EOS if it came in time. */
  function greedy_decode(model, source, max_len, record) {
    return Array.from(generate(model, source, max_len, argmax, record), ({ word }) => word);
  }

  transformer_lib.seq2seq = { PAD_ID, SOS_ID, EOS_ID, next_logits, generate, greedy_decode };
})((globalThis.transformer_lib ??= {}));
