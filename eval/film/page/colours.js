// Colours that people with any kind of colour vision tell apart: viridis for load, Okabe and Ito's for controllers.

const VIRIDIS = ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const CONTROLLERS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];
const CONTROLLERS_DARK = ["#56b4e9", "#ff8c42", "#2fd0a3", "#e69ac3", "#a8d8f5", "#ffc14d"];
const DARK = window.matchMedia("(prefers-color-scheme: dark)");

/** Steps of load, from little to all that a link carries: the strongest stands out from the ground. */
function loadColours() {
  return DARK.matches ? VIRIDIS.slice(2) : VIRIDIS.slice(0, 9).reverse();
}

const controllerColour = (i) => (DARK.matches ? CONTROLLERS_DARK : CONTROLLERS)[i % CONTROLLERS.length];

/** A colour of the style sheet. */
const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
