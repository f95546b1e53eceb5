/* The parts of the explorer page: every head, heads switched off, one layer, the next word, the beam. They show the
   sentence in the page's box. */
((transformer_lib) => {
  "use strict";
  const { _, client, box } = transformer_lib;
  const { ask } = client;
  const { connect, looked_at } = box;

  const LOOKS = [
    { name: _("Decoder: cross-attention"), stack: "decoder", part: "cross_attention" },
    { name: _("Decoder: masked self-attention"), stack: "decoder", part: "self_attention" },
    { name: _("Encoder: self-attention"), stack: "encoder", part: "attention" },
  ];
  const place_of = (layer, head) => _`layer ${layer}, head ${head}`;
  const name_of = ({ stack, part }, layer) => `${stack}.layers.${layer}.${part}`;
  const HEADS = ["accent", "residual", "right", "decoder"]; // a colour for each head

  /** Return an element with these properties and children. */
  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  /** Return an element of a drawing with these attributes. */
  function drawn(tag, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  /** Return a label with its text and its control. */
  function labelled(text, control, ...more) {
    return element("label", {}, `${text} `, control, ...more);
  }

  const layers_of = (done) => Object.keys(done.maps).filter((name) => name.endsWith("cross_attention")).length;
  const CONTINUES = /^(?![▁<])[\p{L}\p{N}]/u; // letters without the mark of a word's beginning

  /** Return a token as a reader sees it: what goes on with the word before it has dots in front. */
  const plain = (token) => (CONTINUES.test(token) ? `…${token}` : token.replace("▁", ""));
  const percent = (share) => `${(100 * share).toFixed(1)} %`;

  /** Return a small picture of `rows`, (query, key): the darker, the larger the weight. */
  function picture(rows, keys) {
    const svg = drawn("svg", { viewBox: `0 0 ${keys} ${rows.length}`, preserveAspectRatio: "none", "aria-hidden": true });
    rows.forEach((row, y) =>
      row.forEach((weight, x) => svg.append(drawn("rect", { x, y, width: 1, height: 1, "fill-opacity": weight.toFixed(3) }))),
    );
    return svg;
  }

  /** Return a table with a column for each of `names`; `lines` are its rows. */
  function table(caption, names, lines) {
    const heading = names.map((name) => element("th", { scope: "col" }, name));
    return element(
      "table",
      {},
      element("caption", {}, element("span", {}, caption)),
      element("thead", {}, element("tr", {}, element("td"), ...heading)),
      element("tbody", {}, ...lines),
    );
  }

  const signed = (number, digits = 2) => number.toFixed(digits).replace("-", "−").replace(/^−(?=0\.0+$)/, "");
  let chosen = { kind: 0, layer: Infinity, head: 0, word: 1 }; // it stays from one sentence to the next

  /**
   * Every layer and head of the three kinds of attention: all of them small, for one word the lines of a layer's heads, and one
   * head as a table. The figure on the page goes through its numbers.
   */
  function maps(root, done) {
    const layers = layers_of(done);
    const kind = element("select", {}, ...LOOKS.map(({ name }, value) => element("option", { value }, name)));
    const small = element("div", { className: "small-maps" });
    const legend = element("p", { className: "legend" });
    const large = element("div", { className: "large-map", tabIndex: 0 });
    small.setAttribute("role", "group");
    small.setAttribute("aria-label", _("Layer and head"));
    large.setAttribute("role", "region");
    large.setAttribute("aria-label", _("The chosen map"));
    const svg = drawn("svg", { "aria-hidden": true });
    const [answers, asks] = ["source", "written"].map((className) => element("ol", { className }));
    const lines = element("div", { className: "words columns" }, svg, answers, asks);
    const said = element("ul", { className: "of-heads" });
    said.setAttribute("aria-live", "polite");
    let follow; // brings the figure to a word and a head, once its numbers are there
    let leave = () => {};

    const look = () => LOOKS[kind.value];
    const heads = () => done.maps[name_of(look(), chosen.layer)]; // (heads, query, key)

    function names() {
      const { stack, part } = look();
      const written = ["<sos>", ...done.tokens.slice(0, -1)];
      const names = {
        queries: stack === "encoder" ? done.read : done.tokens,
        keys: part === "self_attention" ? written : done.read,
      };
      return { queries: names.queries.map(plain), keys: names.keys.map(plain) };
    }

    function choose(what) {
      Object.assign(chosen, what);
      const shows = "layer" in what || "head" in what;
      [...small.children].forEach((button, place) =>
        button.setAttribute("aria-pressed", place === chosen.layer * heads().length + chosen.head),
      );
      if (shows) draw_large();
      large.querySelectorAll("tbody tr").forEach((line, query) => line.classList.toggle("chosen", query === chosen.word));
      draw_lines();
      follow?.();
    }

    function draw() {
      const { queries, keys } = names();
      const buttons = [];
      for (let layer = 0; layer < layers; layer++) {
        done.maps[name_of(look(), layer)].forEach((rows, head) => {
          const text = place_of(layer + 1, head + 1);
          const button = element("button", { type: "button" }, picture(rows, keys.length), element("span", {}, text));
          button.addEventListener("click", () => choose({ layer, head }));
          buttons.push(button);
        });
      }
      small.replaceChildren(...buttons);
      answers.replaceChildren(...keys.map((word) => element("li", {}, word)));
      asks.replaceChildren(
        ...queries.map((text, word) => {
          const button = element("button", { type: "button" }, text);
          // A page that is scrolled moves below a pointer that stands still: such a pointer chooses nothing.
          for (const kind of ["pointermove", "focus", "click"]) {
            button.addEventListener(kind, () => chosen.word !== word && choose({ word }));
          }
          return element("li", {}, button);
        }),
      );
      const encoder = look().stack === "encoder";
      answers.setAttribute("aria-label", _("The words that are looked at"));
      asks.setAttribute("aria-label", encoder ? _("The words that look") : _("The words that are written"));
      legend.textContent = encoder
        ? _("A row for each token that is read, a column for each that it looks at. Weights in hundredths.")
        : _("A row for each token that is written, a column for each that it looks at. Weights in hundredths.");
      follow = undefined;
      chosen.kind = kind.value;
      choose({ ...chosen, layer: Math.min(chosen.layer, layers - 1), word: Math.min(chosen.word, queries.length - 1) });
      leave();
      const request = { kind: "looks", model: done.model, text: done.source_text, written: done.written, ...look() };
      leave = ask(request, (event) => event.kind === "looks" && begin(event));
    }

    function draw_large() {
      const { queries, keys } = names();
      const body = heads()[chosen.head].map((row, query) => {
        const cells = keys.map((word, key) => {
          if (row[key] === undefined) return element("td", { className: "future" }, "–");
          const cell = element("td", {}, String(Math.round(100 * row[key])));
          cell.style.setProperty("--share", row[key]);
          return cell;
        });
        const line = element("tr", {}, element("th", { scope: "row" }, queries[query]), ...cells);
        line.addEventListener("click", () => choose({ word: query }));
        return line;
      });
      large.replaceChildren(table(`${look().name}, ${place_of(chosen.layer + 1, chosen.head + 1)}`, keys, body));
    }

    /** From the chosen word lines to what each head of the layer looks at. */
    function draw_lines() {
      const { queries, keys } = names();
      const row = (head) => heads()[head][chosen.word];
      const colour = (head) => `var(--tl-${HEADS[head % HEADS.length]})`;
      [...asks.children].forEach((item, word) => item.classList.toggle("chosen", word === chosen.word));
      svg.replaceChildren();
      heads().forEach((rows, head) =>
        row(head).forEach((share, key) => {
          const aside = 5 * (head - (heads().length - 1) / 2);
          connect(svg, asks.children[chosen.word], answers.children[key], share, true, aside).style.stroke = colour(head);
        }),
      );
      const title = (number) => _`head ${number}`;
      const items = heads().map((rows, head) => {
        const item = element("li", {}, element("b", {}, title(head + 1)), `: ${looked_at(row(head), keys)}`);
        item.style.setProperty("--colour", colour(head));
        return item;
      });
      said.replaceChildren(...items);
      const [layer, word] = [chosen.layer + 1, queries[chosen.word]];
      said.setAttribute("aria-label", _`Layer ${layer}, “${word}”`);
    }

    /** Let the figure begin with these numbers; the word that is chosen in one place is chosen in all. */
    function begin({ kind, ...data }) {
      if (!root.contains(lines)) return; // another sentence was refused meanwhile
      const old = document.querySelector("[data-figure=attention_steps]");
      const figure = old.cloneNode(true);
      figure.querySelector(".tl-controls").replaceChildren();
      figure.hidden = false;
      old.replaceWith(figure);
      const { queries, keys } = names();
      const decoder = look().stack === "decoder";
      const who = { asks: queries, answers: keys, writes: decoder, who: decoder ? _("word") : _("who asks?"), word: chosen.word };
      const put = old.start(
        figure,
        { ...data, ...who, which: "", map: "", notes: {} },
        (word) => choose({ word }),
      );
      follow = () => {
        put({ word: chosen.word, look: chosen.layer * heads().length + chosen.head });
        const place = place_of(chosen.layer + 1, chosen.head + 1);
        figure.querySelector("figcaption").textContent = `${look().name}, ${place}`;
      };
      follow();
    }

    kind.value = chosen.kind;
    kind.addEventListener("change", draw);
    root.replaceChildren(labelled(_("Which attention"), kind), small, lines, said, legend, large);
    new ResizeObserver(draw_lines).observe(lines);
    draw();
  }

  /** Return `words` side by side, as the element `tag` each that `others` do not have, or not so often. */
  function compared(words, others, tag) {
    const left = [...others];
    const shown = words.filter((word) => !word.startsWith("<"));
    return shown.flatMap((word) => {
      const place = left.indexOf(word);
      if (place >= 0) left.splice(place, 1);
      return [place < 0 ? element(tag, {}, word) : word, word.endsWith("'") ? "" : " "];
    });
  }

  /** A box to tick for each head; the translation with all heads, and without those whose box is empty. */
  function heads(root, done) {
    const boxes = [];
    const title = (layer) => _`layer ${layer}`;
    const lines = [...LOOKS].reverse().flatMap((look) =>
      Array.from({ length: layers_of(done) }, (none, layer) => {
        const of_layer = name_of(look, layer);
        const cells = done.maps[of_layer].map((rows, head) => {
          const box = element("input", { type: "checkbox", checked: true });
          box.setAttribute("aria-label", `${look.name}, ${place_of(layer + 1, head + 1)}`);
          box.addEventListener("input", translate);
          boxes.push({ box, of: [of_layer, head] });
          return element("td", {}, box);
        });
        return element("tr", {}, element("th", { scope: "row" }, `${look.name}, ${title(layer + 1)}`), ...cells);
      }),
    );
    const numbers = done.maps[name_of(LOOKS[0], 0)].map((rows, head) => String(head + 1));
    const all = element("button", { type: "button" }, _("All heads on"));
    const said = element("p");
    said.setAttribute("role", "status");
    const after = element("p", { className: "translation", lang: "fr" });
    const before = element("p", { className: "translation", lang: "fr" }, done.text);
    const all_words = done.words.map((word) => word.text);
    let leave = () => {};

    function translate() {
      leave();
      const off = boxes.filter(({ box }) => !box.checked).map(({ of }) => of);
      if (off.length === 0) {
        said.textContent = _("Switch a head off, and the translation without it stands here.");
        after.replaceChildren();
        before.textContent = done.text;
        return;
      }
      const request = { kind: "heads", model: done.model, text: done.source_text, given: done.written.slice(0, done.given), off };
      leave = ask(request, (event) => {
        if (event.kind === "problem") {
          said.textContent = event.message;
          return;
        }
        after.replaceChildren(...compared(event.words, all_words, "ins"));
        before.replaceChildren(...compared(all_words, event.words, "del"));
        said.textContent =
          event.text === done.text
            ? _`Without ${off.length} of ${boxes.length} heads, the same:`
            : _`Without ${off.length} of ${boxes.length} heads:`;
      });
    }

    all.addEventListener("click", () => {
      for (const { box } of boxes) box.checked = true;
      translate();
    });
    root.replaceChildren(
      table(_("The four heads of each layer"), numbers, lines),
      all,
      element(
        "div",
        { className: "both" },
        element("div", {}, element("p", {}, _("With all heads:")), before),
        element("div", {}, said, after),
      ),
    );
    translate();
  }

  /** Return what stands where a plus sign keeps x: the sum, and the sum normalised. */
  const stations_of_sum = (name, kind, what) => [
    { part: `${name}_add_norm.norm`, is_input: true, title: _("sum"), says: `x + ${kind}` },
    { part: `${name}_add_norm.norm`, title: _("add & norm"), says: _`each row of the sum, normalised: ${what}` },
  ];

  /** Return what stands where in one attention: the part's name, whether its result or its input is shown, and words. */
  function stations_of_attention(name, kind, across) {
    const keys = across ? _("the memory") : "x";
    return [
      { part: `${name}.W_q`, title: "Q", says: _("x · W_Q + b, head beside head"), third: true },
      { part: `${name}.W_k`, title: "K", says: _`${keys} · W_K + b, head beside head`, third: true, across },
      { part: `${name}.W_v`, title: "V", says: _`${keys} · W_V + b, head beside head`, third: true, across },
      { part: `${name}.W_o`, is_input: true, title: _("heads"), says: _("in each head, the weights mix the rows of V") },
      { part: `${name}.W_o`, title: kind, says: _("heads · W_O + b") },
      ...stations_of_sum(name, kind, _("the new x")),
    ];
  }

  const FEED_FORWARD = [
    { part: "feed_forward.outer", is_input: true, title: _("inside"), says: _("x · W_1 + b_1, and what is below 0 becomes 0") },
    { part: "feed_forward.outer", title: _("feed-forward"), says: _("inside · W_2 + b_2") },
    ...stations_of_sum("feed_forward", _("feed-forward"), _("the layer's result")),
  ];

  const SUM = [
    { part: "embedding", title: _("embedding"), says: _("each token's row of the matrix, times √d_model") },
    { part: "position", title: _("position"), says: _("sines and cosines that say where it stands; x is the sum of the two") },
  ];
  const ATTENTIONS = {
    encoder: [["attention", _("self-attention"), false]],
    decoder: [
      ["self_attention", _("masked self-attention"), false],
      ["cross_attention", _("cross-attention"), true],
    ],
  };

  /** Return what stands where in a layer of `stack`. */
  function stations_of(stack) {
    const attentions = ATTENTIONS[stack];
    return [
      { part: `${attentions[0][0]}_add_norm`, is_input: true, title: "x", says: _("what the layer is given") },
      ...attentions.flatMap((attention) => stations_of_attention(...attention)),
      ...FEED_FORWARD,
    ];
  }

  const SHADES = 8;

  /** Return a picture of `rows`, (seq, width): one colour above 0, one below, the stronger the larger, `largest` most of all. */
  function vectors_picture(rows, largest) {
    const paths = new Map();
    rows.forEach((row, y) =>
      row.forEach((number, x) => {
        const shade = Math.round((SHADES * Math.abs(number)) / largest);
        if (shade === 0) return;
        const key = `${number > 0 ? "above" : "below"} ${shade}`;
        paths.set(key, `${paths.get(key) ?? ""}M${x} ${y}h1v1h-1z`);
      }),
    );
    const svg = drawn("svg", { viewBox: `0 0 ${rows[0].length} ${rows.length}`, preserveAspectRatio: "none" });
    for (const [key, d] of paths) {
      const [sign, shade] = key.split(" ");
      svg.append(drawn("path", { d, class: sign, "fill-opacity": shade / SHADES }));
    }
    return svg;
  }

  /** Return in words what the numbers of one row are like. */
  function spread(row) {
    const middle = row.reduce((sum, number) => sum + number, 0) / row.length;
    const variance = row.reduce((sum, number) => sum + (number - middle) ** 2, 0) / row.length;
    const zeros = row.filter((number) => number === 0).length;
    const [mean, deviation] = [signed(middle), Math.sqrt(variance).toFixed(2)];
    return zeros
      ? _`mean ${mean}, standard deviation ${deviation}, ${zeros} of ${row.length} are 0`
      : _`mean ${mean}, standard deviation ${deviation}`;
  }

  /** The vectors' way through one layer: what each part is given and makes, and one row of it in words. */
  function layer(root, done) {
    const layers = layers_of(done);
    const places = ["encoder", "decoder"].flatMap((stack) => Array.from({ length: layers }, (none, layer) => ({ stack, layer })));
    const named = (stack, layer) => (stack === "encoder" ? _`encoder, layer ${layer}` : _`decoder, layer ${layer}`);
    const options = places.map(({ stack, layer }, value) => element("option", { value }, named(stack, layer + 1)));
    const place = element("select", {}, ...options);
    const row = element("select");
    const shown = element("ol", { className: "stations" });
    const said = element("p", { className: "layer-state" });
    said.setAttribute("role", "status");
    const written = ["<sos>", ...done.tokens.slice(0, -1)];
    let vectors;
    let leave = () => {};

    const words = () => (places[place.value].stack === "encoder" ? done.read : written);

    function draw() {
      const { stack, layer } = places[place.value];
      const stations = [...(layer === 0 ? SUM : []), ...stations_of(stack)];
      const items = stations.map(({ part, is_input, title, says, third, across }) => {
        const rows = is_input ? vectors[part].given : vectors[part].made; // (seq, width)
        const largest = Math.max(...rows.map((numbers) => numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0)));
        const picture = vectors_picture(rows, largest);
        const shape = `(${rows.length}, ${rows[0].length})`;
        picture.setAttribute("role", "img");
        const most = largest.toFixed(2);
        picture.setAttribute("aria-label", _`${title}, ${shape}; strongest colour ±${most}`);
        picture.style.height = `${0.5 * rows.length}rem`;
        const item = element(
          "li",
          { className: third ? "third" : "" },
          element("p", {}, element("b", {}, title), ` ${shape}: `, says),
          picture,
        );
        // The rows of the memory are other words than the decoder's.
        if (!across) {
          picture.append(drawn("rect", { y: row.value, width: rows[0].length, height: 1, class: "chosen" }));
          picture.addEventListener("click", ({ clientY }) => {
            const box = picture.getBoundingClientRect();
            row.value = Math.min(rows.length - 1, Math.floor(((clientY - box.y) / box.height) * rows.length));
            draw();
          });
        }
        const of_row = across ? _("its rows are the source's") : spread(rows[row.value]);
        item.append(element("p", { className: "of-row" }, _`${of_row}; strongest colour: ±${most}`));
        return item;
      });
      shown.replaceChildren(...items);
      const [where, word] = [place, row].map(({ selectedOptions }) => selectedOptions[0].textContent);
      said.textContent = _`${where}, the row of “${word}”`;
    }

    function ask_for_vectors() {
      leave();
      row.replaceChildren(...words().map((token, value) => element("option", { value }, plain(token))));
      row.value = words().length - 1;
      const request = { kind: "layer", model: done.model, text: done.source_text, written: done.written, ...places[place.value] };
      leave = ask(request, (event) => {
        if (event.kind === "problem") {
          said.textContent = event.message;
          return;
        }
        vectors = event.vectors;
        draw();
      });
    }

    place.addEventListener("input", ask_for_vectors);
    row.addEventListener("input", () => vectors && draw());
    const controls = element("div", { className: "controls" }, labelled(_("Which layer"), place), labelled(_("Which row"), row));
    root.replaceChildren(controls, said, shown);
    ask_for_vectors();
  }

  /** The probabilities of the next word at one step, and what temperature, top-k and top-p make of them. */
  function probabilities(root, done) {
    const options = done.tokens.map((token, step) => element("option", { value: step }, `${step + 1}: ${plain(token)}`));
    const step = element("select", {}, ...options);
    step.value = done.given; // the first token that the model chose itself
    const temperature = element("input", { type: "range", min: 0.1, max: 4, step: 0.1, value: 1 });
    const top_k = element("input", { type: "number", min: 1, max: done.logits[0].length, value: done.logits[0].length });
    const top_p = element("input", { type: "range", min: 0.05, max: 1, step: 0.05, value: 1 });
    const shown = [temperature, top_p].map(() => element("output"));
    const bars = element("ol", { className: "bars" });
    const said = element("p", { className: "said" });
    said.setAttribute("role", "status");
    let leave = () => {};

    function draw() {
      leave();
      shown[0].textContent = Number(temperature.value).toFixed(1);
      shown[1].textContent = Number(top_p.value).toFixed(2);
      if (!top_k.checkValidity() || top_k.value === "") {
        said.textContent = _`top-k must be a whole number from 1 to ${top_k.max}.`;
        return;
      }
      const request = {
        kind: "sampling",
        model: done.model,
        logits: done.logits[step.value],
        temperature: Number(temperature.value),
        top_k: Number(top_k.value),
        top_p: Number(top_p.value),
      };
      leave = ask(request, (event) => {
        if (event.kind === "problem") {
          said.textContent = event.message;
          return;
        }
        const items = event.best.map(({ token, probability }) => {
          const bar = element("span", { className: "bar" });
          bar.style.setProperty("--share", probability);
          return element("li", {}, element("span", { lang: "fr" }, plain(token) || "▁"), bar, percent(probability));
        });
        bars.replaceChildren(...items);
        said.textContent = _`${event.possible} of ${top_k.max} tokens can be drawn.`;
      });
    }

    for (const control of [step, temperature, top_k, top_p]) control.addEventListener("input", draw);
    const controls = element(
      "div",
      { className: "controls" },
      labelled(_("Written token"), step),
      labelled(_("Temperature"), temperature, shown[0]),
      labelled("top-k", top_k),
      labelled("top-p", top_p, shown[1]),
    );
    root.replaceChildren(controls, said, bars);
    draw();
  }

  /** The beam, step by step: what is kept, with a line to what it came from; at the end the hypotheses. */
  function beam(root, done) {
    const width = element("select", {}, ...[1, 2, 3, 4].map((value) => element("option", { value }, String(value))));
    width.value = 4;
    const svg = drawn("svg", { "aria-hidden": true });
    const columns = element("ol", { className: "steps" });
    const tree = element("div", { className: "tree" }, svg, columns);
    const scroller = element("div", { className: "scroller", tabIndex: 0 }, tree);
    scroller.setAttribute("role", "region");
    scroller.setAttribute("aria-label", _("The beam, step by step"));
    const said = element("p", { className: "at-step" });
    said.setAttribute("role", "status");
    const found = element("ol", { className: "hypotheses" });
    const at_the_end = element(
      "div",
      {},
      element("p", {}, _("What it found, best first. The score is the sum of the logarithms, divided by the length penalty:")),
      found,
    );
    const [back, next, all] = [
      [_("Back"), () => shown - 1],
      [_("Next step"), () => shown + 1],
      [_("All steps"), () => steps.length],
    ].map(([text, step]) => {
      const button = element("button", { type: "button", disabled: true }, text);
      button.addEventListener("click", () => show(step()));
      return button;
    });
    let steps = [];
    let shown = 1; // so many steps
    let leave = () => {};

    function draw_lines() {
      svg.replaceChildren();
      const frame = svg.getBoundingClientRect();
      const box = (step, place) => columns.children[step].querySelectorAll("li")[place].getBoundingClientRect();
      steps.slice(0, shown).forEach((kept, step) =>
        kept.forEach((one, place) => {
          if (step === 0) return;
          const [from, to] = [box(step - 1, one.parent), box(step, place)];
          const [x1, y1] = [from.right - frame.x, from.y + from.height / 2 - frame.y];
          const [x2, y2] = [to.left - frame.x, to.y + to.height / 2 - frame.y];
          svg.append(drawn("line", { x1, y1, x2, y2 }));
        }),
      );
    }

    /** Show the first `step` steps. A beginning that the step after did not go on with was dropped. */
    function show(step) {
      const focused = document.activeElement;
      shown = step;
      const lists = steps.slice(0, shown).map((kept, step) => {
        const after = step + 1 < shown ? steps[step + 1].map((one) => one.parent) : [...kept.keys()];
        const items = kept.map((one, place) =>
          element(
            "li",
            { className: one.ended ? "ended" : after.includes(place) ? "" : "dropped" },
            element("span", { lang: "fr" }, plain(one.token) || "▁"),
            element("small", {}, one.log_probability.toFixed(2).replace("-", "−")),
          ),
        );
        return element("li", {}, element("ol", {}, ...items));
      });
      columns.replaceChildren(...lists);
      draw_lines();
      scroller.scrollLeft = scroller.scrollWidth;
      back.disabled = shown === 1;
      next.disabled = all.disabled = shown === steps.length;
      at_the_end.hidden = shown < steps.length;
      const ended = steps.slice(0, shown).flat().filter((one) => one.ended).length;
      said.textContent = _`Step ${shown} of ${steps.length}, with a beam of ${width.value}. Ended so far: ${ended}.`;
      // A button that has nothing more to do hands the keyboard on.
      if (focused?.disabled) (focused === back ? next : back).focus();
    }

    function search() {
      leave();
      leave = ask({ kind: "beam", model: done.model, text: done.source_text, beam: Number(width.value) }, (event) => {
        if (event.kind === "problem") {
          said.textContent = event.message;
          return;
        }
        steps = event.steps;
        const scored = (score) => _`(score ${score})`;
        const sentences = event.hypotheses.map(({ text, score }) =>
          element("li", {}, element("span", { lang: "fr" }, text), ` ${scored(score.toFixed(3).replace("-", "−"))}`),
        );
        found.replaceChildren(...sentences);
        show(1);
      });
    }

    width.addEventListener("input", search);
    root.replaceChildren(
      labelled(_("Width of the beam"), width),
      element("div", { className: "buttons" }, back, next, all),
      said,
      scroller,
      at_the_end,
    );
    new ResizeObserver(draw_lines).observe(columns);
    search();
  }

  const parts = { maps, heads, layer, probabilities, beam };
  const roots = document.querySelectorAll("[data-explorer]");
  let leave = () => {};
  function show(done) {
    near.disconnect();
    leave();
    for (const root of roots) parts[root.dataset.explorer](root, done);
  }

  // Until a sentence is typed, the one that is drawn, as soon as a part comes into view.
  const near = new IntersectionObserver((seen) => {
    if (!seen.some((part) => part.isIntersecting)) return;
    near.disconnect();
    const drawn = JSON.parse(document.querySelector("[data-answer]").dataset.answer);
    const request = { kind: "translate", text: drawn.source.join(" "), maps: true };
    leave = ask(request, (event) => event.kind === "done" && show(event));
  });
  roots.forEach((root) => near.observe(root));
  document.addEventListener("translated", ({ detail }) => show(detail));
  // What was drawn before would pass for the sentence that was refused, or for another translator's.
  document.addEventListener("cleared", () => {
    near.disconnect();
    leave();
    const text = _("The sentence above is not translated: there is nothing to show.");
    for (const root of roots) root.replaceChildren(element("p", {}, text));
    document.querySelector("[data-figure=attention_steps]").hidden = true;
  });
})((globalThis.transformer_lib ??= {}));
