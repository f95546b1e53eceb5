// The matrices of one encoder layer to scale, and what its parts cost.

const SIZES = {
  seq_len: [1, 3, 10, 50, 200, 1000, 2048, 4000],
  d_model: [8, 16, 32, 64, 128, 256, 512, 1024],
  heads: [1, 2, 4, 8],
  d_ff: [12, 32, 128, 512, 2048, 4096],
}
const DRAWING = { seq_len: 3, d_model: 8, heads: 4, d_ff: 12 }

// The rows and columns of what is learned, and of what is computed. What has the same shape is drawn once.
function shapesOf({ seq_len, d_model, heads, d_ff }) {
  const d_k = d_model / heads
  return [
    { "W_Q, W_K, W_V": [d_model, d_k], W_O: [d_model, d_model], W_1: [d_model, d_ff], W_2: [d_ff, d_model] },
    { "X, Z": [seq_len, d_model], "Q, K, V": [seq_len, d_k], [_("scores")]: [seq_len, seq_len], "F_1, F_2": [seq_len, d_ff] },
  ]
}

// The rows of the table: names, parameters (a bias has one number for each column) and multiplications, in all heads together.
function costs({ seq_len, d_model, d_ff }) {
  const square = (d_model + 1) * d_model
  const rows = [
    ["Q, K, V", 3 * square, 3 * seq_len * d_model ** 2],
    [_("scores, heads"), 0, 2 * seq_len ** 2 * d_model],
    [_("joined · W_O"), square, seq_len * d_model ** 2],
    [_("feed-forward"), (d_model + 1) * d_ff + (d_ff + 1) * d_model, 2 * seq_len * d_model * d_ff],
    [_("norms (γ, β)"), 4 * d_model, 0],
  ]
  return [...rows, [_("the layer"), ...[1, 2].map((place) => rows.reduce((sum, row) => sum + row[place], 0))]]
}

// "W_Q" with its small letter below the line; what follows is on the line again.
const written = (name) =>
  name.split(/_(\w)/).map((part, i) => svg("tspan", i % 2 ? { dy: 4, "font-size": 10 } : { dy: i && -4 }, part))

// Places the matrices from left to right at `scale` pixels for each number, in new lines where `width` ends.
function placed(shapes, scale, width) {
  const places = {}
  let [top, right] = [24, 0]
  for (const group of shapes) {
    let [left, tallest] = [0, 0]
    for (const [name, [rows, columns]] of Object.entries(group)) {
      const room = Math.max(scale * columns, 6.8 * name.length, 6.3 * `(${rows}, ${columns})`.length)
      if (left && left + room > width - 2) {
        top += tallest + 46
        left = tallest = 0
      }
      places[name] = [left, top + 36]
      right = Math.max(right, left + room)
      tallest = Math.max(tallest, scale * rows, 2)
      left += room + 12
    }
    top += tallest + 46
  }
  return { places, high: top - 6, fits: right <= width - 2 && top <= (width > 500 ? 392 : 480) }
}

function start(parts, data) {
  const state = { ...DRAWING }
  let width
  let scale

  function draw() {
    const shapes = shapesOf(state)
    // There is room for a sentence as long as d_ff: while it grows, the scale and the places stay.
    const room = shapesOf({ ...state, seq_len: Math.max(state.seq_len, state.d_ff) })
    scale = 16
    let place = placed(room, scale, width)
    while (!place.fits) place = placed(room, (scale /= 2), width)
    const all = shapes.flatMap((group, i) => Object.entries(group).map((entry) => [...entry, i === 0]))
    const sizes = all.map(([name, [rows, columns]]) => `${name} (${rows}, ${columns})`).join("; ")
    parts.show(
      svg(
        "svg",
        { viewBox: `0 0 ${width} ${place.high}`, role: "img", "aria-label": _`To scale: ${sizes}` },
        ...ruler(),
        ...all.flatMap(([name, shape, learned]) => drawn(name, shape, learned, ...place.places[name]))
      ),
      table()
    )
    const told = [
      _("Dashed: learned. Solid: computed, with a row for each token."),
      _("What has the same shape is drawn once, and nothing thinner than 2 pixels."),
      _("Biases, γ and β are counted, but not drawn."),
    ]
    parts.say(told.join(" "))
  }

  // The scale, as on a map.
  function ruler() {
    const count = grouped(64 / scale)
    const line = svg("path", { d: "M1 5v10m0 -5h64m0 -5v10", stroke: "var(--tl-ink)", fill: "none" })
    return [line, svg("text", { x: 73, y: 15 }, _`${count} numbers`)]
  }

  function drawn(name, [rows, columns], learned, left, top) {
    const [x, wide, high] = [left + 1, Math.max(2, scale * columns), Math.max(2, scale * rows)]
    const nodes = [
      svg("text", { x: left, y: top - 21 }, ...written(name)),
      svg("text", { x: left, y: top - 6, class: "tl-quiet", style: "font-size:11px" }, `(${rows}, ${columns})`),
      svg("rect", {
        ...{ x, y: top, width: wide, height: high, fill: "var(--tl-card)" },
        stroke: learned ? "var(--tl-residual)" : "var(--tl-muted)",
        "stroke-dasharray": learned ? "4 2" : "none",
      }),
    ]
    if (scale >= 4) {
      const down = Array.from({ length: rows - 1 }, (_, i) => `M${x} ${top + (i + 1) * scale}h${wide}`)
      const along = Array.from({ length: columns - 1 }, (_, i) => `M${x + (i + 1) * scale} ${top}v${high}`)
      nodes.push(svg("path", { d: [...down, ...along].join(""), stroke: "var(--tl-surface)" }))
    }
    return nodes
  }

  function table() {
    const rows = costs(state)
    const whole = rows.at(-1)
    const head = [_("part"), _("parameters"), _("multiplications")].map((word) => html("th", { scope: "col" }, word))
    const body = rows.map((row) => {
      const [name, ...counts] = row
      const cells = counts.map((count, i) => {
        // As long as its share of the whole.
        const share = `${row === whole ? 0 : (100 * count) / whole[i + 1]}%`
        const colour = "color-mix(in srgb, var(--tl-accent) 25%, transparent)"
        const style = `background:linear-gradient(to right, ${colour} ${share}, transparent ${share})`
        return html("td", { style }, grouped(count))
      })
      return html("tr", {}, html("th", { scope: "row", style: "text-align:left" }, name), ...cells)
    })
    const look = { style: "overflow-wrap:normal;font-size:.8125rem" }
    return html("table", look, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body))
  }

  const sizes = Object.entries(SIZES).map(([label, values]) => {
    const changed = (value) => {
      state[label] = value
      draw()
    }
    return slider({ label, values, value: state[label], write: grouped, changed })
  })
  // Moves each slider, as its reader would.
  const choose = (wanted) => () =>
    Object.entries(SIZES).forEach(([name, values], i) => {
      const input = sizes[i].querySelector("input")
      input.value = values.indexOf(wanted[name])
      input.dispatchEvent(new Event("input"))
    })
  parts.controls.append(
    ...sizes,
    button({ label: _("drawing's sizes"), pressed: choose(DRAWING) }),
    button({ label: _("paper's sizes"), pressed: choose(data) })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
