import { CommandBus } from '@nestjs/cqrs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  CreateOperator,
  UpdateOperator,
} from '../../../src/contexts/access/application/operator-commands.js';
import { LoginLinks } from '../../../src/contexts/access/application/console/login-links.js';
import { newId } from '../../../src/kernel/ids.js';
import { freePort } from '../../../sandbox/processes.js';
import { addVirtualAuthenticator } from '../../support/http/virtual-authenticator.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { canBrowse, onTestBrowser } from '../../support/http/browser.js';

/** Runs in the page: what the page of the console does with the package for WebAuthn. */
const CALLS = `globalThis.call = async (path, body = {}) => {
  const response = await fetch(path, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
};
globalThis.enrol = async (token) => {
  const options = await call('/enrol/options', { token });
  if (options.status !== 200) return options.status;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options.body);
  const credential = await navigator.credentials.create({ publicKey });
  globalThis.sent = { token, response: credential.toJSON() };
  return (await call('/enrol', sent)).status;
};
globalThis.signIn = async () => {
  const options = await call('/login/passkey/options');
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options.body);
  const credential = await navigator.credentials.get({ publicKey });
  globalThis.sent = credential.toJSON();
  return (await call('/login/passkey', sent)).status;
};
globalThis.session = async () => {
  const response = await fetch('/session');
  return response.ok ? await response.json() : response.status;
};`;

(canBrowse() ? describe : describe.skip)('passkeys', () => {
  const browser = onTestBrowser();
  let app: TestApp;
  let origin: string;

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://localhost:${port}`;
    app = await startTestApp({ ADMIN_PORT: String(port) });
  });
  afterAll(() => app.close());

  /** A browser with a virtual authenticator, at the console. */
  async function visit(isVerified = true): Promise<Page> {
    const { page, problems } = await browser.visit([origin]);
    await addVirtualAuthenticator(page, isVerified);
    await page.goto(`${origin}/health/live`);
    await page.evaluate(CALLS);
    problems.length = 0;
    return page;
  }

  async function newOperator(): Promise<{ readonly id: string; readonly token: string }> {
    const id = newId();
    const person = { name: 'Grace', email: `${id}@example.com`, role: 'on_call' };
    await app.app.get(CommandBus).execute(new CreateOperator(id, person));
    const link = await app.app.get(LoginLinks, { strict: false }).issue(id);
    return { id, token: link.split('#')[1]! };
  }
  const enrol = (page: Page, token: string) => page.evaluate<unknown>(`enrol(${JSON.stringify(token)})`);

  it('a person enrols by a one-time link, signs out and signs in again', async () => {
    const { id, token } = await newOperator();
    const page = await visit();
    expect(await enrol(page, token)).toBe(204);
    expect(await page.evaluate('session()')).toMatchObject({ operator: { id }, method: 'passkey' });
    expect(await page.evaluate('call("/logout").then(({ status }) => status)')).toBe(204);
    expect(await page.evaluate('session()')).toBe(401);
    expect(await page.evaluate('signIn()')).toBe(204);
    expect(await page.evaluate('session()')).toMatchObject({ operator: { id } });
    const recorded = await app.database.query<{ data: object }>(
      `select data::json as data from event_store.events
       where type = 'operation.requested.v1' and data::json->>'name' = 'operators.add_passkey'`,
    );
    expect(recorded).toHaveLength(1);
    expect(recorded[0]!.data).toMatchObject({
      subject: { id },
      reason: 'enrolled with a one-time link',
      requested_by: { operator_id: id, address: expect.any(String) },
    });
    // What was sent is good once.
    expect(await page.evaluate('call("/login/passkey", sent).then(({ status }) => status)')).toBe(400);
  });

  it('a link enrols one passkey; opening it does not use it up', async () => {
    const { token } = await newOperator();
    const page = await visit();
    const open = `call('/enrol/options', { token: ${JSON.stringify(token)} }).then(({ status }) => status)`;
    expect(await page.evaluate(open)).toBe(200);
    expect(await page.evaluate(open)).toBe(200);
    expect(await enrol(page, token)).toBe(204);
    expect(await enrol(await visit(), token)).toBe(401);
  });

  it('a passkey of a disabled person signs in no more', async () => {
    const { id, token } = await newOperator();
    const page = await visit();
    expect(await enrol(page, token)).toBe(204);
    await app.app.get(CommandBus).execute(new UpdateOperator(id, { status: 'disabled' }));
    expect(await page.evaluate('session()')).toBe(401);
    expect(await page.evaluate('signIn()')).toBe(403);
  });
});
