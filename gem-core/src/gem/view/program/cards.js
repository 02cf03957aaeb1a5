"use strict";
// Searches the cards. The search is in the page's address, so that it can be linked to.

const fields = ["text", "pack", "tag"].map((id) => document.getElementById(id));
const cards = [...document.querySelectorAll("article")].map((card) => ({
  card,
  section: card.closest("section"),
  pack: card.closest("section").querySelector("h2").textContent,
  tags: [...card.querySelectorAll(".tags button")].map((tag) => tag.textContent),
  text: [...card.querySelectorAll("h3, p")].map((part) => part.textContent).join(" ").toLowerCase(),
}));

function search() {
  const [text, pack, tag] = fields.map((field) => field.value), words = text.toLowerCase().split(/\s+/);
  const found = new Set(cards.filter((each) => words.every((word) => each.text.includes(word)) && (!pack || each.pack === pack) && (!tag || each.tags.includes(tag))));
  for (const each of cards) each.card.hidden = !found.has(each);
  for (const section of document.querySelectorAll("section")) section.hidden = ![...found].some((each) => each.section === section);
  document.getElementById("count").textContent = `${found.size} of ${cards.length}`;
  const kept = fields.filter((field) => field.value).map((field) => [field.id, field.value]);
  history.replaceState(null, "", "#" + new URLSearchParams(kept));
}

for (const field of fields) field.addEventListener("input", search);
for (const { card } of cards) for (const tag of card.querySelectorAll(".tags button")) tag.addEventListener("click", () => { fields[2].value = tag.textContent; search(); scrollTo(0, 0); });
const wanted = new URLSearchParams(location.hash.slice(1));
for (const field of fields) field.value = wanted.get(field.id) ?? "";
search();
