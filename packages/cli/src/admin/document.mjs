// Resources, verbs and options of the admin API, read from its OpenAPI document.
import { existsSync, readFileSync } from 'node:fs';
import { EXIT, Usage } from '../usage.mjs';

/** The document of a package, and that of the build of a clone. */
const PLACES = ['./openapi.json', '../../../../dist/openapi/production.json'];
const API = '/admin/v1/';
/** The program reads page after page. */
const PAGING = ['page_size', 'page_cursor'];

export function readDocument() {
  const place = PLACES.map((each) => new URL(each, import.meta.url)).find((each) => existsSync(each));
  if (place !== undefined) return JSON.parse(readFileSync(place, 'utf8'));
  throw Object.assign(new Usage('dist/openapi is missing: npm run build writes it.'), {
    exitCode: EXIT.unreachable,
  });
}

/**
 * Returns `{resource, verb, method, path, ids, summary, description, options, isList}` for each operation. `options`
 * maps a name as it is typed to `{member, place, schema, required, description}`.
 */
export function operationsOf(document) {
  return Object.entries(document.paths)
    .filter(([path]) => path.startsWith(API))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => operationOf(document, path, method, operation)),
    );
}

function operationOf(document, path, method, { parameters = [], requestBody, summary, description = '' }) {
  const found = parameters.map((each) => resolve(document, each));
  const segments = path.slice(API.length).split('/');
  const isList = found.some(({ name }) => name === 'page_cursor');
  const options = new Map();
  for (const { name, in: place, schema, required = false, description: text = '' } of found)
    if (place !== 'path' && !PAGING.includes(name))
      options.set(typed(name), { member: [name], place, schema, required, description: text });
  const body = requestBody?.content['application/json'].schema;
  if (body !== undefined) addMembers(document, options, resolve(document, body), []);
  return {
    ...{ resource: typed(segments[0]), verb: verbOf(segments, method, isList), summary, description },
    ...{ method: method.toUpperCase(), path, options, isList },
    ids: segments.filter(isId).map((each) => each.slice(1, -1)),
  };
}

function verbOf(segments, method, isList) {
  const literals = segments.filter((each) => !isId(each));
  if (literals.length > 1) return typed(literals.at(-1));
  if (method === 'get') return isList ? 'list' : 'show';
  return method === 'patch' ? 'update' : 'create';
}

const isId = (segment) => segment.startsWith('{');

/** Members of an object in the body are options with a dot. */
function addMembers(document, options, { properties = {}, required = [] }, parents) {
  for (const [name, each] of Object.entries(properties)) {
    const schema = resolve(document, each);
    const member = [...parents, name];
    if (schema.properties !== undefined) addMembers(document, options, schema, member);
    else
      options.set(member.map(typed).join('.'), {
        ...{ member, place: 'body', schema, description: schema.description ?? '' },
        required: parents.length === 0 && required.includes(name),
      });
  }
}

function resolve(document, { $ref, allOf, ...rest }) {
  const part = $ref ?? allOf?.[0]?.$ref;
  if (part === undefined) return rest;
  const names = part.slice(2).split('/');
  return { ...names.reduce((found, name) => found[name], document), ...rest };
}

/** Names are typed with hyphens, as options usually are. */
export function typed(name) {
  return name.toLowerCase().replaceAll('_', '-');
}

const typesOf = ({ type }) => [type].flat();

/** A switch may be typed without a value. */
export function isSwitch({ schema }) {
  return typesOf(schema).includes('boolean') || schema.enum?.join() === 'true,false';
}

/** The texts of an option as the schema wants them: `null` and `[]` are typed as such, a list repeats its option. */
export function valueOf(name, { schema }, texts) {
  const types = typesOf(schema);
  if (types.includes('null') && texts.length === 1 && texts[0] === 'null') return null;
  if (types.includes('array'))
    return texts.join() === '[]' ? [] : texts.map((text) => single(name, schema.items ?? {}, text));
  if (texts.length > 1) throw new Usage(`--${name} is given ${texts.length} times: it takes one value.`);
  return single(name, schema, texts[0]);
}

function single(name, schema, text) {
  const types = typesOf(schema);
  const choices = schema.enum ?? (types.includes('boolean') ? ['true', 'false'] : null);
  if (choices !== null && !choices.includes(text))
    throw new Usage(`--${name} must be one of ${choices.join(', ')}; it is ${text}.`);
  if (types.includes('boolean')) return text === 'true';
  if (!types.includes('integer') && !types.includes('number')) return text;
  const isNumber = types.includes('integer') ? /^-?\d{1,15}$/ : /^-?\d+(\.\d+)?$/;
  if (!isNumber.test(text)) throw new Usage(`--${name} must be a number; it is ${text}.`);
  return Number(text);
}

/** The one of this name. Throws Usage with the nearest names. */
export function named(what, name, names) {
  if (names.includes(name)) return name;
  const near = names
    .map((each) => [each.startsWith(name) ? 0 : distance(each, name), each])
    .filter(([far]) => far <= Math.max(2, name.length / 3))
    .sort(([one], [other]) => one - other)
    .slice(0, 3)
    .map(([, each]) => each);
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `There are ${names.join(', ')}.`;
  throw new Usage(`There is no ${what} ${name}. ${hint}`);
}

/** Returns the number of letters to change, add or remove. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
    row = next;
  }
  return row.at(-1);
}
