// The same sentences in batches of at most so many places: each batch is a rectangle, words are filled, padding is grey.

function start(parts, data) {
  const state = { budget: data.budget, sorted: true }
  const words = data.lengths.reduce((sum, length) => sum + length, 0)

  // As `token_batches` does: a new batch starts where the next sentence would make the rectangle too large.
  function groups() {
    const order = state.sorted ? [...data.lengths].sort((one, other) => one - other) : data.lengths
    const found = []
    for (const length of order) {
      const last = found.at(-1)
      if (last && (last.length + 1) * Math.max(...last, length) <= state.budget) last.push(length)
      else found.push([length])
    }
    return found
  }

  let width
  function draw() {
    const batches = groups()
    const places = batches.reduce((sum, batch) => sum + batch.length * Math.max(...batch), 0)
    const unit = width < 500 ? 5 : 7
    const nodes = []
    let [left, top, tallest] = [0, 0, 0]
    for (const batch of batches) {
      const wide = unit * Math.max(...batch)
      if (left && left + wide > width) [left, top, tallest] = [0, top + tallest + unit, 0]
      nodes.push(svg("rect", { x: left, y: top, width: wide, height: unit * batch.length, fill: "var(--tl-line)", "data-batch": "" }))
      batch.forEach((length, row) =>
        nodes.push(
          svg("rect", { x: left, y: top + unit * row, width: unit * length, height: unit - 1, fill: "var(--tl-query)" })
        )
      )
      left += wide + unit
      tallest = Math.max(tallest, unit * batch.length)
    }
    const sizes = batches.map((batch) => batch.length)
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)]
    const size = least < most ? `${least}–${most}` : most
    const grey = `${words} words in ${places} places, ${Math.round(100 - (100 * words) / places)} % padding.`
    const said =
      `${state.sorted ? "Sorted" : "As they come"}, at most ${state.budget} places in a batch: ${batches.length} ` +
      `${batches.length > 1 ? "batches" : "batch"} of ${size} sentences. ${grey}`
    const viewBox = `0 0 ${width} ${top + tallest}`
    parts.show(svg("svg", { viewBox, role: "img", "aria-label": said }, ...nodes))
    parts.say(said)
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  parts.controls.append(
    slider({
      label: "budget, in places",
      values: [16, 32, 64, 96, 128, 192, 256, 384, 512, 768],
      value: state.budget,
      changed: set("budget"),
    }),
    tick({ label: "sorted by length", value: state.sorted, changed: set("sorted") })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
