// Pair i of the position table is a hand that turns by ω = 1 / 10000^(2i / d_model) at each position. Below the clocks: the dot
// product of the hands, turned by k positions, with the row of each position.

function start(parts, data) {
  const state = { d_model: data.d_model, pos: data.pos, k: data.k }
  const last = data.last
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
    const nodes = [svg("circle", { cx: x, cy: y, r: radius, fill: "none", stroke: "var(--tl-line)" })]
    if (state.k) {
      const large = Math.abs(omega * state.k) % (2 * Math.PI) > Math.PI ? 1 : 0
      const clockwise = state.k > 0 ? 1 : 0
      const inner = 0.7 * radius
      const [from, to] = [tip(state.pos, inner), tip(state.pos + state.k, inner)]
      const d = `M${x} ${y}L${from.join(" ")}A${inner} ${inner} 0 ${large} ${clockwise} ${to.join(" ")}Z`
      nodes.push(svg("path", { d, fill: "var(--tl-position)", "fill-opacity": 0.35 }))
    }
    nodes.push(hand(state.pos, { stroke: "var(--tl-position)", "stroke-width": 4 }))
    if (state.k)
      nodes.push(hand(state.pos + state.k, { stroke: "var(--tl-ink)", "stroke-width": 1.5, "stroke-dasharray": "4 3" }))
    return nodes
  }

  function words(x, y, size, pair, omega) {
    const [sine, cosine] = [Math.sin(omega * state.pos), Math.cos(omega * state.pos)]
    const lines = [_`hand ${pair}`, `ω ${short(omega)}`, `sin ${number(sine, 3)}`, `cos ${number(cosine, 3)}`]
    const turn = number(omega * state.k, 3)
    if (state.k) lines.push(_`turn ${turn}`)
    const look = { x, "text-anchor": "middle", style: `font-size:${size}px` }
    return lines.map((line, i) => svg("text", { ...look, y: y + 17 * i, class: i < 2 ? "tl-quiet" : "" }, line))
  }

  // How well the hands, turned by k, fit the row of each position: the sum of the cosines of the angles between them.
  function curve(top, wide) {
    const all = speeds()
    const most = all.length
    const [left, right, height] = [26, 12, 110]
    const across = (place) => left + (place / last) * (wide - left - right)
    const least = -0.15 * most // the curve stays above: no shift here turns the slow hands far
    const down = (fit) => top + 24 + ((most - fit) / (most - least)) * height
    const target = state.pos + state.k
    const fits = Array.from({ length: last + 1 }, (_, place) =>
      all.reduce((sum, omega) => sum + Math.cos(omega * (target - place)), 0)
    )
    const text = (x, y, anchor, words, quiet = true) =>
      svg("text", { x, y, "text-anchor": anchor, class: quiet ? "tl-quiet" : "", style: "font-size:12px" }, words)
    const nodes = [text(0, top + 8, "start", _("dot product with the row of each position"), false)]
    for (const fit of [most, most / 2, 0]) {
      const [x1, x2, y] = [left, wide - right, down(fit)]
      nodes.push(svg("line", { x1, x2, y1: y, y2: y, stroke: "var(--tl-line)", "stroke-width": 0.5 }))
      nodes.push(text(left - 5, y + 4, "end", String(fit)))
    }
    for (let place = 0; place <= last; place += 10)
      nodes.push(text(across(place), down(least) + 14, "middle", String(place)))
    nodes.push(
      svg("polyline", {
        points: fits.map((fit, place) => `${across(place).toFixed(1)},${down(fit).toFixed(1)}`).join(" "),
        fill: "none",
        stroke: "var(--tl-position)",
        "stroke-width": 2,
        class: "tl-fits",
        "data-fits": fits.map((fit) => fit.toFixed(4)).join(" "),
      })
    )
    if (target >= 0 && target <= last) {
      const [x, y] = [across(target), down(most)]
      nodes.push(svg("line", { x1: x, x2: x, y1: y, y2: down(least), stroke: "var(--tl-ink)", "stroke-dasharray": "4 3" }))
      nodes.push(svg("circle", { cx: x, cy: y, r: 5, fill: "var(--tl-ink)" }))
      const anchor = x > wide / 2 ? "end" : "start"
      nodes.push(text(x + (anchor === "end" ? -7 : 7), down(0) - 5, anchor, _`highest at ${target}`, false))
    }
    return nodes
  }

  function says() {
    const all = speeds()
    const { pos, k, d_model } = state
    if (!k) return _`The ${d_model} numbers are row ${pos} of the table. It fits itself best: the curve is highest at ${pos}.`
    const target = pos + k
    const seen = target >= 0 && target <= last
    const where = seen ? _`so the curve is highest at ${target}` : _`and the curve has no position ${target}`
    const slowest = all.length - 1
    const least = short(all[slowest] * k)
    const [turned, they] = [
      _`The dashed hands: position ${pos}, each hand turned by ω · k. That is ${k} radians in hand 0 and ${least} in hand ${slowest}, at every position.`,
      _`They are the hands of position ${target}, ${where}.`,
    ]
    return `${turned} ${they}`.replace(/(^| )-(?=\d)/g, "$1−")
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
    const below = 20 + height * (all.length / columns)
    const viewBox = `0 0 ${width} ${below + 165}`
    const axes = ["↑ cos", "→ sin"].map((words, i) => svg("text", { x: 52 * i, y: 12, class: "tl-quiet" }, words))
    const { pos, k } = state
    const label = k
      ? _`The hands at position ${pos} and turned by ${k}, and how well each row fits them`
      : _`The hands at position ${pos}, and how well each row fits them`
    parts.show(svg("svg", { viewBox, role: "img", "aria-label": label }, ...axes, ...clocks, ...curve(below + 6, width)))
    parts.say(says())
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  const from = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const signed = (value) => String(value).replace("-", "−")
  parts.controls.append(
    choice({ label: "d_model", options: [4, 8, 16], value: state.d_model, changed: set("d_model") }),
    slider({ label: _("position"), values: from(0, last), value: state.pos, changed: set("pos") }),
    slider({ label: _("shift k"), values: from(-10, 10), value: state.k, write: signed, changed: set("k") })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
