/* The other language, at the same place: headings and cells have the same ids in both. */
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a.language-switch");
  if (!link) return;
  const places = document.querySelectorAll(".bd-article section[id], .bd-article [id^='cell-']");
  const passed = [...places].filter((place) => place.getClientRects().length && place.getBoundingClientRect().top < innerHeight / 3);
  const named = document.getElementById(location.hash.slice(1))?.getBoundingClientRect().top;
  if (named > -innerHeight / 2 && named < innerHeight) link.hash = location.hash;
  else link.hash = scrollY > 200 && passed.length ? passed.at(-1).id : location.hash;
});
