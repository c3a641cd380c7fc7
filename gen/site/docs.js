// The search of the reference, and buttons that open whole trees. The pages have all of
// their text without it.

const most = 40; // results that are shown

const form = document.getElementById("search");
const query = document.getElementById("query");
const found = document.getElementById("found");
const results = document.getElementById("results");
let index; // a promise of [title, path, place, further words]

function load() {
  index ??= fetch(form.dataset.root + "search.json").then((reply) => {
    if (!reply.ok) throw new Error(`search.json: status ${reply.status}`);
    return reply.json();
  });
  return index;
}

// rank is lower for a better match, and undefined for none: all words must occur.
function rank([title, , place, words], wanted) {
  const name = title.toLowerCase();
  const all = `${name} ${place} ${words}`.toLowerCase();
  if (!wanted.every((word) => all.includes(word))) return undefined;
  const last = name.split(/[.[\]=]/).filter(Boolean).pop() ?? name;
  const [first] = wanted;
  if (name === first || last === first) return name.length;
  if (name.startsWith(first) || last.startsWith(first)) return 1000 + name.length;
  return (name.includes(first) ? 2000 : 3000) + name.length;
}

function item([title, path, place]) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  const name = document.createElement("b");
  const where = document.createElement("span");
  link.href = form.dataset.root + path;
  name.textContent = title;
  where.textContent = place;
  link.append(name, where);
  line.append(link);
  return line;
}

async function search() {
  const wanted = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return clear();
  let entries;
  try {
    entries = await load();
  } catch {
    index = undefined;
    found.textContent = "The index could not be loaded.";
    return;
  }
  const matches = entries
    .map((entry) => [rank(entry, wanted), entry])
    .filter(([order]) => order !== undefined)
    .sort(([a], [b]) => a - b);
  results.replaceChildren(...matches.slice(0, most).map(([, entry]) => item(entry)));
  found.textContent = matches.length > most ? `${matches.length} results, the first ${most} shown`
    : `${matches.length} result${matches.length === 1 ? "" : "s"}`;
}

function clear() {
  results.replaceChildren();
  found.textContent = "";
}

// Arrow keys go through the results, Escape back to the field and then out of them.
function move(event) {
  const links = [...results.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "ArrowDown" && links.length) {
    links[Math.min(at + 1, links.length - 1)].focus();
  } else if (event.key === "ArrowUp" && at >= 0) {
    (at === 0 ? query : links[at - 1]).focus();
  } else if (event.key === "Escape") {
    if (at < 0) query.value = "";
    clear();
    query.focus();
  } else {
    return;
  }
  event.preventDefault();
}

form.hidden = false;
query.addEventListener("input", search);
form.addEventListener("keydown", move);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  results.querySelector("a")?.click();
});
// A click on a field of the page that is open closes the list.
results.addEventListener("click", clear);
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) clear();
});

for (const heading of document.querySelectorAll("main h2, main h4")) {
  const scope = heading.tagName === "H2" ? heading.parentElement : heading.nextElementSibling?.nextElementSibling;
  const trees = heading.tagName === "H2" ? scope.querySelectorAll(":scope > .tree") : [scope].filter((e) => e?.matches(".tree"));
  for (const tree of trees) {
    const inner = tree.querySelectorAll("details");
    if (inner.length < 2) continue;
    const line = document.createElement("p");
    const button = document.createElement("button");
    line.className = "tools";
    button.type = "button";
    button.textContent = "Open all";
    button.setAttribute("aria-label", `Open all fields: ${heading.textContent}`);
    button.addEventListener("click", () => {
      const open = button.textContent === "Open all";
      for (const one of inner) one.open = open;
      button.textContent = open ? "Close all" : "Open all";
      button.setAttribute("aria-label", `${button.textContent} fields: ${heading.textContent}`);
    });
    line.append(button);
    tree.before(line);
  }
}
