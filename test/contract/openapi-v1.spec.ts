import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { EVENT_TYPES } from '../../src/contexts/webhooks/endpoints/event-types.js';
import { builtDocument } from '../../src/platform/http/docs.controller.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = { readonly [name: string]: Json };

/** The document from when v1 was described by hand. */
const first = JSON.parse(readFileSync(new URL('openapi-v1.json', import.meta.url), 'utf8')) as JsonObject;
const now = (await builtDocument('sandbox')) as JsonObject;
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Resolves references, because the place of a schema does not matter to readers. */
function resolved(document: JsonObject, part: Json): Json {
  if (Array.isArray(part)) return part.map((each: Json) => resolved(document, each));
  if (!isObject(part)) return part;
  if (typeof part['$ref'] === 'string') {
    const names = part['$ref'].split('/').slice(1);
    return resolved(
      document,
      names.reduce<Json>((at, name) => (at as JsonObject)[name]!, document),
    );
  }
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, resolved(document, each)]));
}

/** Returns the parts of the first document that the second lacks, such as elements of lists. */
function lost(before: Json, after: Json | undefined, path: string): string[] {
  if (isObject(before)) {
    if (!isObject(after)) return [path];
    return Object.entries(before).flatMap(([name, each]) => lost(each, after[name], `${path}/${name}`));
  }
  // A description may change, but must exist.
  if (path.endsWith('/description') && typeof before === 'string')
    return typeof after === 'string' && after !== '' ? [] : [path];
  if (!Array.isArray(before)) return before === after ? [] : [path];
  if (!Array.isArray(after)) return [path];
  // A newly required field of requests would break clients.
  if (/\/requestBody\/.*\/required$/.test(path)) return same(before, after) ? [] : [path];
  const rest = after as readonly Json[];
  return before.flatMap((each: Json, index) =>
    rest.some((other) => lost(each, other, '').length === 0) ? [] : [`${path}/${index}`],
  );
}

const same = (one: readonly Json[], other: readonly Json[]): boolean =>
  JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());

/** Removed on purpose (docs/adr/0111). */
const REMOVED = [
  // Clients of v1 accept unknown members in responses.
  /\/(additional|unevaluated)Properties$/,
  // The object is nullable by anyOf now.
  /\/webhook_endpoint_stats\/properties\/latency_ms\//,
  // The list describes them.
  /\/properties\/events\/items\/description$/,
];

describe('the OpenAPI document', () => {
  it('contains everything of its first version except intended removals', () => {
    const missing = lost(resolved(first, first['paths']!), resolved(now, now['paths']!), '');
    expect(missing.length).toBeGreaterThan(0);
    expect(missing.filter((path) => !REMOVED.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  it('describes every type of webhook with the headers of its signature', async () => {
    const webhooks = now['webhooks'] as { readonly [type: string]: { readonly post: JsonObject } };
    expect(Object.keys(webhooks).sort()).toEqual([...EVENT_TYPES].sort());
    for (const { post } of Object.values(webhooks))
      expect((post['parameters'] as readonly JsonObject[]).map(({ name }) => name)).toEqual([
        ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
      ]);
  });

  type Operation = { readonly operationId: string; readonly responses: JsonObject };
  const operationsIn = (part: string): readonly Operation[] =>
    Object.values(resolved(now, now[part]!) as JsonObject).flatMap((each) =>
      Object.values(each as unknown as Readonly<Record<string, Operation>>),
    );

  it('has a unique operationId for each operation and each webhook', () => {
    const ids = ['paths', 'webhooks'].flatMap((part) => operationsIn(part).map((each) => each.operationId));
    expect(ids).toContain('onPayoutReceived');
    expect(ids.filter((id, place) => typeof id !== 'string' || ids.indexOf(id) !== place)).toEqual([]);
  });

  it('documents 400, 429, 431 and 500 for every operation, and Retry-After wherever it is sent', () => {
    for (const { operationId, responses } of operationsIn('paths')) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '429', '431', '500']));
      // Load balancers poll at their own interval, without Retry-After.
      const waits =
        operationId === 'ready' ? ['429'] : ['429', '503'].filter((status) => status in responses);
      for (const status of waits)
        expect((responses[status] as JsonObject)['headers']).toHaveProperty('Retry-After');
    }
  });

  it.each(['sandbox', 'production'] as const)('is valid OpenAPI 3.1: %s', async (mode) => {
    const document = { ...(await builtDocument(mode)), servers: [{ url: '/' }] };
    const { valid, errors } = await new Validator().validate(document);
    expect([valid, errors ?? []]).toEqual([true, []]);
  });

  it('documents the sandbox only in the sandbox', async () => {
    const { paths } = (await builtDocument('production')) as { readonly paths: object };
    expect(Object.keys(paths).filter((path) => path.includes('sandbox'))).toEqual([]);
    expect(Object.keys(now['paths'] as object).filter((path) => path.includes('sandbox'))).toHaveLength(6);
  });
});
