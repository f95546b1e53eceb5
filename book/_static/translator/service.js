/* Answer the requests of a page, in a worker or in the page itself.

   A request { kind: "translate", text, first_words, maps } is answered by these events, in this order:
     { kind: "source", words }              the words that are read
     { kind: "token", token, ... }          each token that was written, as soon as it is there
     { kind: "done", tokens, words, ... }   the whole translation
   A request { kind: "sampling", logits, temperature, top_k, top_p }, by { kind: "sampling", possible, best }.
   A request { kind: "beam", text, beam }, by { kind: "beam", steps, hypotheses }.
   A request { kind: "layer", text, written, stack, layer }, by { kind: "layer", vectors }.
   A request { kind: "looks", text, written, stack, part }, by { kind: "looks", looks, d_k, root, d_model }.
   A request { kind: "heads", text, given, off }, by { kind: "heads", text, words }.
   Each, if it cannot be answered, by { kind: "problem", message }: one sentence for the reader. A request { kind: "stop" }
   with the same id ends one that is still running. */
((transformer_lib) => {
  "use strict";
  const { _ } = transformer_lib;
  const { dot, softmax } = transformer_lib.tensors;
  const { split_heads, capture_attention } = transformer_lib.attention;
  const { SOS_ID, EOS_ID } = transformer_lib.seq2seq;
  const { Transformer } = transformer_lib.transformer;
  const { CachedTransformer, sampling_probabilities, beam_hypotheses } = transformer_lib.decoding;
  const { Translator, pretrained_translator, words_of, word_weights, UnreadableText } = transformer_lib.translation;
  const SHOWN = 3; // numbers of a vector in the figure of attention

  /** Return the mean over the heads of `weights`, (heads, query, key): (query, key). */
  function mean_of_heads(weights) {
    return weights[0].map((row, query) =>
      row.map((weight, key) => weights.reduce((sum, head) => sum + head[query][key], 0) / weights.length),
    );
  }

  /** Short forms, and what the training sentences of the made-up language have in their place. */
  const WRITTEN_OUT = [
    [/\bcan't\b/gi, "cannot"],
    [/\bwon't\b/gi, "will not"],
    [/n't\b/gi, " not"],
    [/\bi'm\b/gi, "I am"],
    [/'re\b/gi, " are"],
    [/'ve\b/gi, " have"],
    [/\b(s?he|it)'s(?= (not )?(arrived|left|fallen|come|gone)\b)/gi, "$1 has"],
    [/\b(s?he|it|that)'s\b/gi, "$1 is"],
  ];

  const WORD = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*/gu;
  const FRENCH_WORD = new RegExp(`${WORD.source}'?`, "gu"); // an apostrophe may end one, as in qu'

  /** Return `word` without the characters that training never had, and with small letters where it had no capitals. */
  function legible(tokenizer, word) {
    const known = (character) => tokenizer.ids.has(character);
    const letters = [...word].map((character) => (known(character) ? character : character.toLowerCase()));
    return letters.filter(known).join("");
  }

  /**
   * Return what stands between the spaces of `text`: { typed, read, unknown }. `read` is what the translator reads of it, which
   * may be nothing: marks that training never had are left out. `unknown` are its words that no training sentence had; short
   * forms among these are written out.
   */
  function english_words({ tokenizer, words }, text) {
    const of_training = new Set(words);
    const in_small = new Map(words.map((word) => [word.toLowerCase(), word]));
    const known = (word) => (of_training.has(word) ? word : in_small.get(word.toLowerCase()));
    let whole = tokenizer.normalize(text);
    const unknown_in = (text) => (text.match(WORD) ?? []).filter((word) => known(word) === undefined);
    if (unknown_in(whole).some((word) => word.includes("'"))) {
      whole = WRITTEN_OUT.reduce((text, [short, long]) => text.replace(short, long), whole);
    }
    const marked = whole.replace(/[^\p{L}\p{M}\p{N}']/gu, (mark) => (tokenizer.ids.has(mark) ? mark : " "));
    const parts = marked.split(/\s+/).map((part) => part.replace(/^'+|'+$/g, ""));
    return parts
      .filter((part) => part !== "")
      .map((typed) => ({
        typed,
        read: typed.replace(WORD, (word) => known(word) ?? legible(tokenizer, word)),
        unknown: unknown_in(typed),
      }));
  }

  /** Return the ids of `first_words`, (given), which may be none. */
  function read_first_words(tokenizer, first_words) {
    const words = tokenizer.normalize(first_words).match(FRENCH_WORD) ?? [];
    const text = words.map((word) => legible(tokenizer, word)).filter((word) => word !== "").join(" ");
    return text === "" ? [] : tokenizer.encode(text);
  }

  /**
   * Translate word by word, and tell each event. `is_wanted` says whether somebody still waits. With `maps` in the request,
   * the last event has the weights of every attention, by name, each (heads, query, key), the `logits`, (target, vocab), and
   * the ids that were `written`.
   */
  async function translate(translator, { text, first_words = "", maps = false }, tell, is_wanted) {
    const { tokenizer, model } = translator;
    const words_read = english_words(translator, text);
    const legible_words = words_read.filter(({ read }) => read !== "");
    if (!legible_words.some(({ read }) => /\p{L}/u.test(read))) throw new UnreadableText(_("Please write an English sentence."));
    const source_text = legible_words.map(({ read }) => read).join(" ");
    const source = translator.read(source_text); // (source)
    let place = 0;
    const source_words = legible_words.map(({ typed, read, unknown }) => ({
      text: unknown.length ? typed : read,
      places: tokenizer.encode(read).map(() => place++),
      unknown: unknown.length > 0,
    }));
    const given = read_first_words(tokenizer, first_words);
    const longest = translator.longest(source);
    if (given.length >= longest) throw new UnreadableText(_("Please give fewer first words: these leave no room to go on."));
    tell({ kind: "source", words: source_words });

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
      source_text,
      read: source.map((id) => tokenizer.names[id]),
      unknown: [...new Set(words_read.flatMap(({ unknown }) => unknown))],
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
   * Return what each part of `module`, a part of `model`, is given and makes while `source`, (source), is read and the ids
   * `target_in`, (target), are what the decoder has read: { given, made } by the part's name, each (seq, width).
   */
  function vectors_of(model, module, source, target_in) {
    const plain = Transformer.prototype; // all words at once, without the cache
    return capture_vectors(module, () => plain.decode.call(model, target_in, plain.start.call(model, source)));
  }

  /**
   * Tell the vectors of one layer, while `text` is read and the ids `written` are its translation, and the two whose sum the
   * first layer is given. `stack` is "encoder" or "decoder".
   */
  function layer(translator, { text, written, stack, layer }, tell) {
    const { model } = translator;
    const source = translator.read(text); // (source)
    const target_in = [SOS_ID, ...written.slice(0, -1)]; // (written): what the decoder had read when it wrote the last one
    const vectors = vectors_of(model, model[stack].layers[layer], source, target_in);
    const tokens = stack === "encoder" ? source : target_in;
    const { source_embedding, positional_encoding } = model; // both stacks have the same
    vectors.embedding = { made: source_embedding.forward(tokens) };
    vectors.position = { made: positional_encoding.table.slice(0, tokens.length) };
    tell({ kind: "layer", vectors });
  }

  /**
   * Tell the numbers that the figure of attention shows, for each head of `part` in `stack`, all layers: those that
   * `trained_looks` of trained_attention.py returns. `text` and `written` are those of `layer`.
   */
  function looks(translator, { text, written, stack, part }, tell) {
    const { model } = translator;
    const source = translator.read(text);
    const target_in = [SOS_ID, ...written.slice(0, -1)];
    const masked = part === "self_attention"; // some words are still to come
    const first = (rows) => rows.map((row) => Array.from(row.slice(0, SHOWN)));
    const looks = model[stack].layers.flatMap((layer, index) => {
      const attention = layer[part];
      const vectors = vectors_of(model, attention, source, target_in);
      const of = (role) => vectors[`W_${role[0]}`];
      const [q, k, v] = ["query", "key", "value"].map((role) => split_heads(of(role).made, attention.num_heads));
      const d_k = q[0][0].length;
      const name_of = (layer, head) => _`layer ${layer}, head ${head}`;
      return q.map((queries, head) => {
        const dots = queries.map((query) => k[head].map((key) => dot(query, key)));
        const scores = dots.map((row) => row.map((product) => product / Math.sqrt(d_k)));
        const seen = scores.map((row, query) => row.map((score, key) => (masked && key > query ? -Infinity : score)));
        const exps = seen.map((row) => row.map(Math.exp));
        const sums = exps.map((row) => row.reduce((sum, power) => sum + power, 0));
        const weights = exps.map((row, query) => row.map((power) => power / sums[query]));
        const values = first(v[head]);
        const mix = (row) => values[0].map((_, i) => row.reduce((sum, weight, key) => sum + weight * values[key][i], 0));
        const rows = (role) => attention[`W_${role[0]}`].weight.slice(head * d_k, head * d_k + SHOWN); // (shown, d_model)
        const columns = (role) => Array.from({ length: SHOWN }, (_, i) => rows(role).map((row) => row[i]));
        return {
          ...{ name: name_of(index + 1, head + 1), dots, scores, exps, sums, weights, mixed: weights.map(mix) },
          ...(masked ? { masked: seen.map((row) => row.map((score) => (score === -Infinity ? null : score))) } : {}),
          ...{ x: first(of("query").given), ...(part === "cross_attention" ? { memory: first(of("key").given) } : {}) },
          w: Object.fromEntries(["query", "key", "value"].map((role) => [role, columns(role)])),
          ...{ q: first(queries), k: first(k[head]), v: values },
        };
      });
    });
    const { d_model, num_heads } = model.config;
    const d_k = d_model / num_heads;
    tell({ kind: "looks", looks, d_k, root: Math.sqrt(d_k), d_model });
  }

  /** Return `matrix`, (d_model, d_model), of an output projection with zeros for what reads `head`, as chapter 15 does it. */
  function without_head(matrix, head, num_heads) {
    const of_head = (column) => Math.floor((column * num_heads) / matrix.length) === head;
    return matrix.map((row) => row.map((number, column) => (of_head(column) ? 0 : number)));
  }

  /**
   * Tell the translation of `text` by a model in which nobody reads the heads `off`, each [name of its attention, head].
   * The ids `given` are put into the decoder's mouth.
   */
  function heads(translator, { text, given, off }, tell) {
    const { tokenizer, model } = translator;
    const parameters = new Map(model.parameters);
    for (const [name, head] of off) {
      const weight = `${name}.W_o.weight`;
      parameters.set(weight, without_head(parameters.get(weight), head, model.config.num_heads));
    }
    const changed = new Translator(new CachedTransformer(model.config, parameters), tokenizer, translator.words);
    const ids = Array.from(changed.write(changed.read(text), given), ({ word }) => word); // (written)
    const words = words_of(ids.map((id) => tokenizer.names[id])).map((word) => word.text);
    tell({ kind: "heads", text: tokenizer.decode(ids), words });
  }

  const answers = { translate, sampling, beam, layer, looks, heads };

  /** Return a function that takes messages { id, request } to the translator `model`. `answer` is called with { id, event }. */
  function serve(answer, model) {
    const running = new Set();
    let translator;
    return async ({ id, request }) => {
      if (request.kind === "stop") {
        running.delete(id);
        return;
      }
      running.add(id);
      try {
        translator ??= pretrained_translator(model);
        await answers[request.kind](translator, request, (event) => answer({ id, event }), () => running.has(id));
      } catch (error) {
        const ours = !(error instanceof UnreadableText); // a mistake of ours: the console should say so
        answer({ id, event: { kind: "problem", message: ours ? _`Not translated: ${error.message}.` : error.message } });
        if (ours) throw error;
      } finally {
        running.delete(id);
      }
    };
  }

  transformer_lib.service = { mean_of_heads, serve };
})((globalThis.transformer_lib ??= {}));
