/* Answer the requests of a page, in a worker or in the page itself.

   A request { kind: "translate", text, first_words, maps } is answered by these events, in this order:
     { kind: "source", tokens, words }      the tokens that were read, and the words that they spell
     { kind: "token", token, ... }          each token that was written, as soon as it is there
     { kind: "done", tokens, words, ... }   the whole translation
   A request { kind: "sampling", logits, temperature, top_k, top_p }, by { kind: "sampling", possible, best }.
   A request { kind: "beam", text, beam }, by { kind: "beam", steps, hypotheses }.
   A request { kind: "layer", text, written, stack, layer }, by { kind: "layer", vectors }.
   Each, if it cannot be answered, by { kind: "problem", message }: one sentence for the reader. A request { kind: "stop" }
   with the same id ends one that is still running. */
((transformer_lib) => {
  "use strict";
  const { softmax } = transformer_lib.tensors;
  const { capture_attention } = transformer_lib.attention;
  const { SOS_ID, EOS_ID } = transformer_lib.seq2seq;
  const { Transformer } = transformer_lib.transformer;
  const { sampling_probabilities, beam_hypotheses } = transformer_lib.decoding;
  const { pretrained_translator, words_of, word_weights, UnreadableText } = transformer_lib.translation;

  /** Return the mean over the heads of `weights`, (heads, query, key): (query, key). */
  function mean_of_heads(weights) {
    return weights[0].map((row, query) =>
      row.map((_, key) => weights.reduce((sum, head) => sum + head[query][key], 0) / weights.length),
    );
  }

  /** Return the ids of `first_words`, (given), which may be none; a message about them names them. */
  function read_first_words(translator, first_words) {
    if (first_words.trim() === "") return [];
    try {
      return translator.read(first_words);
    } catch (error) {
      throw new UnreadableText(error.message.replace(/^text/, "the first words"));
    }
  }

  /**
   * Translate word by word, and tell each event. `is_wanted` says whether somebody still waits. With `maps` in the request,
   * the last event has the weights of every attention, by name, each (heads, query, key), the `logits`, (target, vocab), and
   * the ids that were `written`.
   */
  async function translate(translator, { text, first_words = "", maps = false }, tell, is_wanted) {
    const { tokenizer, model } = translator;
    const source = translator.read(text); // (source)
    const source_tokens = source.map((id) => tokenizer.names[id]);
    const source_words = words_of(source_tokens);
    const given = read_first_words(translator, first_words);
    const longest = translator.longest(source);
    if (given.length >= longest) {
      throw new UnreadableText(`the first words must leave room: they have ${given.length} tokens of at most ${longest}`);
    }
    tell({ kind: "source", tokens: source_tokens, words: source_words });

    const { kept, record } = capture_attention();
    const ids = [];
    const all_logits = [];
    for (const { word, logits } of translator.write(source, given, record)) {
      ids.push(word);
      if (maps) all_logits.push(logits);
      const token = tokenizer.names[word];
      tell({ kind: "token", token, probability: softmax(logits)[word], given: ids.length <= given.length });
      await new Promise((resolve) => setTimeout(resolve)); // others may have something to do
      if (!is_wanted()) return;
    }
    const tokens = ids.map((id) => tokenizer.names[id]);
    const words = words_of(tokens);
    const last = `decoder.layers.${model.config.num_layers - 1}.cross_attention`;
    tell({
      kind: "done",
      source_text: text,
      read: source_tokens,
      tokens,
      words,
      given: given.length,
      finished: ids.at(-1) === EOS_ID,
      text: tokenizer.decode(ids),
      attention: word_weights(mean_of_heads(kept[last]), words, source_words), // (written, source), in words
      ...(maps ? { maps: kept, logits: all_logits, written: ids } : {}),
    });
  }

  /** Tell the 8 most probable next words by `logits`, (vocab), and how many words are possible at all. */
  function sampling(translator, { logits, temperature, top_k, top_p }, tell) {
    const probabilities = sampling_probabilities(logits, temperature, top_k, top_p); // (vocab)
    const words = [...probabilities.keys()].filter((word) => probabilities[word] > 0);
    words.sort((a, b) => probabilities[b] - probabilities[a]);
    const best = words.slice(0, 8).map((word) => ({
      token: translator.tokenizer.names[word],
      probability: probabilities[word],
    }));
    tell({ kind: "sampling", possible: words.length, best });
  }

  /** Tell what a beam search for `text` kept after each step, and the hypotheses that it found. */
  function beam(translator, { text, beam }, tell) {
    const { tokenizer, model } = translator;
    const source = translator.read(text); // (source)
    const steps = [];
    const hypotheses = beam_hypotheses(model, source, translator.longest(source), beam, 0.6, (step) => steps.push(step));
    tell({
      kind: "beam",
      steps: steps.map((step) => step.map((one) => ({ ...one, token: tokenizer.names[one.tokens.at(-1)] }))),
      hypotheses: hypotheses.map((one) => ({ ...one, text: tokenizer.decode(one.tokens) })),
    });
  }

  /** Call `run`, and return what each part of `module` was given and made, by its name in the Python model. */
  function capture_vectors(module, run) {
    const kept = {};
    const watched = [];
    const watch = (whole, prefix) => {
      for (const [key, part] of Object.entries(whole)) {
        if (typeof part?.forward !== "function") continue;
        const name = prefix + key;
        const forward = part.forward;
        part.forward = (...given) => {
          const made = forward.apply(part, given);
          kept[name] = { given: given[0], made };
          return made;
        };
        watched.push(part);
        watch(part, `${name}.`);
      }
    };
    watch(module, "");
    try {
      run();
    } finally {
      for (const part of watched) delete part.forward; // its class's own is there again
    }
    return kept;
  }

  /**
   * Tell what each part of one layer is given and makes, while `text` is read and the ids `written` are its translation:
   * `vectors` maps a part's name to { given, made }, each (seq, width). `stack` is "encoder" or "decoder".
   */
  function layer(translator, { text, written, stack, layer }, tell) {
    const { model } = translator;
    const source = translator.read(text); // (source)
    const target_in = [SOS_ID, ...written.slice(0, -1)]; // (written): what the decoder had read when it wrote the last one
    const vectors = capture_vectors(model[stack].layers[layer], () => {
      const plain = Transformer.prototype; // all words at once, without the cache
      plain.decode.call(model, target_in, plain.start.call(model, source));
    });
    tell({ kind: "layer", vectors });
  }

  const answers = { translate, sampling, beam, layer };

  /** Return a function that takes messages { id, request }. `answer` is called with { id, event }. */
  function serve(answer) {
    const running = new Set();
    let translator;
    return async ({ id, request }) => {
      if (request.kind === "stop") {
        running.delete(id);
        return;
      }
      running.add(id);
      try {
        translator ??= pretrained_translator();
        await answers[request.kind](translator, request, (event) => answer({ id, event }), () => running.has(id));
      } catch (error) {
        answer({ id, event: { kind: "problem", message: error.message } });
        if (!(error instanceof UnreadableText)) throw error; // a mistake of ours: the console should say so
      } finally {
        running.delete(id);
      }
    };
  }

  transformer_lib.service = { mean_of_heads, serve };
})((globalThis.transformer_lib ??= {}));
