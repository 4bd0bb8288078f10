import { join } from 'node:path';
import { format } from 'prettier';
import { clientMethods } from '../../packages/python/generator/client-methods.mjs';
import { parameterOf, partsOf } from '../../packages/python/generator/operations.mjs';
import { indent, literal, snake } from '../../packages/python/generator/python.mjs';
import { jsonSchema, ROOT, successOf } from './document.mjs';
import { exampleOf, uuid } from './examples.mjs';

const CLIENTS = {
  merchant: { Class: 'Disburse', variable: 'disburse', variables: ['API_KEY', 'PRIVATE_KEY'] },
  exchange: {
    Class: 'DisburseExchange',
    variable: 'exchange',
    variables: ['EXCHANGE_KEY', 'EXCHANGE_SECRET'],
  },
};

/** The method of both clients for each operation, by `<METHOD> <path>`: what their own sources call. */
const METHODS = new Map(
  Object.keys(CLIENTS).flatMap((client) =>
    clientMethods(join(ROOT, 'packages', 'sdk', 'src', `${client}-client.ts`)).map((each) => [
      `${each.method} ${each.path}`,
      { ...each, ...CLIENTS[client] },
    ]),
  ),
);

/** Line width of samples: what fits a page without scrolling. */
const WIDTH = 84;

/** Values of one call of the operation: what its samples send. */
export function callOf(document, operation) {
  // One that may be absent says nothing that its defaults do not.
  const body = operation.requestBody?.required ? jsonSchema(operation.requestBody) : undefined;
  const given = (place) =>
    operation.parameters.filter(
      (each) => each.in === place && !/^(signature|Idempotency-Key)/.test(each.name),
    );
  const valueOf = (each) => exampleOf(document, each.schema, { owner: operation.id, name: each.name });
  const path = Object.fromEntries(
    given('path').map((each) => [each.name, each.name === 'id' ? uuid(thingOf(operation)) : valueOf(each)]),
  );
  return {
    path,
    query: Object.fromEntries(
      given('query')
        .filter(({ required }) => required)
        .map((each) => [each.name, valueOf(each)]),
    ),
    headers: Object.fromEntries(given('header').map((each) => [each.name, '"3"'])),
    body: body && exampleOf(document, body, { isRequest: true }),
  };
}

/** The thing that the id in a path is of: `/merchants/v1/users/{id}` is of a user. */
function thingOf({ path }) {
  const [, plural] = /([a-z_]+)\/\{/.exec(path) ?? [];
  return plural.replace(/ies$/, 'y').replace(/s$/, '');
}

/** TypeScript for an operation; null where the clients have no method. */
export async function typescriptSample(document, operation) {
  const method = METHODS.get(`${operation.method} ${operation.path}`);
  if (method === undefined) return null;
  const { Class, variable, variables, group, name, member, parameters } = method;
  const { path, query, body } = callOf(document, operation);
  const values = {
    body: () => JSON.stringify(body),
    query: () => JSON.stringify(query),
    order: () => JSON.stringify(orderOf(path)),
    options: () => "{ idempotencyKey: 'your id 42' }",
  };
  const args = parameters.flatMap((parameter) => {
    if (parameter === 'options' && !createsSomething(document, operation)) return [];
    if (parameter === 'query' && Object.keys(query).length === 0) return [];
    return (values[parameter] ?? (() => JSON.stringify(Object.values({ ...path, ...query })[0])))();
  });
  const call = `${variable}.${group === null ? '' : `${group}.`}${name}(${args.join(', ')})`;
  const [key, secret] = variables.map((each) => `process.env.${each}!`);
  const code = `import { ${Class} } from '@disburse/sdk';

const ${variable} = new ${Class}({
  baseUrl: process.env.BASE_URL!, apiKey: ${key}, ${Class === 'Disburse' ? 'privateKey' : 'secret'}: ${secret} });

${statement(document, operation, member, call)}`;
  return (await format(code, { parser: 'typescript', singleQuote: true, printWidth: WIDTH })).trimEnd();
}

function statement(document, operation, member, call) {
  if (member !== null) return `for await (const each of ${call}) console.log(each);`;
  return hasBody(document, operation)
    ? `const { data } = await ${call};\nconsole.log(data);`
    : `await ${call};`;
}

/** Python for an operation; null where the clients have no method. */
export function pythonSample(document, operation) {
  const method = METHODS.get(`${operation.method} ${operation.path}`);
  if (method === undefined) return null;
  const { Class, variable, variables, group, name, member } = method;
  const { path, query, body } = callOf(document, operation);
  const { isAction, query: accepted, body: takesBody } = partsOf(document, method);
  const positional = isAction ? [python(orderOf(path))] : Object.values(path).map(literal);
  if (takesBody !== null && body !== undefined) positional.push(python(body));
  const isAlone = accepted.length === 1 && accepted[0].required;
  const named = Object.entries(query).map(([key, value]) =>
    isAlone ? literal(value) : `${parameterOf(key)}=${literal(value)}`,
  );
  if (createsSomething(document, operation)) named.push('idempotency_key="your id 42"');
  const call = callLine(`${variable}.${group === null ? '' : `${snake(group)}.`}${snake(name)}`, [
    ...positional,
    ...named,
  ]);
  const use =
    member !== null
      ? `for each in ${call}:\n    print(each)`
      : hasBody(document, operation)
        ? `result = ${call}\nprint(result.data)`
        : call;
  const keys = ['BASE_URL', ...variables].map((each) => `os.environ["${each}"]`);
  return `import os

from disburse import ${Class}

${variable} = ${callLine(Class, keys)}

${use}`;
}

function callLine(name, args) {
  const line = `${name}(${args.join(', ')})`;
  if (line.length <= WIDTH && !line.includes('\n')) return line;
  // A dictionary alone opens on the line of its call.
  if (args.length === 1) return `${name}(${args[0]})`;
  return `${name}(\n${indent(args.join(',\n'))},\n)`;
}

/** A literal, over several lines where it is long. */
function python(value) {
  if (typeof value !== 'object' || value === null) return literal(value);
  const entries = Array.isArray(value)
    ? value.map(python)
    : Object.entries(value).map(([key, each]) => `${literal(key)}: ${python(each)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const line = `${open}${entries.join(', ')}${close}`;
  if (line.length <= 60 && !line.includes('\n')) return line;
  return `${open}\n${indent(entries.join(',\n'))},\n${close}`;
}

const orderOf = ({ id }) => ({ id, withdraw_address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T' });

/** Only then the caller has its own id for it. */
const createsSomething = (document, operation) =>
  operation.method === 'POST' && successOf(document, operation).status === '201';

const hasBody = (document, operation) => jsonSchema(successOf(document, operation)) !== undefined;
