// Attention, one number at a time. All numbers come from Python; here stands where each of them comes from.

const pen = document.createElement("canvas").getContext("2d")
// How many pixels wide `text` is in letters of this size.
function widthOf(text, size, weight = 400) {
  pen.font = `${weight} ${size}px system-ui, sans-serif`
  return pen.measureText(text).width
}

// A number without needless zeros; null is -∞.
function written(value, digits = 3) {
  const places = Math.abs(value) < 10 ? digits : Math.abs(value) < 1000 ? 2 : 0
  return value === null ? "−∞" : String(Number(value.toFixed(places))).replace("-", "−")
}
const colour = (role) => `var(--tl-${role})`
const strong = (value) => html("strong", {}, written(value))

// "a·b + c·d = e" for the lists `left` and `right`, each in the colour of its role; `others` says what else is in the sum.
function products(left, leftRole, right, rightRole, result, others = "") {
  const factor = (value, role) =>
    html("span", { style: `color:${colour(role)}` }, value < 0 ? `(${written(value)})` : written(value))
  const pair = (value, i) => [i ? " + " : "", factor(value, leftRole), "\u2009·\u2009", factor(right[i], rightRole)]
  const rest = left.reduce((rest, value, i) => rest - value * right[i], result)
  const more = others ? [" + ", factor(rest, "muted"), html("small", {}, `\u00a0(${others})`)] : []
  return [...left.flatMap(pair), ...more, " = ", strong(result)]
}

