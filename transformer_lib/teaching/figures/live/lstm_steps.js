// An LSTM of one number reads a sentence. The picture and all numbers come from Python; here its parts are lit, and its numbers
// filled in, one part of a step after the other.

function start(parts, data) {
  const { words, runs } = data
  const PARTS = ["read", "gates", "c", "h"]
  const last = PARTS.length * words.length - 1
  const state = { run: 0, at: data.at }
  // It opens in the middle, and plays from the first word on.
  let untouched = true
  const picture = parts.root.querySelector(".tl-stage svg")
  // On a narrow page it has two lines, so that the picture below it stays where it is.
  const line = "margin:0 0 .4rem;min-height:clamp(1.7em, (500px - 100vw) * 99, 3.4em);font-size:1.1875rem;line-height:1.7"
  const sum = html("p", { class: "tl-sum", style: line })
  parts.show(sum, picture)

  // A number without needless zeros. In a sum it has so many places that the sum is right in those that are shown.
  const written = (value, digits = 4) => String(Number(value.toFixed(digits))).replace("-", "−")
  const short = (value) => written(value, 2)
  const factor = (value) => (value < 0 ? `(${written(value)})` : written(value))
  const strong = (value) => html("strong", {}, written(value))

  // The numbers of the word with index `column`.
  function at(column) {
    const now = { word: `“${words[column]}”` }
    for (const [name, values] of Object.entries(runs[state.run])) {
      now[name] = values[column]
      now[`old ${name}`] = column ? values[column - 1] : 0
    }
    return { ...now, kept: now.f * now["old c"], new: now.i * now.g }
  }

  // For each part what it computes, and what that means.
  function told(part, now) {
    const { word, f, i, g, o, c, h } = now
    const before = now["old c"]
    const [old, tanh, left, added] = [short(before), short(Math.tanh(c)), short(now.kept), short(now.new)]
    if (part === "read")
      return [
        [_`${word}, and h = `, strong(now["old h"])],
        _`The cell reads ${word}, and h from the step before. On its whiteboard, c, stands ${old}.`,
      ]
    const kept = f < 0.1 ? _("the board is wiped") : f < 0.9 ? _`only ${f} of the board is kept` : _("the board is kept")
    const news = g === 0 ? _("there is no news") : i < 0.5 ? _("the news is hardly written") : _("the news is written")
    if (part === "gates")
      return [
        ["f", "i", "g", "o"].flatMap((name) => [name === "f" ? "" : ", ", `${name} = `, strong(now[name])]),
        o < 0.5
          ? _`At ${word} ${kept}, ${news}, and hardly anything will be shown.`
          : _`At ${word} ${kept}, ${news}, and nearly all will be shown.`,
      ]
    if (part === "c")
      return [
        [`c = f·c + i·g = ${written(f)} · ${factor(before)} + ${written(i)} · ${factor(g)} = `, strong(c)],
        _`What is kept, ${left}, and what is written, ${added}, together are the new c.`,
      ]
    return [
      [`h = o·tanh(c) = ${written(o)} · tanh(${written(c)}) = `, strong(h)],
      o < 0.5
        ? _`tanh(c) is ${tanh}. Of that hardly anything is shown, and goes to the next step.`
        : _`tanh(c) is ${tanh}. Of that nearly all is shown, and goes to the next step.`,
    ]
  }

  function draw() {
    const [column, part] = [Math.floor(state.at / PARTS.length), state.at % PARTS.length]
    const now = at(column)
    const since = { word: 0, "old h": 0, "old c": 0, f: 1, i: 1, g: 1, o: 1, kept: 2, new: 2, c: 2, h: 3 }
    for (const slot of picture.querySelectorAll("[data-name]")) {
      const value = now[slot.dataset.name]
      slot.textContent = part < since[slot.dataset.name] ? "" : typeof value === "string" ? value : short(value)
    }
    for (const node of picture.querySelectorAll("[data-part]"))
      node.style.color = `var(--tl-${node.dataset.part.split(" ").includes(PARTS[part]) ? "accent" : "line"})`
    for (const row of ["c", "h"])
      picture.querySelectorAll(`[data-row=${row}]`).forEach((cell, i) => {
        const value = i < column || (i === column && part >= since[row]) ? runs[state.run][row][i] : null
        const [box, text] = cell.children
        box.setAttribute("fill", `var(--tl-${value < 0 ? "query" : "key"})`)
        box.setAttribute("fill-opacity", Math.abs(value) / 2)
        box.style.cssText = i === column ? "stroke:var(--tl-accent);stroke-width:2" : ""
        text.textContent = value === null ? "" : short(value)
      })
    const [calculation, meaning] = told(PARTS[part], now)
    sum.replaceChildren(...calculation)
    parts.say(meaning)
    picture.setAttribute("aria-label", _`The LSTM at ${now.word}: ${sum.textContent}`)
    back.disabled = state.at === 0
    next.disabled = state.at === last
  }

  function go(at) {
    untouched = false
    state.at = at
    which.put(Math.floor(at / PARTS.length))
    draw()
  }
  function forward() {
    if (untouched || state.at === last) return false
    go(state.at + 1)
    return true
  }
  // What the reader does ends the playing.
  const byHand = (act) => (value) => {
    play.stop()
    act(value)
  }
  const which = buttons({
    label: _("word"),
    options: [...words.keys()],
    value: Math.floor(state.at / PARTS.length),
    write: (i) => words[i],
    changed: byHand((i) => go(PARTS.length * i + (state.at % PARTS.length))),
  })
  const gate = buttons({
    label: _("f when open"),
    options: [...runs.keys()],
    value: state.run,
    write: (i) => runs[i].f[0],
    changed(i) {
      state.run = i
      draw()
    },
  })
  const back = button({ label: _("back"), pressed: byHand(() => go(state.at - 1)) })
  const next = button({ label: _("next"), pressed: byHand(() => go(state.at + 1)) })
  const play = player({ label: _("next part"), seconds: 1, forward, again: () => go(0) })
  const row = html("div", { style: "display:flex;gap:.4rem" }, back, next, play.node)
  parts.controls.append(row, which.node, gate.node)
  draw()
}
