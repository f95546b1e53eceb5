// Weights of one row: softmax(q · k / temperature); the temperature is √d_k or 1.

function start(parts, data) {
  const state = { d_k: data.d_k, divide: false }

  function rowOfWeights() {
    const root = Math.sqrt(state.d_k)
    const dots = data.scores.map((score) => score * root)
    const logits = dots.map((dot) => dot / (state.divide ? root : 1))
    return { dots, logits, weights: softmax(logits) }
  }

  function says(weights) {
    const best = weights.indexOf(Math.max(...weights))
    const moves = weights.reduce((sum, a) => sum + a * (1 - a), 0)
    const [word, most, sum] = [data.words[best], number(weights[best], 3), number(moves, 3)]
    const product = "a\u00a0(1\u00a0−\u00a0a)"
    return _`“${word}” gets ${most} of the weight. How much the weights still move, the sum of ${product}, is ${sum}.`
  }

  let width
  function draw() {
    const { dots, logits, weights } = rowOfWeights()
    const [dot, into, left] = [92, 144, 154]
    const whole = width - left - 50
    const rows = data.words.flatMap((word, i) => {
      const y = 22 + 27 * i
      return [
        svg("text", { x: 0, y: y + 15 }, word),
        svg("text", { x: dot, y: y + 15, "text-anchor": "end", class: "tl-quiet" }, number(dots[i], 1)),
        svg("text", { x: into, y: y + 15, "text-anchor": "end" }, number(logits[i])),
        svg("rect", { x: left, y, width: whole * weights[i], height: 20, fill: "var(--tl-value)" }),
        svg("text", { x: left + 6 + whole * weights[i], y: y + 15 }, number(weights[i], 3)),
      ]
    })
    const heads = { "q · k": [dot, "end"], [_("score")]: [into, "end"], [_("weight a")]: [left, "start"] }
    const titles = Object.entries(heads).map(([title, [x, anchor]]) =>
      svg("text", { x, y: 13, "text-anchor": anchor, class: "tl-quiet" }, title)
    )
    const label = data.words.map((word, i) => `${word} ${number(weights[i], 3)}`).join(", ")
    parts.show(svg("svg", { viewBox: `0 0 ${width} 157`, role: "img", "aria-label": label }, ...titles, ...rows))
    parts.say(says(weights))
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  parts.controls.append(
    slider({ label: "d_k", values: [1, 4, 16, 64, 256, 1024], value: data.d_k, changed: set("d_k") }),
    tick({ label: _("divide by √d_k"), value: false, changed: set("divide") })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
