import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signingGuide } from '../../dist/src/platform/openapi/signing-guide.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The OpenAPI document of the sandbox, which has every operation. Throws where `npm run build` has not written it. */
export function readDocument() {
  const document = JSON.parse(readFileSync(join(ROOT, 'dist', 'openapi', 'sandbox.json'), 'utf8'));
  document.info.description = signingGuide('/');
  return document;
}

/** What a `$ref` leads to; anything else unchanged. */
export function resolve(document, part) {
  if (part?.$ref === undefined) return part;
  const [, , kind, name] = part.$ref.split('/');
  return document.components[kind][name];
}

export const nameOf = (ref) => ref.split('/').pop();

/** Every operation as `{ id, method, path, tag, isAdmin, credentials, parameters, ...operation }`, in the order of the document. */
export function operationsOf(document) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      tag: operation.tags[0],
      isAdmin: operation.tags[0].startsWith('Admin: '),
      credentials: credentialsOf(operation),
      parameters: (operation.parameters ?? []).map((each) => resolve(document, each)),
    })),
  );
}

/** Which keys a call needs; null for one that needs none. */
function credentialsOf({ security = [] }) {
  const schemes = Object.keys(security[0] ?? {});
  if (schemes.includes('apiKey')) return 'merchant';
  if (schemes.includes('exchangeKeyHeader')) return 'exchange-headers';
  if (schemes.includes('exchangeKey')) return 'exchange';
  return schemes.includes('adminKey') ? 'admin' : null;
}

/** Status and description of the response that a call gets when all is well. */
export function successOf(document, { responses }) {
  const status = Object.keys(responses).find((each) => each.startsWith('2'));
  return { status, ...resolve(document, responses[status]) };
}

/** The schema of a body or a response; undefined where it has none. */
export const jsonSchema = (part) =>
  (part?.content?.['application/json'] ?? part?.content?.['application/problem+json'])?.schema;

/** A part of the path of a page, such as `webhook-endpoints`. */
export const slug = (text) => text.toLowerCase().replace(/[^a-z0-9_]+/g, '-');

/**
 * Pages of objects: the name of each schema by the page that has its section. A schema is on the page of the first tag whose
 * operations or webhooks lead to it; problems have a page for all.
 */
export function schemaPages(document) {
  const pages = new Map([
    ['Problem', 'errors'],
    ['SignatureProblem', 'errors'],
  ]);
  const visit = (node, page) => {
    if (typeof node !== 'object' || node === null) return;
    const name = /^#\/components\/schemas\/(.+)$/.exec(node.$ref ?? '')?.[1];
    if (name !== undefined && pages.has(name)) return;
    if (name !== undefined) pages.set(name, page);
    const inner = node.$ref === undefined ? Object.values(node) : [resolve(document, node)];
    for (const each of inner) visit(each, page);
  };
  for (const { name } of document.tags) {
    for (const each of operationsOf(document).filter(({ tag }) => tag === name)) visit(each, slug(name));
    for (const each of Object.values(document.webhooks).filter(({ post }) => post.tags[0] === name))
      visit(each, slug(name));
  }
  return pages;
}
