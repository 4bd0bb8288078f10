import { comment, docstring, indent, isName, literal, pascal } from './python.mjs';

const IMPORTS = `"""Bodies of requests, responses and webhooks."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
`;

const SCALARS = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };

/** types.py: a TypedDict for every schema that paths and webhooks lead to, and the union of the events. */
export function typesOf(document) {
  const events = eventsOf(document);
  const names = new Set();
  for (const node of [document.paths, ...Object.values(events)]) collect(document, node, names);
  const schemas = [...names].sort().map((name) => [name, document.components.schemas[name]]);
  return [
    IMPORTS,
    ...[...schemas, ...Object.entries(events)].map(([name, schema]) => typedDict(name, schema)),
    `#: What a webhook delivers; its \`\`type\`\` decides which \`\`data\`\` it has.\nWebhookEvent = (\n    ${Object.keys(events).join('\n    | ')}\n)\n`,
    `WebhookEventType = Literal[${Object.keys(document.webhooks).map(literal).join(', ')}]\n`,
  ].join('\n\n');
}

/** The annotation of a schema. */
export function annotation(schema, prefix = '') {
  if (schema === undefined) return 'Any';
  if (schema.$ref) return prefix + nameOf(schema.$ref);
  if ('const' in schema) return `Literal[${literal(schema.const)}]`;
  if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
  if (schema.allOf?.length === 1) return annotation(schema.allOf[0], prefix);
  if (schema.anyOf && schema.type === undefined)
    return union(schema.anyOf.map((each) => annotation(each, prefix)));
  return union([schema.type ?? 'any'].flat().map((type) => ofType(type, schema, prefix)));
}

function ofType(type, schema, prefix) {
  if (type === 'array') return `list[${annotation(schema.items, prefix)}]`;
  if (type !== 'object') return SCALARS[type] ?? 'Any';
  if (schema.properties) throw new Error(`an object without a name: ${JSON.stringify(schema).slice(0, 200)}`);
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  return `dict[str, ${annotation(values, prefix)}]`;
}

const union = (types) => [...new Set(types)].join(' | ');

const nameOf = (ref) => ref.split('/').pop();

function typedDict(name, { properties = {}, required = [], description }) {
  const members = Object.entries(properties).map(([key, schema]) => {
    const type = annotation(schema);
    return [key, required.includes(key) ? type : `NotRequired[${type}]`, schema.description];
  });
  if (members.every(([key]) => isName(key))) {
    const lines = members.map(([key, type, about]) => `${comment(about)}${key}: ${type}\n`);
    return `class ${name}(TypedDict):\n${indent(docstring(description) + (lines.join('') || 'pass\n'))}`;
  }
  // A key that is a word of Python. The types are text here: some are defined further down.
  const lines = members.map(([key, type, about]) => `${comment(about)}${literal(key)}: ${literal(type)},\n`);
  return `${name} = TypedDict(\n    ${literal(name)},\n    {\n${indent(lines.join(''), '        ')}    },\n)\n`;
}

/** The event of each webhook by the name of its class, such as `PayoutReceivedEvent`. */
function eventsOf({ webhooks }) {
  return Object.fromEntries(
    Object.entries(webhooks).map(([type, { post }]) => [
      `${pascal(type)}Event`,
      { description: post.summary, ...post.requestBody.content['application/json'].schema },
    ]),
  );
}

/** Adds the names of the schemas that a part of the document leads to. */
function collect(document, node, names) {
  if (typeof node !== 'object' || node === null) return;
  const { $ref: ref } = node;
  if (typeof ref === 'string') {
    const [, , kind, name] = ref.split('/');
    if (kind === 'schemas' && names.has(name)) return;
    if (kind === 'schemas') names.add(name);
    collect(document, document.components[kind][name], names);
  } else for (const each of Object.values(node)) collect(document, each, names);
}
