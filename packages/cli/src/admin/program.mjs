// `disburse admin`, which is `npm run admin --` too: the admin API as commands, built from its OpenAPI document.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bold, complain, dim, printLine, Problem, table, wrap } from '../terminal.mjs';
import { Usage } from '../usage.mjs';
import { adminOf } from './client.mjs';
import { isSwitch, named, operationsOf, readDocument, typed, valueOf } from './document.mjs';
import { printRecord, printTable, rowsOf } from './output.mjs';

const POLL_MS = 1000;
const PAGE = 100;
/** Options of every command, with what they take. */
const COMMON = {
  json: ['', 'print JSON: a line for each row of a list, else one'],
  limit: ['<n>', 'of a list: at most this many rows, 50 by default'],
  all: ['', 'of a list: every row'],
  wait: ['', 'of a write: wait until its second person has decided'],
  url: [
    '<url>',
    'the admin API, for the key in DISBURSE_ADMIN_KEY; default: DISBURSE_ADMIN_URL, or the sandbox',
  ],
  'data-dir': ['<folder>', 'where the process runs (DATA_DIR); without a key its socket there is used'],
  help: ['', 'print this help'],
};
const isCommonSwitch = (name) => COMMON[name]?.[0] === '';
/** An option of the operation itself comes first: `credentials revoke-leaked --url` is where the secret was found. */
const isCommon = ({ options }, name) => Object.hasOwn(COMMON, name) && !options.has(name);

/** Runs a command line and sets the exit code. `program` is what the user typed before it. */
export async function runAdmin(argv, program = 'disburse admin') {
  try {
    await run(argv, program);
  } catch (error) {
    if (!argv.includes('--json')) return complain(error, process.stderr);
    const facts = error.facts ?? { message: error instanceof Problem ? error.message : String(error.stack) };
    process.stderr.write(`${JSON.stringify({ error: facts })}\n`);
    process.exitCode = error.exitCode ?? 1;
  }
}

async function run(argv, program) {
  const command = parse(argv);
  if (command.help !== undefined) return printHelp(command, program);
  const { operation, ids, values, common } = command;
  const admin = adminOf(common);
  const path = operation.path.replaceAll(/\{.*?\}/g, () => encodeURIComponent(ids.shift()));
  if (operation.isList) return printList(admin, path, values.query, common);
  if (operation.method === 'GET') {
    const { body } = await admin.send('GET', withQuery(path, values.query));
    return common.json ? printJson(body) : printRecord(body);
  }
  const headers = await headersOf(admin, operation, path, values.header);
  const { body } = await admin.send(operation.method, path, { body: values.body, headers });
  await printOutcome(admin, body, common, program);
}

/** `{operation, ids, values, common}` of a command line, or `{help}` with the operations that it is about. Throws Usage. */
export function parse(argv, operations = operationsOf(readDocument())) {
  const [words, typedOptions] = split(argv);
  const isHelp = typedOptions.some(([name]) => name === 'help') || argv.length === 0 || argv.includes('-h');
  if (words.length === 0 && isHelp) return { help: operations };
  if (words.length === 0) throw new Usage('Name a resource first; --help lists them.');
  const resource = named('resource', typed(words[0]), [...new Set(operations.map((each) => each.resource))]);
  const own = operations.filter((each) => each.resource === resource);
  const verbs = own.map(({ verb }) => verb);
  if (words.length === 1 && isHelp) return { help: own };
  if (words.length === 1 && !own.some(isWhole))
    throw new Usage(`Name a verb of ${resource}: ${verbs.join(', ')}.`);
  const verb = words.length === 1 ? 'show' : named(`verb of ${resource}:`, typed(words[1]), verbs);
  const operation = own.find((each) => each.verb === verb);
  if (isHelp) return { help: [operation] };
  const ids = words.slice(2);
  if (ids.length !== operation.ids.length)
    throw new Usage(
      `${resource} ${verb} takes ${idsOf(operation) || 'no id'}; ${ids.length} given. Its options are in --help.`,
    );
  return { operation, ids, ...optionsOf(operation, typedOptions) };
}

