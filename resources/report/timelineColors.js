// The colours of slices: those of the viewer (views/theme), light and dark.
const themes = [
  { window: "#f3f5f8", canvas: "#ffffff", band: "#e9edf3", band2: "#f6f8fa", panel: "#f8f9fb", separator: "#dfe3ea", grid: "#ebeef3",
    text: "#1d2430", muted: "#667080", accent: "#1b66c9", accentText: "#ffffff", selection: "#1b66c91c", hit: "#d6006e", flow: "#2a3444",
    busyGpu: "#6f9fd0", busyCpu: "#6f8a86",
    categories: "4f8fc9 9d5bb5 e2d0ea e39b3b bb5034 e3cb5c 86ab45 b09a7c 9c8878 8aa9c9 d4b286 eed6d2 b4bcc6 8fbdb2 b996cb a5cbc2 3fa39a d76b8a 7d9cc0 6f9fd0 86bd8c cf5b4a d9a441 d9c596 a3bfdb dfe2e6 b3b2d6 b0c191",
    parts: "4f8fc9 9d5bb5 86ab45 e39b3b bb5034 e3cb5c b09a7c 9c8878 d3b6df 4fb0a0 e88f98 d92b4b c9d0da",
    kernels: "5b9bd5 8fc1e8 3873aa 5fb3b3 9cd3cd 8c9fd9 b5c2ea 93a8bf 6c8fb0 7cc0d8", ranges: "8fbdb2 b3d1a8 a9c4d6 c9cfa6 e2bfa6" },
  { window: "#15181d", canvas: "#181b21", band: "#252a33", band2: "#1e222a", panel: "#1d2128", separator: "#30363f", grid: "#242932",
    text: "#e4e8ee", muted: "#97a1b0", accent: "#5aa7ff", accentText: "#0c1622", selection: "#5aa7ff1e", hit: "#ff5fb0", flow: "#f2f5f9",
    busyGpu: "#4376ab", busyCpu: "#7d9995",
    categories: "4f8fc9 9d5bb5 564161 e39b3b bb5034 e3cb5c 86ab45 b09a7c 9c8878 557599 9e7c4f 5e4448 5d6672 47756d 8a61a3 3d665f 3fa39a d76b8a 7f9bbd 4376ab 539460 cf5b4a d9a441 9a8458 4f6f8f 3d4248 6b6a8f 76845c",
    parts: "4f8fc9 9d5bb5 86ab45 e39b3b bb5034 e3cb5c b09a7c 9c8878 6b4f7a 3d8b7e 99525c cf3d5a 454d59",
    kernels: "4f8fc9 7fb2dc 34689c 4a9f9f 84c2bb 7a8fcf a3b2e0 7d93ab 4d6f92 5fa9c4", ranges: "47756d 5b7852 4c6f8a 77754a 7d6150" },
];
// Pixels are written as 0xAABBGGRR.
const pixelOf = hex => { const rgb = parseInt(hex.replace("#", ""), 16); return (0xff000000 | (rgb & 255) << 16 | rgb & 0xff00 | rgb >> 16) >>> 0; };
const listOf = text => text.split(" ").map(pixelOf);
for (const theme of themes) {
  theme.fills = listOf(theme.categories).concat(listOf(theme.parts));
  theme.kernelFills = listOf(theme.kernels);
  theme.rangeFills = listOf(theme.ranges);
}
const hexOf = pixel => "#" + ((pixel & 255) << 16 | pixel & 0xff00 | pixel >> 16 & 255).toString(16).padStart(6, "0");
const mixed = (under, over, share) => {
  const channel = shift => Math.round((under >> shift & 255) * (1 - share) + (over >> shift & 255) * share) << shift;
  return (0xff000000 | channel(16) | channel(8) | channel(0)) >>> 0;
};
const darker = pixel => (0xff000000 | (pixel >> 16 & 255) * 3 / 4 << 16 | (pixel >> 8 & 255) * 3 / 4 << 8 | (pixel & 255) * 3 / 4) >>> 0;
const inkCache = new Map();
function inkOn(pixel) {
  if (!inkCache.has(pixel)) {
    const linear = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = 0.2126 * linear((pixel & 255) / 255) + 0.7152 * linear((pixel >> 8 & 255) / 255) + 0.0722 * linear((pixel >> 16 & 255) / 255);
    inkCache.set(pixel, (light + 0.05) / 0.0577 >= 1.05 / (light + 0.05) ? "#10161f" : "#ffffff");
  }
  return inkCache.get(pixel);
}
// FNV-1a, as the viewer: one name has one colour everywhere.
function hashOf(text, skipsDigits) {
  let hash = 2166136261;
  for (const byte of new TextEncoder().encode(text)) {
    if (skipsDigits && byte >= 48 && byte <= 57) continue;
    hash = Math.imul(hash ^ byte, 16777619);
  }
  return (hash ^ hash >>> 15) >>> 0;
}
