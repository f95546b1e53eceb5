// Pair i of the position table is a hand that turns by ω = 1 / 10000^(2i / d_model) at each position.

function start(parts, data) {
  const state = { d_model: data.d_model, pos: data.pos, k: data.k }
  const speeds = () =>
    Array.from({ length: state.d_model / 2 }, (_, pair) => 1 / 10000 ** ((2 * pair) / state.d_model))
  const short = (value) => String(Number(value.toPrecision(3)))

  // One clock, its middle at (x, y): the hand at pos, and with a shift the hand at pos + k and the turn between them.
  function clock(x, y, radius, omega) {
    const tip = (pos, length) => [x + length * Math.sin(omega * pos), y - length * Math.cos(omega * pos)]
    const hand = (pos, look) => {
      const [x2, y2] = tip(pos, radius)
      return svg("line", { x1: x, y1: y, x2, y2, class: "tl-hand", ...look })
    }
    const nodes = [
      svg("line", { x1: x - radius, y1: y, x2: x + radius, y2: y, stroke: "var(--tl-line)", "stroke-width": 0.5 }),
      svg("line", { x1: x, y1: y - radius, x2: x, y2: y + radius, stroke: "var(--tl-line)", "stroke-width": 0.5 }),
      svg("circle", { cx: x, cy: y, r: radius, fill: "none", stroke: "var(--tl-line)" }),
    ]
    if (state.k) {
      const large = (omega * state.k) % (2 * Math.PI) > Math.PI ? 1 : 0
      const inner = 0.7 * radius
      const [from, to] = [tip(state.pos, inner), tip(state.pos + state.k, inner)]
      nodes.push(
        svg("path", {
          d: `M${x} ${y}L${from.join(" ")}A${inner} ${inner} 0 ${large} 1 ${to.join(" ")}Z`,
          fill: "var(--tl-position)",
          "fill-opacity": 0.35,
        })
      )
    }
    nodes.push(hand(state.pos, { stroke: "var(--tl-position)", "stroke-width": 4 }))
    if (state.k)
      nodes.push(hand(state.pos + state.k, { stroke: "var(--tl-ink)", "stroke-width": 1.5, "stroke-dasharray": "4 3" }))
    return nodes
  }

  function words(x, y, size, pair, omega) {
    const [sine, cosine] = [Math.sin(omega * state.pos), Math.cos(omega * state.pos)]
    const lines = [`pair ${pair}`, `ω ${short(omega)}`, `sin ${number(sine, 3)}`, `cos ${number(cosine, 3)}`]
    if (state.k) lines.push(`turn ${number(omega * state.k, 3)}`)
    return lines.map((line, i) =>
      svg(
        "text",
        { x, y: y + 17 * i, "text-anchor": "middle", class: i < 2 ? "tl-quiet" : "", style: `font-size:${size}px` },
        line
      )
    )
  }

  function says() {
    const all = speeds()
    const { pos, k, d_model } = state
    const slowest = all[all.length - 1]
    if (!k)
      return (
        `The ${d_model} numbers are row ${pos} of the table. The fastest hand has made ${number(pos / (2 * Math.PI))} ` +
        `turns; the slowest needs ${grouped(Math.round((2 * Math.PI) / slowest))} positions for one.`
      )
    const product = all.reduce((sum, omega) => sum + Math.cos(omega * k), 0)
    return (
      `From position ${pos} to ${pos + k}, the dashed hands, each hand turns by ω · k: by ${k} radians in pair 0, by ` +
      `${short(slowest * k)} in pair ${all.length - 1}. The dot product of rows ${pos} and ${pos + k} is ` +
      `${number(product)}. Turns and product are the same at every position.`
    )
  }

  let width
  function draw() {
    const all = speeds()
    let columns = all.length
    while (columns > 2 && width / columns < 74) columns /= 2
    const cell = Math.min(150, width / columns)
    const radius = cell / 2 - 5
    const height = cell + 17 * (state.k ? 5 : 4) + 10
    const clocks = all.flatMap((omega, pair) => {
      const x = cell * ((pair % columns) + 0.5)
      const y = 20 + height * Math.floor(pair / columns) + cell / 2
      return [...clock(x, y, radius, omega), ...words(x, y + cell / 2 + 14, cell < 80 ? 12 : 13, pair, omega)]
    })
    const viewBox = `0 0 ${width} ${20 + height * (all.length / columns)}`
    const axes = ["↑ cos", "→ sin"].map((words, i) => svg("text", { x: 52 * i, y: 12, class: "tl-quiet" }, words))
    const label = `The hands at position ${state.pos}${state.k ? ` and at ${state.pos + state.k}` : ""}`
    parts.show(svg("svg", { viewBox, role: "img", "aria-label": label }, ...axes, ...clocks))
    parts.say(says())
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  const upTo = (last) => Array.from({ length: last + 1 }, (_, i) => i)
  parts.controls.append(
    choice({ label: "d_model", options: [4, 8, 16], value: state.d_model, changed: set("d_model") }),
    slider({ label: "position", values: upTo(60), value: state.pos, changed: set("pos") }),
    slider({ label: "shift k", values: upTo(20), value: state.k, changed: set("k") })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
