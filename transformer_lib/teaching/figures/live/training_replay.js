// A recorded training, stopped at one of its steps: three curves with a dot, a map of cross-attention, and what is written.

function start(parts, data) {
  const { sentences, source, target, stops } = data
  const state = { at: 0, watched: data.watched }
  const last = stops.at(-1).step
  const word = () => target[state.watched]
  const probability = (word) => _`probability of “${word}”`
  const curves = () => [
    { name: _("loss in nats"), of: ({ loss }) => loss, most: Math.ceil(stops[0].loss), digits: 2 },
    { name: _("right, of 100 new sentences"), of: ({ right }) => right, most: 100, digits: 0 },
    { name: probability(word()), of: ({ chances }) => chances[state.watched], most: 1, digits: 2 },
  ]
  function drawCurve({ name, of, most, digits }, i, wide) {
    const [left, top, high] = [30, 26 + 116 * i, 66]
    const x = (step) => left + ((wide - left - 8) * step) / last
    const y = (value) => top + high - (high * value) / most
    const points = (some) => some.map((stop) => `${number(x(stop.step))},${number(y(of(stop)))}`).join(" ")
    const now = stops[state.at]
    const line = { fill: "none", "stroke-width": 2 }
    const axis = { stroke: "var(--tl-line)", "stroke-width": 0.7 }
    return [
      svg("text", { x: 0, y: top - 11, "font-weight": 600 }, `${name}: ${number(of(now), digits)}`),
      ...[0, most].flatMap((value) => [
        svg("line", { x1: left, y1: y(value), x2: x(last), y2: y(value), ...axis }),
        svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end", class: "tl-quiet" }, value),
      ]),
      svg("polyline", { points: points(stops), ...line, stroke: "var(--tl-line)", "stroke-dasharray": "2 3" }),
      svg("polyline", { points: points(stops.slice(0, state.at + 1)), ...line, stroke: "var(--tl-query)" }),
      svg("circle", { cx: x(now.step), cy: y(of(now)), r: 5, fill: "var(--tl-accent)" }),
      svg("text", { x: left, y: top + high + 15, class: "tl-quiet" }, 0),
      svg("text", { x: x(last), y: top + high + 15, "text-anchor": "end", class: "tl-quiet" }, _`${last} steps`),
    ]
  }

  // A row for each token of the right translation, a column for each source word; beside it the token's probability.
  function drawMap(left, top, wide) {
    const { weights, chances } = stops[state.at]
    const [label, chance, high] = [66, 46, 30]
    const cell = Math.min(52, (wide - label - chance) / source.length)
    const first = top + 42
    const nodes = [svg("text", { x: left, y: top + 13, "font-weight": 600 }, _("where each French token looks"))]
    source.forEach((word, column) =>
      nodes.push(
        svg("text", { x: left + label + cell * (column + 0.5), y: first - 7, "text-anchor": "middle", class: "tl-quiet" }, word)
      )
    )
    const end = left + label + cell * source.length + 8
    nodes.push(svg("text", { x: end, y: first - 7, class: "tl-quiet" }, _("prob.")))
    weights.forEach((row, place) => {
      const middle = first + high * (place + 0.5) + 4.5
      const bold = place === state.watched ? 700 : 400
      nodes.push(
        svg("text", { x: left + label - 8, y: middle, "text-anchor": "end", "font-weight": bold, lang: "fr" }, target[place]),
        svg("text", { x: end, y: middle, "font-weight": bold }, number(chances[place]))
      )
      row.forEach((weight, column) => {
        const at = left + label + cell * column
        const fill = `color-mix(in srgb, var(--tl-query) ${Math.round(100 * weight)}%, var(--tl-card))`
        const text = svg("text", { x: at + cell / 2, y: middle, "text-anchor": "middle" }, number(weight))
        if (weight > 0.5) text.style.fill = "var(--tl-on-accent)"
        const box = { x: at + 1, y: first + high * place + 1, width: cell - 2, height: high - 2, rx: 3 }
        nodes.push(svg("g", { "data-weight": "" }, svg("rect", { ...box, fill }), text))
      })
    })
    const box = { x: left + label - 1, y: first + high * state.watched - 1, width: cell * source.length + 2, height: high + 2 }
    nodes.push(svg("rect", { ...box, rx: 4, fill: "none", stroke: "var(--tl-accent)", "stroke-width": 2.5 }))
    return { nodes, bottom: first + high * target.length }
  }

  function table() {
    const { written } = stops[state.at]
    const rows = sentences.map(([english, french], i) => {
      const right = written[i] === french
      const look = `text-align:left;overflow-wrap:anywhere${right ? ";font-weight:700;color:var(--tl-right)" : ""}`
      const words = html("span", { lang: "fr" }, written[i])
      return html(
        "tr",
        {},
        html("th", { scope: "row", style: "text-align:left" }, english),
        html("td", { style: look }, words, right ? " ✓" : "")
      )
    })
    const head = [_("given"), _("it writes")].map((name) => html("th", { scope: "col", style: "text-align:left" }, name))
    return html("table", { style: "width:100%;margin:.6rem 0" }, html("tr", {}, ...head), ...rows)
  }

  function says() {
    const { step, loss, right, weights, chances } = stops[state.at]
    const row = weights[state.watched]
    const weight = Math.max(...row)
    const [asks, seen, nats, most] = [word(), source[row.indexOf(weight)], number(loss), number(weight)]
    const chance = number(chances[state.watched], 3)
    const told = [
      _`After ${step} steps the loss is ${nats}, and ${right} of 100 new sentences are right.`,
      _`With the right words before it given, “${asks}” looks most at “${seen}”, ${most}, and has the probability ${chance}.`,
    ]
    return told.join(" ")
  }

  let width
  function draw() {
    const beside = width >= 560
    const wide = beside ? 290 : width
    const [mapLeft, mapTop] = beside ? [wide + 26, 0] : [0, 356]
    const map = drawMap(mapLeft, mapTop, width - mapLeft)
    const high = Math.max(348, map.bottom) + 4
    const { step } = stops[state.at]
    const label = _`The training after ${step} steps: three curves, and a map of cross-attention`
    const all = curves().flatMap((curve, i) => drawCurve(curve, i, wide))
    const picture = svg("svg", { viewBox: `0 0 ${width} ${high}`, role: "img", "aria-label": label }, ...all, ...map.nodes)
    // What is written stays near the slider.
    parts.show(...(beside ? [picture, table()] : [table(), picture]))
    parts.say(says())
  }

  const steps = slider({
    label: _("steps"),
    values: [...stops.keys()],
    value: state.at,
    write: (at) => grouped(stops[at].step),
    changed(at) {
      state.at = at
      draw()
    },
  })
  const which = choice({
    label: _("follow the word"),
    options: [...target.keys()],
    value: state.watched,
    write: (place) => target[place],
    changed(place) {
      state.watched = place
      draw()
    },
  })
  parts.controls.append(steps, which)
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
