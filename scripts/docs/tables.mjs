import { nameOf } from './document.mjs';

/** Text in a cell of a table: outside of code, what Markdown or Vue would read as markup is escaped. */
export const cell = (text = '') =>
  text
    .split(/(`[^`]*`)/)
    .map((part, n) => (n % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '{&#123;')))
    .join('')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ');

export const fenced = (language, text, title = '') =>
  `\`\`\`${language}${title && ` [${title}]`}\n${text}\n\`\`\``;

const REQUIRED = '**Required.**';

/** Of a link: a page, and a heading of it. */
export const toPage = (name, anchor = '') => `${name}.md${anchor}`;

/** The section of a schema, linked from a page in `reference/` (`up` is ''), or below it. */
export function link(name, pages, up) {
  return `[${name}](${up}${pages.get(name)}.md#${name.toLowerCase()})`;
}

/** The properties of an object: of a request the required ones are marked, elsewhere those that may be absent. */
export function fieldsTable({ properties = {}, required = [] }, pages, { up = '', isRequest = false } = {}) {
  const presence = (name) =>
    isRequest ? required.includes(name) && REQUIRED : !required.includes(name) && 'May be absent.';
  const rows = Object.entries(properties).map(
    ([name, schema]) =>
      `| \`${name}\` | ${typeOf(schema, pages, up)} | ${cell(aboutOf(schema, presence(name)))} |`,
  );
  return rows.length === 0
    ? 'No fields.'
    : ['| Field | Type | Description |', '|---|---|---|', ...rows].join('\n');
}

/** Parameters in a path, a query or headers. */
export function parametersTable(parameters, pages, up) {
  const rows = parameters.map(
    ({ name, in: place, required, schema, description }) =>
      `| \`${name}\` | ${place} | ${typeOf(schema, pages, up)} | ${cell(aboutOf({ ...schema, description }, required && REQUIRED))} |`,
  );
  return ['| Name | In | Type | Description |', '|---|---|---|---|', ...rows].join('\n');
}

function aboutOf({ description, default: standard, enum: values }, presence) {
  return [
    presence,
    description,
    values && `One of ${values.map((each) => `\`${each}\``).join(', ')}.`,
    standard !== undefined && `Default: \`${standard}\`.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function typeOf(schema, pages, up) {
  if (schema.$ref) return link(nameOf(schema.$ref), pages, up);
  if ('const' in schema) return `\`${JSON.stringify(schema.const)}\``.replaceAll('|', '\\|');
  const [inner] = schema.allOf ?? [];
  if (inner) return typeOf(inner, pages, up);
  if (schema.anyOf?.some(({ $ref, type }) => $ref || type))
    return [...new Set(schema.anyOf.map((each) => typeOf(each, pages, up)))].join(' or ');
  return [schema.type ?? 'any']
    .flat()
    .map((type) => nameOfType(type, schema, pages, up))
    .join(' or ');
}

function nameOfType(type, schema, pages, up) {
  if (type === 'array') return `array of ${typeOf(schema.items ?? {}, pages, up)}`;
  const { minimum, maximum, maxLength, format } = schema;
  if (type === 'string' && format) return `string (${format})`;
  if (type === 'string' && maxLength) return `string, at most ${maxLength} characters`;
  const bounds = [minimum, maximum].filter((each) => each !== undefined && each < Number.MAX_SAFE_INTEGER);
  if ((type === 'integer' || type === 'number') && bounds.length === 2)
    return `${type}, ${bounds.join(' to ')}`;
  return type;
}
