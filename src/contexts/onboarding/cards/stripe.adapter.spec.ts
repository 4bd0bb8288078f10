import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { failure } from '../../../../test/support/onboarding/onfido/onfido-harness.js';
import type { Fault } from '../../../../test/support/exchange/provider-server.js';
import { StripeServer } from '../../../../test/support/onboarding/stripe/stripe.js';
import { newId } from '../../../kernel/ids.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import type { CardRequest } from '../providers/providers.ports.js';
import { StripeCards } from './stripe-api.adapter.js';
import { StripeCardIssuer } from './stripe.adapter.js';

const DAY_MS = 86_400_000;
const UNAVAILABLE = { name: 'ProviderUnavailable' };
const PHONE = '+15550001111';
const EMAIL = 'ada@lovelace.example';
const DETAILS = { first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1990-01-02' };
const SECRETS = /5550001111|lovelace|ada@|Ada |1990-01-02|rk_test/i;

let db: TestDatabase;
let stripe: StripeServer;
const processes: StripeCardIssuer[] = [];

function issuer(cards = new StripeCards(db.database)): StripeCardIssuer {
  const process = new StripeCardIssuer(stripe.account, cards);
  processes.push(process);
  return process;
}

function person(over: Partial<CardRequest> = {}): CardRequest {
  return {
    userId: newId(),
    details: DETAILS,
    phoneNumber: PHONE,
    email: EMAIL,
    attempt: 1,
    ...over,
  };
}

/** A response of Stripe that quotes the person. */
const refusal = (status: number, type: string, code: string) => ({
  status,
  body: JSON.stringify({ error: { type, code, message: `Ada Lovelace, ${PHONE}` } }),
});

const holdersOf = (user: string) => stripe.cardholders.filter(({ metadata }) => metadata['user_id'] === user);

/** One cardholder and one card that counts, and no more. */
function expectOneCard(userId: string, cardId: string): void {
  const cards = stripe.cardsOf(userId).filter(({ status }) => status !== 'canceled');
  expect(cards.map(({ id }) => id)).toEqual([cardId]);
}

beforeAll(async () => {
  db = await testDatabase();
  stripe = await StripeServer.start();
});
afterEach(() => stripe.recover());
afterAll(async () => {
  await Promise.all([...processes.map((each) => each.onApplicationShutdown()), stripe.shutDown()]);
  await db.drop();
});

describe('cards of Stripe Issuing', () => {
  it('are virtual, active and issued to a cardholder with the id of the user', async () => {
    const request = person();
    const { cardId } = await issuer().issue(request);
    const [card] = stripe.cardsOf(request.userId);
    expect(card).toMatchObject({ id: cardId, type: 'virtual', status: 'active', currency: 'usd' });
    expect(card!.cardholder).toMatchObject({
      name: 'Ada Lovelace',
      phone_number: PHONE,
      email: EMAIL,
      individual: { first_name: 'Ada', last_name: 'Lovelace', dob: { day: '2', month: '1', year: '1990' } },
      billing: { address: stripe.account.stripeIssuingBillingAddress },
      metadata: { user_id: request.userId },
    });
  });

  it.each([
    ['Sukarno', null, 'Sukarno', 'Sukarno'],
    ['Maria Anna Josefina', 'Sigmaringen', 'Maria Anna Josefina Sigm', 'Sigmaringen'],
  ])('fit any name into 24 characters and two fields: %s %s', async (first_name, last_name, name, last) => {
    const request = person({ details: { first_name, last_name, date_of_birth: '1990-01-02' } });
    await issuer().issue(request);
    expect(stripe.cardsOf(request.userId)[0]!.cardholder).toMatchObject({
      name,
      individual: { first_name, last_name: last },
    });
  });

  it('are issued once even if a response is lost and the next attempt follows at once or two days later', async () => {
    for (const passed of [0, 2 * DAY_MS])
      for (const lost of [0, 1, 2, 3, 4]) {
        const request = person({ phoneNumber: `+1555${String(lost).padStart(7, '0')}` });
        stripe.faults = [...Array<Fault>(lost).fill(null), 'done, then reset'];
        await issuer()
          .issue(request)
          .catch((error: unknown) => expect(error).toMatchObject(UNAVAILABLE));
        stripe.advance(passed);
        const { cardId } = await issuer().issue(request);
        expectOneCard(request.userId, cardId);
        expect(holdersOf(request.userId)).toHaveLength(1);
      }
  });

  it('are found at Stripe if our own records are lost', async () => {
    const request = person();
    const given = await issuer().issue(request);
    await db.database.query('delete from onboarding.stripe_cards where user_id = $1', [request.userId]);
    stripe.advance(2 * DAY_MS);
    expect(await issuer().issue(request)).toEqual(given);
    expectOneCard(request.userId, given.cardId);
  });

  it('are requested with a new idempotency key after a failure that Stripe would repeat, and for changed data', async () => {
    const request = person();
    stripe.refuseCard(500, 'api_error', 'internal');
    expect(await failure(issuer().issue(request))).toMatchObject(UNAVAILABLE);
    expectOneCard(request.userId, (await issuer().issue(request)).cardId);
    const changed = person();
    stripe.faults.push(null, { status: 503, body: '' });
    await failure(issuer().issue(changed));
    const { cardId } = await issuer().issue({ ...changed, email: 'other@example.com' });
    expectOneCard(changed.userId, cardId);
  });

  it('of a stalled process are cancelled, and the first stored card is returned', async () => {
    const request = person();
    const slow = issuer();
    let cardId = '';
    stripe.before = async (name) => {
      if (name !== 'POST /v1/issuing/cards') return;
      // It stalls before its request arrives, and meanwhile another process uses a later key.
      stripe.before = () => undefined;
      await db.database.query('update onboarding.stripe_cards set generation = 9 where user_id = $1', [
        request.userId,
      ]);
      ({ cardId } = await issuer().issue(request));
    };
    expect(await slow.issue(request)).toEqual({ cardId });
    expectOneCard(request.userId, cardId);
    expect(stripe.cardsOf(request.userId)).toHaveLength(2);
  });

  it.each([
    ['a name', { details: { ...DETAILS, last_name: 'Лавлейс' } }, 'does not accept your name'],
    ['a birth date', { details: { ...DETAILS, date_of_birth: '2024-01-01' } }, 'your date of birth'],
    ['a phone number', { phoneNumber: '+1' }, 'your phone number'],
    ['an email address', { email: 'ada' }, 'your email address'],
  ])('are refused for %s that Stripe does not accept', async (_, over, reason) => {
    const error = await failure(issuer().issue(person(over)));
    expect(error).toBeInstanceOf(ProviderRefused);
    expect((error as ProviderRefused).message).toContain(reason);
    expect(inspect(error, { depth: 9 })).not.toMatch(SECRETS);
  });

  it.each([
    ['rejected.listed', ProviderRefused],
    ['requirements.past_due', ProviderRefused],
    ['under_review', Error],
    ['listed', Error],
  ])('are refused or delayed while Stripe restricts the cardholder: %s', async (reason, kind) => {
    const request = person({ details: { ...DETAILS, last_name: 'Watched' } });
    stripe.reasons.set('Watched', reason);
    const error = await failure(issuer().issue(request));
    expect(error).toBeInstanceOf(kind);
    expect(error instanceof ProviderRefused).toBe(kind === ProviderRefused);
    expect(stripe.cardsOf(request.userId)).toEqual([]);
    Object.assign(stripe.cardholders[0]!, { status: 'active', requirements: { disabled_reason: null } });
    expectOneCard(request.userId, (await issuer().issue({ ...request, attempt: 2 })).cardId);
  });

  it.each([
    ['409', refusal(409, 'idempotency_error', 'idempotency_key_in_use')],
    ['500', refusal(500, 'api_error', 'internal')],
    ['200 in HTML', { status: 200, body: '<html>Ada Lovelace</html>' }],
    ['200 with an empty object', { status: 200, body: '{}' }],
    ['a reset', 'reset' as const],
  ])('are unavailable if a response is %s, and a retry then issues one card', async (_, fault) => {
    for (const nth of [0, 1, 2, 3, 4]) {
      const request = person();
      stripe.faults = [...Array<Fault>(nth).fill(null), fault];
      const error = await failure(issuer().issue(request));
      expect(error).toMatchObject(UNAVAILABLE);
      expect(inspect(error, { depth: 9 })).not.toMatch(SECRETS);
      stripe.faults = [];
      expectOneCard(request.userId, (await issuer().issue(request)).cardId);
    }
  });

  it.each(['POST /v1/issuing/cardholders', 'POST /v1/issuing/cards'])(
    'are unavailable while %s returns an object of another user',
    async (path) => {
      const request = person();
      const other = { metadata: { user_id: newId() } };
      stripe.lie = (body, name) => (name === path ? { ...body, ...other } : body);
      expect(await failure(issuer().issue(request))).toMatchObject(UNAVAILABLE);
      stripe.lie = (body) => body;
      expectOneCard(request.userId, (await issuer().issue(request)).cardId);
    },
  );

  it('are unavailable while Stripe rejects the API key', async () => {
    const account = { ...stripe.account, stripeSecretKey: 'rk_test_other' };
    const strange = new StripeCardIssuer(account, new StripeCards(db.database));
    processes.push(strange);
    const error = await failure(strange.issue(person()));
    expect(error).toMatchObject(UNAVAILABLE);
    expect(error.message).toContain('401');
  });

  it('are cancelled when the person is erased; personal data is overwritten and further cards are refused', async () => {
    const request = person({ phoneNumber: '+15550007777' });
    await issuer().issue(request);
    await issuer().forget(request.userId);
    await issuer().forget(request.userId);
    const [card] = stripe.cardsOf(request.userId);
    expect(card).toMatchObject({ status: 'canceled' });
    const { name, ...holder } = card!.cardholder;
    expect(name).toBe('Ada Lovelace');
    expect(JSON.stringify(holder)).not.toMatch(/5550007777|lovelace|Lovelace|Ada|1990/);
    expect(holder).toMatchObject({ status: 'inactive' });
    expect(await failure(issuer().issue(request))).toBeInstanceOf(ProviderRefused);
    expect(stripe.cardsOf(request.userId)).toHaveLength(1);
  });

  it('have a cardholder that an erasure overwrites even if the cardholder id was never stored', async () => {
    const request = person();
    stripe.faults = [null, 'done, then reset'];
    await failure(issuer().issue(request));
    await issuer().forget(request.userId);
    const [holder] = holdersOf(request.userId);
    expect(holder).toMatchObject({ status: 'inactive', email: 'erased@example.com' });
  });
});

const set = (change: string, value: string, { userId }: CardRequest): Promise<unknown> =>
  db.database.query(`update onboarding.stripe_cards set ${change} = $1 where user_id = $2`, [value, userId]);

it.each(['begin', 'cardholder_id', 'card_id'] as const)(
  'a card whose creation overlaps with the erasure of the person is cancelled; erasure at %s',
  async (point) => {
    class Meanwhile extends StripeCards {
      override async begin(userId: string) {
        const row = await super.begin(userId);
        if (point === 'begin') await issuer().forget(userId);
        return row;
      }
      override async keep(column: 'cardholder_id' | 'card_id', userId: string, id: string) {
        if (point === column) await issuer().forget(userId);
        return super.keep(column, userId, id);
      }
    }
    const request = person();
    const { userId } = request;
    await expect(issuer(new Meanwhile(db.database)).issue(request)).rejects.toMatchObject({
      name: 'ProviderUnavailable',
    });
    const holders = holdersOf(userId);
    expect(holders.map(({ status }) => status)).toEqual(['inactive']);
    expect(JSON.stringify({ ...holders[0], name: null })).not.toMatch(/5550001111|lovelace|1990/i);
    expect(stripe.cardsOf(userId).filter(({ status }) => status !== 'canceled')).toEqual([]);
  },
);

it('an erasure does not change the cardholder of another person, even if a tampered row refers to it', async () => {
  const [ada, eve] = [person(), person()];
  stripe.faults = [null, null, { status: 500, body: '{}' }];
  await expect(issuer().issue(ada)).rejects.toMatchObject({ name: 'ProviderUnavailable' });
  await issuer().issue(eve);
  const holderOf = ({ userId }: CardRequest) => holdersOf(userId)[0]!;
  expect(stripe.cardsOf(ada.userId)).toEqual([]);
  await set('cardholder_id', holderOf(ada).id, eve);
  await expect(issuer().forget(eve.userId)).rejects.toThrow('the cardholder is of another person');
  expect(holderOf(ada)).toMatchObject({ status: 'active', email: EMAIL });
  await set('cardholder_id', holderOf(eve).id, eve);
  await issuer().forget(eve.userId);
  expect(holderOf(eve)).toMatchObject({ status: 'inactive' });
});

it('a card of another person is not returned, even if a tampered row refers to it', async () => {
  const [ada, eve] = [person(), person()];
  const [{ cardId }, own] = [await issuer().issue(ada), await issuer().issue(eve)];
  await set('card_id', cardId, eve);
  await expect(issuer().issue(eve)).rejects.toThrow('the card is of another person');
  await set('card_id', own.cardId, eve);
  expect(await issuer().issue(eve)).toEqual(own);
});
