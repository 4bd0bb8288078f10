import type { Forget, Get } from '../../../platform/context.js';
import { Database } from '../../../platform/postgres/database.js';
import { calling } from './provider-call.js';
import { CARD_ISSUER, IDENTITY_VERIFIER, type CardIssuer, type IdentityVerifier } from './ports.js';

/** Tables with rows of a person; each by user_id. What is in events is sealed with the key of the person. */
const TABLES = ['images', 'phone_codes', 'steps', 'sandbox_reviews', 'verifications'] as const;

/**
 * Has the identity provider and the card issuer delete what they hold, as long as it is known what they call the person;
 * then drops that, images, one-time codes, and steps that were still to be taken. Throws what a provider throws: it is
 * asked again.
 */
export function forgetApplicant(get: Get): Forget {
  return async ({ userId }) => {
    const drop = (tables: readonly string[]): Promise<unknown> =>
      Promise.all(
        tables.map((table) =>
          get(Database).query(`delete from onboarding.${table} where user_id = $1`, [userId]),
        ),
      );
    // First, so that a step which comes late has nothing to hand over.
    await drop(['steps', 'images']);
    await calling('identity', () => get<IdentityVerifier>(IDENTITY_VERIFIER).forget(userId));
    await calling('card', () => get<CardIssuer>(CARD_ISSUER).forget(userId));
    await drop(TABLES);
    // The row itself stays: no card is asked for any more.
    await get(Database).query(
      'update onboarding.stripe_cards set cardholder_id = null, card_id = null where user_id = $1',
      [userId],
    );
    return true;
  };
}
