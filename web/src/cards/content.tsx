/** Blocks of content: text, images, sounds, videos, links, documents, changes, terminals, sources. */
import { useEffect, useState } from "preact/hooks";
import type { SourcePart, TerminalState } from "../conversation";
import { fileNameOf, type Content, type LinkBlock, type ResourceBlock } from "../model";
import { saveText } from "./clipboard";
import { CodeBlock } from "../markdown/code";
import { DiffView } from "./diff";
import { Disclosure } from "./disclosure";
import { MarkIcon } from "./icons";
import { Markdown } from "../markdown/markdown";
import { isWebAddress } from "../markdown/html";
import { revealed } from "./reveal";
import { Output, TerminalView } from "./terminal";

export type Terminals = ReadonlyMap<string, TerminalState>;

interface Props {
  block: Content;
  terminals: Terminals;
  /** Text is a program's output, not Markdown. */
  plain?: boolean;
}

export function ContentBlock({ block, terminals, plain = false }: Props) {
  switch (block.type) {
    case "text":
      return plain ? <Output output={block.text} label="Result" /> : <Markdown text={block.text} />;
    case "image":
    case "audio":
    case "video":
      return <MediaView kind={block.type} type={block.mime_type} data={block.data} url={block.url} />;
    case "link":
      return <LinkView block={block} />;
    case "resource":
      return <ResourceView block={block} />;
    case "diff":
      return <DiffView block={block} />;
    case "terminal":
      return <TerminalView terminal={terminals.get(block.terminal_id)} />;
    case "source":
      return <SourceLink url={block.url} title={block.title} document={block.document} />;
    default:
      return <CodeBlock code={JSON.stringify(block, null, 2)} language="json" />;
  }
}

// Only types that a browser shows as a picture, a sound or a film; an SVG in an <img> runs no script.
const SHOWN = {
  image: /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/i,
  audio: /^audio\/[\w.+-]+$/i,
  video: /^video\/[\w.+-]+$/i,
};

interface MediaProps {
  kind: "image" | "audio" | "video";
  type: string;
  data: string | null | undefined;
  url: string | null | undefined;
}

function MediaView({ kind, type, data, url }: MediaProps) {
  const address = useObjectUrl(data ?? null, SHOWN[kind].test(type) ? type : null);
  if (address !== null) {
    if (kind === "image") return <img class="media" src={address} alt={`Image (${type})`} />;
    if (kind === "audio") return <audio class="media" src={address} controls aria-label={`Sound (${type})`} />;
    return <video class="media" src={address} controls aria-label={`Video (${type})`} />;
  }
  if (data) return <p class="media-note">{kind} that cannot be shown here ({revealed(type)})</p>;
  if (url) {
    // What is elsewhere is not fetched: its server would learn who reads this.
    return (
      <p class="media-note">
        {kind}: <SafeLink address={url}>{revealed(url)}</SafeLink>
      </p>
    );
  }
  return <p class="media-note">{kind} ({revealed(type)}), kept elsewhere</p>;
}

/** Gives the address of base64 data in this page; null when there is none, or it is not base64. */
function useObjectUrl(data: string | null, type: string | null): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    const bytes = data === null || type === null ? null : decodeBase64(data);
    if (bytes === null || type === null) {
      setAddress(null);
      return undefined;
    }
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [data, type]);
  return address;
}

function decodeBase64(data: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

interface SafeLinkProps {
  address: string;
  children: string;
}

/** A link to the web; any other address is text. */
export function SafeLink({ address, children }: SafeLinkProps) {
  if (!isWebAddress(address)) return <span class="no-link">{children}</span>;
  return (
    <a href={address} title={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function LinkView({ block }: { block: LinkBlock }) {
  return (
    <div class="attachment">
      <MarkIcon mark="link" />
      <div>
        <div class="attachment-name">
          <SafeLink address={block.uri}>{revealed(block.title || block.name)}</SafeLink>
        </div>
        <div class="attachment-about">{[block.uri, block.description].filter(Boolean).join(" · ")}</div>
      </div>
    </div>
  );
}

function ResourceView({ block }: { block: ResourceBlock }) {
  const name = fileNameOf(block.uri) || block.uri;
  // A file that was attached here has no address that says more than its name.
  const address = block.uri.startsWith("attachment:") ? "" : block.uri;
  const about = [block.mime_type, address].filter(Boolean).join(" · ");
  if (block.text == null) {
    return (
      <div class="attachment">
        <MarkIcon mark="file" />
        <div>
          <div class="attachment-name">{revealed(name)}</div>
          <div class="attachment-about">{revealed(about)}</div>
        </div>
      </div>
    );
  }
  const text = block.text;
  return (
    <div class="attachment attachment-text">
      <Disclosure
        label={
          <>
            <MarkIcon mark="file" /> {revealed(name)} <span class="muted">{revealed(about)}</span>
          </>
        }
      >
        <Output output={text} label={`Text of ${name}`} />
        <button type="button" class="quiet-button" onClick={() => saveText(name, text, "text/plain")}>
          Save as a file
        </button>
      </Disclosure>
    </div>
  );
}

interface SourceProps {
  url: string | null | undefined;
  title: string | null | undefined;
  document: string | null | undefined;
}

function SourceLink({ url, title, document }: SourceProps) {
  const name = revealed(title || document || url || "source");
  return (
    <span class="source">
      {url ? <SafeLink address={url}>{name}</SafeLink> : <span>{name}</span>}
      {!url && document && document !== title && <span class="muted"> {revealed(document)}</span>}
      {url && <span class="muted"> {hostOf(url)}</span>}
    </span>
  );
}

/** The host of an address as the browser understands it: in ASCII, and without a name before an @. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

/** What an answer rests on, as a numbered list below it. */
export function SourceList({ sources }: { sources: readonly SourcePart[] }) {
  if (sources.length === 0) return null;
  return (
    <section class="sources" aria-label="Sources">
      <h3 class="small-heading">Sources</h3>
      <ol>
        {sources.map((source) => (
          <li key={source.source_id}>
            <SourceLink url={source.url} title={source.title} document={source.document} />
          </li>
        ))}
      </ol>
    </section>
  );
}
