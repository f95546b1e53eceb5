// Pairs of runs, one of them with a bug: the reader says which one is broken, and then sees it.

function start(parts, data) {
  const { right, pairs, highest, every } = data
  const state = { at: 0, guess: null, found: 0, made: 0 }
  const percent = (share) => `${Math.round(100 * share)} %`
  const last = (run) => run.losses.at(-1)
  // How many would be found by whoever calls the run with the higher loss at the end the broken one.
  const byHigher = pairs.filter((pair) => last(pair) > last(right)).length

  function says() {
    const pair = pairs[state.at]
    const place = state.at + 1
    const which = _`Pair ${place} of ${pairs.length}.`
    if (!state.guess) return which + " " + _("A line is wrong in A or in B, all else is the same. Which one?")
    const { bug, broken } = pair
    const [what, gives_away] = [_(pair.what), _(pair.gives_away)]
    const [a, b] = ["A", "B"].map((name) => percent((name === broken ? pair : right).copied))
    const told = [
      state.guess === broken ? _`Yes: ${broken} is broken, ${what} (${bug}).` : _`No: ${broken} is broken, ${what} (${bug}).`,
      _`Written freely, A copies ${a} of new sentences, B copies ${b}.`,
      _`What gives it away: ${gives_away}.`,
      _`So far ${state.found} of ${state.made} right; a coin gets half.`,
    ]
    if (state.at === pairs.length - 1) {
      told.push(
        _`Calling the higher curve broken would be right ${byHigher} times of ${pairs.length}.`,
        _`The other ${data.others} bugs leave the curve as it is, to the last bit.`
      )
    }
    return told.join(" ")
  }

  let width
  function draw() {
    const pair = pairs[state.at]
    const [left, top, bottom, end] = [34, 34, 270, width - 26]
    const steps = every * right.losses.length
    const x = (step) => left + ((end - left) * (step - every)) / (steps - every)
    const y = (loss) => bottom - ((bottom - top) * Math.min(loss, highest)) / highest
    const nodes = []
    const text = (x, y, words, look = {}) => nodes.push(svg("text", { x, y, ...look }, words))
    text(0, 14, _("training loss"))
    for (const value of Array.from({ length: highest + 1 }, (_, i) => i)) {
      nodes.push(svg("line", { x1: left, y1: y(value), x2: end, y2: y(value), stroke: "var(--tl-line)", "stroke-width": 0.5 }))
      text(left - 8, y(value) + 4, value, { "text-anchor": "end", class: "tl-quiet" })
    }
    text(left, bottom + 18, every, { class: "tl-quiet", "text-anchor": "middle" })
    text(end, bottom + 18, _`${steps} steps`, { class: "tl-quiet", "text-anchor": "end" })

    const runs = ["A", "B"].map((name) => ({ name, run: name === pair.broken ? pair : right }))
    const [upper] = [...runs].sort((one, two) => last(two.run) - last(one.run))
    for (const { name, run } of runs) {
      const role = name === "A" ? "query" : "key"
      const points = run.losses.map((loss, i) => `${number(x(every * (i + 1)))},${number(y(loss))}`).join(" ")
      const look = { points, fill: "none", stroke: `var(--tl-${role})`, "stroke-width": 2.5, "data-run": name }
      nodes.push(svg("polyline", name === "B" ? { ...look, "stroke-dasharray": "8 3" } : look))
      const style = `font-weight:700;font-size:15px;fill:var(--tl-${role})`
      text(end + 7, y(last(run)) + (name === upper.name ? -1 : 13), name, { style })
    }
    if (state.guess) {
      const words = _`${pair.broken} is broken: ${pair.bug}`
      text(end, top + 12, words, { "text-anchor": "end", "font-weight": 700, class: "tl-verdict" })
    }
    const [a, b] = runs.map(({ run }) => number(last(run)))
    const label = _`Training loss of A and B over ${steps} steps. A ends at ${a}, B at ${b}`
    parts.show(svg("svg", { viewBox: `0 0 ${width} ${bottom + 24}`, role: "img", "aria-label": label }, ...nodes))
    parts.say(says())
    for (const node of guesses) node.disabled = state.guess !== null
    next.disabled = state.guess === null
  }

  const guesses = ["A", "B"].map((name) =>
    button({
      label: _`${name} is broken`,
      pressed() {
        state.guess = name
        state.made += 1
        state.found += name === pairs[state.at].broken
        draw()
        next.focus()
      },
    })
  )
  const next = button({
    label: _("next pair"),
    pressed() {
      state.at = (state.at + 1) % pairs.length
      state.guess = null
      if (!state.at) state.found = state.made = 0
      draw()
      guesses[0].focus()
    },
  })
  parts.controls.append(...guesses, next)
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
