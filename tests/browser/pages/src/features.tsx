// A page for each feature of AG-UI's dojo, with CopilotKit's hooks as its documentation has them.
import { CopilotKit, useLangGraphInterrupt } from "@copilotkit/react-core";
import {
  CopilotChat,
  CopilotChatConfigurationProvider,
  UseAgentUpdate,
  useAgent,
  useAgentContext,
  useFrontendTool,
  useHumanInTheLoop,
  useRenderTool,
} from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { type ComponentType, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";

// #server=http://127.0.0.1:8000&token=...&thread=...&feature=...: what stands behind # stays in the browser.
const given = new URLSearchParams(location.hash.slice(1));
const feature = given.get("feature")!;
const headers = { Authorization: `Bearer ${given.get("token")}`, "Trunkline-Page": `${Math.random()}` };

function useSharedState() {
  const updates = [UseAgentUpdate.OnStateChanged, UseAgentUpdate.OnRunStatusChanged];
  return useAgent({ agentId: feature, updates }).agent;
}

function AgenticChat() {
  const [background, setBackground] = useState("none");
  useAgentContext({ description: "Name of the user", value: "Bob" });
  useFrontendTool({
    name: "change_background",
    description: "Change the background",
    parameters: z.object({ background: z.string() }),
    handler: async ({ background }) => {
      setBackground(background);
      return { status: "success" };
    },
  });
  return <p className="background">{background}</p>;
}

function BackendToolRendering() {
  useRenderTool({
    name: "get_weather",
    parameters: z.object({ location: z.string() }),
    render: ({ parameters, result, status }) =>
      status === "complete" ? (
        <p className="card">{`${parameters.location}: ${JSON.parse(String(result)).temperature} degrees`}</p>
      ) : (
        <p>Looking</p>
      ),
  });
  return null;
}

function Choose({ steps, perform }: { steps: { description: string }[]; perform: (answer: string) => void }) {
  const [chosen, setChosen] = useState(steps.map(({ description }) => description));
  const without = (step: string) => setChosen(chosen.filter((one) => one !== step));
  return (
    <div className="steps">
      {steps.map(({ description }) => (
        <button key={description} onClick={() => without(description)}>
          {description}
        </button>
      ))}
      <button onClick={() => perform(`The user selected: ${chosen.join(", ")}`)}>Perform</button>
    </div>
  );
}

function HumanInTheLoop() {
  useLangGraphInterrupt({
    render: ({ event, resolve }) => <Choose steps={event.value.steps} perform={resolve} />,
  });
  return null;
}

function AgenticGenerativeUI() {
  const steps = (useSharedState().state?.steps ?? []) as { status: string }[];
  const done = steps.filter(({ status }) => status === "completed").length;
  return <p className="progress">{`${done} of ${steps.length}`}</p>;
}

function ToolBasedGenerativeUI() {
  const [haikus, setHaikus] = useState<string[]>([]);
  useFrontendTool(
    {
      agentId: feature,
      name: "generate_haiku",
      parameters: z.object({ english: z.array(z.string()) }),
      followUp: false,
      handler: async ({ english }) => {
        setHaikus((earlier) => [...earlier, english.join("/")]);
        return "shown";
      },
      render: ({ args }) => <p className="card">{args.english?.join("/") ?? ""}</p>,
    },
    [haikus],
  );
  return <p className="haikus">{haikus.join(" ")}</p>;
}

function SharedState() {
  const agent = useSharedState();
  const recipe = (agent.state?.recipe ?? {}) as { title?: string; ingredients?: { name: string }[] };
  const rename = () => agent.setState({ recipe: { ...recipe, title: "Mine" } });
  return (
    <div>
      <p className="recipe">{`${recipe.title}: ${recipe.ingredients?.map(({ name }) => name).join(" ") ?? ""}`}</p>
      <button className="rename" onClick={rename}>
        Rename
      </button>
    </div>
  );
}

function PredictiveStateUpdates() {
  const document = (useSharedState().state?.document ?? "") as string;
  const [sizes, setSizes] = useState<number[]>([]);
  useEffect(() => setSizes((earlier) => [...earlier, document.length]), [document]);
  useHumanInTheLoop({
    agentId: feature,
    name: "confirm_changes",
    render: ({ respond, status }) => (
      <button className="confirm" disabled={status !== "executing"} onClick={() => respond?.({ accepted: true })}>
        Confirm
      </button>
    ),
  });
  return (
    <div>
      <p className="document">{document}</p>
      <p className="growth">{sizes.join(" ")}</p>
    </div>
  );
}

type Place = { airline?: string; name?: string };

function Subgraphs() {
  const itinerary = (useSharedState().state?.itinerary ?? {}) as { flight?: Place; hotel?: Place };
  useLangGraphInterrupt({
    render: ({ event, resolve }) => (
      <div className="options">
        {event.value.message}
        {(event.value.options as Place[]).map((option) => (
          <button key={option.airline ?? option.name} onClick={() => resolve(JSON.stringify(option))}>
            {option.airline ?? option.name}
          </button>
        ))}
      </div>
    ),
  });
  return <p className="itinerary">{`${itinerary.flight?.airline} ${itinerary.hotel?.name}`}</p>;
}

const features: Record<string, ComponentType> = {
  agentic_chat: AgenticChat,
  backend_tool_rendering: BackendToolRendering,
  human_in_the_loop: HumanInTheLoop,
  agentic_generative_ui: AgenticGenerativeUI,
  tool_based_generative_ui: ToolBasedGenerativeUI,
  shared_state: SharedState,
  predictive_state_updates: PredictiveStateUpdates,
  subgraphs: Subgraphs,
};
const Feature = features[feature];

createRoot(document.getElementById("page")!).render(
  <CopilotKit runtimeUrl={`${given.get("server")}/copilotkit`} headers={headers} agent={feature} showDevConsole={false}>
    <CopilotChatConfigurationProvider agentId={feature} threadId={given.get("thread")!}>
      <Feature />
      <CopilotChat agentId={feature} threadId={given.get("thread")!} />
    </CopilotChatConfigurationProvider>
  </CopilotKit>,
);
