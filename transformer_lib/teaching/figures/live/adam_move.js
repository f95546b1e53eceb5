// Adam's moves of one weight, in rates: the first against the size of the gradient, and the first eight one after the other.

function start(parts, data) {
  const AGREE = "agree with the first"
  const TURN = "contradict it by turns"
  const state = { power: 0, later: AGREE }

  function moves(gradients) {
    let [m, v] = [0, 0]
    return gradients.map((gradient, done) => {
      m = data.beta1 * m + (1 - data.beta1) * gradient
      v = data.beta2 * v + (1 - data.beta2) * gradient ** 2
      const [average, square] = [m / (1 - data.beta1 ** (done + 1)), v / (1 - data.beta2 ** (done + 1))]
      return -average / (Math.sqrt(square) + data.epsilon)
    })
  }
  // 0.00001 and not 1e-5; below a millionth, as powers.
  const written = (power) => (power > -7 ? String(Number((10 ** power).toFixed(6))) : powerOfTen(power))
  const length = (move) => number(Math.abs(move), 3).replace(/\.?0+$/, "")

  let width
  function draw() {
    const size = 10 ** state.power
    const gradients = Array.from({ length: data.steps }, (_, i) => (state.later === TURN && i % 2 ? -size : size))
    const found = moves(gradients)
    const [left, right, top, bottom] = [40, width - 12, 40, 140]
    const x = (power) => left + ((right - left) * (power + 12)) / 14
    const y = (part) => bottom - (bottom - top) * part
    const powers = Array.from({ length: 141 }, (_, i) => -12 + i / 10)
    const points = powers.map((power) => `${x(power).toFixed(2)},${y(Math.abs(moves([10 ** power])[0])).toFixed(2)}`)
    // The bars: moves to the right of zero stand above the line, moves back below it.
    const [zero, tall] = [282, 70]
    const step = (right - left) / data.steps
    const bars = found.flatMap((move, i) => {
      const [from, high] = [left + step * (i + 0.2), tall * Math.abs(move)]
      return [
        svg("rect", {
          x: from,
          y: move < 0 ? zero : zero - high,
          width: step * 0.6,
          height: high,
          fill: "var(--tl-key)",
          class: "tl-bar",
        }),
        svg("text", { x: from + step * 0.3, y: zero + tall + 22, "text-anchor": "middle", class: "tl-quiet" }, String(i + 1)),
      ]
    })
    const end = (at, text) => svg("text", { x: left - 6, y: at + 4, "text-anchor": "end", class: "tl-quiet" }, text)
    parts.show(
      svg(
        "svg",
        { viewBox: `0 0 ${width} 400`, role: "img", "aria-label": "Adam's moves of one weight" },
        svg("text", { x: left, y: 18 }, "length of the first move, in rates"),
        svg("path", { d: `M${left} ${top}V${bottom}H${right}`, fill: "none", stroke: "var(--tl-line)" }),
        end(top, "1"),
        end(bottom, "0"),
        svg("polyline", { points: points.join(" "), fill: "none", stroke: "var(--tl-key)", "stroke-width": 2.5 }),
        svg("circle", { cx: x(state.power), cy: y(Math.abs(found[0])), r: 6, fill: "var(--tl-ink)" }),
        ...[-9, -6, -3, 0].map((power) =>
          svg(
            "text",
            { x: x(power), y: bottom + 18, "text-anchor": "middle", class: "tl-quiet" },
            power === -9 ? "ε" : written(power)
          )
        ),
        svg("text", { x: right, y: bottom + 36, "text-anchor": "end", class: "tl-quiet" }, "size of the gradient"),
        svg("text", { x: left, y: zero - tall - 10 }, "the first eight moves, in rates"),
        svg("path", { d: `M${left} ${zero}H${right}`, stroke: "var(--tl-line)" }),
        end(zero - tall, "1"),
        end(zero, "0"),
        end(zero + tall, "−1"),
        ...bars,
        svg("text", { x: right, y: zero + tall + 42, "text-anchor": "end", class: "tl-quiet" }, "step")
      )
    )
    const last = found[found.length - 1]
    const rates = (move) => {
      const long = length(move)
      return long === "0" ? "less than 0.001 rates" : long === "1" ? "1 rate" : `${long} rates`
    }
    parts.say(
      `A gradient of ${written(state.power)}: the first move is ${rates(found[0])} long. ` +
        `After eight gradients that ${state.later === AGREE ? "agree" : "contradict each other"}, the move is ${rates(last)} long.`
    )
  }

  parts.controls.append(
    slider({
      label: "size of the gradient",
      values: Array.from({ length: 15 }, (_, i) => i - 12),
      value: state.power,
      write: written,
      changed(power) {
        state.power = power
        draw()
      },
    }),
    choice({
      label: "later gradients",
      options: [AGREE, TURN],
      value: state.later,
      changed(later) {
        state.later = later
        draw()
      },
    })
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
