// Weights of one row: softmax(scores · √d_k / scale / temperature).

function start(parts, data) {
  const state = { d_k: data.d_k, divide: false, temperature: 1 }

  function rowOfWeights() {
    const logits = data.scores.map((score) => {
      const dot = score * Math.sqrt(state.d_k)
      return (state.divide ? dot / Math.sqrt(state.d_k) : dot) / state.temperature
    })
    const largest = Math.max(...logits)
    const powers = logits.map((logit) => Math.exp(logit - largest))
    const sum = powers.reduce((a, b) => a + b)
    return { logits, weights: powers.map((power) => power / sum) }
  }

  let width
  function draw() {
    const { logits, weights } = rowOfWeights()
    const left = 138
    const whole = width - left - 48
    const rows = data.words.flatMap((word, i) => {
      const y = 22 + 27 * i
      return [
        svg("text", { x: 0, y: y + 15 }, word),
        svg("text", { x: left - 12, y: y + 15, "text-anchor": "end" }, number(logits[i])),
        svg("rect", { x: left, y, width: whole * weights[i], height: 20, fill: "var(--tl-value)" }),
        svg("text", { x: left + 6 + whole * weights[i], y: y + 15 }, number(weights[i])),
      ]
    })
    const heads = [
      svg("text", { x: left - 12, y: 13, "text-anchor": "end", class: "tl-quiet" }, "into softmax"),
      svg("text", { x: left, y: 13, class: "tl-quiet" }, "weight"),
    ]
    const label = data.words.map((word, i) => `${word} ${number(weights[i])}`).join(", ")
    parts.show(svg("svg", { viewBox: `0 0 ${width} 162`, role: "img", "aria-label": label }, ...heads, ...rows))
    const moves = weights.reduce((sum, weight) => sum + weight * (1 - weight), 0)
    parts.say(
      `The largest weight is ${number(Math.max(...weights))}. ` +
        `What all weights still answer to a change of their own score, Σ w(1 − w), is ${number(moves)}.`
    )
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  parts.controls.append(
    slider({ label: "d_k", values: [1, 4, 16, 64, 256, 1024], value: data.d_k, changed: set("d_k") }),
    tick({ label: "divide by √d_k", value: false, changed: set("divide") }),
    slider({
      label: "temperature",
      values: [0.1, 0.2, 0.5, 1, 2, 5, 10],
      value: 1,
      changed: set("temperature"),
    })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
