/** The fields of a form, read from its JSON schema, and the checks of `session/form_answers.py` with words for people. */

export interface Choice {
  value: unknown;
  name: string;
}

export type FieldKind = "text" | "long" | "number" | "boolean" | "choice" | "choices" | "json";

export interface Field {
  name: string;
  title: string;
  description: string;
  kind: FieldKind;
  type: string;
  format: string;
  required: boolean;
  choices: Choice[];
  initial: unknown;
  schema: Record<string, unknown>;
}

type Schema = Record<string, unknown>;

/** Reads the fields in their order; what is no schema is a text. */
export function fieldsOf(schema: Schema, single = false): Field[] {
  const required = new Set(sequence(schema["required"]));
  return Object.entries(mapping(schema["properties"])).map(([name, given]) => {
    const field = mapping(given);
    const type = typeOf(field);
    const isList = type === "array";
    const choices = type === "boolean" ? [] : choicesOf(isList ? mapping(field["items"]) : field);
    const kind = kindOf(type, field, choices, single);
    return {
      name,
      title: text(field["title"]) || name,
      description: text(field["description"]),
      kind,
      type,
      format: text(field["format"]),
      required: required.has(name),
      choices,
      initial: initialOf(field, kind),
      schema: field,
    };
  });
}

function kindOf(type: string, field: Schema, choices: Choice[], single: boolean): FieldKind {
  if (type === "array") return choices.length > 0 ? "choices" : "json";
  if (choices.length > 0) return "choice";
  if (type === "boolean") return "boolean";
  if (type === "number" || type === "integer") return "number";
  if (type === "object") return "json";
  const long = single || Number(field["maxLength"] ?? 0) > 200 || text(field["default"]).includes("\n");
  return long && !field["format"] ? "long" : "text";
}

function initialOf(field: Schema, kind: FieldKind): unknown {
  const given = field["default"];
  if (given === null || given === undefined) return kind === "choices" ? [] : kind === "boolean" ? false : "";
  if (kind === "json") return JSON.stringify(given, null, 2);
  if (kind === "number") return String(given);
  return given;
}

/** The type of a field; one that may be null as well is what it is otherwise. */
function typeOf(field: Schema): string {
  const given = field["type"];
  const types = Array.isArray(given) ? sequence(given) : [given];
  return text(types.find((type) => type !== undefined && type !== "null")) || "string";
}

function choicesOf(field: Schema): Choice[] {
  for (const key of ["oneOf", "anyOf"]) {
    const titled = sequence(field[key]).map(mapping);
    if (titled.length > 0 && titled.every((one) => "const" in one)) {
      return titled.map((one) => choice(one["const"], one["title"]));
    }
  }
  if ("const" in field) return [choice(field["const"], undefined)];
  const values = sequence(field["enum"]);
  const names = sequence(field["enumNames"]);
  return values.map((value, at) => choice(value, names.length === values.length ? names[at] : undefined));
}

function choice(value: unknown, name: unknown): Choice {
  return { value, name: text(name) || (typeof value === "string" ? value : JSON.stringify(value)) };
}

export interface Checked {
  /** The value to send; undefined leaves the field out. */
  value?: unknown;
  error?: string;
}

/** Reads what a person put into a field. */
export function readField(field: Field, given: unknown, touched: boolean): Checked {
  if (field.kind === "boolean") {
    const has = touched || field.required || typeof field.schema["default"] === "boolean";
    return has ? { value: given === true } : {};
  }
  if (field.kind === "choices") {
    const values = sequence(given);
    if (values.length === 0 && !touched && !field.required && field.schema["default"] === undefined) return {};
    return checkRange(field, values.length, "minItems", "maxItems", values, ["Choose", ""]);
  }
  if (given === "" || given === undefined) return field.required ? { error: needs(field) } : {};
  if (field.kind === "choice") return { value: given };
  if (field.kind === "json") return readJson(field, String(given));
  if (field.kind === "number") return readNumber(field, String(given).trim());
  const written = String(given);
  const wrong = FORMATS[field.format]?.(written);
  if (wrong !== undefined) return { error: wrong };
  return checkRange(field, [...written].length, "minLength", "maxLength", written, ["Write", " characters"]);
}

function needs(field: Field): string {
  return field.kind === "choice" ? "Choose one." : "This field is needed.";
}

function readNumber(field: Field, written: string): Checked {
  const value = Number(written);
  if (written === "" || !Number.isFinite(value)) return { error: "This is not a number." };
  if (field.type === "integer" && !Number.isInteger(value)) return { error: "Give a whole number." };
  return checkRange(field, value, "minimum", "maximum", value, ["Give", ""]);
}

function readJson(field: Field, written: string): Checked {
  try {
    const value: unknown = JSON.parse(written);
    const fits = field.type === "array" ? Array.isArray(value) : value !== null && typeof value === "object";
    if (fits) return { value };
  } catch {
    // Said below.
  }
  return { error: `Give ${field.type === "array" ? "a list" : "an object"} in JSON, such as ${exampleOf(field)}.` };
}

/** What may stand in a field of JSON. */
export function exampleOf(field: Field): string {
  return field.type === "array" ? '["a", "b"]' : '{"a": 1}';
}

function checkRange(
  field: Field,
  size: number,
  least: string,
  most: string,
  value: unknown,
  [verb, unit]: [string, string],
): Checked {
  const low = field.schema[least];
  const high = field.schema[most];
  if (typeof low === "number" && size < low) return { error: `${verb} at least ${low}${unit}.` };
  if (typeof high === "number" && size > high) return { error: `${verb} at most ${high}${unit}.` };
  return { value };
}

const FORMATS: Record<string, (written: string) => string | undefined> = {
  email: (written) => (/^[^@\s]+@[^@\s]+$/.test(written) ? undefined : "This is not an email address."),
  uri: (written) => (URL.canParse(written) ? undefined : "This is not an address: it begins with https://, say."),
  date: (written) => (isDate(written) ? undefined : "Give a date such as 2026-01-31."),
  "date-time": (written) => (isMoment(written) ? undefined : "Give a date and a time, such as 2026-01-31T12:00."),
};

function isDate(written: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(written)) return false;
  const date = new Date(`${written}T00:00:00Z`);
  return !Number.isNaN(date.valueOf()) && date.toISOString().startsWith(written);
}

function isMoment(written: string): boolean {
  return /t/i.test(written) && !Number.isNaN(Date.parse(written));
}

function mapping(value: unknown): Schema {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Schema) : {};
}

function sequence(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