/** `whoami`, `system` and `search` need no verb. */
function isWhole({ verb, ids }) {
  return verb === 'show' && ids.length === 0;
}

/** The words, and `[name, text]` of each option; `text` is undefined for one without a value. */
function split(argv) {
  const [words, options] = [[], []];
  for (let index = 0; index < argv.length; index += 1) {
    const [, name, , text] = /^--([^=]+)(=(.*))?$/s.exec(argv[index]) ?? [];
    if (name === undefined) words.push(argv[index]);
    else {
      const isLast = argv[index + 1] === undefined || argv[index + 1].startsWith('--');
      if (text === undefined && !isLast && !isCommonSwitch(name)) index += 1;
      options.push([name, text ?? (isLast || isCommonSwitch(name) ? undefined : argv[index])]);
    }
  }
  return [words.filter((each) => each !== '-h'), options];
}

function optionsOf(operation, typedOptions) {
  const [common, given] = [{}, new Map()];
  for (const [name, text] of typedOptions) {
    const known = typed(name);
    if (isCommon(operation, known)) {
      if (text === undefined && !isCommonSwitch(known)) throw new Usage(`--${known} needs a value.`);
      common[known] = text ?? true;
      continue;
    }
    const names = [...new Set([...operation.options.keys(), ...Object.keys(COMMON)])];
    named(
      'option',
      `--${known}`,
      names.map((each) => `--${each}`),
    );
    const value = text ?? (isSwitch(operation.options.get(known)) ? 'true' : undefined);
    if (value === undefined) throw new Usage(`--${known} needs a value.`);
    given.set(known, [...(given.get(known) ?? []), value]);
  }
  if (common.limit !== undefined && !/^[1-9]\d{0,6}$/.test(common.limit))
    throw new Usage('--limit must be a number from 1.');
  const missing = [...operation.options].filter(
    ([name, { required, place }]) => required && place !== 'header' && !given.has(name),
  );
  if (missing.length > 0)
    throw new Usage(
      `${missing.map(([name]) => `--${name}`).join(', ')} must be given: --help says what they are.`,
    );
  const values = { query: {}, header: {}, body: operation.method === 'GET' ? undefined : {} };
  for (const [name, texts] of given) {
    const option = operation.options.get(name);
    const { member, place } = option;
    const parent = member.slice(0, -1).reduce((found, each) => (found[each] ??= {}), values[place]);
    parent[member.at(-1)] = valueOf(name, option, texts);
  }
  return { values, common };
}

