// The page calls its own site, which passes it on with the token: so the token stays out of the browser.
const token = process.env.TRUNKLINE_TOKEN;
const headers = token ? { authorization: `Bearer ${token}` } : {};

export default {
  base: "./",
  server: { proxy: { "^/copilotkit(/|$)": { target: process.env.TRUNKLINE_URL ?? "http://127.0.0.1:8000", headers } } },
};
