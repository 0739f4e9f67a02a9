import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    chunkSizeWarningLimit: 100_000,
    rollupOptions: { input: ["copilotkit.html", "assistant-ui.html", "features.html"] },
  },
});
