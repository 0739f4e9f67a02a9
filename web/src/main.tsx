import { render } from "preact";
import "./styles.css";
import "./cards.css";
import { App } from "./shell/app";
import { startTheme } from "./shell/theme";

startTheme();
const page = document.getElementById("page");
if (page !== null) render(<App />, page);
