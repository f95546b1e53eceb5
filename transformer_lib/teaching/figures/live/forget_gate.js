// Something is written at time step 1, and nothing after it: what is left of it on a whiteboard behind a forget gate, and on a plain neuron’s sheet.

function start(parts, data) {
  const state = { ...data, show: "value" }

  // For each time step what the two hold, and the gradients of that with respect to what they held at step 1.
  function steps() {
    const cell = { value: [], gradient: [] }
    const neuron = { value: [], gradient: [] }
    let [c, y, throughCell, throughNeuron] = [state.written, Math.tanh(state.written), 1, 1]
    for (let t = 1; t <= state.last; t++) {
      cell.value.push(c)
      cell.gradient.push(throughCell)
      neuron.value.push(y)
      neuron.gradient.push(throughNeuron)
      c *= state.f
      y = Math.tanh(state.w_h * y)
      throughCell *= state.f
      throughNeuron *= state.w_h * (1 - y * y)
    }
    return { cell, neuron }
  }

  const shown = (value) => (value < 0.0005 ? "less than 0.001" : number(value, 3))
  // 10 to a whole power.
  const power = (exponent) => `10${[...String(exponent)].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("")}`
  // A gradient, however small: 1.8 · 10⁻¹⁵.
  function tiny(value) {
    if (value >= 0.0005) return number(value, 3)
    const exponent = Math.floor(Math.log10(value))
    return `${number(value / 10 ** exponent, 1)} · ${power(exponent)}`
  }
  const halfLife = () => (state.f < 1 ? Math.log(0.5) / Math.log(state.f) : Infinity)

  function says({ cell, neuron }) {
    const { f, w_h, last, show } = state
    const at = (kind) => (show === "gradient" ? tiny : shown)(kind[show][last - 1])
    if (show === "gradient")
      return (
        `The gradient from time step ${last} back to step 1 is ${at(cell)} through the whiteboard, ` +
        `${last - 1} times the factor ${f}. Through the sheet it is ${at(neuron)}: ` +
        `${last - 1} times ${w_h}, and each time the slope of tanh.`
      )
    const half = f < 1 ? `half is left ${number(halfLife(), 1)} steps after step 1` : "nothing is ever lost"
    return (
      `At time step ${last} the whiteboard holds ${at(cell)} of the ${state.written} written at step 1: ${half}. ` +
      `The sheet holds ${at(neuron)} of its ${shown(neuron.value[0])}.`
    )
  }

  let width
  function draw() {
    const all = steps()
    const { last, show } = state
    const stacked = width < 420
    const [left, right, top, bottom] = [48, width - 14, stacked ? 52 : 34, 230]
    const most = show === "value" ? state.written : 1
    const highest = 1.1 * most
    const x = (t) => left + ((right - left) * (t - 1)) / (last - 1)
    // A gradient is multiplied at each step: on an axis of powers of ten, equal factors are equal steps down.
    const powers = show === "gradient"
    const smallest = Math.log10(Math.min(all.cell.gradient.at(-1), all.neuron.gradient.at(-1)))
    const lowest = Math.min(-16, 4 * Math.floor(smallest / 4))
    const height = (value) => (powers ? 1 - Math.log10(value) / lowest : value)
    const y = (value) => bottom - ((bottom - top) * height(value)) / highest
    const nodes = []
    const line = (x1, y1, x2, y2, look) => nodes.push(svg("line", { x1, y1, x2, y2, ...look }))
    const text = (x, y, words, look = {}) => nodes.push(svg("text", { x, y, ...look }, words))

    const exponents = [4, 3, 2, 1, 0].map((fourth) => (lowest * fourth) / 4)
    for (const tick of powers ? exponents.map((exponent) => 10 ** exponent) : [0, most / 2, most]) {
      line(left, y(tick), right, y(tick), { stroke: "var(--tl-line)", "stroke-width": height(tick) ? 0.5 : 1 })
      const words = powers && tick < 1 ? power(Math.round(Math.log10(tick))) : String(tick)
      text(left - 6, y(tick) + 4, words, { "text-anchor": "end", class: "tl-quiet" })
    }
    for (const t of [1, (1 + last) >> 1, last])
      text(x(t), bottom + 18, String(t), { "text-anchor": t === last ? "end" : "middle", class: "tl-quiet" })
    text((left + right) / 2, bottom + 36, "time step", { "text-anchor": "middle", class: "tl-quiet" })

    const curves = [
      { held: all.neuron, name: `sheet, w_h = ${state.w_h}`, stroke: "var(--tl-mask)", "stroke-dasharray": "6 4" },
      { held: all.cell, name: `whiteboard, f = ${state.f}`, stroke: "var(--tl-key)", "stroke-dasharray": "none" },
    ]
    curves.forEach(({ held, name, ...look }, i) => {
      const points = held[show].map((value, at) => `${number(x(at + 1), 2)},${number(y(value), 2)}`).join(" ")
      nodes.push(svg("polyline", { points, fill: "none", "stroke-width": 2.5, ...look }))
      const [from, up] = stacked ? [left, 12 + 18 * (1 - i)] : [left + 200 * (1 - i), 12]
      line(from, up, from + 26, up, { "stroke-width": 2.5, ...look })
      text(from + 32, up + 4, name)
    })

    const half = 1 + halfLife()
    if (half <= last) {
      const middle = y((powers ? 1 : state.written) / 2)
      line(x(half), bottom, x(half), middle, { stroke: "var(--tl-key)", "stroke-dasharray": "2 3", class: "tl-half" })
      nodes.push(svg("circle", { cx: x(half), cy: middle, r: 4, fill: "var(--tl-key)" }))
      const words = stacked ? "half left" : `half left ${number(half - 1, 1)} steps later`
      if (x(half) + (stacked ? 70 : 170) < right) text(x(half) + 8, middle - 8, words)
      else text(x(half) - 8, middle + 20, words, { "text-anchor": "end" })
    }
    const label = `Whiteboard and sheet: the ${show} over ${last} time steps`
    parts.show(svg("svg", { viewBox: `0 0 ${width} ${bottom + 42}`, role: "img", "aria-label": label }, ...nodes))
    parts.say(says(all))
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  parts.controls.append(
    slider({
      label: "forget gate f",
      values: [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.96, 0.97, 0.98, 0.982, 0.984, 0.986, 0.988, 0.99, 0.995, 0.999, 1],
      value: data.f,
      changed: set("f"),
    }),
    buttons({ label: "weight w_h", options: [0.5, 0.8, 0.9, 1, 1.1], value: data.w_h, changed: set("w_h") }).node,
    slider({ label: "time steps", values: [3, 5, 10, 20, 50, 100, 200, 500, 1000], value: data.last, changed: set("last") }),
    choice({ label: "what is left of the", options: ["value", "gradient"], value: "value", changed: set("show") })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
