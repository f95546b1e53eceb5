// A beam search over the phrase book, one step at a time: what is kept, what is dropped, what has ended.

function start(parts, { book, english }) {
  const END = "<EOS>"
  const state = { english, beam: 1, alpha: 0.6, step: 0 }

  const sentences = () =>
    Object.entries(book[state.english]).map(([french, share]) => ({ words: [...french.split(" "), END], share }))
  const begins = (sentence, words) => words.every((word, place) => sentence.words[place] === word)
  const hasEnded = ({ words }) => words.at(-1) === END
  const penalty = (length) => ((5 + length) / 6) ** state.alpha
  const score = ({ words, chance }) => Math.log(chance) / penalty(words.length)

  // All steps of a search: the candidates of each, most probable first, and those of them that are kept.
  function search(beam) {
    const steps = []
    let live = [{ words: [] }]
    while (live.length) {
      const candidates = live.flatMap(({ words }) => {
        // A beginning is as probable as all sentences together that begin with it.
        const chances = new Map()
        for (const sentence of sentences().filter((one) => begins(one, words))) {
          const word = sentence.words[words.length]
          chances.set(word, (chances.get(word) ?? 0) + sentence.share)
        }
        return [...chances].map(([word, chance]) => ({ words: [...words, word], chance }))
      })
      candidates.sort((a, b) => b.chance - a.chance)
      const kept = candidates.slice(0, beam)
      steps.push({ candidates, kept })
      live = kept.filter((one) => !hasEnded(one))
    }
    return steps
  }
  // The sentences that these steps have found, best score first.
  const found = (steps) => steps.flatMap(({ kept }) => kept.filter(hasEnded)).sort((a, b) => score(b) - score(a))
  const greedy = () => text(found(search(1))[0])

  const text = ({ words }) => words.filter((word) => word !== END).join(" ")
  const signed = (value) => number(value, 3).replace("-", "−")
  function listed(all) {
    const named = all.map((one) => `${one.words.join(" ")} (${number(one.chance)})`)
    const [first, second] = named
    return named.length === 2 ? _`${first} and ${second}` : named.join(", ")
  }

  let width
  function tree(steps) {
    const all = sentences()
    const [gutter, row, top] = [46, 52, 22]
    const column = (width - gutter) / all.length
    const wide = Math.min(column - 3, 120)
    const depth = Math.max(...all.map(({ words }) => words.length))
    // A beginning stands over the middle of the sentences that begin with it.
    const x = (words) => {
      const under = all.flatMap((sentence, place) => (begins(sentence, words) ? [place + 0.5] : []))
      return gutter + (column * under.reduce((a, b) => a + b)) / under.length
    }
    const y = (words) => top + row * words.length
    function node(one, kind) {
      const [at, middle, from] = [x(one.words), y(one.words), one.words.slice(0, -1)]
      const chance = number(one.chance)
      const word = one.words.at(-1)
      const total = kind === "ended" ? signed(score(one)) : ""
      const [above, below] = {
        kept: [word, chance],
        ended: [`${word} ${chance}`, _`score ${total}`],
        dropped: [word, _`${chance} dropped`],
        candidate: [word, `${chance} ?`],
      }[kind]
      const stays = kind === "kept" || kind === "ended"
      const line = stays ? { stroke: "var(--tl-decoder)", "stroke-width": 2 } : { stroke: "var(--tl-muted)" }
      if (kind === "dropped") line["stroke-dasharray"] = "4 3"
      const fill = kind === "ended" ? "var(--tl-card)" : "none"
      const look = { "text-anchor": "middle", class: stays ? "" : "tl-quiet" }
      return svg(
        "g",
        { "data-words": one.words.join(" "), "data-kind": kind },
        svg("path", { d: `M${x(from)} ${y(from) + (from.length ? 19 : 12)}L${at} ${middle - 19}`, ...line }),
        svg("rect", { x: at - wide / 2, y: middle - 19, width: wide, height: 38, rx: 5, fill, ...line }),
        svg("text", { x: at, y: middle - 4, ...look }, above),
        svg("text", { x: at, y: middle + 13, ...look, style: "font-size:11px" }, below)
      )
    }
    const side = Array.from({ length: depth }, (value, i) => {
      const ends = i < state.step && steps[i].kept.some(hasEnded)
      const step = i + 1
      const lines = ends ? [_`step ${step}`, "log P", `÷ ${number(penalty(step))}`] : [_`step ${step}`]
      const first = top + row * (i + 1) + (ends ? -10 : 4)
      return lines.map((line, place) => svg("text", { x: 0, y: first + 15 * place, class: "tl-quiet" }, line))
    })
    const nodes = steps.slice(0, state.step + 1).flatMap(({ candidates, kept }, step) =>
      candidates.map((one) => {
        if (step === state.step) return node(one, "candidate")
        return node(one, !kept.includes(one) ? "dropped" : hasEnded(one) ? "ended" : "kept")
      })
    )
    return svg(
      "svg",
      {
        viewBox: `0 0 ${width} ${top + row * depth + 24}`,
        role: "img",
        "aria-label": state.step === 1 ? _("The tree after 1 step") : _`The tree after ${state.step} steps`,
      },
      svg("text", { x: x([]), y: top + 4, "text-anchor": "middle" }, "<SOS>"),
      ...side.flat(),
      ...nodes
    )
  }

  // All sentences that will end have their rows, so that nothing moves when one appears.
  function table(all, ended) {
    const seen = (on) => (on ? "" : "visibility:hidden")
    const rows = all.map((one) =>
      html(
        "tr",
        { style: seen(ended.includes(one)) },
        html("th", { scope: "row" }, text(one) + (text(one) === greedy() ? " " + _("(greedy)") : "")),
        ...[number(one.chance), one.words.length, signed(score(one))].map((value) => html("td", {}, value))
      )
    )
    const head = [_("ended"), "P", _("tokens"), _("score")].map((name) => html("th", { scope: "col" }, name))
    return html("table", { style: `overflow-wrap:normal;margin-top:.5rem;${seen(ended.length)}` }, html("tr", {}, ...head), ...rows)
  }

  function words(steps) {
    const places = state.beam === 1 ? _("1 place") : _`${state.beam} places`
    const told = []
    const { candidates, kept } = steps[state.step - 1] ?? {}
    if (kept) {
      const dropped = candidates.slice(kept.length)
      const [best, rest] = [listed(kept), listed(dropped)]
      if (dropped.length === 0) told.push(_`Step ${state.step}: ${places} for ${best}: nothing is dropped.`)
      else {
        if (kept.length > 1) told.push(_`Step ${state.step}: ${best} are the most probable and stay;`)
        else told.push(_`Step ${state.step}: ${best} is the most probable and stays;`)
        told.push(dropped.length > 1 ? _`${rest} are dropped: ${places} only.` : _`${rest} is dropped: ${places} only.`)
      }
    }
    if (state.step < steps.length) {
      if (kept?.some(hasEnded)) told.push(_`What has written ${END} leaves the beam and waits with its score.`)
      const all = steps[state.step].candidates.length
      const some = all === 1 ? _("1 candidate") : _`${all} candidates`
      told.push(_`Next: ${some} for ${places}. What stays?`)
    } else {
      const best = text(found(steps)[0])
      const other = best === greedy() ? _("the same") : greedy()
      told.push(_`All have ended: ${best} has the best score, and greedy decoding writes ${other}.`)
      const lengths = found(steps).map(({ words }) => words.length)
      if (lengths.length > 1 && new Set(lengths).size === 1) {
        const [length] = lengths
        told.push(_`All have ${length} tokens: α cannot change their order.`)
      }
    }
    return told.join(" ")
  }

  function draw() {
    const steps = search(state.beam)
    state.step = Math.min(state.step, steps.length)
    back.disabled = again.disabled = state.step === 0
    next.disabled = state.step === steps.length
    const ended = found(steps.slice(0, state.step))
    // α has nothing to divide before a sentence has ended.
    alpha.querySelector("input").disabled = ended.length === 0
    parts.show(tree(steps), table(found(steps), ended))
    parts.say(words(steps))
  }

  const set = (changes) => {
    const focused = document.activeElement
    Object.assign(state, changes)
    draw()
    // A button that has nothing more to do hands the keyboard on.
    if (focused?.disabled) (focused === next ? back : next).focus()
  }
  const back = button({ label: _("back"), pressed: () => set({ step: state.step - 1 }) })
  const next = button({ label: _("next step"), pressed: () => set({ step: state.step + 1 }) })
  const again = button({ label: _("start again"), pressed: () => set({ step: 0 }) })
  const alpha = slider({
    label: "α",
    values: Array.from({ length: 11 }, (_, i) => i / 10),
    value: state.alpha,
    write: (value) => number(value, 1),
    changed: (alpha) => set({ alpha }),
  })
  parts.controls.append(
    choice({
      label: _("sentence"),
      options: Object.keys(book),
      value: english,
      changed: (english) => set({ english, step: 0 }),
    }),
    slider({ label: _("beam"), values: [1, 2, 3, 4], value: state.beam, changed: (beam) => set({ beam }) }),
    alpha,
    html("div", { style: "display:flex;gap:.4rem" }, back, next, again)
  )
  parts.drawInWidth((newWidth) => {
    width = newWidth
    draw()
  })
}