// The steps for one word that asks, in one look (a head). Each has its numbers as [row, column] of the matrix
// `made`, and `from(row, column)`: the frames [matrix, row, column, role] around what makes this number, the calculation, and
// what it means.
function stepsOf(data, word, look) {
  const { answers, d_k } = data
  const now = data.looks[look]
  const vectors = { ...now, ...data }
  function more(shown, whole, bias = false) {
    const rest = whole - shown
    if (!(whole > shown)) return "" // all are shown, or it is not said how many there are
    return bias ? _`${rest} more and a bias` : _`${rest} more`
  }
  const steps = []
  const add = (name, title, made, numbers, from, more) => steps.push({ name, title, made, numbers, from, stride: 1, ...more })
  const asker = `“${data.asks[word]}”`
  const answering = (key) => (!data.writes && answers[key] === data.asks[word] ? _("itself") : `“${answers[key]}”`)
  const seen = [...answers.keys()]
  const column = (matrix, number) => matrix.map((row) => row[number])

  const times = "\u2009·\u2009"
  function project(name, label, role, rows, says) {
    const [right, letter, result] = [vectors.w[role], role[0].toUpperCase(), vectors[role[0]]]
    const ofMemory = vectors.memory && role !== "query"
    const [left, title] = ofMemory ? [vectors.memory, _("memory")] : [vectors.x, _("words X")]
    const words = role === "query" ? data.asks : answers
    const others = more(right.length, data.d_model, true)
    const columns = [...right[0].keys()]
    const from = (row, number) => ({
      frames: [["left", row, null, "ink"], ["right", null, number, role]],
      sum: products(left[row], "ink", column(right, number), role, result[row][number], others),
      says: says(`“${words[row]}”`),
    })
    const numbers = rows.flatMap((row) => columns.map((number) => [row, number]))
    const product = { left, title, right, letter, result, role, rows, words }
    const stride = rows.length > 1 ? columns.length : 1
    add(name, `${label} = ${ofMemory ? title : "X"}${times}W_${letter}`, "made", numbers, from, { product, stride })
  }
  if (vectors.w) {
    project("query", _("query"), "query", [word], (one) =>
      data.writes
        ? _`${one} is written from the row of the word before: this meets a column of W_Q.`
        : _`What ${one} asks for: its row of X meets a column of W_Q.`
    )
    project("keys", _("keys"), "key", seen, (one) => _`What ${one} is found by: a query is compared with it.`)
    project("values", _("values"), "value", seen, (one) => _`What ${one} has to say: this will be mixed.`)
  }

  const each = seen.map((key) => [key, 0])
  if (now.dots) {
    const fits = (other) => _`How well does the query of ${asker} fit the key of “${other}”? The larger, the better.`
    add("compare", _`compare: query${times}key`, "dots", each, (key) => ({
      frames: [["q", 0, null, "query"], ["k", key, null, "key"]],
      sum: products(now.q[word], "query", now.k[key], "key", now.dots[word][key], more(now.q[word].length, d_k)),
      says: fits(answers[key]),
    }))
    add("divide", _`divide by √${d_k}`, "scores", each, (key) => {
      const dot = written(now.dots[word][key])
      return {
        frames: [["dots", key, 0, "ink"]],
        sum: [`${dot} / √${d_k} = ${dot} / ${written(data.root)} = `, strong(now.scores[word][key])],
        says: _`A key has ${d_k} numbers. Divided by √${d_k}, the product is the score.`,
      }
    })
  }
  if (now.masked) {
    add("mask", _("mask"), "masked", each, (key) => {
      const other = answering(key)
      return {
        frames: [["scores", key, 0, "ink"]],
        sum: [`${written(now.scores[word][key])} → `, strong(now.masked[word][key])],
        says:
          now.masked[word][key] === null
            ? data.writes
              ? _`${other} is not there yet when ${asker} is written: its score becomes −∞.`
              : _`${other} stands after ${asker}: its score becomes −∞.`
            : _`${asker} may see ${other}: the score stays.`,
      }
    })
  }
  const scores = (now.masked ?? now.scores)[word]
  const power = (key) => (scores[key] === null ? ["0"] : ["e", html("sup", {}, written(scores[key]))])
  add("softmax", "softmax", "weights", each, (key) => {
    const all = seen.flatMap((other, i) => [i ? " + " : "", ...power(other)])
    const [share, weight] = [`${written(now.exps[word][key])} / ${written(now.sums[word])}`, now.weights[word][key]]
    const [other, given] = [answering(key), number(weight, 3)]
    return {
      frames: [["exps", key, 0, "ink"], ["sum", 0, 0, "ink"], ...(data.map ? [["map", word, null, "query"]] : [])],
      sum: [...power(key), " / (", ...all, `) = ${share} = `, strong(weight)],
      says:
        scores[key] === null
          ? _`e to the power −∞ is 0: ${asker} sees nothing of ${other}. The other weights still sum to 1.`
          : _`${asker} gives ${other} ${given} of its attention. All its weights sum to 1.`,
    }
  })
  if (now.mixed) {
    const weights = seen.map((key) => now.weights[word][key])
    const says = (number) => _`Number ${number} of what ${asker} becomes: each value as loud as its weight.`
    add("mix", _("mix the values"), "mixed", now.mixed[word].map((value, i) => [0, i]), (row, i) => ({
      frames: [["weights", null, 0, "accent"], ["v", null, i, "value"]],
      sum: products(weights, "accent", column(now.v, i), "value", now.mixed[word][i]),
      says: says(i + 1),
    }))
  }
  return steps
}

