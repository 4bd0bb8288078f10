import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { newId } from '../../src/kernel/ids.js';
import { SMS_INBOX, type SmsInbox } from '../../src/contexts/onboarding/application/ports.js';
import { RegisterMerchant } from '../../src/contexts/access/contract.js';
import { CreateUser } from '../../src/contexts/users/application/create-user.js';
import { eventually } from '../support/eventually.js';
import { BROWSER, upload } from '../support/onboard.js';
import { pageUrl, plainTicket, startPeople, type People } from '../support/people.js';

let merchantId: string;
const DETAILS = {
  ...{ first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1985-12-10' },
  ...{ terms_version: 'sandbox', privacy_version: 'sandbox' },
};

interface StepResponse {
  readonly status: number;
  readonly body: { readonly stage?: string; readonly session?: string; readonly errors?: object };
}

describe('the onboarding widget', () => {
  let people: People;
  let url: string;
  let phones = 0;

  beforeAll(async () => {
    people = await startPeople({ roles: 'worker,widget' });
    ({ merchantId } = await people.commandBus.execute(new RegisterMerchant('Shop')));
    url = pageUrl(people.module);
  });
  afterAll(() => people.close());

  const createUser = async (): Promise<{ userId: string; phone: string }> => {
    const [userId, phone] = [newId(), `+1555${String(++phones).padStart(7, '0')}`];
    const body = { phone_number: phone, email: 'ada"<b>@example.com' };
    await people.commandBus.execute(new CreateUser(merchantId, body, plainTicket(userId), {}));
    return { userId, phone };
  };
  const page = (query: Record<string, string>): Promise<Response> =>
    fetch(`${url}/onboarding?${new URLSearchParams(query).toString()}`);
  const step = async (
    userId: string,
    name: string,
    body: object = {},
    session = '',
  ): Promise<StepResponse> => {
    const response = await fetch(`${url}/onboarding/${merchantId}/${userId}/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${session}` },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as StepResponse['body'] };
  };
  const codeFor = (phone: string): string =>
    people.module.get<SmsInbox>(SMS_INBOX, { strict: false }).lastCode(phone) ?? '';

  it('shows the page with phone number and email filled in, and nothing of theirs as markup', async () => {
    const { userId, phone } = await createUser();
    const response = await page({
      merchant_id: merchantId,
      user_id: userId,
      callback_url: 'https://shop.example/done',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await response.text();
    expect(html).toContain(`&quot;phoneNumber&quot;:&quot;${phone}&quot;`);
    expect(html).toContain('&quot;email&quot;:&quot;ada\\&quot;&lt;b&gt;@example.com&quot;');
    expect(html).toContain('&quot;callbackUrl&quot;:&quot;https://shop.example/done&quot;');
  });

  it('404: unknown merchant, unknown user, user of another merchant', async () => {
    const { userId } = await createUser();
    for (const query of [
      { merchant_id: randomUUID(), user_id: userId },
      { merchant_id: merchantId, user_id: randomUUID() },
      { merchant_id: 'x', user_id: userId },
      { merchant_id: merchantId, user_id: 'x' },
    ]) {
      expect((await page(query)).status).toBe(404);
    }
    expect((await fetch(`${url}/onboarding`)).status).toBe(404);
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
    expect((await step(userId, 'constructor')).status).toBe(404);
  });

  it('400: a callback_url that runs something', async () => {
    const { userId } = await createUser();
    const query = { merchant_id: merchantId, user_id: userId };
    expect((await page({ ...query, callback_url: 'javascript:alert(1)' })).status).toBe(400);
    expect((await page({ ...query, callback_url: 'myapp://done' })).status).toBe(200);
  });

  it('leads from the code on the phone to an active user', async () => {
    const { userId, phone } = await createUser();
    await page({ merchant_id: merchantId, user_id: userId });
    expect((await step(userId, 'code', { browser: BROWSER, phone_number: '+15559999999' })).status).toBe(422);
    expect((await step(userId, 'code', { browser: BROWSER, phone_number: phone })).status).toBe(200);
    expect((await step(userId, 'code', { browser: BROWSER, phone_number: phone })).status).toBe(409);
    const verified = await step(userId, 'phone', {
      browser: BROWSER,
      phone_number: phone,
      code: codeFor(phone),
    });
    expect(verified).toMatchObject({ status: 200, body: { stage: 'phone_verified' } });
    const session = verified.body.session!;
    expect((await step(userId, 'details', { ...DETAILS, first_name: ' ' }, session)).status).toBe(422);
    expect((await step(userId, 'details', DETAILS, session)).body.stage).toBe('details_confirmed');
    await upload(people, userId);
    expect((await step(userId, 'identity', {}, session)).body.stage).toBe('kyc_submitted');
    await eventually(async () => (await step(userId, 'state', {}, session)).body.stage === 'completed');
    expect(await people.users.find(merchantId, userId)).toMatchObject({
      accountState: 'active',
    });
  });

  it('lets nobody on who has not entered the code: the address is not secret', async () => {
    const [{ userId, phone }, other] = [await createUser(), await createUser()];
    for (const each of [userId, other.userId]) await page({ merchant_id: merchantId, user_id: each });
    await step(userId, 'code', { browser: BROWSER, phone_number: phone });
    const code = codeFor(phone);
    const wrong = code === '000000' ? '000001' : '000000';
    expect((await step(userId, 'phone', { browser: BROWSER, phone_number: phone, code: wrong })).status).toBe(
      422,
    );
    const { session } = (await step(userId, 'phone', { browser: BROWSER, phone_number: phone, code })).body;
    expect((await step(userId, 'phone', { browser: BROWSER, phone_number: phone, code })).status).toBe(422);
    for (const forged of ['', 'x.y', session!.replace(/^./, '9')]) {
      expect((await step(userId, 'details', DETAILS, forged)).status).toBe(403);
    }
    expect((await step(other.userId, 'details', DETAILS, session)).status).toBe(403);
    expect((await step(userId, 'details', DETAILS, session)).status).toBe(200);
  });
});
