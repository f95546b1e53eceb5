// A query over three memory rows in the plane: the scores are dot products, the weights their softmax, the context their mix.

function start(parts, data) {
  const state = { query: [...data.query] }
  const reach = 3
  const steps = Array.from({ length: 8 * reach + 1 }, (_, i) => i / 4 - reach)
  const pair = (point, digits) => `(${point.map((value) => number(value, digits)).join(", ")})`

  function look() {
    const scores = data.memory.map((row) => dot(state.query, row))
    const weights = softmax(scores)
    const context = [0, 1].map((axis) => dot(weights, data.memory.map((row) => row[axis])))
    return { scores, weights, context }
  }

  // The plane, and on it what changes; the surface stays, because a finger or a mouse may hold it.
  const surface = svg("rect", { fill: "var(--tl-card)", style: "touch-action:none;cursor:grab" })
  const drawn = svg("g", { "pointer-events": "none" })
  const picture = svg("svg", { role: "img" }, surface, drawn)
  let side, x, y

  function arrow(point, look) {
    const [x2, y2] = [x(point[0]), y(point[1])]
    const angle = Math.atan2(y2 - y(0), x2 - x(0))
    const wing = (turn) => `${x2 - 11 * Math.cos(angle + turn)},${y2 - 11 * Math.sin(angle + turn)}`
    if (!point[0] && !point[1]) return [svg("circle", { cx: x2, cy: y2, r: 5, fill: look.stroke })]
    return [
      svg("line", { x1: x(0), y1: y(0), x2: x2 - 6 * Math.cos(angle), y2: y2 - 6 * Math.sin(angle), ...look }),
      svg("polygon", { points: `${x2},${y2} ${wing(0.45)} ${wing(-0.45)}`, fill: look.stroke }),
    ]
  }

  function plane({ weights, context }) {
    const corners = data.memory.map((row) => `${x(row[0])},${y(row[1])}`).join(" ")
    const name = (point, words, [right, down], look) =>
      svg("text", { x: x(point[0]) + right, y: y(point[1]) + down, "font-weight": 600, ...look }, words)
    const places = [
      [4, 20],
      [-9, -7],
      [7, -7],
    ]
    const [q1, q2] = state.query
    const where = [q1 < 0 || q1 > 2 ? -10 : 10, q2 > 2.4 ? 18 : q2 < 0 ? 16 : -6]
    return [
      svg("line", { x1: x(-reach), y1: y(0), x2: x(reach), y2: y(0), stroke: "var(--tl-line)", "stroke-width": 0.7 }),
      svg("line", { x1: x(0), y1: y(-reach), x2: x(0), y2: y(reach), stroke: "var(--tl-line)", "stroke-width": 0.7 }),
      svg("polygon", { points: corners, fill: "var(--tl-key)", "fill-opacity": 0.15, stroke: "none" }),
      ...data.memory.flatMap((row, i) => [
        ...arrow(row, { stroke: "var(--tl-key)", "stroke-width": 1.5 + 4 * weights[i] }),
        name(row, data.words[i], places[i], { "text-anchor": i === 1 ? "end" : "start" }),
      ]),
      ...arrow(state.query, { stroke: "var(--tl-query)", "stroke-width": 3 }),
      name(state.query, "q", where, { "text-anchor": q1 < 0 || q1 > 2 ? "end" : "start", style: "fill:var(--tl-query)" }),
      svg("circle", { cx: x(context[0]), cy: y(context[1]), r: 8, fill: "var(--tl-value)", class: "tl-context" }),
    ]
  }

  function bars({ scores, weights, context }, left, top, right) {
    const [score, from] = [left + 84, left + 96]
    const whole = right - from - 46
    const rows = data.words.flatMap((word, i) => {
      const at = top + 22 + 30 * i
      return [
        svg("text", { x: left, y: at + 15 }, word),
        svg("text", { x: score, y: at + 15, "text-anchor": "end" }, number(scores[i])),
        svg("rect", { x: from, y: at, width: whole * weights[i], height: 20, fill: "var(--tl-key)" }),
        svg("text", { x: from + 6 + whole * weights[i], y: at + 15 }, number(weights[i], 3)),
      ]
    })
    return [
      svg("text", { x: score, y: top + 13, "text-anchor": "end", class: "tl-quiet" }, "score"),
      svg("text", { x: from, y: top + 13, class: "tl-quiet" }, "weight"),
      ...rows,
      svg("circle", { cx: left + 8, cy: top + 131, r: 8, fill: "var(--tl-value)" }),
      svg("text", { x: left + 22, y: top + 136 }, `context ${pair(context, 3)}`),
    ]
  }

  function says({ weights }) {
    const most = Math.max(...weights)
    const best = data.words.filter((_, i) => most - weights[i] < 0.0005).map((word) => `“${word}”`)
    const share = number(most, 3)
    const looks =
      best.length === weights.length
        ? `Every word gets ${share} of the weight, and the context is the plain mean of the rows.`
        : best.length > 1
          ? `${best.join(" and ")} get ${share} of the weight each.`
          : `${best[0]} gets ${share} of the weight.`
    return `The decoder asks with q = ${pair(state.query, 2)}. ${looks} The memory has not moved.`
  }

  let width
  function draw() {
    const answer = look()
    const beside = width >= 560
    side = beside ? 290 : Math.min(width, 320)
    x = (value) => side * (0.5 + (0.94 * value) / (2 * reach))
    y = (value) => side * (0.5 - (0.94 * value) / (2 * reach))
    for (const [key, value] of Object.entries({ width: side, height: side })) surface.setAttribute(key, value)
    const table = beside ? bars(answer, side + 30, 60, width) : bars(answer, 0, side + 14, width)
    drawn.replaceChildren(...plane(answer), ...table)
    picture.setAttribute("viewBox", `0 0 ${width} ${beside ? side : side + 165}`)
    const shares = data.words.map((word, i) => `${word} ${number(answer.weights[i], 3)}`).join(", ")
    picture.setAttribute("aria-label", `The query ${pair(state.query, 2)} over the memory. Weights: ${shares}`)
    parts.say(says(answer))
  }

  const set = (axis) => (value) => {
    state.query[axis] = value
    draw()
  }
  const controls = ["q, to the right", "q, upwards"].map((label, axis) =>
    slider({ label, values: steps, value: state.query[axis], write: (value) => number(value), changed: set(axis) })
  )
  parts.controls.append(...controls)

  // The query follows the finger or the mouse, from step to step of the sliders, and the sliders follow it.
  let held = false
  function follow(event) {
    const box = picture.getBoundingClientRect()
    const unit = (box.width / width) * side * (0.94 / (2 * reach))
    const middle = (box.width / width) * (side / 2)
    const point = [(event.clientX - box.left - middle) / unit, (middle - event.clientY + box.top) / unit]
    point.forEach((value, axis) => {
      const nearest = Math.max(-reach, Math.min(reach, Math.round(4 * value) / 4))
      const input = controls[axis].querySelector("input")
      input.value = steps.indexOf(nearest)
      input.dispatchEvent(new Event("input"))
    })
  }
  surface.addEventListener("pointerdown", (event) => {
    held = true
    surface.setPointerCapture(event.pointerId)
    follow(event)
  })
  surface.addEventListener("pointermove", (event) => held && follow(event))
  for (const end of ["pointerup", "pointercancel"]) surface.addEventListener(end, () => (held = false))

  parts.show(picture)
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
