import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ClaimTaken, COMMAND_LOOP, type Claim, type CommandLoop } from '../../event-store/command-loop.js';
import type { EventMetadata } from '../../event-store/port.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/domain-error.js';
import { underKey, type IdempotencyTicket } from '../../platform/http/edge.js';
import { KeyedHash } from '../../platform/sealing/keyed-hash.js';
import { createUser, user, type User } from '../domain/user.js';
import { parseProfile, type NewProfile } from './profile.js';
import { userJson } from './user-json.js';

/**
 * POST /merchants/v1/users (merchant-api section 4.1). Answers the JSON text of the 201.
 * Throws `validation_failed`: a field is malformed, or its value belongs to another user of the merchant.
 */
export class CreateUser extends Command<string> {
  constructor(
    readonly merchantId: string,
    readonly body: Readonly<Record<string, unknown>>,
    readonly ticket: IdempotencyTicket,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(CreateUser)
export class CreateUserHandler implements ICommandHandler<CreateUser> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keyedHash: KeyedHash,
  ) {}

  async execute({ merchantId, body, ticket, cause }: CreateUser): Promise<string> {
    const profile = parseProfile(body);
    const createdAt = this.clock.now().toISOString();
    try {
      const { state } = await underKey(ticket, 'user', (userId) =>
        this.loop.execute(
          user,
          userId,
          (current) => createUser({ userId, merchantId, createdAt, ...profile }, current),
          {
            metadata: cause,
            claims: this.claims(merchantId, profile),
            answer: (after) => ticket.answer(201, createdJson(after), { holdsSecret: true }),
            expectNew: true,
          },
        ),
      );
      return createdJson(state);
    } catch (error) {
      if (error instanceof ClaimTaken)
        throw DomainError.invalid({ [error.claim.field]: [error.claim.message] });
      throw error;
    }
  }

  /** Unique within the merchant. Keyed hashes: a claim is the name of a stream, and personal values are in no name. */
  private claims(merchantId: string, { phoneNumber, externalId }: NewProfile): Claim[] {
    const phone: Claim = {
      category: 'user_phone_number',
      key: this.keyedHash.of('user phone number', merchantId, phoneNumber),
      field: 'phone_number',
      message: 'is taken by another user',
    };
    if (externalId === null) return [phone];
    const external: Claim = {
      category: 'user_external_id',
      key: this.keyedHash.of('user external id', merchantId, externalId),
      field: 'external_id',
      message: 'is taken by another user',
    };
    return [phone, external];
  }
}

function createdJson(state: User): string {
  if (state.accountState === 'unknown') throw new Error('a user that was created is there');
  return JSON.stringify({ user: userJson(state) });
}
