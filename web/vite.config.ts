// The page is served from /, by trunkline itself; names without a hash keep the committed build small to compare.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // A data: address would be inlined into the style: the policy of the server wants files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The licences of what is built in go along with it.
    license: { fileName: "assets/licenses.txt" },
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
});
