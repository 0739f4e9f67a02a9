// Drives Chromium for the tests: a line of JSON in is a step, a line of JSON out is what came of it.
// tests/browser/chromium.py says which steps there are.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const [executablePath, userDataDir, seconds] = process.argv.slice(2);
const timeout = Number(seconds) * 1000;
const args = ["disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"];
args.push("disable-component-update", "disable-sync", "no-sandbox");
const browser = await chromium.launchPersistentContext(userDataDir, {
  executablePath,
  headless: true,
  viewport: { width: 900, height: 700 },
  args: args.map((name) => `--${name}`),
});
browser.setDefaultTimeout(timeout);
const pages = new Map();

function at(page, { selector, text, nth }) {
  const found = text === undefined ? page.locator(selector) : page.locator(selector).filter({ hasText: text });
  return nth === undefined ? found : found.nth(nth);
}

const steps = {
  async open({ page: name, url }) {
    const page = await browser.newPage();
    const console = [];
    const served = (address) => !address.startsWith("data:");
    page.on("console", (message) => console.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => console.push(`pageerror: ${error.stack ?? error}`));
    page.on("request", (request) => served(request.url()) && console.push(`asks: ${request.method()} ${request.url()}`));
    pages.set(name, { page, console });
    await page.goto(url);
  },
  reload: (step, page) => page.reload(),
  type: async (step, page) => {
    await at(page, step).fill(step.input);
    await at(page, step).press("Enter");
  },
  // Until it is taken: a page that was just opened or is still at work drops an Enter and keeps the text.
  send: async (step, page) => {
    await at(page, step).fill(step.input);
    for (const end = Date.now() + timeout; ; ) {
      await at(page, step).press("Enter");
      for (const next = Date.now() + 3000; Date.now() < next; ) {
        if ((await at(page, step).inputValue()) !== step.input) return;
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      if (Date.now() > end) throw new Error("the page does not take the message");
    }
  },
  fill: (step, page) => at(page, step).fill(step.input),
  press: (step, page) => (step.selector === undefined ? page.keyboard : at(page, step)).press(step.key),
  login: async ({ address, token }) => {
    const answer = await browser.request.post(`${address}/login`, { data: { token } });
    if (!answer.ok()) throw new Error(`login: ${answer.status()} ${await answer.text()}`);
  },
  resize: ({ width, height }, page) => page.setViewportSize({ width, height }),
  theme: ({ scheme }, page) => page.emulateMedia({ colorScheme: scheme }),
  force: ({ colours }, page) => page.emulateMedia({ forcedColors: colours ? "active" : "none" }),
  evaluate: ({ expression }, page) => page.evaluate(expression),
  select: (step, page) => at(page, step).selectOption({ label: step.label }).then(() => undefined),
  download: async (step, page) => {
    const [file] = await Promise.all([page.waitForEvent("download"), at(page, step).click()]);
    const pieces = [];
    for await (const piece of await file.createReadStream()) pieces.push(piece);
    return [file.suggestedFilename(), Buffer.concat(pieces).toString()];
  },
  // Not waitForFunction: it evaluates inside the page, which its policy may forbid.
  wait: async ({ expression }, page) => {
    for (const end = Date.now() + timeout; !(await page.evaluate(expression)); ) {
      if (Date.now() > end) throw new Error("it did not become true");
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  },
  attach: (step, page) => at(page, step).setInputFiles(step.files),
  count: (step, page) => at(page, step).count(),
  attribute: (step, page) => at(page, step).first().getAttribute(step.name),
  click: (step, page) => at(page, step).click(),
  see: (step, page) => at(page, step).first().waitFor({ state: "visible" }),
  miss: ({ selector, seconds }, page) => {
    const patience = seconds === undefined ? {} : { timeout: seconds * 1000 };
    return page.locator(selector).first().waitFor({ state: "detached", ...patience });
  },
  texts: (step, page) => at(page, step).allInnerTexts(),
  shoot: (step, page) => page.screenshot({ path: step.path }).then(() => undefined),
  tells: async ({ page: name, text }, page) => {
    if (pages.get(name).console.some((line) => line.includes(text))) return;
    await page.waitForEvent("console", (message) => message.text().includes(text));
  },
  console: ({ page: name }) => pages.get(name).console,
  close: ({ page: name }, page) => (pages.delete(name), page.close()),
};

for await (const line of createInterface({ input: process.stdin })) {
  const step = JSON.parse(line);
  const report = {};
  try {
    report.value = (await steps[step.do](step, pages.get(step.page)?.page)) ?? null;
    if (typeof report.value?.request === "function") report.value = null;
  } catch (error) {
    report.error = String(error.message ?? error);
  }
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
await browser.close();
