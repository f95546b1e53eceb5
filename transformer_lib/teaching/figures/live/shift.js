// The rows of teacher forcing, a column for each step: what is read, what must be said, and what was said.

function start(parts, data) {
  const MODES = ["the right words", "the answer itself", "its own words"]
  const { answers, slips } = data
  const state = { mode: MODES[0], step: 1, slip: 0 }

  // What it reads and says in each column, as far as that is known: behind a mistake of its own it is not.
  function columns() {
    const own = state.mode === MODES[2]
    const lost = (place) => own && state.slip && place >= state.slip
    const says = answers.map((word, place) => (place + 1 === state.slip ? slips[place] : lost(place) ? "?" : word))
    const given = { [MODES[0]]: data.reads, [MODES[1]]: answers, [MODES[2]]: [data.reads[0], ...says].slice(0, state.step) }[state.mode]
    return { says, reads: given, own }
  }

  function words({ says, reads, own }) {
    const { step, slip } = state
    const wanted = answers[step - 1]
    const read = reads.slice(0, step).join(" ")
    const before = slip && slip < step
    if (own) {
      if (!slip || step < slip) return `Step ${step}: it has read “${read}”, and says “${wanted}”. That is what it reads next.`
      if (step === slip) return `Step ${step}: it says “${says[step - 1]}” where “${wanted}” is right. Nobody tells it.`
      return (
        `Step ${step}: it has read “${read}”. Since step ${slip} it goes on from a wrong beginning, and training had only ` +
        "right ones: after one mistake all that follows is open."
      )
    }
    if (state.mode === MODES[1]) {
      const copies = `“${wanted}” is the last word that it has read. To copy is enough: it learns nothing about what comes next.`
      return `Step ${step}: it must say “${wanted}”, and has read “${read}”. ${copies}`
    }
    const task = `Step ${step}: it has read “${read}”, and must say “${wanted}”.`
    if (step === slip) return `${task} It says “${says[step - 1]}”: the loss of this step grows.`
    if (before) {
      const right = `but step ${slip + 1} reads “${reads[slip]}”`
      return `${task} It said “${says[slip - 1]}” at step ${slip}, ${right}: the mistake does not go on.`
    }
    return `${task} What stands further to the right it has not read yet.`
  }

  let width
  function draw() {
    const all = columns()
    const { says, reads, own } = all
    const { step, slip } = state
    const narrow = width < 560
    const left = narrow ? 0 : 92
    const cell = Math.min(120, (width - left - 2) / answers.length)
    const [high, gap] = [34, narrow ? 34 : 26]
    const top = (row) => (narrow ? 22 : 4) + row * (high + gap)
    const rows = [
      ["says", says.map((word, place) => (place < step ? word : "")), (place) => (place + 1 === slip ? "wrong" : "said")],
      ...(own ? [] : [["must say", answers, (place) => (place < step ? "target" : "later")]]),
      ["reads", reads, (place) => (place < step ? (state.mode === MODES[1] && place === step - 1 ? "leak" : "read") : "later")],
    ]
    const looks = {
      target: { fill: "var(--tl-card)", stroke: "var(--tl-value)", "stroke-width": 2 },
      said: { fill: "none", stroke: "var(--tl-line)" },
      wrong: { fill: "none", stroke: "var(--tl-wrong)", "stroke-width": 2.5 },
      read: { fill: "var(--tl-card)", stroke: "var(--tl-query)", "stroke-width": 2.5 },
      leak: { fill: "var(--tl-card)", stroke: "var(--tl-wrong)", "stroke-width": 2.5 },
      later: { fill: "none", stroke: "var(--tl-line)", "stroke-dasharray": "3 3" },
    }
    const now = { x: left + cell * (step - 1), y: 0, width: cell, height: top(rows.length - 1) + high + 4 }
    const nodes = [
      svg("rect", { ...now, rx: 6, fill: "var(--tl-accent)", "fill-opacity": 0.14 }),
    ]
    rows.forEach(([name, row, look], i) => {
      const at = narrow ? { x: 0, y: top(i) - 7 } : { x: 0, y: top(i) + 22 }
      nodes.push(svg("text", { ...at, "font-weight": 600 }, name))
      answers.forEach((_, place) => {
        const word = row[place] ?? ""
        const kind = look(place)
        const x = left + cell * place
        const box = { x: x + 3, y: top(i), width: cell - 6, height: high, rx: 5, ...looks[kind] }
        const shown = kind === "wrong" && word ? `${word} ✗` : word
        const quiet = kind === "later" ? "tl-quiet" : ""
        const text = { x: x + cell / 2, y: top(i) + 22, "text-anchor": "middle", class: quiet, lang: "fr" }
        nodes.push(svg("g", { "data-row": name, "data-kind": kind }, svg("rect", box), svg("text", text, shown)))
      })
    })
    // Where a word that is read comes from.
    const from = rows.findIndex(([name]) => name === (own ? "says" : "must say"))
    const to = rows.length - 1
    for (let place = 1; place <= step - (state.mode === MODES[1] ? 0 : 1); place++) {
      const x1 = left + cell * (place - 0.5)
      const x2 = state.mode === MODES[1] ? x1 : x1 + cell
      const look = { stroke: own && place >= slip && slip ? "var(--tl-wrong)" : "var(--tl-muted)", "stroke-width": 1.5 }
      nodes.push(svg("line", { x1, y1: top(from) + high, x2, y2: top(to) - 4, ...look, class: "tl-way" }))
      nodes.push(svg("circle", { cx: x2, cy: top(to) - 2, r: 3.5, fill: look.stroke }))
    }
    const label = `Step ${step}. Reads: ${reads.slice(0, step).join(" ")}. Must say: ${answers[step - 1]}`
    const viewBox = `0 0 ${width} ${top(rows.length - 1) + high + 6}`
    parts.show(svg("svg", { viewBox, role: "img", "aria-label": label }, ...nodes))
    parts.say(words(all))
  }

  const set = (name) => (value) => {
    state[name] = value
    draw()
  }
  const values = answers.map((_, place) => place + 1)
  const steps = slider({ label: "step", values, value: state.step, changed: set("step") })
  const go = (step) => {
    const input = steps.querySelector("input")
    input.value = step - 1
    input.dispatchEvent(new Event("input"))
  }
  const play = player({
    label: "next step",
    seconds: 1.5,
    forward() {
      if (state.step === answers.length) return false
      go(state.step + 1)
      return true
    },
    again: () => go(1),
  })
  const write = (place) => (place ? `at step ${place}` : "none")
  const places = [0, ...slips.map((_, place) => place + 1)]
  const mistake = buttons({ label: "a mistake", options: places, value: state.slip, write, changed: set("slip") })
  // A mistake stays when its own words are read instead of the right ones. Whoever copies the answer makes none.
  function read(mode) {
    const copies = mode === MODES[1]
    if (copies) mistake.put((state.slip = 0))
    for (const node of mistake.node.querySelectorAll("button")) node.disabled = copies
    set("mode")(mode)
  }
  parts.controls.append(
    buttons({ label: "it reads", options: MODES, value: state.mode, changed: read }).node,
    steps,
    play.node,
    mistake.node
  )
  steps.addEventListener("input", play.stop)
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
