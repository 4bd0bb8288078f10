import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { OpenApiModule } from '../../src/platform/openapi/openapi.module.js';
import { documentOf } from '../../src/platform/openapi/document.js';
import { merchantScheme } from '../../src/contexts/access/http/merchant-scheme.js';
import { startEdgeApp, type EdgeApp } from '../support/http/edge-app.js';
import { ContractChecker, routeDifferences } from '../support/http/openapi.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { send, type ApiResponse } from '../support/http/signed-client.js';

let db: TestDatabase;
let edge: EdgeApp;

beforeAll(async () => {
  db = await testDatabase();
  const document = async (): Promise<object> => documentOf(edge.app, [{ schemes: [merchantScheme] }]);
  edge = await startEdgeApp(db.database, {}, [OpenApiModule.of(document)]);
});

afterAll(async () => {
  await edge.close();
  await db.drop();
});

const THING = '/merchants/v1/probe/things/7c0c3f2e-6f0a-4a39-9f55-3b6b3f8a1b11';

test('the served document is valid OpenAPI 3.1', async () => {
  const response = await send(`${edge.url}/openapi.json`);
  const validator = new Validator();
  const result = await validator.validate(response.json());
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('real responses match it', async () => {
  const client = edge.client();
  const calls: [string, string, ApiResponse][] = [
    ['GET', THING, await client.get(THING)],
    ['GET', '/merchants/v1/probe/things/x', await client.get('/merchants/v1/probe/things/x')],
    ['GET', THING, await client.get(THING, { 'svc-signature': 'x' })],
    ['GET', THING, await client.get(THING, { 'svc-signature': 'x', accept: 'text/plain' })],
    [
      'DELETE',
      '/merchants/v1/probe/plain',
      await client.call({ method: 'DELETE', path: '/merchants/v1/probe/plain' }),
    ],
    ['GET', '/health/ready', await send(`${edge.url}/health/ready`)],
    ['GET', '/openapi.json', await send(`${edge.url}/openapi.json`)],
  ];
  const checker = await ContractChecker.of(edge.url);
  for (const [method, path, response] of calls) checker.expect(method, path, response);
});

test('a response that breaks the contract is seen', async () => {
  const checker = await ContractChecker.of(edge.url);
  const good = await edge.client().get(THING);
  const fake = (change: Partial<ApiResponse>, text = good.text): ApiResponse => ({
    ...good,
    text,
    json: <T>() => JSON.parse(text) as T,
    ...change,
  });
  const check = (response: ApiResponse) => () => checker.expect('GET', THING, response);
  expect(check(good)).not.toThrow();
  expect(check(fake({ status: 418 }))).toThrow('418 is not in the OpenAPI document');
  expect(check(fake({ headers: { 'content-type': 'text/html' } }))).toThrow('text/html');
  expect(check(fake({}, '{"id":"7"}'))).toThrow('must match format "uuid"');
  expect(check(fake({}, '{}'))).toThrow("must have required property 'id'");
  expect(() => checker.expect('GET', '/nowhere', good)).toThrow('/nowhere is not in the OpenAPI document');
});

test('the page to read it loads nothing from elsewhere', async () => {
  const page = await send(`${edge.url}/docs`);
  expect(page.status).toBe(200);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url!);
  expect(parts.length).toBe(3);
  for (const part of parts) {
    expect(part).toMatch(/^\/docs\//);
    expect((await send(`${edge.url}${part}`)).status).toBe(200);
  }
  expect((await send(`${edge.url}/docs/package.json`)).status).toBe(404);
});

test('routes that the document lacks are seen, and operations that nothing serves', async () => {
  const document = (await send(`${edge.url}/openapi.json`)).json<Parameters<typeof routeDifferences>[1]>();
  const routes = edge.adapter.routes.list();
  const differences = routeDifferences(routes, document);
  expect(differences.undocumented).toContain('POST /merchants/v1/probe/commit');
  expect(differences.undocumented.every((route) => route.includes('/merchants/v1/probe/'))).toBe(true);
  expect(differences.unserved).toEqual([]);
  const fewer = routes.filter(({ url }) => url !== '/health/live');
  expect(routeDifferences(fewer, document).unserved).toEqual(['GET /health/live']);
});
