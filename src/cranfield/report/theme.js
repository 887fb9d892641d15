// The theme: that of the system, unless the reader chooses; a browser may refuse to remember it for a file.
const THEME = "cranfield-theme";
const remembered = () => { try { return localStorage.getItem(THEME) ?? ""; } catch { return ""; } };
const showTheme = (name) => { if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme; };
const themed = (redraw) => {
  at("theme").value = ["light", "dark"].includes(remembered()) ? remembered() : "";
  showTheme(at("theme").value);
  at("theme").addEventListener("change", () => {
    try { localStorage.setItem(THEME, at("theme").value); } catch { /* it holds for this visit */ }
    showTheme(at("theme").value);
    redraw();
  });
};
