// Says in another language what scripts put into `root`: each text and each label is exchanged as soon as it stands there.
const translateIn = (() => {
  const texts = TEXTS
  const HOLE = /\{[^{}]*\}/g
  const LABELS = ["aria-label", "aria-valuetext", "title", "placeholder"]
  const own = (text) => text.replace(HOLE, "").length
  const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  // What is put in ends before a full stop, and not before the point of its own number. "3 of 7" is no sentence with "of".
  const holed = (parts) =>
    [" of ", ", layer "].includes(parts.join(""))
      ? parts.join("(\\S*?)")
      : parts.join("(.*?)").replaceAll("(.*?)\\.", "(.*?)\\.(?!\\d)")
  const patterns = Object.keys(texts)
    .filter((text) => text.match(HOLE))
    .sort((one, other) => own(other) - own(one))
    .map((text) => [new RegExp(`^${holed(text.split(HOLE).map(quoted))}$`, "su"), text])

  // The translation of `text`. What was joined is cut again: a number before a title, or sentences.
  function said(text) {
    const whole = one(text)
    if (whole !== null) return whole
    const numbered = /^(\d+ · )(.+)$/su.exec(text)
    if (numbered) return numbered[1] + said(numbered[2])
    const sentences = text.split(/(?<=[.?!]) (?=\S)/u)
    const spoken = []
    for (let from = 0, to; from < sentences.length; from = to) {
      // As many sentences as one translation takes; a title may have got a full stop.
      let found = null
      for (to = sentences.length; to > from && found === null; to--) {
        const some = sentences.slice(from, to).join(" ")
        if (sentences.length > 1) found = one(some) ?? (some.endsWith(".") ? (one(some.slice(0, -1))?.concat(".") ?? null) : null)
      }
      to = found === null ? from + 1 : to + 1
      spoken.push(found ?? sentences[from])
    }
    return spoken.join(" ")
  }

  // The translation of one text, or null; what is put into it is carried over, and translated where it can be.
  function one(text) {
    if (texts[text] !== undefined) return texts[text]
    for (const [pattern, english] of patterns) {
      const found = pattern.exec(text)
      if (!found) continue
      const values = {}
      english.match(HOLE).forEach((hole, i) => (values[hole] ??= []).push(said(found[i + 1])))
      return texts[english].replace(HOLE, (hole) => (values[hole].length > 1 ? values[hole].shift() : values[hole][0]))
    }
    return null
  }

  function translated(text) {
    const plain = text.replace(/\s+/g, " ").trim()
    return /[A-Za-z]/.test(plain) ? text.replace(/\S[\s\S]*\S|\S/, () => said(plain)) : text
  }

  // Words that are marked as another language stay: those of the sentences.
  const stays = (node, root) => {
    const marked = (node.parentElement ?? root).closest("[lang]")
    return marked !== null && marked !== root && root.contains(marked)
  }

  function speak(node) {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = /^(SCRIPT|STYLE)$/.test(node.parentNode?.nodeName) ? node.data : translated(node.data)
      if (text !== node.data) node.data = text
    } else if (node.nodeType === Node.ELEMENT_NODE && !node.hasAttribute("lang")) {
      for (const name of LABELS) {
        const text = node.getAttribute(name)
        if (text && translated(text) !== text) node.setAttribute(name, translated(text))
      }
      node.childNodes.forEach(speak)
    }
  }

  return (root) => {
    speak(root)
    new MutationObserver((changes) => {
      for (const { target, addedNodes, type } of changes)
        if (!stays(addedNodes[0] ?? target, root)) type === "childList" ? addedNodes.forEach(speak) : speak(target)
    }).observe(root, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: LABELS })
  }
})()
