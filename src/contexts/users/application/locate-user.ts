import { Inject, Injectable } from '@nestjs/common';
import { claimOwner } from '../../../platform/event-store/claims.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { inParallel } from '../../../kernel/in-parallel.js';
import { streamOf } from '../../../kernel/aggregate.js';
import { user } from '../domain/user.js';
import { UserClaims } from './create-user.js';

/** Claims that are read at a time. */
const AT_A_TIME = 16;

@Injectable()
export class LocateUser {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly claims: UserClaims,
  ) {}

  /** Ids of the users of these merchants who have the phone number (E.164) now, or had it last: their state says which. */
  async holdersOf(phoneNumber: string, merchantIds: readonly string[]): Promise<string[]> {
    const claims = merchantIds.flatMap((id) => this.claims.phoneNumber(id, phoneNumber));
    const owners = await inParallel(claims, AT_A_TIME, (claim) => claimOwner(this.store, claim));
    return [...new Set(owners.filter((stream) => stream !== null))].map((stream) =>
      stream.slice(streamOf(user, '').length),
    );
  }
}
