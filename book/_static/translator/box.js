/* The box with the translator on a page: read what is typed, show what is written, and draw where the decoder looked. */
((transformer_lib) => {
  "use strict";
  const { _, client } = transformer_lib;
  const { ask } = client;

  const BETWEEN_WORDS = 140; // milliseconds, so that the eye can follow
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const pause = () => new Promise((resolve) => setTimeout(resolve, still.matches ? 0 : BETWEEN_WORDS));

  /** Return an element with this tag, text and class. */
  function element(tag, text = "", name = "") {
    const made = document.createElement(tag);
    made.textContent = text;
    made.className = name;
    return made;
  }

  /** Draw in `svg` a line from the word `from` to `to`, as thick as its `share`; in columns, `aside` pixels lower. */
  function connect(svg, from, to, share, columns, aside = 0) {
    const frame = svg.getBoundingClientRect();
    const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
    const [x1, y1] = columns ? [a.left, a.y + a.height / 2 + aside] : [a.x + a.width / 2, a.top];
    const [x2, y2] = columns ? [b.right, b.y + b.height / 2 + aside] : [b.x + b.width / 2, b.bottom];
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const ends = { x1: x1 - frame.x, y1: y1 - frame.y, x2: x2 - frame.x, y2: y2 - frame.y };
    for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value);
    line.style.strokeWidth = `${8 * share}px`;
    line.style.opacity = 0.25 + 0.75 * share;
    if (share > 0.02) svg.append(line);
    return line;
  }

  /** Return in words where `shares` lie, on at most four of `words`, the largest first. */
  function looked_at(shares, words) {
    const seen = [...shares.keys()].filter((place) => shares[place] >= 0.02);
    const most = seen.sort((a, b) => shares[b] - shares[a]).slice(0, 4);
    return most.map((place) => `${words[place]} ${Math.round(100 * shares[place])} %`).join(", ");
  }

  /** Make the box `root` work. */
  function start(root) {
    const find = (selector) => root.querySelector(selector);
    const form = find("form");
    const [state, words, source, written, svg, looked] = [".state", ".words", ".source", ".written", "svg", ".looked"].map(find);
    let answer = JSON.parse(root.dataset.answer); // { source, words, attention, chosen }: attention is (words, source)
    let chosen = answer.chosen;
    let stop = () => {};
    let model; // which translator writes
    const explorer = document.querySelector("[data-explorer]") !== null; // it listens to what was translated

    /** Say something about the state of things; `problem` makes it stand out, `quiet` leaves it to screen readers. */
    function say(text, kind = "") {
      state.textContent = text;
      state.className = `state ${kind}`;
    }

    function show_source(words) {
      source.replaceChildren(...words.map(({ text, unknown }) => element("li", text, unknown ? "unknown" : "")));
    }

    /** Add a French word; `given` if the reader gave it. */
    function add_word(word, given) {
      const item = element("li", "", word.startsWith("<") ? "end" : "");
      const button = element("button", word, given ? "given" : "");
      button.type = "button";
      item.append(button);
      // d' and l' stand close to the word after them.
      if (written.lastElementChild?.textContent.endsWith("'")) item.classList.add("close");
      written.append(item);
    }

    /** Words that need a second row stand in columns, so that no line runs behind another word. Return whether they do. */
    function arrange() {
      words.classList.remove("columns");
      const rows = (list) => new Set([...list.children].map((item) => item.offsetTop)).size;
      return words.classList.toggle("columns", [source, written].some((list) => rows(list) > 1));
    }

    /** Draw where the decoder looked when it wrote the word at `chosen`: shades and lines, and the same as text. */
    function draw() {
      const shares = answer?.attention[chosen];
      [...written.children].forEach((item, place) => item.classList.toggle("chosen", Boolean(shares) && place === chosen));
      [...source.children].forEach((item, place) => item.style.setProperty("--share", shares?.[place] ?? 0));
      svg.replaceChildren();
      looked.textContent = "";
      const columns = arrange();
      if (!shares) return;
      shares.forEach((share, place) => connect(svg, written.children[chosen], source.children[place], share, columns));
      const [word, places] = [answer.words[chosen], looked_at(shares, answer.source)];
      looked.textContent = _`When it wrote “${word}”, it looked at: ${places}.`;
    }

    function choose(event) {
      const item = event.target.closest("li");
      if (!item || !answer) return;
      const place = [...written.children].indexOf(item);
      if (place === chosen) return;
      chosen = place;
      draw();
    }

    /** Take away what was translated, or still is. */
    function clear() {
      stop();
      answer = undefined;
      show_source([]);
      written.replaceChildren();
      draw();
      root.classList.remove("busy");
    }

    const nothing_to_show = () => root.dispatchEvent(new CustomEvent("cleared", { bubbles: true }));

    /** Show what the translator tells, in its order and not faster than the eye. */
    function translate(request) {
      clear();
      root.classList.add("busy");
      model = request.model;
      const size = form.querySelector(`[name=model][value=${model}]`)?.dataset.megabytes;
      say(size ? _`Loading the translator: ${size} MB …` : _("Loading the translator …"));
      const loaded = (part) => say(_`Loading the translator: ${part} of ${size} MB …`);
      const progress = (bytes) => current && size && loaded(Math.floor(bytes / 1e6));
      let queue = Promise.resolve();
      let current = true;
      const leave = ask(request, (event) => (queue = queue.then(() => current && receive(event))), progress);
      stop = () => {
        current = false;
        leave();
      };
    }

    async function receive(event) {
      if (event.kind === "source") {
        say(_("Writing …"), "quiet");
        show_source(event.words);
        arrange();
      } else if (event.kind === "token") {
        const begins = /^[▁<]/u.test(event.token) || written.lastElementChild?.textContent.endsWith("'");
        const text = event.token.replace("▁", "");
        if (begins || !written.lastElementChild) add_word(text, event.given);
        else written.lastElementChild.firstElementChild.textContent += text;
        arrange();
        await pause();
      } else if (event.kind === "done") {
        answer = {
          source: [...source.children].map((item) => item.textContent),
          words: event.words.map((word) => word.text),
          attention: event.attention,
        };
        chosen = answer.words.length - (event.finished ? 2 : 1);
        root.classList.remove("busy");
        const unknown = event.unknown.join(", ");
        const guessed = unknown && _`The translator has never seen: ${unknown}. So it guesses.` + " ";
        if (event.finished) say(guessed + _`In French: ${event.text}`, guessed ? "" : "quiet");
        else say(guessed + _("It found no end, and was stopped here."), "problem");
        draw();
        root.dispatchEvent(new CustomEvent("translated", { bubbles: true, detail: { ...event, model } }));
      } else {
        root.classList.remove("busy");
        say(event.message, "problem");
        nothing_to_show();
      }
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [text, first_words] = [form.elements.text.value, form.elements.first_words?.value];
      translate({ kind: "translate", model: form.elements.model?.value ?? "translator", text, first_words, maps: explorer });
    });
    form.addEventListener("change", (event) => {
      if (event.target.name !== "model") return;
      // Each translator has sentences of its own.
      root.querySelectorAll("[data-of]").forEach((part) => (part.hidden = part.dataset.of !== event.target.value));
      form.elements.text.value = root.querySelector(`[data-of=${event.target.value}] [data-text]`).dataset.text;
      if (form.elements.first_words) form.elements.first_words.value = "";
      clear();
      nothing_to_show();
      say(_("Press Translate, or choose a sentence."));
    });
    form.addEventListener("click", (event) => {
      const example = event.target.closest("[data-text]");
      if (!example) return;
      form.elements.text.value = example.dataset.text;
      if (form.elements.first_words) form.elements.first_words.value = example.dataset.firstWords;
      form.requestSubmit();
    });
    for (const kind of ["pointerover", "focusin", "click"]) written.addEventListener(kind, choose);
    new ResizeObserver(draw).observe(root);
    draw();
  }

  document.querySelectorAll(".tl-translator[data-answer]").forEach(start);
  transformer_lib.box = { connect, looked_at };
})((globalThis.transformer_lib ??= {}));
