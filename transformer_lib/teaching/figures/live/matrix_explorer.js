// One encoder layer: its matrices to scale, their counts, and the row and the column behind one number of a result.

const SIZES = {
  seq_len: [1, 3, 10, 50, 200, 1000, 2048, 4000],
  d_model: [8, 16, 32, 64, 128, 256, 512, 1024],
  heads: [1, 2, 4, 8],
  d_ff: [12, 32, 128, 512, 2048, 4096],
}
const DRAWING = { seq_len: 3, d_model: 8, heads: 4, d_ff: 12 }

// What the layer computes: names of matrices, and between them the signs.
const EQUATIONS = [
  ["X", "·", "W_Q", "W_K", "W_V", "=", "Q", "K", "V"],
  ["Q", "·", "Kᵀ", "/ √d_k =", "scores", "softmax →", "weights", "·", "V", "=", "head 1"],
  ["joined", "·", "W_O", "=", "attention output", "+ X, norm →", "Z"],
  ["Z", "·", "W_1", "+ b_1 =", "F_1"],
  ["ReLU →", "F_2", "·", "W_2", "+ b_2 =", "F_3", "+ Z, norm →", "output"],
]
const LEGEND = "Dashed: learned. Biases, γ and β are counted, but not drawn. Nothing is drawn thinner than 2 pixels."
const LEARNED = ["W_Q", "W_K", "W_V", "W_O", "W_1", "W_2"]

// The products among them: the number of the equation, left · right = result.
const PRODUCTS = [
  { line: 0, left: "X", right: "W_Q", result: "Q", each: true },
  { line: 0, left: "X", right: "W_K", result: "K", each: true },
  { line: 0, left: "X", right: "W_V", result: "V", each: true },
  { line: 1, left: "Q", right: "Kᵀ", result: "scores", each: true },
  { line: 1, left: "weights", right: "V", result: "head 1", each: true },
  { line: 2, left: "joined", right: "W_O", result: "attention output" },
  { line: 3, left: "Z", right: "W_1", result: "F_1" },
  { line: 4, left: "F_2", right: "W_2", result: "F_3" },
]

// The rows and columns of each matrix.
function shapesOf({ seq_len, d_model, heads, d_ff }) {
  const d_k = d_model / heads
  const all = (names, ...shape) => Object.fromEntries(names.map((name) => [name, shape]))
  return {
    ...all(["X", "joined", "attention output", "Z", "F_3", "output"], seq_len, d_model),
    ...all(["W_Q", "W_K", "W_V"], d_model, d_k),
    ...all(["Q", "K", "V", "head 1"], seq_len, d_k),
    ...all(["Kᵀ"], d_k, seq_len),
    ...all(["scores", "weights"], seq_len, seq_len),
    ...all(["W_O"], d_model, d_model),
    ...all(["W_1"], d_model, d_ff),
    ...all(["W_2"], d_ff, d_model),
    ...all(["F_1", "F_2"], seq_len, d_ff),
  }
}

// What the layer's parts cost: each with the products that it consists of.
const PARTS = { "Q, K, V": [0, 1, 2], "scores, heads": [3, 4], "joined · W_O": [5], "feed-forward": [6, 7] }

// Parameters (a bias has one number for each column) and multiplications of a product, in all heads together.
function costOf(product, shapes, heads) {
  const [rows, inner] = shapes[product.left]
  const columns = shapes[product.right][1]
  const times = product.each ? heads : 1
  return [LEARNED.includes(product.right) ? times * (inner + 1) * columns : 0, times * rows * inner * columns]
}

// The rows of the table: names, parameters and multiplications.
function costs(shapes, { heads, d_model }) {
  const add = (lists) => lists.reduce((sums, list) => sums.map((sum, i) => sum + list[i]), [0, 0])
  const rows = Object.entries(PARTS).map(([name, numbers]) => [
    name,
    ...add(numbers.map((i) => costOf(PRODUCTS[i], shapes, heads))),
  ])
  rows.push(["norms (γ, β)", 4 * d_model, 0])
  return [...rows, ["the layer", ...add(rows.map(([, ...counts]) => counts))]]
}

// "W_Q" with its small letter below the line; what follows is on the line again.
function written(name) {
  const [whole, rest] = name.split("_")
  return rest ? [whole, svg("tspan", { dy: 4, "font-size": 10 }, rest[0]), svg("tspan", { dy: -4 }, rest.slice(1))] : [whole]
}

