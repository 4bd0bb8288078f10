import { Inject, Injectable } from '@nestjs/common';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { isUuid } from '../../../kernel/ids.js';
import { user, type ExistingUser } from '../domain/user.js';
import { WalletsView } from './wallets.js';

/**
 * Users of a merchant, folded from their own streams, so that a read shows every write at once, from any process, and no
 * read model needs to hold personal data.
 */
@Injectable()
export class UsersView {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    private readonly wallets: WalletsView,
  ) {}

  /** Null when the merchant has no such user, or the user is erased. */
  async find(merchantId: string, userId: string): Promise<ExistingUser | null> {
    if (!isUuid(userId)) return null;
    const state = await this.loop.show(user, userId.toLowerCase());
    if (state.accountState === 'unknown' || state.accountState === 'erased') return null;
    return state.merchantId === merchantId ? state : null;
  }

  /** The user whose issuer wallet is at that address, in either letter case; null when there is none. */
  async ofWallet(merchantId: string, address: string): Promise<ExistingUser | null> {
    const userId = await this.wallets.ownerOf(merchantId, address);
    return userId === null ? null : this.find(merchantId, userId);
  }
}
