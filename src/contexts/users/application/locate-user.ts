import { Inject, Injectable } from '@nestjs/common';
import { claimOwner } from '../../../platform/event-store/claims.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Claim } from '../../../platform/event-store/command-loop-types.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { inParallel } from '../../../kernel/in-parallel.js';
import { streamOf } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { tidy } from '../../../kernel/typed-text.js';
import { parsePhoneNumber } from './phone-number.js';
import { user, type ErasedUser, type ExistingUser } from '../domain/user.js';
import { UserIds } from '../views/users.js';
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
    const ids = await this.idsOf(known);
    const found = await inParallel(ids, AT_A_TIME, (userId) => this.loop.loadForDisplay(user, userId));
    const states = found.filter((each) => each.accountState !== 'unknown');
    // A subscriber's two numbers may be those of a present and of a former user.
    const state = states.find(({ accountState: is }) => is !== 'deactivated' && is !== 'erased') ?? states[0];
    const isHidden = state?.accountState === 'erased' && 'phoneNumber' in known;
    return state === undefined || isHidden ? null : state;
  }

  /** Whose user it is. Throws `not_found`. */
  async merchantOf(userId: string): Promise<string> {
    const found = await this.by({ userId });
    if (found === null) throw DomainError.notFound('User');
    return found.merchantId;
  }

  /** Ids of the users of these merchants who have the phone number (E.164) now, or had it last: their state says which. */
  async holdersOf(phoneNumber: string, merchantIds: readonly string[]): Promise<string[]> {
    return this.holders(merchantIds.flatMap((id) => this.claims.phoneNumber(id, phoneNumber)));
  }

  private async idsOf(known: Known): Promise<readonly string[]> {
    if ('userId' in known) return [known.userId];
    const { merchantId } = known;
    if ('wallet' in known)
      return [await this.ids.ofWallet(merchantId, known.wallet)].filter((userId) => userId !== null);
    if ('externalId' in known)
      return this.holders([this.claims.externalId(merchantId, tidy(known.externalId))]);
    const phoneNumber = parsePhoneNumber(known.phoneNumber);
    if (phoneNumber instanceof Fault) throw DomainError.invalid({ phone_number: [phoneNumber.message] });
    return this.holdersOf(phoneNumber, [merchantId]);
  }

  private async holders(claims: readonly Claim[]): Promise<string[]> {
    const owners = await inParallel(claims, AT_A_TIME, (claim) => claimOwner(this.store, claim));
    return [...new Set(owners.filter((stream) => stream !== null))].map((stream) =>
      stream.slice(streamOf(user, '').length),
    );
  }
}
