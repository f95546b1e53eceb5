// Turns the article of a built page into a chapter of a book: nothing in it asks for a screen, a click or a script.
// `page` is the page's name, `pages` are the names of all pages of the book, `site` is the folder of the built pages, `words`
// are what the book says itself.
({ page, pages, site, words }) => {
  const article = document.querySelector("article")
  // Where the site is published, if it is
  const address = document.querySelector("link[rel=canonical]")?.href.replace(`${page}.html`, "")
  const all = (selector, root = article) => [...root.querySelectorAll(selector)]
  const key = (name) => name.replaceAll("/", ".")

  function element(name, attributes = {}, ...children) {
    const node = document.createElement(name)
    for (const [attribute, value] of Object.entries(attributes)) node.setAttribute(attribute, value)
    node.append(...children)
    return node
  }

  // What stands only on the site
  function onTheSite(text) {
    const [before, after] = text.split("{place}")
    const place = address ? element("a", { href: `${address}${page}.html` }, words.place) : words.place
    return element("p", { class: "on-the-site" }, before, place, after)
  }
  const screen = ".headerlink, .viewcode-link, .toctree-wrapper, .printed-book, noscript, .tl-controls, picture > source"
  for (const node of all(screen)) node.remove()
  for (const node of all("p:has(+ .cell .tl-quiz)")) node.remove() // how to answer there
  for (const node of all(".on-screen")) node.replaceWith(onTheSite(words.promise))
  for (const node of all("section.tl-translator")) node.replaceWith(onTheSite(words.translator))
  for (const node of all(".tl-explorer")) node.replaceWith(onTheSite(words.explorer))
  for (const node of all("figure.tl-live")) node.append(onTheSite(words.figure))

  // A formula that may be wider than a small screen
  for (const node of all("span.math")) if (node.getBoundingClientRect().width > 250) node.classList.add("wide")

  // Styles go into the head, each once.
  const styles = all("style").filter((node) => !node.closest(".tl-quiz")).map((node) => node.textContent)
  for (const node of all("style, script")) node.remove()

  // A chapter says where it is; the whole drawing stands on the map's own page.
  for (const node of all(".tl-map details")) {
    const summary = node.querySelector("summary")
    all("small", summary).forEach((small) => small.remove())
    node.replaceWith(element("div", { class: "you-are-here" }, ...summary.childNodes))
  }

  // Answers go to the end of the book, with a way there and a way back.
  const answers = element("section", {})
  let count = 0
  function toTheEnd(title, ...nodes) {
    const id = `answer-${++count}`
    const back = element("a", { href: `#${id}-asked` }, title)
    answers.append(element("section", { id, class: "answer" }, element("h3", {}, back), ...nodes))
    return element("p", { id: `${id}-asked`, class: "to-the-answer" }, element("a", { href: `#${id}` }, words.answer))
  }
  for (const quiz of all(".tl-quiz")) {
    const questions = element("ol", { class: "quiz" })
    const answered = element("ol", { class: "quiz" })
    for (const field of all("fieldset", quiz)) {
      const question = field.querySelector("legend")
      question.normalize()
      question.firstChild.textContent = question.firstChild.textContent.replace(/^\d+\. /, "")
      const [options, verdicts] = [element("ul"), element("ul")]
      for (const option of all("details", field)) {
        const text = [...option.querySelector("summary > span").childNodes]
        const verdict = [...option.querySelector("p").childNodes]
        options.append(element("li", {}, ...text.map((node) => node.cloneNode(true))))
        verdicts.append(element("li", {}, ...text, element("br"), ...verdict))
      }
      questions.append(element("li", {}, ...question.cloneNode(true).childNodes, options))
      answered.append(element("li", {}, ...question.childNodes, verdicts))
    }
    quiz.replaceWith(questions, toTheEnd(words.quiz, answered))
  }
  for (const node of all("details")) {
    const summary = node.querySelector("summary")
    const title = summary.textContent.trim()
    summary.remove()
    if (node.matches(".hide")) node.replaceWith(element("div", { class: "folded-code" }, ...node.childNodes))
    else if (node.closest("#exercises")) {
      const asked = node.closest("section").querySelector("h1, h2, h3").textContent
      node.replaceWith(toTheEnd(asked, ...node.childNodes))
    } else node.replaceWith(element("div", { class: "folded" }, element("p", { class: "folded-title" }, title), ...node.childNodes))
  }

  // Colours only: names and punctuation are as black as the rest.
  for (const node of all(".highlight :is(.n, .p, .w, .nn, .nx), .highlight span:empty")) node.replaceWith(...node.childNodes)

  const body = element("article", { id: key(page) }, ...article.childNodes)
  const parts = [body, answers]
  const both = (selector) => parts.flatMap((part) => all(selector, part))

  for (const node of both("img")) {
    node.setAttribute("src", new URL(node.getAttribute("src"), document.baseURI).href)
    for (const attribute of ["loading", "decoding"]) node.removeAttribute(attribute)
    // A picture inside a link to the same picture needs no link.
    node.closest("a.image-reference")?.replaceWith(node)
  }

  // An id exists once in the book, and a link inside the book leads to an id.
  for (const node of both("[id]")) node.id = `${key(page)}.${node.id}`
  for (const node of both("a")) {
    const attribute = ["href", "xlink:href"].find((name) => node.hasAttribute(name))
    if (!attribute) continue
    const target = new URL(node.getAttribute(attribute), document.baseURI)
    if (target.protocol !== "file:") continue
    const path = decodeURIComponent(target.pathname).slice(site.length)
    const name = path.replace(/\.html$/, "")
    node.removeAttribute(attribute)
    if (pages.includes(name)) node.setAttribute("href", `#${key(name)}${decodeURIComponent(target.hash).replace("#", ".")}`)
    else if (address) node.setAttribute("href", address + path + target.hash)
    else node.replaceWith(...node.childNodes)
  }
  for (const node of both("*")) {
    for (const { name, value } of [...node.attributes]) {
      const forScreens = /^data-|^aria-(live|describedby|labelledby|controls)$|^(tabindex|unselectable|for|title)$/
      if (forScreens.test(name) || value === "doc-biblioentry") node.removeAttribute(name)
    }
  }

  const sections = all("section[id] > h2", body).map((node) => ({ id: node.parentElement.id, title: node.textContent }))
  const xml = (node) => new XMLSerializer().serializeToString(node)
  // On paper a formula is what MathJax has drawn; an e-reader reads its MathML.
  function forScreen(part) {
    const copy = part.cloneNode(true)
    for (const node of all("mjx-container", copy)) node.replaceWith(node.querySelector("math"))
    return xml(copy)
  }
  function forPaper(part) {
    const copy = part.cloneNode(true)
    for (const node of all("mjx-assistive-mml", copy)) node.remove()
    return xml(copy)
  }
  return {
    title: body.querySelector("h1").textContent,
    styles,
    sections,
    paper: { body: forPaper(body), answers: count ? forPaper(answers) : "" },
    screen: { body: forScreen(body), answers: count ? forScreen(answers) : "" },
  }
}
