// A formula that is wider than the window scrolls inside itself: only then it is a stop for the Tab key.
{
  const reach = () => {
    for (const formula of document.querySelectorAll('mjx-container[display="true"]')) {
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0
      else formula.removeAttribute("tabindex")
    }
  }
  for (const [target, event] of [[window, "load"], [window, "resize"], [document, "toggle"]])
    target.addEventListener(event, reach, true)
}
