import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { isUuid } from '../../../kernel/ids.js';
import { tidy } from '../../../kernel/typed-text.js';
import { user, type ExistingUser } from '../domain/user.js';

/** Ids of a merchant's users, by what is theirs. Null where there is no such user. */
@Injectable()
export class UserIds {
  constructor(private readonly database: Database) {}

  ofWallet(merchantId: string, address: string): Promise<string | null> {
    return this.find('lower(wallet)', merchantId, tidy(address).toLowerCase());
  }

  ofExternalId(merchantId: string, externalId: string): Promise<string | null> {
    return this.find('external_id', merchantId, externalId);
  }

  private async find(column: string, merchantId: string, value: string): Promise<string | null> {
    // PostgreSQL stores no zero characters.
    if (value.includes('\0')) return null;
    const rows = await this.database.query<{ user_id: string }>(
      `select user_id from users.users where merchant_id = $1 and ${column} = $2`,
      [merchantId, value],
    );
    return rows[0]?.user_id ?? null;
  }
}

/** Users folded from their own streams: every read includes every write, and no read model holds personal data. */
@Injectable()
export class UsersView {
  constructor(
    private readonly loop: CommandLoop,
    private readonly ids: UserIds,
  ) {}

  /** Null when the merchant has no such user, or the user is erased. */
  async find(merchantId: string, userId: string): Promise<ExistingUser | null> {
    if (!isUuid(userId)) return null;
    const state = await this.loop.loadForDisplay(user, userId.toLowerCase());
    if (state.accountState === 'unknown' || state.accountState === 'erased') return null;
    return state.merchantId === merchantId ? state : null;
  }

  async ofWallet(merchantId: string, address: string): Promise<ExistingUser | null> {
    const userId = await this.ids.ofWallet(merchantId, address);
    return userId === null ? null : this.find(merchantId, userId);
  }
}
