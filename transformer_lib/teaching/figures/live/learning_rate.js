// The rate of each step: factor · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), beside the paper's own.

function start(parts, data) {
  const paper = { ...data, factor: 1 }
  const state = { ...paper, steps: 20000, part: 0.1 }

  const rate = (step, { d_model, warmup, factor }) =>
    factor * d_model ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5)
  // 0.00139754 as 0.0014, 4 as 4: three digits that count; below a millionth, with a power.
  const short = (value) => String(Number(value.toPrecision(3))).replace(/e(.*)/, (_, exponent) => ` · ${powerOfTen(exponent)}`)
  // The step that the reader stands on, a part of those that are shown.
  const stepAt = (part) => Math.max(1, Math.round(part * state.steps))

  let width
  function draw() {
    const { warmup, steps } = state
    const [left, right, top, bottom] = [68, width - 8, 40, 230]
    const here = stepAt(state.part)
    const highest = Math.max(...[state, paper].map((one) => rate(Math.min(one.warmup, steps), one)))
    // The axis ends at one digit and zeros, so that its quarters are short numbers.
    const tens = 10 ** Math.floor(Math.log10(highest))
    const end = [1, 2, 4, 6, 8, 10].map((times) => times * tens).find((value) => value >= highest)
    const x = (step) => left + ((right - left) * step) / steps
    const y = (value) => bottom - ((bottom - top) * value) / end

    const quarters = [0, 0.25, 0.5, 0.75, 1]
    const axes = quarters.flatMap((part) => [
      svg("path", { d: `M${left} ${y(part * end)}H${right}`, stroke: "var(--tl-line)", "stroke-opacity": part ? 0.35 : 1 }),
      svg("text", { x: left - 8, y: y(part * end) + 4, "text-anchor": "end", class: "tl-quiet" }, short(part * end)),
      ...(part % 0.5 && width < 500
        ? []
        : [
            svg(
              "text",
              { x: x(part * steps), y: bottom + 20, "text-anchor": part < 1 ? "middle" : "end", class: "tl-quiet" },
              (part === 1 ? "step " : "") + grouped(part * steps)
            ),
          ]),
    ])
    const curve = (one, attributes) => {
      const shown = Array.from({ length: 201 }, (_, i) => Math.max(1, (i * steps) / 200))
      // The turn itself is a corner.
      const corners = [...shown, ...(one.warmup < steps ? [one.warmup] : [])].sort((a, b) => a - b)
      const points = corners.map((step) => `${x(step).toFixed(2)},${y(rate(step, one)).toFixed(2)}`).join(" ")
      return svg("polyline", { points, fill: "none", ...attributes })
    }
    const yours = { stroke: "var(--tl-query)", "stroke-width": 2.5 }
    const theirs = { stroke: "var(--tl-muted)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }
    const name = (from, line, text) => [
      svg("path", { d: `M${from} 12h24`, ...line }),
      svg("text", { x: from + 30, y: 16 }, text),
    ]
    const peak = rate(warmup, state)
    const inView = warmup <= steps
    const onTheRight = x(warmup) > width - 150
    parts.show(
      svg(
        "svg",
        { viewBox: `0 0 ${width} 256`, role: "img", "aria-label": "The rate of each step, yours and the paper's" },
        ...axes,
        ...name(0, yours, "yours"),
        ...name(84, theirs, `the paper's: ${paper.d_model}, ${grouped(paper.warmup)}`),
        curve(state, yours),
        curve(paper, theirs),
        svg("path", { d: `M${x(here)} ${bottom}V${y(rate(here, state))}`, stroke: "var(--tl-ink)" }),
        svg("circle", { cx: x(here), cy: y(rate(here, state)), r: 4, fill: "var(--tl-ink)" }),
        ...(inView
          ? [
              svg("circle", { cx: x(warmup), cy: y(peak), r: 5, fill: "var(--tl-query)" }),
              svg(
                "text",
                { x: x(warmup) + (onTheRight ? -9 : 9), y: y(peak) - 6, "text-anchor": onTheRight ? "end" : "start" },
                `peak ${short(peak)}`
              ),
            ]
          : [])
      )
    )
    const times = short(peak / rate(paper.warmup, paper))
    const way = here < warmup ? "still rises" : here === warmup ? "is at its peak" : "falls"
    parts.say(
      `Step ${grouped(here)}: the rate is ${short(rate(here, state))} and ${way}. ` +
        `The peak, ${short(peak)} at step ${grouped(warmup)}, ` +
        (times === "1" ? "is as high as the paper's." : `is ${times} times the paper's.`)
    )
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  const place = slider({
    label: "at step",
    values: [0, ...Array.from({ length: 40 }, (_, i) => (i + 1) / 40)],
    value: state.part,
    write: (part) => grouped(stepAt(part)),
    changed: set("part"),
  })
  parts.controls.append(
    slider({ label: "d_model", values: [32, 64, 128, 256, 512, 1024], value: state.d_model, changed: set("d_model") }),
    slider({
      label: "warm-up",
      values: [100, 500, 1000, 2000, 4000, 8000, 16000],
      value: state.warmup,
      write: grouped,
      changed: set("warmup"),
    }),
    slider({ label: "factor", values: [0.1, 0.25, 0.5, 1, 2, 4], value: state.factor, changed: set("factor") }),
    slider({
      label: "last step",
      values: [400, 2000, 20000, 100000],
      value: state.steps,
      write: grouped,
      changed(steps) {
        state.steps = steps
        // The same place in the picture is another step now.
        place.querySelector("input").dispatchEvent(new Event("input"))
      },
    }),
    place
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
