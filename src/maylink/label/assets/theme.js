"use strict";
/* Runs before the page is drawn, so that a page in the dark does not flash. */
try {
  const theme = localStorage.getItem("maylink-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* a browser that keeps nothing goes by the system */ }
