// One head on a sentence: scores = q kᵀ / √d_k, a mask, weights = softmax of the scores that are left.

function start(parts, data) {
  const parameters = read_parameters(data.parameters)
  const [PAD_ID, SOS_ID, LONGEST] = [0, 1, 5]
  const state = { words: [], pads: 1, side: "end", padding: false, lookAhead: false }

  // Without accents and capitals, so that etudiant is étudiant.
  const plain = (word) => word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replaceAll("œ", "oe")
  const ids = new Map(data.words.map((word, id) => [plain(word), id]))

  // What keeps `words` from being read, in one sentence; nothing if nothing does.
  function wrongWith(words) {
    if (words.length === 0) return _("Write at least one word.")
    if (words.length > LONGEST) return _`At most ${LONGEST} words fit here, and these are ${words.length}.`
    const strange = words.find((word) => !(ids.get(plain(word)) > SOS_ID))
    if (strange === undefined) return ""
    const some = data.words.slice(SOS_ID + 1, SOS_ID + 13).join(", ")
    const unknown = [...strange].slice(0, 20).join("")
    return _`“${unknown}” is not among the figure's words. Some that are: ${some}.`
  }

  function tokens() {
    const padding = Array(state.pads).fill(PAD_ID)
    const words = [SOS_ID, ...state.words]
    return state.side === "end" ? [...words, ...padding] : [...padding, ...words]
  }

  // The table's row for place `pos`: sines and cosines in turn.
  const sinusoids = (pos, d_model) =>
    Array.from({ length: d_model }, (_, i) => {
      const angle = pos / 10000 ** ((i - (i % 2)) / d_model)
      return i % 2 ? Math.cos(angle) : Math.sin(angle)
    })

  function attention(tokens) {
    const x = tokens.map((token, pos) => {
      const vector = parameters.embedding[token]
      const positions = sinusoids(pos, vector.length)
      return vector.map((value, i) => value * Math.sqrt(vector.length) + positions[i])
    })
    const project = (name) => {
      const [bias] = parameters[`${name}.bias`]
      return x.map((row) => parameters[`${name}.weight`].map((weights, i) => dot(weights, row) + bias[i]))
    }
    const [q, k] = [project("W_q"), project("W_k")]
    const scores = q.map((query) => k.map((key) => dot(query, key) / Math.sqrt(query.length)))
    const mask = scores.map((row, query) =>
      row.map((score, key) => (!state.padding || tokens[key] !== PAD_ID) && (!state.lookAhead || key <= query))
    )
    const weights = scores.map((row, query) => {
      if (!mask[query].includes(true)) return row.map(() => 0)
      return softmax(row.map((score, key) => (mask[query][key] ? score : -Infinity)))
    })
    return { scores, mask, weights }
  }

  // What stands in a cell, its colour, and how deep that is.
  const share = (weight) => (weight === 0 ? "0" : number(weight))
  const cells = {
    scores: (score) => [number(score, Math.abs(score) < 9.95 ? 1 : 0), "none", 1],
    mask: (may) => [may ? "" : "−∞", may ? "var(--tl-query)" : "none", 0.6],
    weights: (weight) => [share(weight), "var(--tl-value)", 0.45 * weight],
  }

  // How wide a word is drawn: capitals and angle brackets take more room than other letters.
  const ruler = html("canvas").getContext("2d")
  ruler.font = "13px system-ui, sans-serif"

  // One matrix with its upper left cell at (left, top), and its keys' names above it.
  function matrix(name, values, labels, left, top, cell, withQueries) {
    const drawn = values.flatMap((row, query) =>
      row.map((value, key) => {
        const [text, fill, opacity] = cells[name](value)
        const [x, y] = [left + cell * key + 1, top + cell * query + 1]
        const line = { stroke: "var(--tl-line)", "stroke-width": 0.75 }
        const place = { x: x + cell / 2 - 1, y: y + cell / 2 + 3, "text-anchor": "middle" }
        return svg(
          "g",
          { "data-cell": name },
          svg("rect", { x, y, width: cell - 2, height: cell - 2, fill, "fill-opacity": opacity, ...line }),
          svg("text", { ...place, style: `font-size:${cell < 32 ? 10.5 : 12}px` }, text)
        )
      })
    )
    const names = labels.flatMap((label, i) => {
      const [x, y] = [left + cell * (i + 0.5) + 4, top - 5]
      const key = svg("text", { x, y, transform: `rotate(-90 ${x} ${y})` }, label)
      const query = svg("text", { x: left - 5, y: top + cell * (i + 0.5) + 4, "text-anchor": "end" }, label)
      return withQueries ? [key, query] : [key]
    })
    return [...drawn, ...names]
  }

  let width
  function draw() {
    const now = tokens()
    const labels = now.map((token) => data.words[token])
    const { mask, ...numbers } = attention(now)
    const { weights } = numbers
    const long = 12 + Math.max(...labels.map((word) => ruler.measureText(word).width))
    const gap = 12
    const beside = (width - long - 2 * gap) / 3 / labels.length
    const wide = beside >= 27
    const cell = Math.min(36, wide ? beside : (width - long - 2) / labels.length)
    const [across, down] = [cell * labels.length + gap, cell * labels.length + long + 34]
    const headings = { scores: _("scores"), mask: _("mask"), weights: _("weights") }
    const matrices = Object.entries({ scores: numbers.scores, mask, weights }).flatMap(([name, values], i) => {
      const [left, top] = wide ? [long + across * i, long + 16] : [long, down * i + long + 16]
      const heading = svg("text", { x: left, y: top - long - 3, style: "font-weight:600" }, headings[name])
      return [heading, ...matrix(name, values, labels, left, top, cell, !wide || i === 0)]
    })
    const height = (wide ? down : 3 * down) - 14
    const rows = labels.map((label, query) => `${label} ${weights[query].map(share).join(" ")}`).join("; ")
    const label = _`Scores, mask and weights. The rows of the weights: ${rows}.`
    parts.show(svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...matrices))

    // The mean over the rows of real words of what lies on the keys that count.
    const real = now.flatMap((token, query) => (token === PAD_ID ? [] : [query]))
    const mean = (counts) =>
      share(real.reduce((sum, query) => sum + dot(weights[query], now.map((token, key) => counts(query, key))), 0) / real.length)
    const later = mean((query, key) => now[key] !== PAD_ID && key > query)
    const blind = mask.some((row) => !row.includes(true))
    const padding = mean((query, key) => now[key] === PAD_ID)
    const told = [_`Of a word's weight, ${later} lies on later words and ${padding} on padding, on average.`]
    if (blind) told.push(_("A row that may look at nothing would be 0/0; the library gives it weights of 0."))
    if (state.side === "beginning" && state.pads)
      told.push(_("Padding at the beginning moves each word, so its scores change too."))
    parts.say(told.join(" "))
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  const write = (text) => {
    const words = text.split(/\s+/u).filter(Boolean)
    const wrong = wrongWith(words)
    if (wrong) parts.say(wrong, true)
    else set("words")(words.map((word) => ids.get(plain(word))))
  }
  parts.controls.append(
    textBox({ label: _("French sentence"), value: data.sentence, changed: write }),
    slider({ label: _("places of padding"), values: [0, 1, 2], value: state.pads, changed: set("pads") }),
    choice({
      label: _("padding at the"),
      options: ["end", "beginning"],
      value: state.side,
      write: (side) => (side === "end" ? _("end") : _("beginning")),
      changed: set("side"),
    }),
    tick({ label: _("padding mask"), value: state.padding, changed: set("padding") }),
    tick({ label: _("causal mask"), value: state.lookAhead, changed: set("lookAhead") })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    if (state.words.length) draw()
    else write(data.sentence)
  })
}
