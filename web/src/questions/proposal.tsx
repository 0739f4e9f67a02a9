/** Everything that is known of what a call is going to do: changes first, then the command, then all arguments. */
import type { Call } from "../conversation";
import type { Content } from "../model";
import { ContentBlock, type Terminals } from "../cards/content";
import { DiffView } from "../cards/diff";
import { KindIcon } from "../cards/icons";
import { Revealed } from "../cards/revealed";
import { Locations } from "../cards/tool";
import { ApprovedText, Whole } from "./approved_text";

interface Props {
  call: Call;
  terminals: Terminals;
  /** The arguments as the person edited them; undefined when they are as the agent gave them. */
  edited?: Record<string, unknown> | undefined;
}

export function Proposal({ call, terminals, edited }: Props) {
  const changed = edited === undefined ? new Map<string, string>() : changes(call.input, edited);
  const content = call.content.map((block) => withEdits(block, changed));
  const input = edited ?? call.input;
  const command = commandOf(input);
  const shown = new Set(content.flatMap((block) => (block.type === "diff" && block.new !== null ? [block.new] : [])));
  const paths = new Set(content.flatMap((block) => (block.type === "diff" ? [block.path] : [])));
  return (
    <div class="proposal">
      {content.map((block, index) =>
        block.type === "diff" ? <DiffView key={index} block={block} approving /> : null,
      )}
      {command !== null && (
        <div class="proposal-command">
          <div class="small-heading">Command</div>
          <Whole text={command} />
        </div>
      )}
      <div class="proposal-tool">
        <KindIcon kind={call.kind} />
        <code>
          <Revealed text={call.name} />
        </code>
      </div>
      <Arguments input={input} text={call.arguments} shown={shown} command={command} />
      <Locations locations={call.locations.filter((place) => !paths.has(place.path))} />
      {content.map((block, index) =>
        block.type === "diff" ? null : block.type === "text" ? (
          <ApprovedText key={index} text={block.text} />
        ) : (
          <ContentBlock key={index} block={block} terminals={terminals} />
        ),
      )}
    </div>
  );
}

interface ArgumentsProps {
  input: unknown;
  text: string;
  /** Texts that a change above shows already. */
  shown: ReadonlySet<string>;
  /** The command that is shown above. */
  command: string | null;
}

function Arguments({ input, text, shown, command }: ArgumentsProps) {
  if (input === null || input === undefined) return text ? <Whole text={text} /> : null;
  if (typeof input !== "object" || Array.isArray(input)) return <Whole text={JSON.stringify(input, null, 2)} />;
  const entries = Object.entries(input);
  if (entries.length === 0) return null;
  return (
    <dl class="arguments">
      {entries.map(([name, value]) => (
        <div class="argument" key={name}>
          <dt>
            <Revealed text={name} />
          </dt>
          <dd>
            {typeof value === "string" && value !== "" && shown.has(value) ? (
              <span class="muted">the new text above</span>
            ) : value !== "" && value === command ? (
              <span class="muted">the command above</span>
            ) : (
              <Whole text={typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null")} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The command line among arguments, as the tools of agents name it. */
function commandOf(input: unknown): string | null {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return null;
  const given = input as Record<string, unknown>;
  for (const name of ["command", "cmd", "script"]) {
    const value = given[name];
    if (typeof value === "string" && value !== "") return withArguments(value, given["args"]);
    if (isWords(value) && value.length > 0) return value.map(quote).join(" ");
  }
  return null;
}

function withArguments(command: string, args: unknown): string {
  return isWords(args) && args.length > 0 ? [command, ...args.map(quote)].join(" ") : command;
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** The texts among the arguments that were edited, by what they were. The mirror of `EditedArguments` in session/edited_arguments.py. */
function changes(before: unknown, after: Record<string, unknown>): Map<string, string> {
  const changed = new Map<string, string>();
  if (before === null || typeof before !== "object") return changed;
  for (const [name, old] of Object.entries(before)) {
    const next = after[name];
    if (typeof old === "string" && typeof next === "string" && old !== "" && old !== next) changed.set(old, next);
  }
  return changed;
}

function withEdits(block: Content, changed: ReadonlyMap<string, string>): Content {
  if (block.type !== "diff") return block;
  const next = block.new === null ? null : (changed.get(block.new) ?? block.new);
  let path = block.path;
  for (const [old, now] of changed) {
    if (path === old || path.endsWith(`/${old}`)) {
      path = now.startsWith("/") ? now : path.slice(0, path.length - old.length) + now;
      break;
    }
  }
  return { ...block, path, new: next };
}
