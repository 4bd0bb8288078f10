import { Injectable, Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Claim } from '../../../platform/event-store/command-loop-types.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { claimOwner } from '../../../platform/event-store/claims.js';
import { EVENT_STORE, type EventMetadata, type EventStore } from '../../../platform/event-store/port.js';
import { toStream } from '../../../kernel/aggregate.js';
import { inParallel } from '../../../kernel/in-parallel.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { subscriberNumbers } from './phone-number.service.js';
import { createUser, existing, user, type UserDeactivated, type User } from './user.js';
import { refuseHeld } from './users.commands.js';
import { userJson } from './user-json.view.js';
import type { NewProfile } from './profile.service.js';

const AT_A_TIME = 16;

/** The claims of users. Stream names contain keyed hashes in place of personal values. */
@Injectable()
export class UserClaims {
  constructor(
    private readonly keyedHash: KeyedHash,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /**
   * Returns one claim per spelling of the number, the current one first. An older user may hold an obsolete spelling. A
   * deactivation frees the claims, because carriers reassign numbers.
   */
  phoneNumber(merchantId: string, phoneNumber: string): Claim[] {
    return subscriberNumbers(phoneNumber).map((number) => ({
      category: 'user_phone_number',
      key: this.keyedHash.of('user phone number', merchantId, number),
      field: 'phone_number',
      message: 'is taken by another user',
      freedBy: 'user.deactivated.v1' satisfies UserDeactivated['type'],
    }));
  }

  /** Returns the ids of the current or last holders of the phone number (E.164). */
  async findHolders(phoneNumber: string, merchantIds: readonly string[]): Promise<string[]> {
    const claims = merchantIds.flatMap((id) => this.phoneNumber(id, phoneNumber));
    const owners = await inParallel(claims, AT_A_TIME, (claim) => claimOwner(this.store, claim));
    const streams = new Set(owners.filter((stream) => stream !== null));
    return [...streams].map((stream) => stream.slice(toStream(user, '').length));
  }

  /** Returns a permanent claim: the external id identifies the journey of events, which two persons must not share. */
  externalId(merchantId: string, externalId: string): Claim {
    return {
      category: 'user_external_id',
      key: this.keyedHash.of('user external id', merchantId, externalId),
      field: 'external_id',
      message: 'is taken by another user',
    };
  }
}

/**
 * Creates a user and returns the JSON of the 201. Throws `validation_failed` for a value that another user of the
 * merchant has.
 */
export class CreateUser extends Command<string> {
  constructor(
    readonly merchantId: string,
    readonly profile: NewProfile,
    readonly ticket: IdempotencyTicket,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(CreateUser)
export class CreateUserHandler implements ICommandHandler<CreateUser> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly claims: UserClaims,
  ) {}

  async execute({ merchantId, profile, ticket, cause }: CreateUser): Promise<string> {
    const { phone_number, email = null, external_id = null } = profile;
    const ids = { user_id: ticket.id('user'), merchant_id: merchantId };
    const created = { ...ids, external_id, phone_number, email, created_at: timestamp(this.clock) };
    const claims = this.claims.phoneNumber(merchantId, phone_number);
    if (external_id !== null) claims.push(this.claims.externalId(merchantId, external_id));
    const toJson = (state: User): string => JSON.stringify({ user: userJson(existing(state)) });
    const options = { metadata: cause, claims, response: { ticket, status: 201, body: toJson } };
    const { body } = await this.loop
      .execute(user, ids.user_id, (current) => createUser(created, current), options)
      .catch(refuseHeld);
    return body;
  }
}
