// Buttons of which one is chosen, and a button that plays.

// `options` side by side; `changed(value)` is called with the chosen one, `put(value)` chooses one without a call.
function buttons({ label, options, value, write = String, changed }) {
  const put = (chosen) =>
    nodes.forEach((node, i) => {
      const on = options[i] === chosen
      node.setAttribute("aria-pressed", on)
      node.style.cssText = on ? "color:var(--tl-on-accent);background:var(--tl-accent);border-color:var(--tl-accent)" : ""
    })
  const nodes = options.map((option) =>
    button({
      label: write(option),
      pressed() {
        put(option)
        changed(option)
      },
    })
  )
  put(value)
  const row = "display:flex;flex-wrap:wrap;align-items:center;gap:.3rem .4rem;font-size:.9375rem"
  return { node: html("div", { role: "group", "aria-label": label, style: row }, html("span", {}, label), ...nodes), put }
}

// A button that calls `forward` again and again, until it returns false or `stop` is called; pressed at the end, it calls
// `again` first. For a reader who wants no motion it is called `label`, and goes forward once for each press.
function player({ label, seconds, forward, again }) {
  const press = () => forward() || again()
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return { node: button({ label, pressed: press }), stop() {} }
  let timer
  const stop = () => {
    timer = clearInterval(timer)
    node.textContent = _("play")
  }
  const node = button({
    label: _("play"),
    pressed() {
      if (timer) return stop()
      node.textContent = _("pause")
      timer = setInterval(() => (node.isConnected && forward()) || stop(), 1000 * seconds)
      press()
    },
  })
  return { node, stop }
}
