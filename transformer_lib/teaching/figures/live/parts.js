// What every figure that answers is made of: drawn elements, labelled controls, and a sentence that says what is to be seen.

const make = (space) => (name, attributes = {}, ...children) => {
  const node = document.createElementNS(space, name)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value)
  node.append(...children)
  return node
}
const svg = make("http://www.w3.org/2000/svg")
const html = make("http://www.w3.org/1999/xhtml")

// The parts of the figure `root`: its controls, its stage (where the still picture stands) and its sentence.
function partsOf(root) {
  const [controls, stage, sentence] = ["controls", "stage", "says"].map((name) => root.querySelector(`.tl-${name}`))
  return {
    root,
    controls,
    // Puts `nodes` where the picture is.
    show: (...nodes) => stage.replaceChildren(...nodes),
    // Says `words` below the picture, aloud to a screen reader; `wrong` marks what could not be used.
    say(words, wrong = false) {
      sentence.textContent = words
      sentence.classList.toggle("tl-wrong", wrong)
    },
    // Calls `draw(width)` now and when the place for the picture gets wider or narrower.
    drawInWidth(draw) {
      let last = 0
      const measure = () => {
        const width = Math.max(260, Math.min(700, Math.floor(stage.clientWidth)))
        if (width !== last) draw((last = width))
      }
      new ResizeObserver(measure).observe(stage)
      measure()
    },
  }
}

// JupyterLab takes a key for a command of the notebook (`x` deletes the cell) unless the control itself says that it does not.
const control = (name, attributes = {}, ...children) => html(name, { "data-lm-suppress-shortcuts": "true", ...attributes }, ...children)

// A slider over `values`; `changed(value)` is called with the value it stands on, `write` turns a value into words.
function slider({ label, values, value, write = String, changed }) {
  const input = control("input", { type: "range", min: 0, max: values.length - 1, step: 1, value: values.indexOf(value) })
  const shown = html("output")
  // As wide as its longest value, so that what stands beside it keeps its place.
  shown.style.minWidth = `${Math.max(...values.map((one) => write(one).length))}ch`
  const node = html("label", {}, label, input, shown)
  const tell = () => {
    const chosen = values[Number(input.value)]
    shown.textContent = write(chosen)
    input.setAttribute("aria-valuetext", write(chosen))
    return chosen
  }
  tell()
  input.addEventListener("input", () => changed(tell()))
  return node
}

// A list to choose from; `options` are values, `write` turns one into words.
function choice({ label, options, value, write = String, changed }) {
  const select = control("select", {}, ...options.map((option) => html("option", {}, write(option))))
  select.selectedIndex = options.indexOf(value)
  select.addEventListener("change", () => changed(options[select.selectedIndex]))
  return html("label", {}, label, select)
}

// A box to tick.
function tick({ label, value, changed }) {
  const input = control("input", { type: "checkbox" })
  input.checked = value
  input.addEventListener("change", () => changed(input.checked))
  return html("label", {}, input, label)
}

// A box to write in. `changed(text)` is called after each letter.
function textBox({ label, value, changed }) {
  const input = control("input", { type: "text", autocomplete: "off", spellcheck: "false" })
  input.value = value
  input.addEventListener("input", () => changed(input.value))
  return html("label", {}, label, input)
}

function button({ label, pressed }) {
  const node = control("button", { type: "button" }, label)
  node.addEventListener("click", pressed)
  return node
}

// `value` with `digits` places after the point, and never -0.00.
const number = (value, digits = 2) => value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1")
// 10 to the power `exponent`, as 10⁻¹².
const powerOfTen = (exponent) => "10" + String(exponent).replace(/./g, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻")
// 1234567 as 1,234,567.
const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",")
