import { STATUS_CODES } from 'node:http';
import { curlSample } from './curl.mjs';
import { jsonSchema, nameOf, resolve, slug, successOf } from './document.mjs';
import { exampleOf, uuid } from './examples.mjs';
import { callOf, pythonSample, typescriptSample } from './samples.mjs';
import { cell, fenced, fieldsTable, link, parametersTable } from './tables.mjs';

const CALLERS = {
  merchant: 'Signed with [a key of the merchant](index.md#signing).',
  exchange: 'With [a key of the exchange](index.md#exchange) in the query.',
  'exchange-headers': 'With [a key of the exchange](index.md#exchange) in headers, always signed.',
  admin: 'With [an admin key](../admin-api.md#1-listeners-and-authentication) of a person',
};

/** What a switch of the sandbox leads to, in the example of its response. */
const OUTCOMES = {
  expireSandboxPayout: {
    status: 'expired',
    reason: 'Transaction not found on the chain within the verification window',
  },
  failSandboxOrder: { status: 'failed' },
  refundSandboxOrder: {
    status: 'refunded',
    amount_received: '40',
    late_deposits: [],
    refunds: [],
    refund_transaction_hash: `0x${'5c'.repeat(32)}`,
  },
  breakSandboxWebhookEndpoint: {
    status: 'disabled',
    disabled_cause: 'failing',
    disabled_at: '2026-01-31T12:00:00.000Z',
  },
};

/** The page of an operation, with what the form to try it needs. */
export async function operationPage(document, operation, pages) {
  const { id, method, path, tag, summary, description, credentials, parameters } = operation;
  const success = successOf(document, operation);
  const body = jsonSchema(operation.requestBody);
  const call = callOf(document, operation);
  const parts = [
    `# ${summary}`,
    fenced('http', `${method} ${path}`),
    `[${tag}](${slug(tag)}.md). ${callerOf(operation)}`,
    ...(description ? [cell(description).replaceAll('\\|', '|')] : []),
    ...(parameters.length > 0 ? ['## Parameters', parametersTable(parameters.map(withLink), pages, '')] : []),
    ...(body ? ['## Body', ...bodyParts(document, body, pages)] : []),
    '## Request',
    await samples(document, operation),
    '## Response',
    fenced('http', responseText(document, success, OUTCOMES[id])),
    responsesTable(document, operation, pages),
  ];
  const isTriable = !operation.isAdmin;
  const tryIt = {
    method,
    path,
    credentials,
    parameters: parameters.map(fieldOf),
    call,
    takesBody: body !== undefined,
  };
  return { name: `reference/${id}`, markdown: `${parts.join('\n\n')}\n`, ...(isTriable ? { tryIt } : {}) };
}

/** The document has its guide above; here it is another page. */
const withLink = (parameter) => ({
  ...parameter,
  description: parameter.description?.replace('see above', 'see [Exchange](index.md#exchange)'),
});

const fieldOf = ({ name, in: place, required = false, schema }) => ({
  name,
  place,
  required,
  values: schema.enum,
});

function callerOf({ credentials, 'x-scopes': scopes = [] }) {
  if (credentials === null) return 'No key is needed.';
  const needed = scopes.length > 0 ? ` with ${scopes.map((each) => `\`${each}\``).join(', ')}.` : '.';
  return CALLERS[credentials] + (credentials === 'admin' ? needed : '');
}

function bodyParts(document, schema, pages) {
  const name = schema.$ref && nameOf(schema.$ref);
  return [
    ...(name ? [`${link(name, pages, '')}, as JSON.`] : []),
    fieldsTable(resolve(document, schema), pages, { isRequest: true }),
    fenced('json', JSON.stringify(exampleOf(document, schema, { isRequest: true }), null, 2)),
  ];
}

async function samples(document, operation) {
  const clients = [
    ['ts', 'TypeScript', await typescriptSample(document, operation)],
    ['python', 'Python', pythonSample(document, operation)],
  ].filter(([, , code]) => code !== null);
  const blocks = [['bash', 'curl', curlSample(document, operation)], ...clients];
  return `::: code-group\n\n${blocks.map(([language, title, code]) => fenced(language, code, title)).join('\n\n')}\n\n:::`;
}

function responseText(document, { status, headers = {}, ...response }, outcome = {}) {
  const schema = jsonSchema(response);
  const example = schema && exampleOf(document, schema);
  Object.assign(Object.values(example ?? {})[0] ?? {}, outcome);
  const sent = Object.entries(headers)
    .filter(([name]) => !['Idempotent-Replayed', 'Retry-After'].includes(name))
    .map(([name, header]) => `${name}: ${headerExample(name, resolve(document, header).schema)}`);
  const type = schema === undefined ? [] : ['Content-Type: application/json; charset=utf-8'];
  const body = schema === undefined ? [] : ['', JSON.stringify(example, null, 2)];
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...type, ...sent, ...body].join('\n');
}

const headerExample = (name, { examples, format }) =>
  examples?.[0] ?? (format === 'uuid' ? uuid(name) : '"3"');

function responsesTable(document, { responses }, pages) {
  const rows = Object.entries(responses).map(([status, each]) => {
    const response = resolve(document, each);
    const schema = jsonSchema(response);
    const body = schema?.$ref ? link(nameOf(schema.$ref), pages, '') : schema ? 'JSON' : 'none';
    return `| ${status} | ${cell(response.description)} | ${body} |`;
  });
  return ['| Status | When | Body |', '|---|---|---|', ...rows].join('\n');
}
