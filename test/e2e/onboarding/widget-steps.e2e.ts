import { afterAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { UpdateMerchant } from '../../../src/contexts/access/merchants/merchants.commands.js';
import { createMerchant } from '../../../sandbox/issuing.js';
import { SandboxSms } from '../../../src/contexts/onboarding/providers/sandbox-providers.adapter.js';
import { SmsSender } from '../../../src/contexts/onboarding/providers/providers.ports.js';
import { MESSAGES } from '../../../src/contexts/onboarding/words/messages.js';
import { eventually } from '../../support/eventually.js';
import { JPEG } from '../../support/onboarding/images.js';
import { DETAILS, Widget, type Visitor } from '../../support/onboarding/widget-harness.js';

type Session = Awaited<ReturnType<Visitor['signIn']>>;
type StepResponse = Record<string, unknown> & { readonly errors?: Record<string, string[]> };

const texts: string[] = [];

const responseOf = async (response: Promise<Response>): Promise<[number, StepResponse]> => {
  const came = await response;
  return [came.status, (await came.json()) as StepResponse];
};
const stateOf = async (visitor: Visitor, session: Session): Promise<StepResponse> =>
  (await responseOf(visitor.step('state', {}, session)))[1];

class RecordedSms extends SandboxSms {
  override async send(phone: string, message: { readonly code: string; readonly text: string }) {
    texts.push(message.text.replace(message.code, '<code>'));
    await super.send(phone, message);
  }
}

const limits = { RATE_LIMIT_PER_MINUTE: '10000', ONBOARDING_MINIMUM_AGE: '21' };
const widget = await Widget.start(limits, (builder) =>
  builder.overrideProvider(SandboxSms).useClass(RecordedSms),
);
expect(widget.people.module.get(SmsSender, { strict: false })).toBeInstanceOf(RecordedSms);

describe('the steps of the onboarding page (contract.md 18.8 and 18.9)', () => {
  afterAll(() => widget.close());

  it('send the code in a message that names the merchant, in the language of the browser', async () => {
    const displayName = '$& <Shop> {code} and a name that is far too long for one message';
    await widget.people.commandBus.execute(
      new UpdateMerchant(widget.merchantId, { embedding: { display_name: displayName } }),
    );
    const textIn = async (language: string): Promise<string> => {
      const visitor = await widget.visitor();
      const requested = visitor.step(
        'code',
        { phone_number: visitor.phone },
        { 'accept-language': language },
      );
      expect((await requested).status).toBe(200);
      return texts.at(-1)!;
    };
    await eventually(async () =>
      (await textIn('es-MX,en;q=0.5')).includes('$& <Shop> {code} and a name that is far'),
    );
    expect(await textIn('es-MX,en;q=0.5')).toMatch(/^<code> es tu código/);
    expect(await textIn('fr, de-AT;q=0.7')).toMatch(/^<code> ist Ihr Code/);
    expect(await textIn('fr')).toMatch(/^<code> is your code/);
    expect(texts.at(-1)).not.toContain('too long');
    await widget.people.commandBus.execute(
      new UpdateMerchant(widget.merchantId, { embedding: { display_name: null } }),
    );
  });

  it('422: refuse a code without the nonce of a browser', async () => {
    const visitor = await widget.visitor();
    for (const browser of [undefined, '', 'g'.repeat(32), 'a'.repeat(31), 'a'.repeat(65)])
      for (const step of ['code', 'phone']) {
        const body = { phone_number: visitor.phone, code: '000000', browser };
        expect((await visitor.step(step, body)).status).toBe(422);
      }
    expect(await widget.codesOf(visitor)).toBe(0);
  });

  it('403: refuse a step after the code without the session of the user', async () => {
    const [visitor, other] = [await widget.visitor(), await widget.visitor()];
    const [session, its] = [await visitor.signIn(), await other.signIn()];
    const [user, , hash] = session.authorization.split('.');
    const expired = `${user}.1000000000000.${hash}`;
    for (const name of ['details', 'identity', 'state', 'card/retry'])
      for (const authorization of ['', 'Bearer', expired, its.authorization, `${session.authorization}0`]) {
        const [status, { errors }] = await responseOf(visitor.step(name, DETAILS, { authorization }));
        expect([name, status, errors]).toEqual([name, 403, { session: ['has ended'] }]);
      }
  });

  it('404: refuse a step under the id of another merchant', async () => {
    const visitor = await widget.visitor();
    const session = await visitor.signIn();
    const { merchantId } = await createMerchant(widget.people.commandBus, 'Other shop');
    const post = (merchant: string, name: string): Promise<Response> =>
      fetch(`${widget.url}/onboarding/${merchant}/${visitor.userId}/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...session },
        body: JSON.stringify({
          ...DETAILS,
          phone_number: visitor.phone,
          code: '000000',
          browser: visitor.browser,
        }),
      });
    for (const name of ['code', 'phone', 'details', 'identity', 'state', 'card/retry', 'inbox'])
      for (const merchant of [merchantId, randomUUID()])
        expect([name, (await post(merchant, name)).status]).toEqual([name, 404]);
    expect(await stateOf(visitor, session)).toEqual({ stage: 'phone_verified' });
  });

  it('409: refuse details under former terms and store nothing of them', async () => {
    const visitor = await widget.visitor();
    const session = await visitor.signIn();
    for (const field of ['terms_version', 'privacy_version']) {
      const [status, { errors }] = await responseOf(
        visitor.step('details', { ...DETAILS, [field]: '0' }, session),
      );
      expect([status, errors]).toEqual([409, { [field]: ['is not the present one, sandbox'] }]);
      const without = Object.fromEntries(Object.entries(DETAILS).filter(([key]) => key !== field));
      expect((await visitor.step('details', without, session)).status).toBe(422);
    }
    expect(await widget.eventsOf(visitor)).toEqual(['onboarding.started.v1', 'onboarding.phone_verified.v1']);
    expect((await visitor.step('details', DETAILS, session)).status).toBe(200);
    expect((await widget.eventsOf(visitor)).slice(2)).toEqual([
      'onboarding.consent_given.v1',
      'onboarding.details_confirmed.v1',
    ]);
  });

  it('422: refuse a person who is one day too young and an invalid date of birth', async () => {
    const visitor = await widget.visitor();
    const session = await visitor.signIn();
    const today = new Date();
    const day = (years: number, days: number): string => {
      const date = Date.UTC(today.getUTCFullYear() - years, today.getUTCMonth(), today.getUTCDate() + days);
      return new Date(date).toISOString().slice(0, 10);
    };
    const details = (date_of_birth: string) =>
      responseOf(visitor.step('details', { ...DETAILS, date_of_birth }, session));
    const [status, { errors }] = await details(day(21, 1));
    expect([status, errors]).toEqual([422, { date_of_birth: ['must be at least 21 years ago'] }]);
    for (const each of [day(0, 1), '1985-02-30', '1899-12-31', ''])
      expect([each, (await details(each))[0]]).toEqual([each, 422]);
    expect((await details(day(21, 0)))[0]).toBe(200);
  });

  it('accept a phone number in other spellings and digits of other scripts', async () => {
    for (const [phone, typed] of [
      ['+5215512345678', '\u202a+52 55 1234 5678\u202c'],
      ['+5491123456789', '+٥٤ ١١ ٢٣٤٥ ٦٧٨٩'],
    ] as const) {
      const visitor = await widget.visitor(phone);
      expect((await visitor.step('code', { phone_number: typed })).status).toBe(200);
    }
  });

  it('return the state after a reload: under review, failed with a reason, done', async () => {
    const follow = async (last_name: string): Promise<{ visitor: Visitor; session: Session }> => {
      const visitor = await widget.visitor();
      const session = await visitor.signIn();
      expect(await stateOf(visitor, session)).toEqual({ stage: 'phone_verified' });
      await visitor.step('details', { ...DETAILS, last_name }, session);
      expect(await stateOf(visitor, session)).toEqual({ stage: 'details_confirmed', images: [] });
      expect((await visitor.handIn(session)).status).toBe(200);
      return { visitor, session };
    };
    const reaches = (
      stage: string,
      { visitor, session }: { visitor: Visitor; session: Session },
    ): Promise<StepResponse> =>
      eventually(async () => {
        const state = await stateOf(visitor, session);
        return state['stage'] === stage ? state : null;
      });
    const review = await follow('Review');
    expect(await reaches('kyc_submitted', review)).toEqual({
      stage: 'kyc_submitted',
      submitted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const rejected = await follow('Rejected');
    expect(await reaches('kyc_failed', rejected)).toEqual({
      stage: 'kyc_failed',
      reason: expect.stringContaining('could not be verified'),
    });
    const { authorization } = rejected.session;
    const inGerman = { authorization, 'accept-language': 'de' };
    expect(await responseOf(rejected.visitor.step('state', {}, inGerman))).toMatchObject([
      200,
      { stage: 'kyc_failed', reason: MESSAGES.de.reasonSandboxIdentity },
    ]);
    const card = await follow('Cardless');
    expect(await reaches('card_failed', card)).toEqual({
      stage: 'card_failed',
      reason: 'The card could not be issued',
    });
    expect((await card.visitor.step('card/retry', {}, card.session)).status).toBe(200);
    expect(await reaches('completed', card)).toEqual({ stage: 'completed' });
    expect((await card.visitor.step('card/retry', {}, card.session)).status).toBe(200);
    expect((await review.visitor.step('card/retry', {}, review.session)).status).toBe(409);
  });

  it('422: refuse an identity without its images, at first and after a failure that deleted them', async () => {
    const visitor = await widget.visitor();
    const session = await visitor.signIn();
    const identity = () => responseOf(visitor.step('identity', {}, session));
    const missing = ['is missing; upload it first'];
    await visitor.step('details', { ...DETAILS, last_name: 'Rejected' }, session);
    expect(await identity()).toMatchObject([422, { errors: { document_front: missing, selfie: missing } }]);
    expect((await visitor.upload('document_front', JPEG, session)).status).toBe(200);
    expect(await identity()).toMatchObject([422, { errors: { selfie: missing } }]);
    expect((await visitor.handIn(session)).status).toBe(200);
    await eventually(async () => (await stateOf(visitor, session))['stage'] === 'kyc_failed');
    expect(await identity()).toMatchObject([422, { errors: { document_front: missing, selfie: missing } }]);
  });

  it('400: refuse a body that is no object. 415: another content type. 404: another method', async () => {
    const visitor = await widget.visitor();
    const session = await visitor.signIn();
    const url = `${widget.url}/onboarding/${widget.merchantId}/${visitor.userId}/details`;
    const send = async (body: string, type = 'application/json'): Promise<number> =>
      (await fetch(url, { method: 'POST', headers: { 'content-type': type, ...session }, body })).status;
    for (const body of ['[]', 'null', '"x"', '{', '']) expect([body, await send(body)]).toEqual([body, 400]);
    expect(await send('a=1', 'application/x-www-form-urlencoded')).toBe(415);
    expect(await send('x', 'image/jpeg')).toBe(415);
    for (const method of ['GET', 'HEAD', 'PUT']) expect((await fetch(url, { method })).status).toBe(404);
  });

  it('serve the sandbox terms in the language of the browser, on pages that cannot be framed', async () => {
    for (const path of ['/onboarding/terms', '/onboarding/privacy']) {
      const page = await fetch(`${widget.url}${path}`, { headers: { 'accept-language': 'de' } });
      expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(await page.text()).toMatch(/<html lang="de">[^]*Testumgebung/);
    }
  });
});
