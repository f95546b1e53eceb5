// Attention, one number at a time: all numbers come from Python, and here is drawn where each of them comes from.

const pen = document.createElement("canvas").getContext("2d")
// How many pixels wide `text` is in letters of this size.
function widthOf(text, size, weight = 400) {
  pen.font = `${weight} ${size}px system-ui, sans-serif`
  return pen.measureText(text).width
}

// A number as it stands in a cell: without needless zeros; null is -∞.
const written = (value, digits = 3) =>
  value === null ? "−∞" : String(Number(value.toFixed(Math.abs(value) < 10 ? digits : 2))).replace("-", "−")

const colour = (role) => `var(--tl-${role})`
const tint = (role, part) => `color-mix(in srgb, ${colour(role)} ${part}%, ${colour("surface")})`

// "W_Q" with its Q below the line, "e^score" with the score above it.
function indexed(name, make) {
  const [, whole, sign, rest] = name.match(/^(\w)([_^])(\w+)$/) ?? []
  if (!whole) return [name]
  if (make === html) return [whole, html(sign === "_" ? "sub" : "sup", {}, rest)]
  return [whole, svg("tspan", { dy: sign === "_" ? 4 : -5, "font-size": 10.5 }, rest)]
}

// The steps for one word that asks and one head. Each has its numbers as [row, column] of the matrix `made`, and `from(row,
// column)`: the frames [matrix, row, column, role] around what makes this number, its calculation, and what that means.
function stepsOf(data, { word, look }) {
  const { asks, answers, heads, cache } = data
  const now = data.looks[look]
  const [asker, answering] = [`“${asks[word]}”`, (key) => (answers[key] === asks[word] ? "itself" : `“${answers[key]}”`)]
  const seen = answers.map((_, key) => key).filter((key) => !cache || key <= word)
  const columnsOf = (matrix) => {
    const part = matrix[0].length / heads
    return Array.from({ length: part }, (_, i) => (heads > 1 ? look : 0) * part + i)
  }
  const span = (role, text) => html("span", { style: `color:${colour(role)}` }, text)
  const factor = (value) => (value < 0 ? `(${written(value)})` : written(value))
  // "1·2 + 0·1 = 2"
  const products = (left, leftRole, right, rightRole, result) => [
    ...left.flatMap((value, i) => [
      i ? " + " : "",
      span(leftRole, factor(value)),
      "\u2009·\u2009",
      span(rightRole, factor(right[i])),
    ]),
    " = ",
    html("strong", {}, written(result)),
  ]
  const steps = []
  function add(name, title, made, numbers, from, more = {}) {
    steps.push({ name, title, made, numbers, from, stride: 1, ...more })
  }

  function project(name, role, letter, source, left, rows, result, says) {
    const right = data.w?.[role]
    if (!right) return
    const columns = columnsOf(right)
    add(
      name,
      `${name} = ${source}\u2009·\u2009W_${letter}`,
      "made",
      rows.flatMap((row) => columns.map((column) => [row, column])),
      (row, column) => ({
        frames: [
          ["left", row, null, "ink"],
          ["right", null, column, role],
        ],
        sum: products(left[row], "ink", right.map((line) => line[column]), role, result[row][column]),
        says: says(row),
      }),
      { product: { left, right, result, role, source, letter, rows, columns }, stride: columns.length }
    )
  }
  const given = data.memory ?? data.x
  const source = data.memory ? "M" : "X"
  const made = cache ? [word] : seen
  project("query", "query", "Q", "X", data.x, [word], data.q, () => `What ${asker} asks for: its row of X meets a column of W_Q.`)
  project("keys", "key", "K", source, given, made, data.k, (row) => `What “${answers[row]}” is found by: a query is compared with it.`)
  project("values", "value", "V", source, given, made, data.v, (row) => `What “${answers[row]}” has to say: this will be mixed.`)

  const single = seen.map((key) => [key, 0])
  if (now.dots) {
    const [q, k] = [columnsOf(data.q).map((column) => data.q[word][column]), (key) => columnsOf(data.k).map((c) => data.k[key][c])]
    add("compare", "compare: query\u2009·\u2009key", "dots", single, (key) => ({
      frames: [
        ["q", 0, null, "query"],
        ["k", key, null, "key"],
      ],
      sum: products(q, "query", k(key), "key", now.dots[word][key]),
      says: `How well does the query of ${asker} fit the key of “${answers[key]}”? The larger, the better.`,
    }))
    add("divide", `divide by √${data.d_k}`, "scores", single, (key) => ({
      frames: [["dots", key, 0, "ink"]],
      sum: [
        `${written(now.dots[word][key])} / √${data.d_k} = ${written(now.dots[word][key])} / ${written(data.root)} = `,
        html("strong", {}, written(now.scores[word][key])),
      ],
      says: `A key has ${data.d_k} numbers. Divided by √${data.d_k}, the product is the score.`,
    }))
  }
  if (now.masked) {
    add("mask", "mask", "masked", single, (key) => {
      const [score, masked] = [now.scores[word][key], now.masked[word][key]]
      return {
        frames: [["scores", key, 0, "ink"]],
        sum: [`${written(score)} → `, html("strong", {}, written(masked))],
        says:
          masked === null
            ? `${answering(key)} stands after ${asker}: its score becomes −∞.`
            : `${asker} may see ${answering(key)}: the score stays.`,
      }
    })
  }
  const scores = (now.masked ?? now.scores)[word]
  const power = (key) => (scores[key] === null ? ["0"] : ["e", html("sup", {}, written(scores[key]))])
  add("softmax", "softmax", "weights", single, (key) => ({
    frames: [
      ["exps", key, 0, "ink"],
      ["sum", 0, 0, "ink"],
    ],
    sum: [
      ...power(key),
      " / (",
      ...seen.flatMap((other, i) => [i ? " + " : "", ...power(other)]),
      `) = ${written(now.exps[word][key])} / ${written(now.sums[word])} = `,
      html("strong", {}, written(now.weights[word][key])),
    ],
    says:
      scores[key] === null
        ? `e to the power −∞ is 0: ${asker} sees nothing of ${answering(key)}, and the other weights sum to 1 by themselves.`
        : `${asker} gives ${answering(key)} ${number(now.weights[word][key], 3)} of its attention. All its weights sum to 1.`,
  }))
  if (now.mixed) {
    const columns = columnsOf(data.v)
    const numbers = columns.map((_, i) => [0, i])
    add("mix", "mix the values", "mixed", numbers, (_, column) => ({
      frames: [
        ["weights", null, 0, "accent"],
        ["v", null, column, "value"],
      ],
      sum: products(
        seen.map((key) => now.weights[word][key]),
        "accent",
        seen.map((key) => data.v[key][columns[column]]),
        "value",
        now.mixed[word][column]
      ),
      says: `Number ${column + 1} of what ${asker} becomes: each value as loud as its weight.`,
    }))
  }
  if (heads > 1) {
    const { joined, result } = data
    const right = data.w.output
    const all = right.map((_, column) => [0, column])
    const product = { left: [joined[word]], right, result: [result[word]], role: "residual", source: "joined", letter: "O", rows: [0] }
    const part = joined[0].length / heads
    add(
      "join",
      "join the heads",
      "left",
      all,
      (_, column) => ({
        frames: [],
        sum: [`head ${Math.floor(column / part)}, number ${(column % part) + 1}: `, html("strong", {}, written(joined[word][column]))],
        says: `What both heads found for ${asker}, side by side: as wide as a word again.`,
      }),
      { product }
    )
    add(
      "output",
      "output = joined\u2009·\u2009W_O",
      "made",
      all,
      (_, column) => ({
        frames: [
          ["left", 0, null, "ink"],
          ["right", null, column, "residual"],
        ],
        sum: products(joined[word], "ink", right.map((line) => line[column]), "residual", result[word][column]),
        says: `W_O mixes what the heads have found: number ${column + 1} of the output for ${asker}.`,
      }),
      { product }
    )
  }
  return steps
}

