// The page is complete without a script; this only lets the reader choose the theme.
themed(() => {});
document.documentElement.dataset.page = "interactive";
