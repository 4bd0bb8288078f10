import { Inject, Injectable } from '@nestjs/common';
import { claimOwner } from '../../../platform/event-store/claims.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Claim } from '../../../platform/event-store/command-loop-types.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { inParallel } from '../../../kernel/in-parallel.js';
import { streamOf } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { user, type ErasedUser, type ExistingUser } from '../domain/user.js';
import { UserIds } from '../views/users.js';
import { readPhoneNumber } from './profile.js';
import { UserClaims } from './create-user.js';

/** Claims that are read at a time. */
const AT_A_TIME = 16;

/** What an operator knows of a user. */
export type Known =
  | { readonly userId: string }
  | { readonly merchantId: string; readonly phoneNumber: string }
  | { readonly merchantId: string; readonly externalId: string }
  | { readonly merchantId: string; readonly wallet: string };

@Injectable()
export class LocateUser {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly ids: UserIds,
    private readonly claims: UserClaims,
  ) {}

  /** Erased users are not found by phone number. Throws `validation_failed` for a malformed phone number. */
  async by(known: Known): Promise<ExistingUser | ErasedUser | null> {
    const userId = await this.idOf(known);
    if (userId === null) return null;
    const state = await this.loop.loadForDisplay(user, userId);
    if (state.accountState === 'erased' && 'phoneNumber' in known) return null;
    return state.accountState === 'unknown' ? null : state;
  }

  /** Whose user it is. Throws `not_found`. */
  async merchantOf(userId: string): Promise<string> {
    const found = await this.by({ userId });
    if (found === null) throw DomainError.notFound('User');
    return found.merchantId;
  }

  /** Ids of the users of these merchants who have the phone number (E.164) now, or had it last: their state says which. */
  async holdersOf(phoneNumber: string, merchantIds: readonly string[]): Promise<string[]> {
    const holders = await inParallel(merchantIds, AT_A_TIME, (merchantId) =>
      this.holderOf(this.claims.phoneNumber(merchantId, phoneNumber)),
    );
    return holders.filter((holder) => holder !== null);
  }

  private async idOf(known: Known): Promise<string | null> {
    if ('userId' in known) return known.userId;
    const { merchantId } = known;
    if ('wallet' in known) return this.ids.ofWallet(merchantId, known.wallet);
    if ('externalId' in known)
      return this.holderOf(this.claims.externalId(merchantId, known.externalId.trim()));
    const phoneNumber = readPhoneNumber(known.phoneNumber);
    if (phoneNumber instanceof Fault) throw DomainError.invalid({ phone_number: [phoneNumber.message] });
    return this.holderOf(this.claims.phoneNumber(merchantId, phoneNumber));
  }

  private async holderOf(claim: Claim): Promise<string | null> {
    const stream = await claimOwner(this.store, claim);
    return stream === null ? null : stream.slice(streamOf(user, '').length);
  }
}
