// A review becomes words and ids; a GRU and a bag of words score it after each word.

function start(parts, data) {
  const parameters = read_parameters(data.parameters)
  const PAD_ID = 0
  const LONGEST = 18 // words that are read
  const COLUMNS = 14 // of the batch: without the mask, a shorter review is read up to here
  const state = { text: data.examples[0], mask: true }
  const ids = new Map(data.words.map((word, i) => [word, i + 1]))

  const normalise = (text) =>
    text
      .replace(/<br\s*\/?>/giu, " ")
      .replaceAll("’", "'")
      .toLowerCase()
      .normalize("NFC")
      .replace(/[^\p{L}\p{M}']+/gu, " ")

  function tokenize(text) {
    const words = normalise(text).split(" ")
    return words.map((word) => word.replace(/^'+|'+$/gu, "")).filter(Boolean)
  }

  function crc32(word) {
    let rest = -1
    for (const byte of new TextEncoder().encode(word)) {
      rest ^= byte
      for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0)
    }
    return ~rest >>> 0
  }

  const encode = (word) => ids.get(word) ?? 1 + data.words.length + (crc32(word) % data.oov_buckets)

  // One step of torch's GRU: gates r and z, and the new content n, stand below one another in its matrices.
  const sigmoid = (value) => 1 / (1 + Math.exp(-value))
  function step(id, state) {
    const [fromWord, fromState] = ["ih", "hh"].map((name) => {
      const [bias] = parameters[`gru.bias_${name}_l0`]
      const input = name === "ih" ? parameters["embedding.weight"][id] : state
      return parameters[`gru.weight_${name}_l0`].map((weights, i) => dot(weights, input) + bias[i])
    })
    const size = state.length
    return state.map((old, i) => {
      const r = sigmoid(fromWord[i] + fromState[i])
      const z = sigmoid(fromWord[size + i] + fromState[size + i])
      const n = Math.tanh(fromWord[2 * size + i] + r * fromState[2 * size + i])
      return (1 - z) * n + z * old
    })
  }

  // The logits of both models for no word, and after each of `row`.
  function logits(row) {
    const score = (hidden) => dot(parameters["output.weight"][0], hidden) + parameters["output.bias"][0][0]
    let hidden = parameters["gru.weight_hh_l0"][0].map(() => 0)
    let sum = parameters.bias[0][0]
    const after = [{ gru: score(hidden), bag: sum }]
    for (const id of row) {
      hidden = step(id, hidden)
      sum += id === PAD_ID ? 0 : parameters.weights[id][0]
      after.push({ gru: score(hidden), bag: sum })
    }
    return after
  }

  const short = (word, length) => ([...word].length > length ? `${[...word].slice(0, length - 1).join("")}…` : word)
  const signed = (value) => number(value, 1).replace("-", "−").replace(/^(?=[1-9]|0\.[1-9])/, "+")
  const verdict = (logit) => (signed(logit) === "0.0" ? _("undecided") : logit > 0 ? _("positive") : _("negative"))

  function drawLogits(words, row, after, width) {
    const labels = words.map((word) => short(word, 13))
    const id = 34 + 7.6 * Math.max(4, ...labels.map((label) => [...label].length))
    const bag = id + 46
    const middle = (bag + 12 + width) / 2
    const longest = width - middle - 40
    const lines = labels.flatMap((label, i) => {
      const y = 42 + 22 * i
      const { gru, bag: sum } = after[i + 1]
      const length = Math.min(1, Math.abs(gru) / 12) * longest
      const positive = gru > 0
      // Only the logit after the last word was trained.
      const bar = { x: positive ? middle : middle - length, "fill-opacity": i < labels.length - 1 ? 0.35 : 1 }
      const number = { x: middle + (positive ? 5 : -5) + (positive ? length : -length), y: y + 14 }
      return [
        svg("text", { x: 0, y: y + 14 }, label),
        svg("text", { x: id, y: y + 14, "text-anchor": "end", class: "tl-quiet" }, `${row[i]}`),
        svg("text", { x: bag, y: y + 14, "text-anchor": "end", "data-logit": "bag" }, signed(sum)),
        svg("rect", { ...bar, y, width: length, height: 18, fill: "var(--tl-accent)" }),
        svg("text", { ...number, "text-anchor": positive ? "start" : "end", "data-logit": "gru" }, signed(gru)),
      ]
    })
    const quiet = { class: "tl-quiet", y: 35 }
    const bottom = 42 + 22 * labels.length
    return [
      svg("text", { x: 0, y: 14, style: "font-weight:600" }, _("logit if it ended here")),
      svg("text", { x: middle, y: 18, "text-anchor": "middle", class: "tl-quiet" }, "GRU"),
      svg("text", { x: 0, ...quiet }, _("word")),
      svg("text", { x: id, "text-anchor": "end", ...quiet }, _("id")),
      svg("text", { x: bag, "text-anchor": "end", ...quiet }, _("bag")),
      svg("text", { x: middle - 6, "text-anchor": "end", ...quiet }, _("negative")),
      svg("text", { x: middle + 6, ...quiet }, _("positive")),
      ...lines,
      svg("line", { x1: middle, x2: middle, y1: 22, y2: bottom, stroke: "var(--tl-ink)" }),
    ]
  }

  let width
  function draw() {
    const all = tokenize(state.text)
    const words = all.slice(0, LONGEST)
    const padding = Array(state.mask ? 0 : Math.max(0, COLUMNS - words.length)).fill(PAD_ID)
    const row = [...words.map(encode), ...padding]
    const read = [...words, ...padding.map(() => "<pad>")]
    const after = logits(row)
    const told = read.map((word, i) => `${word} ${signed(after[i + 1].gru)}`).join(", ") || _("no word")
    const label = _`After each word: ${told}.`
    const viewBox = `0 0 ${width} ${46 + 22 * read.length}`
    parts.show(svg("svg", { viewBox, role: "img", "aria-label": label }, ...drawLogits(read, row, after, width)))

    const [gru, bag] = [after.at(-1).gru, after.at(-1).bag].map((logit) => ({ logit: signed(logit), says: verdict(logit) }))
    const sentences = [_`Logits: GRU ${gru.logit}, ${gru.says}; bag of words ${bag.logit}, ${bag.says}.`]
    const turns = [...row.keys()].filter((i) => i > 0 && after[i].gru > 0 !== after[i + 1].gru > 0)
    const turn = short(read[turns.at(-1)] ?? "", 20)
    if (turns.length) sentences.push(_`The GRU's sign last turned at “${turn}”.`)
    if (words.length === 0) sentences.push(_("There is no word to read: with the mask, the GRU's logit is its last bias."))
    const strange = [...new Set(words.filter((word) => !ids.has(word)))].map((word) => `“${short(word, 20)}”`)
    if (strange.length) {
      const named = strange.slice(0, 3).join(", ") + (strange.length > 3 ? " …" : "")
      sentences.push(_`Not in the vocabulary: ${named}. A bucket's vector is still the random one it started with.`)
    }
    const left = all.length - words.length
    const [rest, whole] = [grouped(left), grouped(all.length)]
    if (left) sentences.push(_`Left unread: the last ${rest} of ${whole} words.`)
    if (padding.length) {
      const before = signed(after[words.length].gru)
      sentences.push(_`Without the mask the GRU reads ${padding.length} × padding too: from ${before} to ${gru.logit}.`)
    }
    parts.say(sentences.join(" "))
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  const box = textBox({ label: _("review"), value: state.text, changed: set("text") })
  const take = (example) => {
    box.querySelector("input").value = example
    set("text")(example)
  }
  const examples = choice({ label: _("examples"), options: data.examples, value: state.text, changed: take })
  parts.controls.append(
    examples,
    box,
    tick({ label: _("mask the padding"), value: state.mask, changed: set("mask") })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