// Places every matrix and sign from left to right at `scale` pixels for each number, in new lines where `width` ends.
// `equations` are pairs: the number of an equation, and its names and signs; `top` is where they begin.
function placed(equations, shapes, scale, width, top = 0) {
  const items = []
  for (const [line, equation] of equations) {
    let row = []
    let left = 0
    const finish = () => {
      const tallest = Math.max(16, ...row.map((item) => item.high))
      for (const item of row) item.middle = top + 36 + tallest / 2
      top += tallest + 50
      items.push(...row)
    }
    for (const name of equation) {
      const [rows, columns] = shapes[name] ?? [0, 0]
      const high = rows && Math.max(2, rows * scale)
      const wide = columns && Math.max(2, columns * scale)
      const words = rows ? Math.max(7 * name.length, 6.3 * `(${rows}, ${columns})`.length) : 7.4 * name.length
      const room = Math.max(wide, words) + 12
      if (left + room > width + 12 && row.length) {
        finish()
        row = []
        left = 0
      }
      row.push({ line, name, rows, columns, high, wide, left })
      left += room
    }
    finish()
  }
  return { items, high: top, fits: items.every((item) => item.left + item.wide <= width - 2) }
}

function start(parts, data) {
  const state = { ...DRAWING, product: PRODUCTS[0], row: 1, column: 1 }
  let width

  function draw() {
    const shapes = shapesOf(state)
    const { product } = state
    let scale = 16
    let place = placed(EQUATIONS.entries(), shapes, scale, width)
    // Smaller until it is not too high; but the longest side keeps a length that can be seen.
    const longest = Math.max(...Object.values(shapes).flat())
    while (!place.fits || (place.high > 620 && scale * longest > (width > 500 ? 120 : 80))) {
      scale *= 0.94
      place = placed(EQUATIONS.entries(), shapes, scale, width)
    }
    const larger = enlarged(shapes, scale, place.high)
    const names = place.items.filter((item) => item.rows).map((item) => `${item.name} (${item.rows}, ${item.columns})`)
    parts.show(
      svg(
        "svg",
        { viewBox: `0 0 ${width} ${larger?.high ?? place.high}`, role: "img", "aria-label": `To scale: ${names.join(", ")}` },
        ...place.items.flatMap((item) => drawn(item, scale)),
        ...(larger ? larger.nodes : [])
      ),
      table(shapes)
    )
    const inner = shapes[product.right][0]
    const [parameters, multiplications] = costOf(product, shapes, state.heads)
    const all = product.each && state.heads > 1 ? ` in all ${state.heads} heads` : ""
    parts.say(
      `One number of ${product.result}: row ${state.row} of ${product.left} times column ${state.column} of ` +
        `${product.right}, ${grouped(inner)} multiplications. ` +
        `The whole product${all}: ${grouped(multiplications)}. ` +
        (parameters ? `${product.right} with its bias${all}: ${grouped(parameters)} parameters.` : "No parameters.")
    )
  }

  // The chosen product once more below `top`, where it has become small: with a scale of its own.
  function enlarged(shapes, small, top) {
    if (small >= 3) return
    const { line, left, right, result } = state.product
    const at = (scale) => placed([[line, [left, "·", right, "=", result]]], shapes, scale, width, top + 22)
    let scale = 3
    let place = at(scale)
    while (!place.fits || place.high - top > 280) place = at((scale *= 0.94))
    if (scale < 1.5 * small) return
    const words = `the chosen product, ${number(scale / small, 1)} times as large:`
    const title = svg("text", { x: 0, y: top + 14, style: "font-weight:600" }, words)
    return { nodes: [title, ...place.items.flatMap((item) => drawn(item, scale, 2))], high: place.high }
  }

  // The nodes of a matrix or a sign; what is lit is at least `thinnest` pixels thick.
  function drawn(item, scale, thinnest = 1) {
    if (!item.rows) return [svg("text", { x: item.left, y: item.middle + 5 }, ...written(item.name))]
    const { product } = state
    const { line, name, rows, columns, high, wide } = item
    const [x, y] = [item.left + 1, item.middle - high / 2]
    const learned = LEARNED.includes(name)
    const lit = line === product.line && [product.left, product.right, product.result].includes(name)
    const box = { x, y, width: wide, height: high }
    const nodes = [
      svg("text", { x: item.left, y: y - 23, "font-weight": lit ? 700 : 400 }, ...written(name)),
      svg("text", { x: item.left, y: y - 6, class: "tl-quiet", style: "font-size:11px" }, `(${rows}, ${columns})`),
      svg("rect", { ...box, fill: "var(--tl-card)" }),
    ]
    if (lit) {
      const thick = Math.min(Math.max(thinnest, scale), wide, high)
      const down = Math.min(y + state.row * scale, y + high - thick)
      const along = Math.min(x + state.column * scale, x + wide - thick)
      const part = {
        [product.left]: { ...box, y: down, height: thick },
        [product.right]: { ...box, x: along, width: thick },
        [product.result]: { x: along, y: down, width: thick, height: thick },
      }[name]
      nodes.push(svg("rect", { ...part, fill: "var(--tl-accent)", class: "tl-lit" }))
    }
    if (scale >= 5) {
      const down = Array.from({ length: rows - 1 }, (_, i) => `M${x} ${y + (i + 1) * scale}h${wide}`)
      const along = Array.from({ length: columns - 1 }, (_, i) => `M${x + (i + 1) * scale} ${y}v${high}`)
      nodes.push(svg("path", { d: [...down, ...along].join(""), stroke: "var(--tl-surface)" }))
    }
    const frame = svg("rect", {
      ...box,
      fill: "transparent",
      stroke: learned ? "var(--tl-residual)" : "var(--tl-muted)",
      "stroke-dasharray": learned ? "4 2" : "none",
    })
    const made = PRODUCTS.find((other) => other.line === line && other.result === name)
    if (made) {
      frame.addEventListener("pointermove", (event) => {
        const at = frame.getBoundingClientRect()
        const step = (part, whole) => Math.min(Math.max(Math.floor(part * whole), 0), whole - 1)
        // A new product brings new sliders for its rows and columns.
        if (made !== state.product) put(products, PRODUCTS.indexOf(made))
        put(numbers.firstChild, step((event.clientY - at.top) / at.height, rows))
        put(numbers.lastChild, step((event.clientX - at.left) / at.width, columns))
      })
    }
    return [...nodes, frame]
  }

  function table(shapes) {
    const rows = costs(shapes, state)
    const whole = rows.at(-1)
    const head = ["part", "parameters", "multiplications in matrix products"].map((word) => html("th", { scope: "col" }, word))
    const body = rows.map(([name, ...counts]) => {
      const lit = PARTS[name]?.includes(PRODUCTS.indexOf(state.product))
      const cells = counts.map((count, i) => {
        // As long as its share of the whole.
        const share = `${(100 * count) / whole[i + 1]}%`
        const colour = "color-mix(in srgb, var(--tl-accent) 25%, transparent)"
        const bar = `background:linear-gradient(to right, ${colour} ${share}, transparent ${share})`
        return html("td", { style: name === whole[0] ? "" : bar }, grouped(count))
      })
      // The part of the chosen product is marked.
      const mark = lit ? ";color:var(--tl-ink);box-shadow:inset .3rem 0 var(--tl-accent)" : ""
      const title = html("th", { scope: "row", style: `text-align:left;padding-left:.6rem${mark}` }, name)
      return html("tr", name === whole[0] ? { style: "font-weight:700" } : {}, title, ...cells)
    })
    return html(
      "table",
      { style: "overflow-wrap:normal;font-size:.8125rem" },
      html("caption", { style: "caption-side:bottom;text-align:left;color:var(--tl-muted)" }, LEGEND),
      html("thead", {}, html("tr", {}, ...head)),
      html("tbody", {}, ...body)
    )
  }

  // Moves the control in `label` to its `index`-th value, as its reader would.
  function put(label, index) {
    const field = label.querySelector("input, select")
    if (field.matches("select")) field.selectedIndex = index
    else field.value = index
    field.dispatchEvent(new Event(field.matches("select") ? "change" : "input"))
  }

  const numbers = html("div", { class: "tl-controls", style: "margin:0" })
  // The row and the column of one number, counted from 0 as in code: as many as the result of the product has.
  function chooseNumber() {
    const shape = shapesOf(state)[state.product.result]
    numbers.replaceChildren(
      ...["row", "column"].map((name, axis) => {
        const values = Array.from({ length: shape[axis] }, (_, i) => i)
        state[name] = Math.min(state[name], shape[axis] - 1)
        return slider({
          label: name,
          values,
          value: state[name],
          changed: (value) => {
            state[name] = value
            draw()
          },
        })
      })
    )
  }

  const set = (name) => (value) => {
    state[name] = value
    chooseNumber()
    draw()
  }
  const sizes = Object.entries(SIZES).map(([label, values]) =>
    slider({ label, values, value: state[label], write: grouped, changed: set(label) })
  )
  const choose = (wanted) => () => {
    Object.entries(SIZES).forEach(([name, values], i) => put(sizes[i], values.indexOf(wanted[name])))
    // The row and the column in the middle.
    for (const label of numbers.children) put(label, Math.ceil(label.querySelector("input").max / 2))
  }
  const products = choice({
    label: "product",
    options: PRODUCTS,
    value: state.product,
    write: ({ left, right, result }) => `${result} = ${left} · ${right}`,
    changed: set("product"),
  })
  parts.controls.append(
    button({ label: "drawing's sizes", pressed: choose(DRAWING) }),
    button({ label: "paper's sizes", pressed: choose(data) }),
    products,
    numbers
  )
  // The sizes stay in view, below the page's own bar, while one reads the table far below.
  const stay = "position:sticky;top:3rem;z-index:1;padding:.6rem 0 .3rem;gap:.1rem 1.25rem;background:var(--tl-surface)"
  parts.controls.before(html("div", { class: "tl-controls tl-held", style: stay }, ...sizes))
  chooseNumber()
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
