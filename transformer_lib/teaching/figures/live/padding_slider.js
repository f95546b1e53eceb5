// One review, eight readers: the logits that the record holds for so many columns of padding, with the mask and without.

function start(parts, data) {
  const state = { review: data.reviews[0], columns: 0, mask: false }
  const MOST = data.reviews[0].bare[0].length - 1
  const LARGEST = 12 // a bar of this logit has its full length

  const signed = (value) => number(value, 1).replace("-", "−").replace(/^(?=[1-9]|0\.[1-9])/, "+")
  const verdict = (positive) => (positive ? "positive" : "negative")
  const logits = () => (state.mask ? state.review.masked : state.review.bare.map((row) => row[state.columns]))
  const isRight = (logit) => logit > 0 === (state.review.label === 1)

  // The review's row of the batch: words are filled, padding is not. The widest row always fits.
  function drawRow(width) {
    const { words } = state.review
    const cell = width / (Math.max(...data.reviews.map((review) => review.words)) + MOST)
    const squares = Array.from({ length: words + state.columns }, (_, place) =>
      svg("rect", {
        x: cell * place + 0.5,
        y: 22,
        width: Math.max(1, cell - 1),
        height: 20,
        fill: place < words ? "var(--tl-accent)" : "none",
        stroke: place < words ? "var(--tl-accent)" : "var(--tl-line)",
      })
    )
    const named = `its row: ${words} words + ${state.columns} × padding`
    return [svg("text", { x: 0, y: 14, style: "font-weight:600" }, named), ...squares]
  }

  function drawReaders(width, top) {
    const left = 74
    const middle = (left + width) / 2
    const longest = (width - left) / 2 - 52
    const bars = logits().flatMap((logit, i) => {
      const y = top + 28 + 25 * i
      const length = Math.min(1, Math.abs(logit) / LARGEST) * longest
      const right = isRight(logit)
      const positive = logit > 0
      const colour = right ? "var(--tl-right)" : "var(--tl-wrong)"
      const end = positive ? middle + length + 5 : middle - length - 5
      return [
        svg("text", { x: 0, y: y + 15 }, `reader ${data.seeds[i]}`),
        svg("rect", { x: positive ? middle : middle - length, y, width: length, height: 20, fill: colour }),
        svg(
          "text",
          { x: end, y: y + 15, "text-anchor": positive ? "start" : "end", "data-logit": i },
          `${signed(logit)} ${right ? "✓" : "✗"}`
        ),
      ]
    })
    const bottom = top + 28 + 25 * data.seeds.length
    return [
      svg("text", { x: middle - 8, y: top + 16, "text-anchor": "end", class: "tl-quiet" }, "negative"),
      svg("text", { x: middle + 8, y: top + 16, class: "tl-quiet" }, "positive"),
      ...bars,
      svg("line", { x1: middle, x2: middle, y1: top + 4, y2: bottom, stroke: "var(--tl-ink)" }),
    ]
  }

  function says() {
    const right = logits().filter(isRight).length
    const of = `${right} of ${data.seeds.length} readers say so`
    const meant = `The review is ${verdict(state.review.label === 1)}, and ${of}`
    if (state.mask) return `${meant}. With the mask each one stops at the last word: pull the slider, and nothing moves.`
    const wrong = logits().flatMap((logit, i) => (isRight(logit) ? [] : [data.seeds[i]]))
    const who = wrong.length ? ` Wrong: reader ${wrong.join(", ")}.` : ""
    return `${meant} after reading ${state.columns} × padding behind it.${who}`
  }

  let width
  function draw() {
    const top = 58
    const height = top + 34 + 25 * data.seeds.length
    const said = logits().map((logit, i) => `reader ${data.seeds[i]} ${signed(logit)}`)
    const label = `Logits with ${state.columns} columns of padding: ${said.join(", ")}`
    const viewBox = `0 0 ${width} ${height}`
    parts.show(svg("svg", { viewBox, role: "img", "aria-label": label }, ...drawRow(width), ...drawReaders(width, top)))
    parts.say(says())
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  const upTo = (last) => Array.from({ length: last + 1 }, (_, i) => i)
  parts.controls.append(
    slider({ label: "columns of padding", values: upTo(MOST), value: state.columns, changed: set("columns") }),
    tick({ label: "mask the padding", value: state.mask, changed: set("mask") }),
    choice({
      label: "review",
      options: data.reviews,
      value: state.review,
      write: (review) => review.text,
      changed: set("review"),
    })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
