import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { isUuid } from '../../../kernel/ids.js';
import { user, type ExistingUser } from '../domain/user.js';

/** Owners of wallets. */
@Injectable()
export class WalletsView {
  constructor(private readonly database: Database) {}

  async ownerOf(merchantId: string, address: string): Promise<string | null> {
    // PostgreSQL stores no zero characters.
    if (address.includes('\0')) return null;
    const rows = await this.database.query<{ user_id: string }>(
      'select user_id from users.users where merchant_id = $1 and lower(wallet) = $2',
      [merchantId, address.trim().toLowerCase()],
    );
    return rows[0]?.user_id ?? null;
  }
}

/** Users folded from their own streams: every read includes every write, and no read model holds personal data. */
@Injectable()
export class UsersView {
  constructor(
    private readonly loop: CommandLoop,
    private readonly wallets: WalletsView,
  ) {}

  /** Null when the merchant has no such user, or the user is erased. */
  async find(merchantId: string, userId: string): Promise<ExistingUser | null> {
    if (!isUuid(userId)) return null;
    const state = await this.loop.loadForDisplay(user, userId.toLowerCase());
    if (state.accountState === 'unknown' || state.accountState === 'erased') return null;
    return state.merchantId === merchantId ? state : null;
  }

  async ofWallet(merchantId: string, address: string): Promise<ExistingUser | null> {
    const userId = await this.wallets.ownerOf(merchantId, address);
    return userId === null ? null : this.find(merchantId, userId);
  }
}
