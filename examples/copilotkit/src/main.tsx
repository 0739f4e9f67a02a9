import {
  CopilotChat,
  CopilotKit,
  useDefaultRenderTool,
  useFrontendTool,
  useInterrupt,
} from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { createRoot } from "react-dom/client";
import { z } from "zod";

// #server=http://127.0.0.1:8000&token=...&thread=...: for a server elsewhere. What stands behind # stays in the
// browser. Without it the page calls its own site, which vite passes on to the server.
const given = new URLSearchParams(location.hash.slice(1));
const server = given.get("server") ?? location.origin;
const thread = given.get("thread") ?? sessionStorage.getItem("thread") ?? crypto.randomUUID();
sessionStorage.setItem("thread", thread);
// A name of its own tells an edit in this page from a message in one that is behind.
const headers: Record<string, string> = { "Trunkline-Page": `${Math.random()}` };
if (given.get("token")) headers.Authorization = `Bearer ${given.get("token")}`;

function Chat() {
  useDefaultRenderTool({
    render: ({ name, parameters, status, result }) => (
      <pre className="tool">{`${name} ${JSON.stringify(parameters)} ${status} ${result ?? ""}`}</pre>
    ),
  });
  useFrontendTool({
    name: "pick_colour",
    description: "Ask the page for a colour",
    parameters: z.object({ choices: z.array(z.string()) }),
    handler: async ({ choices }) => choices[1],
  });
  useInterrupt({
    render: ({ event, interrupts, resolve }) => (
      <div>
        {interrupts.length === 0 && (
          // An interrupt() of a graph's own comes as an event: its value is a text, or JSON as text.
          <div className="question">
            {String(event.value)} <button onClick={() => resolve("yes")}>Yes</button>{" "}
            <button onClick={() => resolve("no")}>No</button>
          </div>
        )}
        {interrupts.map(({ id, message }) => (
          <div className="question" key={id}>
            {message} <button onClick={() => resolve({ approved: true }, id)}>Approve</button>{" "}
            <button onClick={() => resolve({ approved: false }, id)}>Reject</button>
          </div>
        ))}
      </div>
    ),
  });
  return <CopilotChat threadId={thread} />;
}

createRoot(document.getElementById("page")!).render(
  <CopilotKit
    runtimeUrl={`${server}/copilotkit`}
    headers={headers}
    enableInspector={false} // CopilotKit's own, which tells its maker that it is used.
  >
    <Chat />
  </CopilotKit>,
);
