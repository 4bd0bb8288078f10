import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../../../test/support/postgres.js';
import { StripeServer } from '../../../../../test/support/onboarding/stripe/stripe.js';
import { newId } from '../../../../kernel/ids.js';
import type { CardRequest } from '../../application/ports.js';
import { StripeCards } from '../../store/stripe-cards.js';
import { StripeCardIssuer } from './stripe-card-issuer.js';

let db: TestDatabase;
let stripe: StripeServer;
const issuers: StripeCardIssuer[] = [];
beforeAll(async () => {
  [db, stripe] = await Promise.all([testDatabase(), StripeServer.start()]);
});
afterAll(async () => {
  await Promise.all([...issuers.map((each) => each.onApplicationShutdown()), stripe.shutDown()]);
  await db.drop();
});

function issuer(cards = new StripeCards(db.database)): StripeCardIssuer {
  const issuer = new StripeCardIssuer(stripe.account, cards, 2000);
  issuers.push(issuer);
  return issuer;
}

const person = (): CardRequest => ({
  userId: newId(),
  issuerWalletAddress: `0x${'1'.repeat(40)}`,
  attempt: 1,
  phoneNumber: '+15550008888',
  email: 'ada@lovelace.example',
  details: { firstName: 'Ada', lastName: 'Lovelace', dateOfBirth: '1990-01-02' },
});
const set = (change: string, value: string, { userId }: CardRequest): Promise<unknown> =>
  db.database.query(`update onboarding.stripe_cards set ${change} = $1 where user_id = $2`, [value, userId]);

it.each(['begin', 'cardholder_id', 'card_id'] as const)(
  'a card that is created during the erasure of the person is cancelled: in %s',
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
    const holders = stripe.cardholders.filter(({ metadata }) => metadata['user_id'] === userId);
    expect(holders.map(({ status }) => status)).toEqual(['inactive']);
    expect(JSON.stringify({ ...holders[0], name: null })).not.toMatch(/5550008888|lovelace|1990/i);
    expect(stripe.cardsOf(userId).filter(({ status }) => status !== 'canceled')).toEqual([]);
  },
);

it('a cardholder of another person, to which SQL leads an erasure, stays as it is', async () => {
  const [ada, eve] = [person(), person()];
  stripe.faults = [null, null, { status: 500, body: '{}' }];
  await expect(issuer().issue(ada)).rejects.toMatchObject({ name: 'ProviderUnavailable' });
  await issuer().issue(eve);
  const holderOf = ({ userId }: CardRequest) =>
    stripe.cardholders.find(({ metadata }) => metadata['user_id'] === userId)!;
  expect(stripe.cardsOf(ada.userId)).toEqual([]);
  await set('cardholder_id', holderOf(ada).id, eve);
  await expect(issuer().forget(eve.userId)).rejects.toThrow('the cardholder is of another person');
  expect(holderOf(ada)).toMatchObject({ status: 'active', email: ada.email });
  await set('cardholder_id', holderOf(eve).id, eve);
  await issuer().forget(eve.userId);
  expect(holderOf(eve)).toMatchObject({ status: 'inactive' });
});

it('a card of another person, to which SQL leads the issuer, is not issued', async () => {
  const [ada, eve] = [person(), person()];
  const [{ cardId }, own] = [await issuer().issue(ada), await issuer().issue(eve)];
  await set('card_id', cardId, eve);
  await expect(issuer().issue(eve)).rejects.toThrow('the card is of another person');
  await set('card_id', own.cardId, eve);
  expect(await issuer().issue(eve)).toEqual(own);
});