function withQuery(path, query) {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** A write names the present revision of its subject, unless another one is given. */
async function headersOf(admin, { options, path: template }, path, given) {
  const quoted = (text) => (text.startsWith('"') ? text : `"${text}"`);
  const headers = { 'Idempotency-Key': quoted(given['Idempotency-Key'] ?? randomUUID()) };
  if (!options.has('if-match')) return headers;
  const depth = template.slice(0, template.lastIndexOf('}')).split('/').length;
  const subject = path.split('/').slice(0, depth).join('/');
  const match = given['If-Match'] ?? (await admin.send('GET', subject)).etag;
  return { ...headers, 'If-Match': quoted(match) };
}

async function printList(admin, path, query, { json, all, limit = 50 }) {
  const most = all ? Infinity : Number(limit);
  const rows = [];
  let cursor;
  do {
    const page = {
      ...query,
      page_size: Math.min(PAGE, most - rows.length),
      ...(cursor && { page_cursor: cursor }),
    };
    const { body } = await admin.send('GET', withQuery(path, page));
    const found = rowsOf(body);
    if (json) found.forEach(printJson);
    rows.push(...found);
    cursor = body.next_cursor;
  } while (cursor && rows.length < most);
  if (json) return;
  if (rows.length === 0) printLine(dim('None.'));
  else printTable(rows);
  if (cursor) printLine(dim(`\nThe newest ${rows.length}: --limit or --all for more.`));
}

/** Prints the outcome of a write and the next step of its second person; with `--wait`, once that is decided. */
async function printOutcome(admin, body, { json, wait }, program) {
  const id = body.operation?.id ?? body.operation_id;
  const read = async () =>
    (await admin.send('GET', `/admin/v1/operations/${encodeURIComponent(id)}`)).body.operation;
  // A caller that may write may lack the scope to read operations.
  let operation = body.operation ?? (id ? await read().catch(() => null) : null);
  const verb = () => ({ pending_approval: 'approve', unconfirmed: 'confirm' })[operation?.status];
  const needed = verb();
  if (json && !wait) printJson(body);
  if (!json) {
    printRecord(needed === 'approve' ? { ...body, operation: undefined } : body);
    if (needed) printLine(secondPerson(operation, needed, program));
  }
  if (!wait || !needed) return json && wait ? printJson(body) : undefined;
  while (verb()) {
    await sleep(POLL_MS);
    operation = await read();
  }
  const { status, decision_reason: why, failure } = operation;
  if (json) printJson({ ...body, operation });
  if (status !== 'executed')
    throw new Problem(
      `Operation ${id} is ${status}: ${failure?.message ?? why ?? 'no other person approved it in time'}.`,
    );
  if (!json) printLine(`Operation ${id} is decided: ${why ?? status}.`);
}

function secondPerson({ id, name, expires_at: until }, verb, program) {
  const done = verb === 'approve' ? 'Nothing is changed yet: operation' : 'Done. Operation';
  return [
    inTerminal(`${done} ${id} (${name}) waits until ${until} for another person, who may ${verb} it`),
    'in the console, or with the DISBURSE_ADMIN_KEY of that person:',
    `${program} operations ${verb} ${id} --reason <text>`,
  ].join('\n');
}

/** The text in lines as wide as the terminal. */
function inTerminal(text) {
  return wrap(text, process.stdout.columns ?? Infinity).join('\n');
}

function printJson(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const idsOf = ({ ids }) => ids.map((id) => `<${id}>`).join(' ');

function printHelp({ help }, program) {
  const [{ resource, verb, summary, description, options }] = help;
  if (help.length === 1) {
    const words = [program, resource, verb, idsOf(help[0]), '[options]'].filter(Boolean);
    printLine(`${words.join(' ')}\n\n${inTerminal(`${summary}. ${description}`)}\n`);
    table([...options].map(([name, option]) => [`--${name} ${hintOf(option)}`, aboutOf(option)]));
  } else {
    printLine(`${program} <resource> <verb> [id] [--field value] --reason <text>\n`);
    table(help.map((each) => [`${each.resource} ${each.verb} ${idsOf(each)}`, each.summary]));
    printLine(
      '\nAn option with ... may be repeated; null and [] are typed as such. Every write takes --reason.',
    );
  }
  printLine(`\n${bold('Of all commands')}`);
  const common = Object.entries(COMMON).filter(([name]) => help.length > 1 || isCommon(help[0], name));
  table(common.map(([name, [takes, text]]) => [`--${name} ${takes}`, text]));
}

function aboutOf({ required, place, description, schema }) {
  const usual = schema.default === undefined ? '' : `${schema.default} by default.`;
  return [required && place !== 'header' ? 'required.' : '', description, usual].filter(Boolean).join(' ');
}

function hintOf(option) {
  const { items, ...schema } = option.schema;
  if (isSwitch(option)) return '';
  const { type, enum: choices } = items ?? schema;
  const values = choices ?? [type].flat().filter((each) => each !== 'null');
  return `<${values.join('|')}>${items ? '...' : ''}`;
}
