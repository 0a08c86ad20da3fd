"use strict";
// Sorting and filtering of the tables; without it they are whole, in the order of the records.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const key = (row, at) => row.cells[at].dataset.v ?? row.cells[at].textContent;
  heads.forEach((head, at) => {
    const isNumber = head.classList.contains("number");
    const number = row => key(row, at) === "" ? -1 : parseFloat(key(row, at));
    const compare = (a, b) => isNumber ? number(a) - number(b) : key(a, at).localeCompare(key(b, at));
    head.firstElementChild.addEventListener("click", () => {
      const falls = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      body.append(...[...body.rows].sort((a, b) => falls ? compare(b, a) : compare(a, b)));
    });
  });
  const controls = table.closest("section").querySelector(".controls");
  if (!controls) continue;
  const [words, verdict] = controls.querySelectorAll("input,select"), count = controls.querySelector("output");
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !wanted.every(word => text.includes(word)) || (verdict.value && row.className !== verdict.value);
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${body.rows.length} rows`;
  };
  controls.addEventListener("input", filter);
  controls.hidden = false;
  filter();
}
