import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../../src/kernel/ids.js';
import { SMS_SENDER } from '../../../src/contexts/onboarding/application/ports.js';
import { Log } from '../../../src/platform/telemetry/logger.js';
import { CreateMerchantWithKey } from '../../../src/contexts/access/contract.js';
import { CreateUser } from '../../../src/contexts/users/application/create-user.js';
import { eventually } from '../../support/eventually.js';
import { BROWSER } from '../../support/onboarding/onboard.js';
import { pageUrl, plainTicket, startPeople, type People } from '../../support/onboarding/people.js';

let merchantId: string;
const PHONE = '+15550001111';
const EMAIL = 'ada@example.com';
const stepRoute = (name: string): string => `/onboarding/:merchantId/:userId/${name}`;

describe('the edge of the onboarding widget', () => {
  let people: People;
  let folder: string;
  let url: string;
  let userId: string;
  let sentCode = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'disburse-widget-log-'));
    const send = async (phone: string, { code }: { readonly code: string }): Promise<never> => {
      sentCode = code;
      throw new Error(`no route to ${phone} for "${code} is your code"`);
    };
    people = await startPeople({
      roles: 'worker,widget',
      env: { LOG_LEVEL: 'info', LOG_FILE: join(folder, 'service.log') },
      override: (builder) => builder.overrideProvider(SMS_SENDER).useValue({ send }),
    });
    ({ merchantId } = await people.commandBus.execute(new CreateMerchantWithKey('Shop')));
    url = urlOf(people);
    userId = newId();
    const body = { phone_number: PHONE, email: EMAIL };
    await people.commandBus.execute(new CreateUser(merchantId, body, plainTicket(userId), {}));
  });
  afterAll(async () => {
    await people?.close();
    await rm(folder, { recursive: true });
  });

  const urlOf = ({ module }: People): string => pageUrl(module);
  const post = (step: string, body: string): Promise<Response> =>
    fetch(`${url}/onboarding/${merchantId}/${userId}/${step}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
  const text = async (): Promise<string> => {
    people.module.get(Log, { strict: false }).flush();
    return readFile(join(folder, 'service.log'), 'utf8').catch(() => '');
  };
  const linesOf = async (response: Response): Promise<Record<string, unknown>[]> => {
    const id = response.headers.get('request-id');
    return eventually(async () => {
      const lines = (await text()).split('\n').filter((line) => line.includes(id!) && line.endsWith('}'));
      return lines.length > 0 && lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    });
  };

  it('writes one wide line a request, with nothing of the person', async () => {
    const query = new URLSearchParams({ merchant_id: merchantId, user_id: userId });
    const page = await fetch(`${url}/onboarding?${query.toString()}`);
    const guess = JSON.stringify({ browser: BROWSER, phone_number: PHONE, code: '135790' });
    const responses = [
      [page, 'GET', '/onboarding', 200],
      [await post('phone', guess), 'POST', stepRoute('phone'), 422],
      [await fetch(`${url}/elsewhere?email=${EMAIL}`), 'GET', 'unknown', 404],
    ] as const;
    for (const [response, method, route, status] of responses) {
      const [line, ...more] = await linesOf(response);
      expect(more).toEqual([]);
      expect(line).toMatchObject({ msg: 'request', level: 'info', method, route, status });
      expect(line!['duration_ms']).toBeGreaterThan(0);
    }
    expect((await linesOf(responses[1][0]))[0]!['bytes_in']).toBe(guess.length);
    for (const personal of ['5550001111', EMAIL, '135790']) expect(await text()).not.toContain(personal);
  });

  it('logs why it returned 5xx, redacted', async () => {
    const response = await post('code', JSON.stringify({ browser: BROWSER, phone_number: PHONE }));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('no route');
    const failure = await eventually(async () =>
      (await linesOf(response)).find(({ msg }) => msg === 'request failed'),
    );
    expect(failure).toMatchObject({ level: 'error', route: stepRoute('code') });
    expect(JSON.stringify(failure)).toContain('no route to [redacted]');
    expect(sentCode).toMatch(/^[0-9]{6}$/);
    for (const personal of ['5550001111', sentCode]) expect(JSON.stringify(failure)).not.toContain(personal);
  });
});
