import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { isUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Loaded } from '../../../platform/event-store/command-loop-types.js';
import { payee, type Payee } from '../../users/contract.js';

/** The cached users, some 200 bytes each. */
const MAX_USERS = 50_000;

/** The cache of payees. Entries may be stale: a decision has the revision checked in its commit, and loads again. */
@Injectable()
export class PayeeCache {
  private readonly known = new LRUCache<string, Loaded<Payee>>(upTo(MAX_USERS));

  constructor(private readonly loop: CommandLoop) {}

  async get(userId: string, { fresh = false } = {}): Promise<Loaded<Payee>> {
    const known = this.known.get(userId);
    if (known !== undefined && !fresh) return known;
    if (!isUuid(userId)) return { state: payee.initial, revision: null, lastId: null };
    const loaded = await this.loop.load(payee, userId);
    // A user without a revision may be created at any time.
    if (loaded.revision !== null) this.known.set(userId, loaded);
    return loaded;
  }

  /** Returns the user's wallet, which never changes, or null. */
  async findWallet(userId: string): Promise<string | null> {
    const walletIn = (state: Payee | undefined): string | null =>
      !state || state.accountState === 'unknown' ? null : state.issuerWalletAddress;
    const known = walletIn(this.known.get(userId)?.state);
    return known ?? walletIn((await this.get(userId, { fresh: true })).state);
  }
}
