import { Injectable } from '@nestjs/common';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { Database } from '../../../platform/postgres/database.js';
import type { UserActivated } from '../domain/user-events.js';

/** Name of the read model of users, to be awaited after an activation. */
export const USERS_VIEW = subscriptionName('users.views');

/** Whose wallet is at this address? Addresses are kept lower-cased. */
export const walletsProjection: SubscriptionDefinition = {
  name: USERS_VIEW,
  events: ['user.activated.v1'],
  async apply(events, tx, schema = 'users') {
    const activated = events.map((event) => event.data as unknown as UserActivated['data']);
    await tx.query(
      `insert into ${schema}.wallets (user_id, merchant_id, address)
       select * from unnest($1::uuid[], $2::uuid[], $3::text[]) on conflict do nothing`,
      [
        activated.map((data) => data.user_id),
        activated.map((data) => data.merchant_id),
        activated.map((data) => data.issuer_wallet_address.toLowerCase()),
      ],
    );
  },
  tables: { schema: 'users', names: ['wallets'] },
};

@Injectable()
export class WalletsView {
  constructor(private readonly database: Database) {}

  /** Id of the merchant's user whose wallet is at `address`, in either letter case; null when there is none. */
  async ownerOf(merchantId: string, address: string): Promise<string | null> {
    // PostgreSQL has no text with a zero character, and no address holds one.
    if (address.includes('\0')) return null;
    const rows = await this.database.query<{ user_id: string }>(
      'select user_id from users.wallets where merchant_id = $1 and address = $2',
      [merchantId, address.trim().toLowerCase()],
    );
    return rows[0]?.user_id ?? null;
  }
}
