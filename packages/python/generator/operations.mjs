import { docstring, indent, isName, literal, pascal, snake } from './python.mjs';
import { annotation } from './types.mjs';

/** Parameters that the client adds. */
const SIGNED = new Set(['signature', 'signature_v2', 'api_key']);

/** A module with a class for each group of methods, and one for the client: its groups and its own methods. */
export function operationsOf(document, methods, Client) {
  const own = methods.filter(({ group }) => group === null);
  const groups = new Map();
  for (const each of methods)
    if (each.group !== null) groups.set(each.group, [...(groups.get(each.group) ?? []), each]);
  const hasActions = methods.some((each) => partsOf(document, each).isAction);
  const fields = hasActions ? 'api: Api, signature_of: SignatureOf' : 'api: Api';
  const init = `def __init__(self, ${fields}) -> None:\n    self._api = api\n${hasActions ? '    self._signature_of = signature_of\n' : ''}`;
  const classes = [...groups].map(
    ([group, all]) =>
      `class ${pascal(group)}:\n${indent([init, ...all.map((each) => methodOf(document, each))].join('\n'))}`,
  );
  const wired = [...groups.keys()]
    .map(
      (group) => `    self.${snake(group)} = ${pascal(group)}(${hasActions ? 'api, signature_of' : 'api'})\n`,
    )
    .join('');
  const client = `class ${Client}:\n${indent([init + wired, ...own.map((each) => methodOf(document, each))].join('\n'))}`;
  return [imports(hasActions), ...classes, client].join('\n\n');
}

const imports = (hasActions) => `"""A method for each operation."""

from __future__ import annotations

${hasActions ? 'from collections.abc import Callable\n' : ''}from typing import TYPE_CHECKING, Literal

from . import types

if TYPE_CHECKING:
    from ..calls import Api
    from ..pages import Pages
${hasActions ? '    from ..references import OrderReference\n' : ''}    from ..result import Result
${hasActions ? '\n#: The signature over an address; None without a secret.\nSignatureOf = Callable[[str], str | None]\n' : ''}`;

/** Returns the parameters and the result of an operation's method. */
export function partsOf(document, { method, path }) {
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined)
    throw new Error(`packages/sdk calls ${method} ${path}, which the document lacks`);
  const parameters = (operation.parameters ?? []).filter(({ $ref }) => $ref === undefined);
  const query = parameters.filter((each) => each.in === 'query' && !SIGNED.has(each.name));
  const isAction = parameters.some(({ name }) => name === 'signature') && query.length === 0;
  const ids = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
  const success = Object.keys(operation.responses).find((status) => status.startsWith('2'));
  const response = operation.responses[success].content?.['application/json'].schema;
  return { operation, query, isAction, ids, response, body: bodyOf(document, operation) };
}

/** Returns the annotation of the body and its default. */
function bodyOf(document, { requestBody }) {
  if (requestBody === undefined) return null;
  const { schema } = requestBody.content['application/json'];
  const { required = [] } = document.components.schemas[schema.$ref.split('/').pop()];
  const type = annotation(schema, 'types.');
  if (required.length > 0) return { parameter: `body: ${type}`, value: 'body' };
  return {
    parameter: `body: ${type} | None = None`,
    value: requestBody.required === true ? '{} if body is None else body' : 'body',
  };
}

function methodOf(document, described) {
  const { operation, query, isAction, ids, response, body } = partsOf(document, described);
  const { method, path, name, member } = described;
  const returned = response === undefined ? 'None' : annotation(response, 'types.');
  const positional = isAction ? ['order: OrderReference'] : ids.map((id) => `${id}: str`);
  if (body !== null) positional.push(body.parameter);
  const named = query
    .toSorted((a, b) => Number(b.required) - Number(a.required))
    .map((each) => {
      const type = annotation(each.schema, 'types.');
      return `${parameterOf(each.name)}: ${each.required ? type : `${type} | None = None`}`;
    });
  // All there is to say: it needs no name.
  if (query.length === 1 && query[0].required) positional.push(named.pop());
  if (method !== 'GET') named.push('idempotency_key: str | None = None');
  const parameters = ['self', ...positional, ...(named.length > 0 ? ['*', ...named] : [])].join(', ');
  const passed = [
    ids.length > 0 &&
      `path={${ids.map((id) => `${literal(id)}: ${isAction ? `order[${literal(id)}]` : id}`)}}`,
    (query.length > 0 || member !== null) &&
      `query={${query.map((each) => `${literal(each.name)}: ${parameterOf(each.name)}`).join(', ')}}`,
    isAction && 'query={"signature": self._signature_of(order["withdraw_address"])}',
    body !== null && `body=${body.value}`,
    method !== 'GET' && 'idempotency_key=idempotency_key',
  ].filter(Boolean);
  const call =
    member === null
      ? `self._api.call(${[literal(method), literal(path), ...passed].join(', ')})`
      : `self._api.pages(${[literal(path), literal(member), ...passed].join(', ')})`;
  const type =
    member === null ? `Result[${returned}]` : `Pages[${returned}, ${itemOf(document, response, member)}]`;
  const about = docstring([`${operation.summary}.`, operation.description].filter(Boolean).join('\n\n'));
  return `def ${snake(name)}(${parameters}) -> ${type}:\n${indent(`${about}return ${call}\n`)}`;
}

function itemOf(document, response, member) {
  const page = document.components.schemas[response.$ref.split('/').pop()];
  return annotation(page.properties[member].items, 'types.');
}

/** The name of a parameter: words of Python get an underscore. */
export const parameterOf = (name) => (isName(name) ? name : `${name}_`);