// `told(word)` is called when the reader chooses who asks; what is returned chooses a word and a look from outside.
function start(parts, data, told = () => {}) {
  // A page that has other numbers to show begins again, in a fresh copy of the figure.
  parts.root.start = (root, data, told) => start(partsOf(root), data, told)
  const { asks, answers } = data
  const state = { word: data.word, look: 0 }
  let steps = stepsOf(data, state.word, state.look)
  // It begins with the whole look-up, or at the step before the answer that is to be guessed, and plays from the first step on.
  const wanted = data.begin ? [data.begin] : ["mix", "softmax"]
  const [begin] = steps.filter((step) => wanted.includes(step.name)).slice(-1)
  Object.assign(state, { at: steps.indexOf(begin), number: begin.numbers.length - 1 })
  let untouched = true
  let width

  const numberOf = (step, row, column) => step.numbers.findIndex(([r, c]) => r === row && c === column)
  // Whose weights the map shows: where there is something to guess, only those of the words that have asked.
  const asked = new Set(data.begin ? [] : asks.keys())
  const known = (name) => steps.findIndex((step) => step.name === name) <= state.at
  // How a number of the matrix `made` is shown: those of the step that is on appear one after the other.
  const inTurn = (made) => (row, column) => {
    const at = steps.findIndex((step, i) => step.made === made && (!step.product || i === state.at))
    if (at < state.at) return "known"
    const index = at === state.at ? numberOf(steps[at], row, column) : -1
    return index >= 0 && index <= state.number ? "known" : ""
  }
  // What a number answers to: in this step the pointer over it chooses it, in an earlier one a click goes there.
  function answer(group, name, row, column) {
    const at = steps.findIndex((step, i) => step.made === name && i <= state.at && (!step.product || i === state.at))
    const index = at < 0 ? -1 : numberOf(steps[at], row, column)
    if (name === "map" ? row === state.word : index < 0) return
    group.style.cursor = "pointer"
    const act = byHand(() => {
      if (name === "map") choose(row)
      else if (at !== state.at || index !== state.number) go(at, index)
    })
    group.addEventListener("click", act)
    if (at === state.at) group.addEventListener("pointerenter", act)
  }

  // An empty picture in letters of this size: its nodes, and the place of each matrix, so that parts of it can be framed.
  function picture(size, digits) {
    const narrow = width < 560
    const [small, high] = [Math.min(narrow ? 12 : 14, size), Math.round(1.5 * size + (narrow ? 8 : 12))]
    const pic = { small, high, places: {}, nodes: [], right: 0, bottom: 0 }
    function reach(x, y) {
      pic.right = Math.max(pic.right, x)
      pic.bottom = Math.max(pic.bottom, y)
    }
    // "W_Q" has its Q below the line, "e^score" its score above it.
    pic.text = (x, y, words, { role = "muted", anchor = "start", weight = 400 } = {}) => {
      const [, whole, sign, index] = words.match(/^(\w)([_^])(\S+)$/) ?? []
      const lines = whole ? [whole, svg("tspan", { dy: sign === "_" ? 4 : -5, "font-size": 10.5 }, index)] : [words]
      const style = `font-size:${small}px;font-weight:${weight};fill:${colour(role)}`
      pic.nodes.push(svg("text", { x, y, "text-anchor": anchor, style }, ...lines))
      reach(x + { start: 1, middle: 0.5, end: 0 }[anchor] * widthOf(words, small, weight), y + 4)
    }
    pic.title = (x, y, words, role = "muted", anchor = "start") => pic.text(x, y, words, { role, anchor, weight: 700 })
    // Names to the left of the lines of a matrix, that of the line `bold` in colour.
    pic.names = (words, x, top, bold = -1) =>
      words.forEach((word, i) => {
        const y = top + high * (i + 0.5) + 0.35 * small
        pic.text(x - 8, y, word, i === bold ? { anchor: "end", role: "query", weight: 700 } : { anchor: "end" })
      })
    pic.roomFor = (words) => 10 + Math.ceil(Math.max(...words.map((word) => widthOf(word, small, 700))))
    // As wide as the widest of these numbers and words.
    pic.cellFor = (values, ...words) => {
      const longest = Math.max(...values.flat().map((value) => widthOf(written(value, digits), size)))
      const titles = words.map((word) => widthOf(word, small, 700) + 6)
      return Math.ceil(Math.max(longest + (size < 13 ? 6 : 10), high - 6, ...titles))
    }
    // Draws `rows`, and returns where they end. `show(row, column)` is "known", or "" for what is not made yet; a
    // `weight` colours a cell, `hidden` stripes it.
    pic.matrix = (name, rows, left, top, cell, { role, show = () => "known", weight, hidden } = {}) => {
      const x = (column) => left + cell * column
      pic.places[name] = { x, y: (row) => top + high * row, cell, rows: rows.length, columns: rows[0].length }
      const card = role ? `color-mix(in srgb, ${colour(role)} 16%, ${colour("surface")})` : colour("card")
      const draw = (value, row, column) => {
        const how = show(row, column)
        const [at, y, wide, tall] = [x(column) + 1.5, top + high * row + 1.5, cell - 3, high - 3]
        const box = { x: at, y, width: wide, height: tall, rx: 4 }
        const group = svg("g", { "data-matrix": name, "data-row": row, "data-column": column })
        const line = how ? { "stroke-width": 0.75 } : { "stroke-width": 0.5, "stroke-dasharray": "2 3" }
        const fill = how ? card : "transparent"
        group.append(svg("rect", { ...box, fill, stroke: colour("line"), ...line }))
        if (how && weight) {
          group.append(svg("rect", { ...box, fill: colour("value"), "fill-opacity": 0.5 * weight(row, column) }))
        }
        if (how && hidden?.(row, column)) {
          const stripes = `M${at + wide / 2} ${y}L${at} ${y + tall / 2}M${at + wide} ${y}L${at} ${y + tall}`
          const last = `M${at + wide} ${y + tall / 2}L${at + wide / 2} ${y + tall}`
          group.append(svg("path", { d: stripes + last, stroke: colour("mask"), "stroke-opacity": 0.35 }))
        }
        if (how) {
          const place = { x: x(column) + cell / 2, y: top + high * (row + 0.5) + 0.35 * size, "text-anchor": "middle" }
          const style = `font-size:${size}px;fill:${colour("ink")}`
          group.append(svg("text", { ...place, style }, written(value, digits)))
        }
        answer(group, name, row, column)
        return group
      }
      pic.nodes.push(...rows.flatMap((values, row) => values.map((value, column) => draw(value, row, column))))
      const end = x(rows[0].length)
      reach(end + 2, top + high * rows.length + 2)
      return end
    }
    return pic
  }

  // A product: a row of the left matrix and a column of the right one meet in the number that they make.
  function drawProduct(pic, step) {
    const { left, title, right, letter, result, role, rows, words } = step.product
    const label = pic.roomFor(words)
    const [cell, other] = [pic.cellFor(left), pic.cellFor([...right, ...result])]
    const above = pic.small + 8
    const below = above + pic.high * right.length + pic.small + 18
    pic.title(label, below - 7, title, "ink")
    pic.names(words, label, below, rows.length === 1 ? rows[0] : -1)
    const x = pic.matrix("left", left, label, below, cell) + Math.round(1.4 * pic.small)
    pic.title(x, above - 7, `W_${letter}`, role)
    pic.matrix("right", right, x, above, other, { role })
    pic.title(x, below - 7, { Q: _("queries"), K: _("keys"), V: _("values") }[letter], role)
    pic.matrix("made", result, x, below, other, { role, show: inTurn("made") })
  }

  // The look-up: a line for each word that answers, from its key to its value; the query above the keys, the mixture below
  // the values. On a narrow page it has two parts, one below the other.
  function drawLook(pic) {
    const { word } = state
    const now = data.looks[state.look]
    const one = (name, title, more) => {
      const rows = now[name][word].map((value) => [value])
      return { name, title, rows, gap: 4, show: inTurn(name), ...more }
    }
    const hidden = (row) => now.masked?.[word][row] === null
    const soft = known("softmax") ? "known" : ""
    const before = []
    if (now.k) before.push({ name: "k", title: _("keys"), rows: now.k, gap: 16, role: "key", above: now.q[word] })
    if (now.dots) before.push(one("dots", "q · k"), one("scores", `÷ √${data.d_k}`))
    else before.push(one("scores", _("score"), { show: () => "known" }))
    if (now.masked) before.push(one("masked", _("mask"), { hidden }))
    const sum = { below: [now.sums[word]], foot: "sum", words: _("sum"), showBelow: () => soft }
    const after = [
      one("exps", _("e^score"), { show: () => soft, ...sum }),
      one("weights", _("weight"), { weight: (row) => now.weights[word][row], hidden }),
    ]
    if (now.v) {
      const mixed = { below: now.mixed[word], foot: "mixed", words: _("mixture"), showBelow: inTurn("mixed") }
      after.push({ name: "v", title: _("values"), rows: now.v, gap: 0, before: 12, role: "value", ...mixed })
    }

    const label = pic.roomFor([...asks, ...answers])
    let [top, end] = [0, 0]
    for (const line of width < 560 && now.k ? [before, after] : [[...before, ...after]]) {
      const above = line[0].above ? pic.small + 8 : 0
      const first = top + above + (above && pic.high) + pic.small + 16
      pic.names(answers, label, first)
      let left = label
      for (const group of line) {
        const alone = group.rows[0].length === 1
        const title = alone ? group.title.replace("^", "") : ""
        const cell = pic.cellFor([...group.rows, group.above ?? [], group.below ?? []], title)
        left += group.before ?? 0
        if (group.above) {
          pic.title(left, top + pic.small + 1, _("query"), "query")
          pic.names([asks[word]], left, top + above, 0)
          pic.matrix("q", [group.above], left, top + above, cell, { role: "query" })
        }
        const lit = (name) => (steps[state.at].made === name ? "accent" : undefined)
        const role = lit(group.name) ?? group.role
        pic.title(alone ? left + cell / 2 : left, first - 7, group.title, role, alone ? "middle" : "start")
        const right = pic.matrix(group.name, group.rows, left, first, cell, group)
        if (group.below) {
          const last = first + pic.high * group.rows.length + 8
          pic.title(left - 6, last + pic.high / 2 + 0.35 * pic.small, group.words, lit(group.foot), "end")
          pic.matrix(group.foot, [group.below], left, last, cell, { role: group.role, show: group.showBelow })
        }
        left = right + group.gap
      }
      end = left
      top = pic.bottom + 14
    }
    if (data.map) drawMap(pic, label, end, top)
  }

  // The weights of all words that ask: beside the look-up where there is room, else below it.
  function drawMap(pic, label, end, below) {
    const { weights, masked } = data.looks[state.look]
    const cell = Math.max(pic.cellFor(weights), ...answers.map((word) => Math.ceil(widthOf(word, pic.small) + 8)))
    const beside = end + 24 + label + cell * answers.length <= width
    const [left, top] = beside ? [end + 24 + label, 0] : [label, below]
    const first = top + 2 * pic.small + 15
    pic.title(left, top + pic.small + 1, _(data.map))
    answers.forEach((word, i) => pic.text(left + cell * (i + 0.5), first - 7, word, { anchor: "middle" }))
    pic.names(asks, left, first, state.word)
    if (known("softmax")) asked.add(state.word)
    pic.matrix("map", weights, left, first, cell, {
      show: (row) => (known("softmax") && asked.has(row) ? "known" : ""),
      weight: (row, column) => weights[row][column],
      hidden: (row, column) => masked?.[row][column] === null,
    })
  }

  // The picture in the largest letters with which it is not too wide. Not all of it shrinks with them, so they are never smaller
  // than its width asks for.
  function fitting(draw, large) {
    let pic
    for (const digits of [3, 2]) {
      let size = width < 560 ? 17 : large
      while (size >= (digits === 3 ? 13 : 10.5)) {
        draw((pic = picture(size, digits)))
        if (pic.right <= width) return pic
        size = Math.min(size - 0.5, Math.ceil((2 * size * width) / pic.right) / 2)
      }
    }
    return pic
  }

  function frame(pic, [name, row, column, role], thick = 2.5) {
    const { x, y, cell, rows, columns } = pic.places[name]
    const [from, to] = [x(column ?? 0), x(column ?? columns - 1) + cell]
    const box = { x: from, y: y(row ?? 0), width: to - from, height: pic.high * (row === null ? rows : 1), rx: 5 }
    const line = { fill: "none", stroke: colour(role), "stroke-width": thick, "pointer-events": "none" }
    return svg("rect", { ...box, ...line, "data-frame": name })
  }

  function draw() {
    const step = steps[state.at]
    const [row, column] = step.numbers[state.number]
    const { frames, sum, says } = step.from(row, column)
    const pic = step.product ? fitting((pic) => drawProduct(pic, step), 24) : fitting(drawLook, 20)
    const lit = frame(pic, [step.made, row, column, "accent"], 3)
    lit.style.cssText = `fill:${colour("accent")};fill-opacity:.16`
    const label = `${step.title}. ${sum.map((part) => part.textContent ?? part).join("")}. ${says}`
    const picture = { viewBox: `0 0 ${width} ${pic.bottom}`, role: "img", "aria-label": label }
    const line = "margin:0;font-size:1.1875rem;line-height:1.7;font-variant-numeric:tabular-nums"
    parts.show(
      html("p", { class: "tl-sum", style: line }, ...sum),
      svg("svg", picture, ...pic.nodes, ...frames.map((one) => frame(pic, one)), lit)
    )
    parts.say([says, _(data.notes[step.name])].filter(Boolean).join(" "))
    back.disabled = state.at === 0
    next.disabled = state.at === steps.length - 1
  }

  const [list, numbers] = [0, 1].map(() => html("span", { style: "display:contents" }))
  // Goes to a number of a step; the list and the slider go with it.
  function go(at, number = 0) {
    untouched &&= at === state.at && number === state.number
    Object.assign(state, { at, number })
    const titles = steps.map(({ title }, i) => `${i + 1} · ${title}`)
    if (list.textContent !== [_("step"), ...titles].join("")) {
      const stops = choice({ label: _("step"), options: titles, value: "", changed: byHand((title) => go(titles.indexOf(title))) })
      stops.lastChild.disabled = titles.length === 1
      list.replaceChildren(stops)
    }
    list.querySelector("select").selectedIndex = at
    const values = [...steps[at].numbers.keys()]
    const ofAll = (number) => _`${number} of ${values.length}`
    const changed = byHand((i) => {
      state.number = i
      draw()
    })
    numbers.replaceChildren(slider({ label: _("number"), values, value: number, write: (i) => ofAll(i + 1), changed }))
    draw()
  }
  // The same step and number, as far as there is one, for another word or look.
  function change(what) {
    const { name } = steps[state.at]
    Object.assign(state, what)
    steps = stepsOf(data, state.word, state.look)
    const at = Math.max(0, steps.findIndex((step) => step.name === name))
    go(at, Math.min(state.number, steps[at].numbers.length - 1))
  }
  function choose(word) {
    who.put(word)
    change({ word })
    told(word)
  }
  function forward() {
    const { stride, numbers } = steps[state.at]
    const last = state.number + stride >= numbers.length
    if (untouched || (last && state.at === steps.length - 1)) return false
    last ? go(state.at + 1) : go(state.at, state.number + stride)
    return true
  }
  // What the reader does ends the playing.
  const byHand = (act) => (value) => {
    play.stop()
    act(value)
  }
  const byName = (names, changed) => ({ options: [...names.keys()], write: (i) => names[i], changed: byHand(changed) })
  const who = buttons({ label: _(data.who), value: state.word, ...byName(asks, choose) })
  const looks = data.looks.map(({ name }) => name)
  const which = buttons({ label: _(data.which), value: 0, ...byName(looks, (look) => change({ look })) })
  const back = button({ label: _("back"), pressed: byHand(() => go(state.at - 1)) })
  const next = button({ label: _("next"), pressed: byHand(() => go(state.at + 1)) })
  // All is played in 12 seconds, also for the word that sees most.
  const longest = stepsOf(data, asks.length - 1, 0).map(({ numbers, stride }) => Math.ceil(numbers.length / stride))
  const moments = longest.reduce((sum, many) => sum + many)
  const play = player({ label: _("next number"), seconds: Math.min(1.5, 12 / moments), forward, again: () => go(0) })
  const row = html("div", { style: "display:flex;flex-wrap:wrap;gap:.4rem" }, back, next, play.node)
  parts.controls.append(who.node, ...(looks.length > 1 && data.which ? [which.node] : []), list, row, numbers)
  parts.drawInWidth((newWidth) => {
    width = newWidth
    go(state.at, state.number)
  })
  return byHand(({ word, look }) => {
    who.put(word)
    change({ word, look })
  })
}
