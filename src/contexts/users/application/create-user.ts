import { Injectable, Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { subscriberNumbers } from './phone-number.js';
import { createUser, user, type UserDeactivated, type User } from '../domain/user.js';
import { userJson } from './user-json.js';
import type { NewProfile } from './profile.js';

/** What is unique among a merchant's users. A claim names a stream, so personal values in it are keyed hashes. */
@Injectable()
export class UserClaims {
  constructor(private readonly keyedHash: KeyedHash) {}

  /**
   * One claim for each number of the subscriber, always in the same order: a user from before one was replaced holds the
   * former one. Free again once the user is deactivated: carriers reassign numbers.
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

  /** Never free again: it joins the journey of events, which two people must not share. */
  externalId(merchantId: string, externalId: string): Claim {
    return {
      category: 'user_external_id',
      key: this.keyedHash.of('user external id', merchantId, externalId),
      field: 'external_id',
      message: 'is taken by another user',
    };
  }
}

/** Returns the JSON text of the 201. Throws `validation_failed` when a value belongs to another user of the merchant. */
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
    const { phone_number: phoneNumber, email = null, external_id: externalId = null } = profile;
    const userId = ticket.id('user');
    const createdAt = timestamp(this.clock);
    try {
      const { body } = await this.loop.execute(
        user,
        userId,
        (current) => createUser({ userId, merchantId, createdAt, phoneNumber, email, externalId }, current),
        {
          metadata: cause,
          claims: this.claimsOf(merchantId, phoneNumber, externalId),
          response: { ticket, status: 201, body: createdJson },
        },
      );
      return body;
    } catch (error) {
      if (error instanceof ClaimHeld)
        throw DomainError.invalid({ [error.claim.field]: [error.claim.message] }).asTransient();
      throw error;
    }
  }

  private claimsOf(merchantId: string, phoneNumber: string, externalId: string | null): Claim[] {
    const phone = this.claims.phoneNumber(merchantId, phoneNumber);
    return externalId === null ? phone : [...phone, this.claims.externalId(merchantId, externalId)];
  }
}

function createdJson(state: User): string {
  if (state.accountState === 'unknown' || state.accountState === 'erased')
    throw new Error('a user that was created is there');
  return JSON.stringify({ user: userJson(state) });
}
