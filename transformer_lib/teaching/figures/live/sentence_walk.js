// Two sentences through the whole Transformer: what each part is given, what it makes, and how many parameters it has.

const SIZES = {
  d_model: [8, 16, 32, 64, 128, 256, 512, 1024],
  heads: [1, 2, 4, 8],
  layers: [1, 2, 3, 4, 6],
  d_ff: [16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
  vocabulary: [13, 50, 200, 1000, 8000, 37000],
}

// Reads both sentences: the words, and the id of each. A word gets the next free id when it is first met.
function readWords({ source, target, vocabulary, shared }, { specials, max_len }) {
  const split = (text) => text.split(/\s+/u).filter(Boolean)
  const sentences = { source: split(source), target: ["<SOS>", ...split(target)] }
  if (!sentences.source.length) return { problem: "The source is empty: write at least one word for the encoder." }
  for (const [name, words] of Object.entries(sentences)) {
    if (words.length <= max_len) continue
    return { problem: `The model has ${grouped(max_len)} positions, but the ${name} has ${grouped(words.length)} tokens.` }
  }
  const known = { source: new Map(Object.entries(specials)) }
  known.target = shared ? known.source : new Map(known.source)
  const ids = {}
  for (const [name, words] of Object.entries(sentences)) {
    for (const word of words) if (!known[name].has(word)) known[name].set(word, known[name].size)
    ids[name] = words.map((word) => known[name].get(word))
  }
  const needed = Math.max(known.source.size, known.target.size)
  if (needed > vocabulary) {
    return {
      problem:
        `A vocabulary of ${grouped(vocabulary)} has three special ids and room for ${grouped(vocabulary - 3)} words, ` +
        `but here are ${grouped(needed - 3)} different ones: choose a larger vocabulary.`,
    }
  }
  return { ...sentences, ids }
}

// A tensor of the walk. `words` are its rows, `heads` how many blocks of `columns` stand side by side.
const vectors = (name, words, columns) => ({ name, words, columns, shape: [1, words.length, columns] })

// All stations: the box of the map, what goes in, what comes out, what happened, and the parameters that did it.
function stationsOf(state, { source, target, ids }, pad) {
  const { d_model: d, heads, layers, d_ff, vocabulary, shared } = state
  const half = 2 * (d * d + d)
  const norm = 2 * d
  const stations = []
  const add = (box, name, given, result, says, parameters = 0) =>
    stations.push({ box, name, given, result, says, parameters })

  function enter(side, words) {
    const label = `${side} words`
    const rows = vectors(label, words, d)
    const tokens = { name: `${side} ids`, words, ids: ids[side], columns: 1, shape: [1, words.length] }
    const pairs = words.slice(0, 4).map((word, i) => `${word} is ${ids[side][i]}`)
    add(`${side} ids`, `${side}: words become ids`, [], tokens, `${pairs.join(", ")}${words.length > 4 ? " …" : "."}`)
    const again = shared && side === "target"
    add(
      `${side} embedding`,
      `${side}: embedding`,
      [tokens],
      rows,
      `Each id picks its row of the embedding matrix, (${vocabulary}, ${d}), and the row is multiplied by √${d}.` +
        (again ? " The matrix is the source's: it is counted there." : ""),
      again ? 0 : vocabulary * d
    )
    add(
      `${side} positions`,
      `${side}: plus positions`,
      [rows, vectors("sines and cosines", words, d)],
      rows,
      `Each row gets the numbers of its place added, 0 to ${words.length - 1}. They are computed, not learned.`
    )
  }

  function attention(stack, box, kind, words, keys, looksAt, future = false) {
    const seen = ids[keys]
    const x = vectors(`${stack} rows`, words, d)
    const weights = {
      name: "weights",
      words,
      heads,
      columns: looksAt.length,
      hides: (row, column) => (future && column > row) || seen[column] === pad,
      shape: [1, heads, words.length, looksAt.length],
    }
    const hidden = [future && "later words", seen.includes(pad) && "padding"].filter(Boolean)
    const mixed = vectors("attention output", words, d)
    const from = keys === "source" && stack === "decoder" ? vectors("memory", looksAt, d) : null
    add(
      box,
      `${stack} 1: ${kind} weights`,
      from ? [x, from] : [x],
      weights,
      `In each of ${heads} heads every row gets a weight for every row${from ? " of the memory" : ""}, ` +
        `${words.length} · ${looksAt.length} weights, from queries and keys of width ${d / heads}.` +
        (hidden.length ? ` Grey is hidden: ${hidden.join(" and ")}.` : ""),
      half
    )
    add(
      box,
      `${stack} 1: ${kind} output`,
      [weights, from ?? x],
      mixed,
      `In each head the weights mix the values, made from ${from ? "the memory" : "the rows"}. ` +
        `The heads side by side are ${d} wide again, and go through W_O.`,
      half
    )
    residual(stack, `${box} norm`, kind, words, mixed)
  }

  function residual(stack, box, kind, words, made) {
    const x = vectors(`${stack} rows`, words, d)
    add(
      box,
      `${stack} 1: add & norm after ${kind}`,
      [x, made],
      x,
      "What stood there before is added, and each row is normalised.",
      norm
    )
  }

  function feedForward(stack, words) {
    const box = `${stack} feed-forward`
    const inside = vectors("inside", words, d_ff)
    const made = vectors("feed-forward output", words, d)
    const x = vectors(`${stack} rows`, words, d)
    add(box, `${stack} 1: feed-forward, inside`, [x], inside, `Each row alone: ${d} numbers become ${d_ff}.`, (d + 1) * d_ff)
    add(box, `${stack} 1: feed-forward, output`, [inside], made, `Each row is ${d} wide again.`, (d_ff + 1) * d)
    residual(stack, `${box} norm`, "feed-forward", words, made)
  }

  function others(stack, words, first) {
    const layer = stations.slice(first).reduce((sum, { parameters }) => sum + parameters, 0)
    const x = vectors(`${stack} rows`, words, d)
    const says =
      layers > 1 ? `${layers - 1} more of the same kind, each with parameters of its own.` : "This model has no other layer."
    add(`${stack} others`, `${stack}: the other layers`, [x], x, says, (layers - 1) * layer)
  }

  enter("source", source)
  let first = stations.length
  attention("encoder", "encoder attention", "attention", source, "source", source)
  feedForward("encoder", source)
  others("encoder", source, first)
  const memory = vectors("memory", source, d)
  const rows = [vectors("encoder rows", source, d)]
  add("memory", "the memory", rows, memory, "The encoder is done. Each decoder layer reads this.")

  enter("target", target)
  first = stations.length
  attention("decoder", "decoder attention", "masked attention", target, "target", target, true)
  attention("decoder", "cross-attention", "cross-attention", target, "source", source)
  feedForward("decoder", target)
  others("decoder", target, first)
  const logits = vectors("logits", target, vocabulary)
  add(
    "linear",
    "linear layer: logits",
    [vectors("decoder rows", target, d)],
    logits,
    `Each row is compared with all ${grouped(vocabulary)} words of the vocabulary.` +
      (shared ? " The matrix is the embedding's: it is counted there." : ""),
    shared ? 0 : d * vocabulary
  )
  add(
    "softmax",
    "softmax: probabilities",
    [logits],
    { ...vectors("probabilities", target, vocabulary), lastRow: true },
    `Each row adds up to 1. The last one says which word comes after “${target.at(-1)}”.`
  )
  return stations
}

// The map: a column for each stack, from above down. Each box by its key and its words.
const MAP = [
  [
    ["source ids", "ids"],
    ["source embedding", "embedding"],
    ["source positions", "+ positions"],
    ["encoder attention", "attention"],
    ["encoder attention norm", "add & norm"],
    ["encoder feed-forward", "feed-forward"],
    ["encoder feed-forward norm", "add & norm"],
    ["encoder others", "other layers"],
    ["memory", "memory"],
  ],
  [
    ["target ids", "ids"],
    ["target embedding", "embedding"],
    ["target positions", "+ positions"],
    ["decoder attention", "masked attention"],
    ["decoder attention norm", "add & norm"],
    ["cross-attention", "cross-attention"],
    ["cross-attention norm", "add & norm"],
    ["decoder feed-forward", "feed-forward"],
    ["decoder feed-forward norm", "add & norm"],
    ["decoder others", "other layers"],
    ["linear", "linear layer"],
    ["softmax", "softmax"],
  ],
]
const MAP_WIDTH = 216
const MAP_HIGH = 318

const pen = document.createElement("canvas").getContext("2d")

// `text`, cut where it would be wider than `room` pixels in letters of this size.
function cut(text, room, size = 13) {
  pen.font = `${size}px system-ui, sans-serif`
  if (pen.measureText(text).width <= room) return text
  const letters = [...text].slice(0, 40)
  while (letters.length && pen.measureText(`${letters.join("")}…`).width > room) letters.pop()
  return `${letters.join("")}…`
}

function start(parts, data) {
  const state = { ...data.sizes, shared: false, source: data.source, target: data.target, at: 1 }
  let width

  function draw() {
    const words = readWords(state, data)
    back.disabled = state.at === 0
    if (words.problem) {
      parts.say(words.problem, true)
      return
    }
    const stations = stationsOf(state, words, data.specials["<PAD>"])
    next.disabled = state.at === stations.length - 1
    const station = stations[state.at]
    const tensors = [...station.given, station.result]
    const sum = (list) => list.reduce((total, { parameters }) => total + parameters, 0)
    const wide = width >= 560
    const drawing = drawTensors(tensors, words.source, wide ? width - MAP_WIDTH - 24 : width)
    const [mapLeft, mapTop] = wide ? [width - MAP_WIDTH, 0] : [(width - MAP_WIDTH) / 2, drawing.high + 16]
    const named = ({ name, shape }) => `${name} (${shape.join(", ")})`
    const given = station.given.map(named).join(", ") || "the words"
    const label = `${station.name}. Given: ${given}. Result: ${named(station.result)}`
    parts.show(
      svg(
        "svg",
        {
          viewBox: `0 0 ${width} ${wide ? Math.max(drawing.high, MAP_HIGH) : mapTop + MAP_HIGH}`,
          role: "img",
          "aria-label": label,
        },
        ...drawing.nodes,
        svg("g", { transform: `translate(${mapLeft} ${mapTop})` }, ...drawMap(stations, station, words))
      )
    )
    parts.say(
      `${station.says} Parameters of this part: ${grouped(station.parameters)}. ` +
        `From the beginning to here: ${grouped(sum(stations.slice(0, state.at + 1)))} of ${grouped(sum(stations))}.`
    )
  }

  // What is given and then what comes out, one below the other: a number is as wide and as high in all of them. What comes
  // from the source has the encoder's colour.
  function drawTensors(tensors, source, room) {
    const left = 86
    const gap = 6
    const rows = tensors.reduce((sum, { words }) => sum + words.length, 0)
    const high = Math.min(20, 420 / rows)
    const scale = Math.min(
      16,
      ...tensors.map(({ heads = 1, columns }) => (room - left - 2 - gap * (heads - 1)) / (heads * columns))
    )
    let top = 0
    const nodes = tensors.flatMap((tensor, i) => {
      const { name, words, ids, shape, heads = 1, columns } = tensor
      const y = top + 24
      top = y + high * words.length + 14
      const stack = words === source ? "encoder" : "decoder"
      const block = ids ? 48 : Math.max(2, columns * scale)
      const isResult = i === tensors.length - 1
      const title = `${isResult && i ? "→ " : ""}${name} (${shape.join(", ")})${ids ? `: batch 1, places ${words.length}` : ""}`
      const found = [svg("text", { x: 0, y: y - 8, "font-weight": isResult ? 700 : 400 }, title)]
      for (let head = 0; head < heads; head++) {
        const x = left + head * (block + gap)
        const box = { x, y, width: block, height: Math.max(2, high * words.length) }
        found.push(svg("rect", { ...box, fill: `color-mix(in srgb, var(--tl-${stack}) 22%, var(--tl-surface))` }))
        if (tensor.hides) found.push(hidden(tensor, x, y, scale, high))
        if (tensor.lastRow) {
          found.push(svg("rect", { ...box, y: y + high * (words.length - 1), height: high, fill: "var(--tl-accent)" }))
        }
        if (high >= 5) found.push(lines(x, y, block, high, words.length, ids || scale < 5 ? 1 : columns))
        found.push(svg("rect", { ...box, fill: "none", stroke: `var(--tl-${stack})` }))
      }
      if (high >= 13) {
        words.forEach((word, i) => {
          const middle = y + high * (i + 0.5) + 4.5
          found.push(svg("text", { x: left - 8, y: middle, "text-anchor": "end", class: "tl-quiet" }, cut(word, left - 10)))
          if (ids) found.push(svg("text", { x: left + block / 2, y: middle, "text-anchor": "middle" }, ids[i]))
        })
      }
      return found
    })
    return { nodes, high: top }
  }

  function lines(x, y, wide, high, rows, columns) {
    const across = Array.from({ length: rows - 1 }, (_, i) => `M${x} ${y + (i + 1) * high}h${wide}`)
    const down = Array.from({ length: columns - 1 }, (_, i) => `M${x + ((i + 1) * wide) / columns} ${y}v${rows * high}`)
    return svg("path", { d: [...across, ...down].join(""), stroke: "var(--tl-surface)" })
  }

  // The weights that the mask sets to 0, each run of them in a row as one piece.
  function hidden({ words, columns, hides }, x, y, scale, high) {
    const pieces = words.flatMap((_, row) => {
      const found = []
      for (let column = 0; column < columns; column++) {
        if (!hides(row, column)) continue
        const from = column
        while (column + 1 < columns && hides(row, column + 1)) column++
        const wide = (column + 1 - from) * scale
        found.push(`M${x + from * scale} ${y + row * high}h${wide}v${high}h${-wide}z`)
      }
      return found
    })
    return svg("path", { d: pieces.join(""), fill: "var(--tl-mask)", class: "tl-hidden" })
  }

  function drawMap(stations, station, words) {
    const small = "font-size:11px"
    const wide = 102
    const found = [words.source, words.target].map((sentence, side) =>
      svg(
        "text",
        { x: side * (wide + 10), y: 11, style: small, "font-style": "italic" },
        cut(sentence.slice(0, 30).join(" "), wide, 11)
      )
    )
    MAP.forEach((boxes, side) => {
      const x = 1 + side * (wide + 10)
      const stack = side ? "decoder" : "encoder"
      found.push(svg("path", { d: `M${x + wide / 2} 16v${23 * boxes.length - 10}`, stroke: "var(--tl-line)" }))
      boxes.forEach(([key, name], row) => {
        const lit = key === station.box
        const y = 19 + 23 * row
        const rect = { x, y, width: wide, height: 18, rx: 4, stroke: `var(--tl-${stack})` }
        const text = svg("text", { x: x + wide / 2, y: y + 13, "text-anchor": "middle", style: small }, name)
        if (lit) text.style.fill = "var(--tl-on-accent)"
        const box = svg("g", {}, svg("rect", { ...rect, fill: lit ? "var(--tl-accent)" : "var(--tl-card)" }), text)
        box.style.cursor = "pointer"
        box.addEventListener("click", () => go(stations.findIndex((other) => other.box === key)))
        found.push(box)
      })
    })
    const from = 19 + 23 * 8 + 9
    const to = 19 + 23 * 5 + 9
    found.push(svg("path", { d: `M${wide + 1} ${from}h5V${to}h5`, fill: "none", stroke: "var(--tl-ink)" }))
    const { d_model, heads, layers } = state
    const sizes = `d_k = ${d_model} / ${heads} = ${d_model / heads}, layers: ${layers} + ${layers}`
    found.push(svg("text", { x: 0, y: MAP_HIGH - 8, style: small, class: "tl-quiet" }, sizes))
    return found
  }

  // Goes to the station with this number, and moves the list with it.
  function go(at) {
    stops.querySelector("select").selectedIndex = at
    state.at = at
    draw()
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  const names = stationsOf(state, readWords(state, data), 0).map(({ name }, i) => `${i + 1} · ${name}`)
  const back = button({ label: "back", pressed: () => go(state.at - 1) })
  const next = button({ label: "next", pressed: () => go(state.at + 1) })
  const stops = choice({ label: "part", options: names, value: names[state.at], changed: (name) => go(names.indexOf(name)) })
  parts.controls.append(
    textBox({ label: "source sentence", value: state.source, changed: set("source") }),
    textBox({ label: "target so far", value: state.target, changed: set("target") }),
    ...Object.entries(SIZES).map(([label, values]) =>
      slider({ label, values, value: state[label], write: grouped, changed: set(label) })
    ),
    tick({ label: "one shared matrix", value: false, changed: set("shared") }),
    stops,
    back,
    next
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
