// Applies a JSON Patch (RFC 6902), as trunkline's json_patch.py does; documents are never changed in place.

import type { PatchOperation } from "./model";

type Table = Record<string, unknown>;

/** A patch that does not fit its document. */
export class PatchError extends Error {}

/** Give the document after all operations, or throw PatchError and change nothing. */
export function applyPatch(document: unknown, patch: readonly PatchOperation[]): unknown {
  try {
    return patch.reduce(applyOne, document);
  } catch (error) {
    if (error instanceof RangeError) throw new PatchError("the document is nested too deeply");
    throw error;
  }
}

function applyOne(document: unknown, operation: PatchOperation): unknown {
  if (!isTable(operation)) throw new PatchError("malformed operation");
  const path = parse(operation.path);
  switch (operation.op) {
    case "test":
      if (!sameJson(get(document, path), given(operation))) throw new PatchError(`test failed at ${operation.path}`);
      return document;
    case "add":
    case "replace":
      return edit(document, path, operation.op, given(operation));
    case "remove":
      return edit(document, path, "remove", undefined);
    case "move":
    case "copy": {
      const origin = parse(operation.from);
      const value = get(document, origin);
      if (operation.op === "copy") return edit(document, path, "add", value);
      if (path.length === origin.length && path.every((token, at) => token === origin[at])) return document;
      if (origin.every((token, at) => token === path[at])) throw new PatchError("cannot move a value into itself");
      return edit(edit(document, origin, "remove", undefined), path, "add", value);
    }
    default:
      throw new PatchError(`unknown operation ${operation.op}`);
  }
}

function given(operation: PatchOperation): unknown {
  if (!Object.hasOwn(operation, "value")) throw new PatchError("malformed operation: it has no value");
  return operation.value;
}

function parse(pointer: unknown): string[] {
  if (typeof pointer !== "string" || !/^(\/([^~/]|~[01])*)*$/.test(pointer)) throw new PatchError("not a JSON pointer");
  return pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function get(document: unknown, path: readonly string[]): unknown {
  for (const token of path) {
    if (Array.isArray(document)) document = document[index(token, document.length - 1)];
    else if (isTable(document)) {
      if (!Object.hasOwn(document, token)) throw new PatchError(`there is no ${token}`);
      document = document[token];
    } else throw new PatchError(`${token} is below a value that has no parts`);
  }
  return document;
}

function edit(document: unknown, path: readonly string[], name: "add" | "replace" | "remove", value: unknown): unknown {
  const [token, ...rest] = path;
  if (token === undefined) {
    if (name === "remove") throw new PatchError("the whole document cannot be removed");
    return value;
  }
  if (Array.isArray(document)) {
    const items = [...(document as unknown[])];
    if (name === "add" && rest.length === 0) {
      items.splice(token === "-" ? items.length : index(token, items.length), 0, value);
      return items;
    }
    const at = index(token, items.length - 1);
    if (rest.length > 0) items[at] = edit(items[at], rest, name, value);
    else if (name === "remove") items.splice(at, 1);
    else items[at] = value;
    return items;
  }
  if (!isTable(document)) throw new PatchError(`${token} is below a value that has no parts`);
  const table: Table = { ...document };
  if ((rest.length > 0 || name !== "add") && !Object.hasOwn(table, token)) throw new PatchError(`there is no ${token}`);
  if (rest.length > 0) put(table, token, edit(table[token], rest, name, value));
  else if (name === "remove") delete table[token];
  else put(table, token, value);
  return table;
}

/** Set a field whatever its name: an assignment to `__proto__` would be something else. */
function put(table: Table, name: string, value: unknown): void {
  Object.defineProperty(table, name, { value, writable: true, enumerable: true, configurable: true });
}

function index(token: string, highest: number): number {
  if (!/^(0|[1-9]\d*)$/.test(token)) throw new PatchError(`${token} is not an index`);
  if (token.length > String(highest).length || Number(token) > highest) throw new PatchError(`${token} is out of range`);
  return Number(token);
}

function sameJson(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => sameJson(item, right[at]));
  }
  if (isTable(left) && isTable(right)) {
    const names = Object.keys(left);
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => Object.hasOwn(right, name) && sameJson(left[name], right[name]))
    );
  }
  return left === right;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
