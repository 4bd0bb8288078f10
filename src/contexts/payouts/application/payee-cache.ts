import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { isUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Loaded } from '../../../platform/event-store/command-loop-types.js';
import { payee, type Payee } from '../../users/contract.js';

/** Users kept in memory, some 200 bytes each. */
const MAX_USERS = 50_000;

/**
 * Users as payouts need them, folded once and kept. The cache does not follow changes: a decision on its
 * state must have the revision checked in the commit, and read the user afresh when it no longer holds.
 */
@Injectable()
export class PayeeCache {
  private readonly known = new LRUCache<string, Loaded<Payee>>(upTo(MAX_USERS));

  constructor(private readonly loop: CommandLoop) {}

  async get(userId: string, { fresh = false } = {}): Promise<Loaded<Payee>> {
    const known = this.known.get(userId);
    if (known !== undefined && !fresh) return known;
    if (!isUuid(userId)) return { state: payee.initial, revision: null, lastId: null };
    const loaded = await this.loop.load(payee, userId);
    // A user that does not exist may be created at any time, with no revision to check against.
    if (loaded.revision !== null) this.known.set(userId, loaded);
    return loaded;
  }

  /** Null: the user has none. One who has a wallet keeps it. */
  async findWallet(userId: string): Promise<string | null> {
    const walletIn = (state: Payee | undefined): string | null =>
      !state || state.accountState === 'unknown' ? null : state.issuerWalletAddress;
    const known = walletIn(this.known.get(userId)?.state);
    return known ?? walletIn((await this.get(userId, { fresh: true })).state);
  }
}
