// One head on a sentence: scores = q kᵀ / √d_k, a mask, weights = softmax of the scores that are left.

function start(parts, data) {
  const parameters = read_parameters(data.parameters)
  const [PAD_ID, SOS_ID] = [0, 1]
  const LONGEST = 5
  const state = { words: [], pads: 1, side: "end", padding: false, lookAhead: false, query: 1, key: 2 }

  // Without accents and capitals, so that etudiant is étudiant.
  const plain = (word) => word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replaceAll("œ", "oe")
  const ids = new Map(data.words.map((word, id) => [plain(word), id]))

  // What keeps `words` from being read, in one sentence; nothing if nothing does.
  function wrongWith(words) {
    if (words.length === 0) return "Write at least one word."
    if (words.length > LONGEST) return `At most ${LONGEST} words fit here, and these are ${words.length}.`
    const strange = words.find((word) => !(ids.get(plain(word)) > SOS_ID))
    if (strange === undefined) return ""
    const known = data.words.slice(SOS_ID + 1)
    const alike = known.filter((word) => plain(word)[0] === plain(strange)[0])
    const some = (alike.length ? alike : known).slice(0, 12).join(", ")
    return `“${[...strange].slice(0, 20).join("")}” is not among the figure's words. Some that are: ${some}.`
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
      row.map((_, key) => (!state.padding || tokens[key] !== PAD_ID) && (!state.lookAhead || key <= query))
    )
    const weights = scores.map((row, query) => {
      if (!mask[query].includes(true)) return row.map(() => 0)
      return softmax(row.map((score, key) => (mask[query][key] ? score : -Infinity)))
    })
    return { scores, mask, weights }
  }

  const share = (weight, digits = 2) => (weight === 0 ? "0" : number(weight, digits))
  const minus = (text) => text.replace("-", "−")
  const cells = {
    scores: (score) => ({ text: number(score, Math.abs(score) < 9.95 ? 1 : 0), fill: "none" }),
    mask: (may) => ({ text: may ? "" : "−∞", fill: may ? "var(--tl-query)" : "none", opacity: 0.6, hatched: !may }),
    weights: (weight) => ({
      text: share(weight),
      fill: "var(--tl-value)",
      opacity: 0.45 * weight,
      hatched: weight === 0,
    }),
  }
  const titles = { scores: "scores", mask: "mask", weights: "weights" }

  // How wide a word is drawn: capitals and angle brackets take more room than other letters.
  const ruler = html("canvas").getContext("2d")
  ruler.font = "13px system-ui, sans-serif"
  const widthOf = (word) => ruler.measureText(word).width

  // One matrix with its upper left cell at (left, top), and its keys' names above it.
  function matrix(name, values, labels, left, top, cell, withQueries) {
    const drawn = values.flatMap((row, query) =>
      row.flatMap((value, key) => {
        const { text, fill, opacity = 1, hatched = false } = cells[name](value)
        const [x, y] = [left + cell * key, top + cell * query]
        const inner = cell - 2
        const stripes = [0.4, 0.8, 1.2, 1.6].map((part) => {
          const [from, to] = [Math.min(part, 1) * inner, Math.max(part - 1, 0) * inner]
          return `M${x + 1 + to} ${y + 1 + from}L${x + 1 + from} ${y + 1 + to}`
        })
        const box = { x: x + 1, y: y + 1, width: inner, height: inner }
        const line = { stroke: "var(--tl-line)", "stroke-width": 0.75 }
        const nodes = [svg("rect", { ...box, fill, "fill-opacity": opacity, ...line })]
        if (hatched) nodes.push(svg("path", { d: stripes.join(""), ...line, stroke: "var(--tl-mask)" }))
        if (text) {
          const place = { x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle" }
          nodes.push(svg("text", { ...place, style: `font-size:${cell < 32 ? 10.5 : 12}px` }, text))
        }
        const group = svg("g", { "data-cell": name, style: "cursor:pointer" }, ...nodes)
        group.addEventListener("click", () => look(query, key))
        return group
      })
    )
    const names = labels.flatMap((label, i) => {
      const [x, y] = [left + cell * (i + 0.5) + 4, top - 5]
      const key = svg("text", { x, y, transform: `rotate(-90 ${x} ${y})` }, label)
      const query = svg("text", { x: left - 5, y: top + cell * (i + 0.5) + 4, "text-anchor": "end" }, label)
      return withQueries ? [key, query] : [key]
    })
    const frame = { fill: "none", "stroke-width": 2.5, rx: 2 }
    const width = cell * labels.length
    const row = { x: left, y: top + cell * state.query, width, height: cell, stroke: "var(--tl-query)" }
    const column = { x: left + cell * state.key, y: top, width: cell, height: width, stroke: "var(--tl-key)" }
    return [...drawn, ...names, svg("rect", { ...row, ...frame }), svg("rect", { ...column, ...frame })]
  }

  let width
  function draw() {
    const now = tokens()
    const labels = now.map((token) => data.words[token])
    const parts_of = attention(now)
    const long = 12 + Math.max(...labels.map(widthOf))
    const gap = 12
    const beside = (width - long - 2 * gap) / 3 / labels.length
    const wide = beside >= 27
    const cell = Math.min(36, wide ? beside : (width - long - 2) / labels.length)
    const [across, down] = [cell * labels.length + gap, cell * labels.length + long + 34]
    const matrices = Object.entries(titles).flatMap(([name, title], i) => {
      const [left, top] = wide ? [long + across * i, long + 16] : [long, down * i + long + 16]
      const heading = svg("text", { x: left, y: top - long - 3, style: "font-weight:600" }, title)
      return [heading, ...matrix(name, parts_of[name], labels, left, top, cell, !wide || i === 0)]
    })
    const height = wide ? down - 14 : 3 * down - 14
    const { query, key } = state
    const listed = labels.map((label, i) => `${label} ${share(parts_of.weights[query][i])}`).join(", ")
    const label = `Scores, mask and weights of ${labels.join(" ")}. Weights of the query ${labels[query]}: ${listed}.`
    parts.show(svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...matrices))

    const row = parts_of.weights[query]
    const sum = (counts) => share(row.reduce((total, weight, i) => total + (counts(i) ? weight : 0), 0), 3)
    const score = minus(number(parts_of.scores[query][key]))
    const may = parts_of.mask[query][key]
    const on = (counts) => sum((i) => now[i] !== PAD_ID && counts(i))
    const moved = state.side === "beginning" && state.pads > 0
    const blind = !parts_of.mask[query].includes(true)
    parts.say(
      `${labels[query]} looks at ${labels[key]}: score ${score}${may ? ", not masked" : " → masked −∞"} → ` +
        `weight ${share(row[key], 3)}. ` +
        (blind
          ? "This query may look at nothing. A softmax of −∞ alone would be 0/0; the library gives it weights of 0."
          : `Of this query's weight, ${on((i) => i > query)} lies on later words, ` +
            `${on((i) => i <= query)} on itself and earlier words, ${sum((i) => now[i] === PAD_ID)} on padding.`) +
        (moved ? " Padding at the beginning moves each word to another place, so its scores change too." : "")
    )
  }

  const chosen = html("span", { style: "display:contents" })
  function look(query, key) {
    const places = [...tokens().keys()]
    const write = (place) => `${place} ${data.words[tokens()[place]]}`
    state.query = Math.max(0, Math.min(query, places.length - 1))
    state.key = Math.max(0, Math.min(key, places.length - 1))
    const pick = (name, label) =>
      choice({
        label,
        options: places,
        value: state[name],
        write,
        changed: (place) => {
          state[name] = place
          draw()
        },
      })
    chosen.replaceChildren(pick("query", "query (row)"), pick("key", "key (column)"))
    draw()
  }

  // The chosen query and key stay the same words where padding comes before them or goes.
  const before = () => (state.side === "end" ? 0 : state.pads)
  const set = (name) => (value) => {
    const was = before()
    state[name] = value
    look(state.query + before() - was, state.key + before() - was)
  }
  const write = (text) => {
    const words = text.split(/\s+/u).filter(Boolean)
    const wrong = wrongWith(words)
    if (wrong) parts.say(wrong, true)
    else set("words")(words.map((word) => ids.get(plain(word))))
  }
  const box = textBox({ label: "French sentence", value: data.sentence, changed: write })
  parts.controls.append(
    box,
    slider({ label: "places of padding", values: [0, 1, 2], value: state.pads, changed: set("pads") }),
    choice({ label: "padding at the", options: ["end", "beginning"], value: state.side, changed: set("side") }),
    tick({ label: "padding mask", value: state.padding, changed: set("padding") }),
    tick({ label: "causal mask", value: state.lookAhead, changed: set("lookAhead") }),
    chosen
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    if (state.words.length) draw()
    else write(data.sentence)
  })
}