function start(parts, data) {
  const state = { word: data.word, look: 0, at: 0, number: 0 }
  const { asks, answers, heads, cache } = data
  let width, steps

  // ---- One picture: its matrices by name, each with its place, so that rows, columns and numbers can be framed. ----

  function picture(size, digits) {
    const high = Math.round(1.5 * size + (width < 560 ? 8 : 12))
    const places = {}
    const nodes = []
    let [right, bottom] = [0, 0]
    const reach = (x, y) => ([right, bottom] = [Math.max(right, x), Math.max(bottom, y)])
    const small = Math.min(width < 560 ? 12 : 14, size)
    const text = (x, y, words, { role = "ink", anchor = "start", bold = false, letters = small } = {}) => {
      const style = `font-size:${letters}px;font-weight:${bold ? 700 : 400};fill:${colour(role)}`
      nodes.push(svg("text", { x, y, "text-anchor": anchor, style }, ...indexed(words, svg)))
      const long = widthOf(words, letters, bold ? 700 : 400)
      reach(x + { start: long, middle: long / 2, end: 0 }[anchor], y + 4)
    }
    // As wide as the widest of these numbers.
    const cellFor = (rows, title = "") => {
      const longest = Math.max(...rows.flat().map((value) => widthOf(written(value, digits), size)))
      return Math.max(Math.ceil(longest + (size < 13 ? 6 : 10)), high - 6, Math.ceil(widthOf(title, small, 700) + 6))
    }
    // Draws `rows` as cells. `show(row, column)` is "" for a number that is not made yet, or how it looks.
    function matrix(name, rows, left, top, cell, { role, show = () => "known", cut = 0, write = written, more = {} }) {
      const x = (column) => left + cell * column + (cut ? 8 * Math.floor(column / cut) : 0)
      places[name] = { x, y: (row) => top + high * row, cell, rows: rows.length, columns: rows[0].length }
      rows.forEach((row, r) =>
        row.forEach((value, c) => {
          const how = show(r, c)
          const box = { x: x(c) + 1.5, y: top + high * r + 1.5, width: cell - 3, height: high - 3, rx: 4 }
          const fill = !how ? "none" : how === "grey" ? colour("card") : role ? tint(role, 16) : colour("card")
          const border = { fill, stroke: colour("line"), "stroke-width": how ? 0.75 : 0.5, "stroke-dasharray": how ? "none" : "2 3" }
          const group = svg("g", { "data-matrix": name, "data-row": r, "data-column": c }, svg("rect", { ...box, ...border }))
          const [weight, faint] = [more.weight?.(r, c), how === "grey" || how === "faint"]
          if (how && weight) group.append(svg("rect", { ...box, fill: colour("value"), "fill-opacity": 0.5 * weight }))
          if (how && more.hatched?.(r, c)) {
            const stripes = [0.5, 1, 1.5].map((part) => {
              const [from, to] = [Math.min(part, 1), Math.max(part - 1, 0)]
              return `M${box.x + to * box.width} ${box.y + from * box.height}L${box.x + from * box.width} ${box.y + to * box.height}`
            })
            group.append(svg("path", { d: stripes.join(""), stroke: colour("mask"), "stroke-opacity": 0.35 }))
          }
          if (how) {
            const place = { x: x(c) + cell / 2, y: top + high * (r + 0.5) + 0.35 * size, "text-anchor": "middle" }
            const style = `font-size:${size}px;fill:${colour(faint ? "muted" : "ink")}`
            group.append(svg("text", { ...place, style }, write(value, digits)))
          }
          const pressed = more.pressed?.(r, c) ?? reached(name, r, c)
          if (pressed) {
            group.style.cursor = "pointer"
            group.addEventListener(pressed.hover ? "pointerenter" : "click", pressed.go)
            if (pressed.hover) group.addEventListener("click", pressed.go)
          }
          nodes.push(group)
        })
      )
      reach(x(rows[0].length - 1) + cell + 2, top + high * rows.length + 2)
      return x(rows[0].length - 1) + cell
    }
    return { high, small, places, nodes, text, cellFor, matrix, reach, end: () => [right, bottom] }
  }

  // What a click on a number does: it goes to the step that makes it; in this step a touch is enough.
  function reached(name, row, column) {
    const at = steps.findLastIndex(
      (step, i) => step.made === name && (!step.product || i === state.at) && i <= state.at && numberOf(step, row, column) >= 0
    )
    if (at < 0) return
    const index = numberOf(steps[at], row, column)
    return { hover: at === state.at, go: () => (at !== state.at || index !== state.number) && go(at, index) }
  }
  const numberOf = (step, row, column) => step.numbers.findIndex(([r, c]) => r === row && c === column)
  const known = (name) => steps.findIndex((step) => step.name === name) <= state.at
  // Numbers of the step that is on appear one after the other.
  const showIn = (made) => (row, column) => {
    const at = steps.findIndex((step) => step.made === made && (!step.product || steps[state.at] === step))
    if (at < state.at) return "known"
    const index = at === state.at ? numberOf(steps[at], row, column) : -1
    return index >= 0 && index <= state.number ? "known" : ""
  }

  function names(pic, words, left, top, { bold = -1, role = "ink", from = 0 } = {}) {
    words.forEach((word, i) =>
      pic.text(left, top + pic.high * (i + 0.5) + 4.5, word, {
        anchor: "end",
        bold: i === bold,
        role: i === bold ? role : i < from ? "ink" : "muted",
      })
    )
  }
  const room = (pic, words) => 10 + Math.ceil(Math.max(...words.map((word) => widthOf(word, pic.small, 700))))

  // A product: a row of the left matrix and a column of the right one meet in the number that they make.
  function drawProduct(pic, step) {
    const { left, right, result, role, source, letter, rows, columns } = step.product
    const own = source === "joined" ? [] : left === data.x ? asks : answers
    const label = own.length ? room(pic, own) : 2
    const [cell, other] = [pic.cellFor(left), pic.cellFor([...right, ...result])]
    const cut = heads > 1 ? right[0].length / heads : 0
    const [top, below] = [pic.small + 8, pic.small + 8 + pic.high * right.length + pic.small + 18]
    const line = pic.small + 8
    const joining = step.made === "left"
    const grey = (row) => cache && row < word()
    pic.text(label, below - 7, { X: "words X", M: "memory M", joined: `heads of ${asks[word()]}` }[source], { bold: true })
    names(pic, own, label - 8, below, { bold: rows.length === 1 ? rows[0] : -1, role: "query" })
    const middle = pic.matrix("left", left, label, below, cell, {
      cut: source === "joined" ? cut : 0,
      show: joining ? showIn("left") : (row) => (cache && row > word() ? "" : grey(row) ? "grey" : "known"),
    })
    const x = middle + Math.round(1.4 * pic.small)
    const ofHead = (column) => !columns || columns.includes(column)
    pic.text(x, top - 7, `W_${letter}`, { bold: true, role })
    pic.matrix("right", right, x, top, other, {
      cut: source === "joined" ? 0 : cut,
      role,
      show: (_, column) => (ofHead(column) ? "known" : "grey"),
    })
    pic.text(x, below - 7, { Q: "queries", K: "keys", V: "values", O: "output" }[letter], { bold: true, role })
    pic.matrix("made", result, x, below, other, {
      cut: source === "joined" ? 0 : cut,
      role,
      show(row, column) {
        if (joining) return ""
        const kept = (grey(row) && letter !== "Q") || (!ofHead(column) && rows.includes(row))
        return kept ? "grey" : showIn("made")(row, column)
      },
    })
    if (cut) {
      const half = pic.places[source === "joined" ? "left" : "made"]
      for (let head = 0; head < heads; head++) {
        const from = half.x(head * cut)
        const at = { anchor: "middle", role: head === state.look && source !== "joined" ? "ink" : "muted" }
        pic.text((from + half.x(head * cut + cut - 1) + half.cell) / 2, below + pic.high * result.length + line - 2, `head ${head}`, at)
      }
    }
  }
  const word = () => state.word

  // The look-up: a line for each word that answers, from its key to its value; the query above the keys, the mixture below
  // the values. Two lines of matrices where one is too wide.
  function drawLook(pic) {
    const now = data.looks[state.look]
    const part = (matrix) => {
      const size = matrix[0].length / heads
      return matrix.map((row) => row.slice((heads > 1 ? state.look : 0) * size).slice(0, size))
    }
    const column = (row) => row[word()].map((value) => [value])
    const masked = now.masked?.[word()]
    const written_yet = (show) => (row, c) => (cache && row > word() ? "" : show(row, c))
    const groups = []
    const made = (name, title, rows, more = {}) =>
      groups.push({ name, title, rows: column(rows), show: written_yet(showIn(name)), more, gap: 4 })
    if (data.k) {
      const kept = (row) => (cache && row < word() ? "grey" : "known")
      groups.push({ name: "k", title: "keys", rows: part(data.k), role: "key", show: written_yet(kept), gap: 16, query: part(data.q)[word()] })
    }
    if (now.dots) made("dots", "q · k", now.dots)
    if (now.dots) made("scores", `÷ √${data.d_k}`, now.scores)
    else groups.push({ name: "scores", title: "score", rows: column(now.scores), gap: 4 })
    if (masked) made("masked", "mask", now.masked, { hatched: (row) => masked[row] === null })
    const soft = known("softmax") ? "known" : ""
    const soften = groups.length
    groups.push({ name: "exps", title: "e^score", rows: column(now.exps), show: written_yet(() => soft), gap: 4, sum: soft && now.sums[word()] })
    const loud = { weight: (row) => now.weights[word()][row], hatched: (row) => masked?.[row] === null }
    made("weights", "weight", now.weights, loud)
    if (now.mixed) {
      const kept = (row) => (cache && row < word() ? "grey" : "known")
      const rows = part(data.v)
      groups.push({ name: "v", title: "values", rows, role: "value", show: written_yet(kept), before: 12, gap: 0, mixed: now.mixed[word()] })
    }

    const label = room(pic, [...asks, ...answers])
    const lines = width < 560 && data.k ? [groups.slice(0, soften), groups.slice(soften)] : [groups]
    let top = 0
    let end = 0
    for (const line of lines) {
      const query = line.find((group) => group.query)
      const head = query ? pic.small + 8 + pic.high : 0
      const first = top + head + pic.small + 16
      names(pic, answers, label - 8, first)
      let left = label
      for (const group of line) {
        const foot = group.mixed ?? group.query ?? []
        const cell = pic.cellFor([...group.rows, foot, [group.sum || 0]], group.rows[0].length === 1 ? group.title.replace("^", "") : "")
        left += group.before ?? 0
        const on = steps[state.at].made === group.name
        const style = { bold: true, role: on ? "accent" : (group.role ?? "muted") }
        if (group.query) {
          pic.text(label, top + pic.small + 1, "query", { bold: true, role: "query" })
          pic.text(label - 8, top + pic.small + 8 + pic.high / 2 + 4.5, asks[word()], { anchor: "end", bold: true, role: "query" })
          pic.matrix("q", [group.query], left, top + pic.small + 8, cell, { role: "query" })
        }
        if (group.rows[0].length > 1) pic.text(left, first - 7, group.title, style)
        else pic.text(left + cell / 2, first - 7, group.title, { ...style, anchor: "middle" })
        const after = pic.matrix(group.name, group.rows, left, first, cell, group)
        const last = first + pic.high * group.rows.length + 8
        if (group.sum !== undefined) {
          pic.text(left - 6, last + pic.high / 2 + 4.5, "sum", { anchor: "end", role: "muted" })
          pic.matrix("sum", [[group.sum || 0]], left, last, cell, { show: () => group.sum && "known" })
        }
        if (group.mixed) {
          pic.text(left - 6, last + pic.high / 2 + 4.5, "mixture", { anchor: "end", role: steps[state.at].made === "mixed" ? "accent" : "muted", bold: true })
          pic.matrix("mixed", [group.mixed], left, last, cell, { role: "value", show: showIn("mixed") })
        }
        left = after + group.gap
      }
      end = Math.max(end, left)
      top = pic.end()[1] + 14
    }
    if (data.map) drawMap(pic, now, label, end, top)
  }

  // The weights of all words that ask: beside the look-up where there is room, else below it.
  function drawMap(pic, now, label, end, below) {
    const full = known("softmax")
    const cell = Math.max(pic.cellFor(now.weights), ...answers.map((one) => Math.ceil(widthOf(one, pic.small) + 8)))
    const beside = end + 24 + label + cell * answers.length <= width && end > 0
    const [left, top] = beside ? [end + 24 + label, 0] : [label, below]
    pic.text(left, top + pic.small + 1, data.map, { bold: true, role: "muted" })
    answers.forEach((one, i) => pic.text(left + cell * (i + 0.5), top + 2 * pic.small + 8, one, { anchor: "middle", role: "muted" }))
    const first = top + 2 * pic.small + 15
    names(pic, asks, left - 8, first, { bold: word(), role: "query" })
    const masked = (row, column) => now.masked?.[row][column] === null
    pic.matrix("map", now.weights, left, first, cell, {
      show: (row) => (full && !(cache && row > word()) ? "known" : ""),
      more: {
        weight: (row, column) => now.weights[row][column],
        hatched: masked,
        pressed: (row) => row !== word() && { go: () => choose(row) },
      },
    })
  }

  // The largest letters with which the picture is not too wide.
  function fitting(draw, large = 20) {
    for (const digits of [3, 2]) {
      for (let size = width < 560 ? 17 : large; size >= (digits === 3 ? 13 : 10.5); size -= 0.5) {
        const pic = picture(size, digits)
        draw(pic)
        if (pic.end()[0] <= width) return pic
      }
    }
    throw new Error("the picture is too wide")
  }

  function frame(pic, [name, row, column, role], thick = 2.5) {
    const { x, y, cell, rows, columns } = pic.places[name]
    const [from, to] = [x(column ?? 0), x(column ?? columns - 1) + cell]
    const box = { x: from, y: y(row ?? 0), width: to - from, height: pic.high * (row === null ? rows : 1) }
    return svg("rect", { ...box, rx: 5, fill: "none", stroke: colour(role), "stroke-width": thick, "pointer-events": "none", "data-frame": name })
  }

  function draw() {
    steps = stepsOf(data, state)
    const step = steps[state.at]
    const [row, column] = step.numbers[state.number]
    const { frames, sum, says } = step.from(row, column)
    const pic = step.product ? fitting((pic) => drawProduct(pic, step), 24) : fitting(drawLook)
    const lit = frame(pic, [step.made, row, column, "accent"], 3)
    lit.style.fill = colour("accent")
    lit.style.fillOpacity = 0.16
    if (step.name === "softmax" && data.map) frames.push(["map", word(), null, "query"])
    const high = pic.end()[1]
    const label = `${step.title}. ${sum.map((part) => part.textContent ?? part).join("")}. ${says}`
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${high}`, role: "img", "aria-label": label }, ...pic.nodes, ...frames.map((one) => frame(pic, one)), lit)
    const line = "margin:0;font-size:1.1875rem;line-height:1.7;font-variant-numeric:tabular-nums"
    parts.show(html("p", { class: "tl-sum", style: line }, ...sum), drawing)
    parts.say(`${says}${data.notes[step.name] ? ` ${data.notes[step.name]}` : ""}`)
    back.disabled = state.at === 0
    next.disabled = state.at === steps.length - 1
  }

  const numbers = html("span", { style: "display:contents" })
  // Goes to a number of a step, with its list and slider.
  function go(at, number = 0) {
    stops.querySelector("select").selectedIndex = at
    Object.assign(state, { at, number })
    draw()
    const all = steps[at].numbers.map((_, i) => i)
    numbers.replaceChildren(
      slider({
        label: "number",
        values: all,
        value: number,
        write: (i) => `${i + 1} of ${all.length}`,
        changed(i) {
          state.number = i
          draw()
        },
      })
    )
  }
  function choose(chosen) {
    state.word = chosen
    who.put(chosen)
    go(state.at, Math.min(state.number, stepsOf(data, state)[state.at].numbers.length - 1))
  }
  function forward() {
    const { stride, numbers } = steps[state.at]
    if (state.number + stride < numbers.length) go(state.at, state.number + stride)
    else if (state.at < steps.length - 1) go(state.at + 1)
    else {
      go(0)
      return false
    }
    return true
  }
  steps = stepsOf(data, state)
  const byHand = (act) => (value) => {
    play.stop()
    act(value)
  }
  const who = buttons({ label: data.who, options: asks.map((_, i) => i), value: state.word, write: (i) => asks[i], changed: byHand(choose) })
  const looks = data.looks.map((_, i) => i)
  const which = buttons({
    label: data.which,
    options: looks,
    value: 0,
    write: (i) => data.looks[i].name,
    changed: byHand((i) => {
      const { name } = steps[state.at]
      state.look = i
      const same = stepsOf(data, state).findIndex((step) => step.name === name)
      listSteps()
      go(Math.max(same, 0))
    }),
  })
  const stops = html("span", { style: "display:contents" })
  // The steps of this look: a masked one has one more.
  function listSteps() {
    const titles = stepsOf(data, state).map(({ title }, i) => `${i + 1} · ${title}`)
    const list = choice({ label: "step", options: titles, value: titles[0], changed: byHand((title) => go(titles.indexOf(title))) })
    list.lastChild.disabled = titles.length < 2
    stops.replaceChildren(list)
  }
  const back = button({ label: "back", pressed: byHand(() => go(state.at - 1)) })
  const next = button({ label: "next", pressed: byHand(() => go(state.at + 1)) })
  const play = player({ label: "next number", seconds: 1.5, forward })
  const row = html("div", { style: "display:flex;flex-wrap:wrap;gap:.4rem" }, back, next, play.node)
  parts.controls.append(who.node, ...(looks.length > 1 ? [which.node] : []), stops, row, numbers)
  listSteps()
  parts.drawInWidth((newWidth) => {
    width = newWidth
    go(state.at, state.number)
  })
}
