// The rate of each step, d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), beside the paper's own.

function start(parts, paper) {
  const state = { ...paper }
  const steps = 20000

  const rate = (step, { d_model, warmup }) => d_model ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5)
  // 0.00139754 as 0.0014, 4 as 4: three digits that count.
  const short = (value) => String(Number(value.toPrecision(3)))

  let width
  function draw() {
    const [left, right, top, bottom] = [68, width - 8, 40, 230]
    const peak = rate(state.warmup, state)
    // The axis ends at one digit and zeros, so that its quarters are short numbers.
    const highest = Math.max(peak, rate(paper.warmup, paper))
    const tens = 10 ** Math.floor(Math.log10(highest))
    const end = [1, 2, 4, 6, 8, 10].map((times) => times * tens).find((value) => value >= highest)
    const x = (step) => left + ((right - left) * step) / steps
    const y = (value) => bottom - ((bottom - top) * value) / end

    const axes = [0, 0.25, 0.5, 0.75, 1].flatMap((part) => [
      svg("path", { d: `M${left} ${y(part * end)}H${right}`, stroke: "var(--tl-line)", "stroke-opacity": part ? 0.35 : 1 }),
      svg("text", { x: left - 8, y: y(part * end) + 4, "text-anchor": "end", class: "tl-quiet" }, short(part * end)),
    ])
    const marks = [0, 0.5, 1].map((part) => {
      const look = { x: x(part * steps), y: bottom + 20, "text-anchor": part < 1 ? "middle" : "end", class: "tl-quiet" }
      const step = grouped(part * steps)
      return svg("text", look, part === 1 ? _`step ${step}` : step)
    })
    const curve = (one, attributes) => {
      const shown = Array.from({ length: 201 }, (_, i) => Math.max(1, (i * steps) / 200))
      // The turn itself is a corner.
      const corners = [...shown, one.warmup].sort((a, b) => a - b)
      const points = corners.map((step) => `${x(step).toFixed(2)},${y(rate(step, one)).toFixed(2)}`).join(" ")
      return svg("polyline", { points, fill: "none", ...attributes })
    }
    const yours = { stroke: "var(--tl-query)", "stroke-width": 2.5 }
    const theirs = { stroke: "var(--tl-muted)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }
    const name = (from, line, text) => [
      svg("path", { d: `M${from} 12h24`, ...line }),
      svg("text", { x: from + 30, y: 16 }, text),
    ]
    const onTheRight = x(state.warmup) > width - 150
    const [turn, theirTurn, summit] = [grouped(state.warmup), grouped(paper.warmup), short(peak)]
    const beside = { x: x(state.warmup) + (onTheRight ? -9 : 9), y: y(peak) - 6, "text-anchor": onTheRight ? "end" : "start" }
    parts.show(
      svg(
        "svg",
        { viewBox: `0 0 ${width} 256`, role: "img", "aria-label": _("The rate of each step, yours and the paper's") },
        ...axes,
        ...marks,
        ...name(0, yours, _("yours")),
        ...name(84, theirs, _`the paper's: ${paper.d_model}, ${theirTurn}`),
        curve(state, yours),
        curve(paper, theirs),
        svg("circle", { cx: x(state.warmup), cy: y(peak), r: 5, fill: "var(--tl-query)" }),
        svg("text", beside, _`peak ${summit}`)
      )
    )
    const times = short(peak / rate(paper.warmup, paper))
    parts.say(
      times === "1"
        ? _`Width ${state.d_model}, warm-up ${turn}: the rate is highest at step ${turn}, ${summit}.`
        : _`Width ${state.d_model}, warm-up ${turn}: the rate is highest at step ${turn}, ${summit}, ${times} times the paper's.`
    )
  }

  const turned = (name, label, values) =>
    slider({
      label,
      values,
      value: state[name],
      write: grouped,
      changed(value) {
        state[name] = value
        draw()
      },
    })
  parts.controls.append(
    turned("d_model", "d_model", [32, 64, 128, 256, 512, 1024]),
    turned("warmup", _("warm-up"), [500, 1000, 2000, 4000, 8000, 16000])
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
