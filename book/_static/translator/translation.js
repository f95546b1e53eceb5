/* Text in, translated text out: the tokenizer and the translator of chapter 14's translation.py. */
((transformer_lib) => {
  "use strict";
  const { _ } = transformer_lib;
  const { argmax, read_parameters } = transformer_lib.tensors;
  const { EOS_ID, generate } = transformer_lib.seq2seq;
  const { CachedTransformer, beam_hypotheses } = transformer_lib.decoding;

  const UNKNOWN_ID = 3;

  /**
   * Text to ids of word pieces and back. `saved` is the tokenizer as the Python saved it: what cuts a text into words, the
   * vocabulary, and the list of pairs to merge, the first one first. Ids 0 to 3 are padding, start, end and unknown.
   */
  class BytePairTokenizer {
    constructor(saved) {
      const [, , punctuation] = saved.pre_tokenizer.pretokenizers;
      this.punctuation = new RegExp(`(${punctuation.pattern.Regex})`, "u");
      this.ids = new Map(Object.entries(saved.model.vocab)); // token → id
      this.names = []; // id → token
      for (const [token, id] of this.ids) this.names[id] = token;
      this.ranks = new Map(saved.model.merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
    }

    /** Do what `normalise_text` does: é as one character, plain apostrophes, quotes, hyphens and spaces. */
    normalize(text) {
      const seen = text.replace(/[\u00ad\u200b\u200e\u200f\u202a-\u202c\u2060\u2066-\u2069\ufeff]/gu, "");
      const plain = seen.replace(/[\u2018\u2019\u02bc]/gu, "'").replace(/[\u201c-\u201e]/gu, '"').replace(/[\u2010\u2011]/gu, "-");
      return plain.normalize("NFC").replace(/\s+/gu, " ").trim();
    }

    /** Cut `text` where no token goes on: before each ▁, which stands for a space, after an apostrophe, around punctuation. */
    words(text) {
      const marked = this.normalize(text).replaceAll(" ", "▁");
      const whole = marked.startsWith("▁") ? marked : `▁${marked}`;
      const words = whole.match(/▁?[^▁']*'?/gu).flatMap((word) => word.split(this.punctuation));
      return words.filter((word) => word !== "");
    }

    /** Return the tokens of one word: its characters, merged pair by pair, the earliest learned pair first. */
    merge(word) {
      let pieces = [...word];
      for (;;) {
        const rank = (i) => this.ranks.get(`${pieces[i]} ${pieces[i + 1]}`) ?? Infinity;
        const places = [...pieces.keys()].slice(0, -1);
        const best = Math.min(...places.map(rank));
        if (best === Infinity) return pieces;
        const first = places.find((place) => rank(place) === best);
        pieces.splice(first, 2, pieces[first] + pieces[first + 1]);
      }
    }

    /** Return the ids of `text`, (seq). A character that training never had is UNKNOWN_ID. */
    encode(text) {
      const tokens = this.words(text).flatMap((word) => this.merge(word));
      return tokens.map((token) => this.ids.get(token) ?? UNKNOWN_ID);
    }

    /** Return the tokens of `text`, (seq), as they are written. */
    tokens(text) {
      return this.encode(text).map((id) => this.names[id]);
    }

    /** Return the text of `ids`, (seq), up to the end's id, without special tokens. */
    decode(ids) {
      const end = ids.indexOf(EOS_ID);
      const written = ids.slice(0, end < 0 ? ids.length : end).filter((id) => id > UNKNOWN_ID);
      return written.map((id) => this.names[id]).join("").replaceAll("▁", " ").trimStart();
    }
  }

  /**
   * Return the words that `tokens`, (seq), spell: { text, places }, where `places` are those of its tokens. A word begins
   * at a ▁ and after an apostrophe; `<eos>` is a word of its own.
   */
  function words_of(tokens) {
    const words = [];
    tokens.forEach((token, place) => {
      const begins = place === 0 || /^[▁<]/u.test(token) || tokens[place - 1].endsWith("'");
      if (begins) words.push({ text: "", places: [] });
      words.at(-1).text += token.replace("▁", "");
      words.at(-1).places.push(place);
    });
    return words;
  }

  /**
   * Return how much each written word looked at each word of the source, (written, source): the weights of all tokens of
   * a source word together, and the mean over the tokens of a written word.
   *
   * Shapes: `weights` is (target, source), of tokens; `written` and `source` are lists that `words_of` made.
   */
  function word_weights(weights, written, source) {
    return written.map((word) =>
      source.map((other) => {
        const pairs = word.places.flatMap((row) => other.places.map((column) => weights[row][column]));
        return pairs.reduce((sum, weight) => sum + weight, 0) / word.places.length;
      }),
    );
  }

  /** What is wrong with a text that the translator cannot read. Its message is one sentence for the reader. */
  class UnreadableText extends Error {}

  const MOST_PIECES = 64; // of a sentence: the explorer draws a square of so many cells for each head

  /**
   * A trained model, its tokenizer, and the `words` of the training sentences: text in, translated text out.
   */
  class Translator {
    constructor(model, tokenizer, words) {
      this.model = model;
      this.tokenizer = tokenizer;
      this.words = words;
      this.max_len = Math.min(model.max_len, MOST_PIECES);
    }

    /** Return the ids of `text`, (seq), whose characters training had: service.js leaves the others out. */
    read(text) {
      const ids = this.tokenizer.encode(text);
      if (ids.length > this.max_len) {
        throw new UnreadableText(
          _`Please write a shorter sentence: the translator takes ${this.max_len} pieces of words, and this has ${ids.length}.`,
        );
      }
      return ids;
    }

    /** Return how many tokens a translation of `source`, (source), may have. */
    longest(source) {
      return Math.min(2 * source.length + 10, this.max_len);
    }

    /**
     * Write greedily, token by token: yields { word, logits } as `generate` does. `first_words`, ids, are put into the
     * decoder's mouth: it takes them as if it had chosen them, and goes on from there.
     */
    *write(source, first_words = [], record = undefined) {
      const given = [...first_words];
      const choose = (logits) => given.shift() ?? argmax(logits);
      yield* generate(this.model, source, this.longest(source), choose, record);
    }

    /** Return the translation of `text`: greedy with a `beam_size` of 1, else the best hypothesis of a beam search. */
    translate(text, beam_size = 1, alpha = 0.6) {
      const source = this.read(text); // (source)
      const ids =
        beam_size === 1
          ? Array.from(this.write(source), ({ word }) => word)
          : beam_hypotheses(this.model, source, this.longest(source), beam_size, alpha)[0].tokens;
      return this.tokenizer.decode(ids);
    }
  }

  /** Return the translator `name`, translator or captions, whose weights a generated script has brought. */
  function pretrained_translator(name = "translator") {
    const pretrained = transformer_lib.pretrained[name];
    const parameters = read_parameters(pretrained.shapes, pretrained.weights);
    const model = new CachedTransformer(pretrained.config, parameters);
    return new Translator(model, new BytePairTokenizer(pretrained.tokenizer), pretrained.words.split(" "));
  }

  transformer_lib.translation = {
    UNKNOWN_ID,
    BytePairTokenizer,
    words_of,
    word_weights,
    UnreadableText,
    Translator,
    pretrained_translator,
  };
})((globalThis.transformer_lib ??= {}));
