import { Inject, Injectable } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { toStream } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { inParallel } from '../../../kernel/in-parallel.js';
import { claimOwner } from '../../../platform/event-store/claims.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import { EVENT_STORE, type EventMetadata, type EventStore } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { subscriberNumbers } from './phone-number.service.js';
import type { NewProfile } from './profile.service.js';
import { userJson } from './user-json.view.js';
import {
  activateUser,
  completeDeactivation,
  createUser,
  eraseUser,
  existing,
  refused,
  startDeactivation,
  user,
  userStreams,
  type User,
  type UserDeactivated,
} from './user.js';

/** Rethrows the error of an append; a claim that another user has becomes `validation_failed`. */
function refuseHeld(error: unknown): never {
  if (!(error instanceof ClaimHeld)) throw error;
  throw DomainError.invalid({ [error.claim.field]: [error.claim.message] }).asTransient();
}

const AT_A_TIME = 16;

/** The claims to unique values of users. Their stream names contain keyed hashes, not personal values. */
@Injectable()
export class UserClaims {
  constructor(
    private readonly keyedHash: KeyedHash,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /**
   * Returns a claim per spelling, the current one first, because an older user may have an obsolete spelling.
   * A deactivation frees the claims, because carriers reassign numbers.
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

  /** Returns a permanent claim, so that inbound events with an external id never reach another person. */
  externalId(merchantId: string, externalId: string): Claim {
    return {
      category: 'user_external_id',
      key: this.keyedHash.of('user external id', merchantId, externalId),
      field: 'external_id',
      message: 'is taken by another user',
    };
  }
}

/** Creates a user and returns its JSON. Throws `validation_failed` for a value in use within the merchant. */
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

const NO_ACT = { reason: '', actor: '', at: '' };
const BY_OPERATOR = { metadata: { actor: 'operator' } };

/** The facts of every operation on a user (admin-api.md 4). Parameters contain no personal data. */
export const USER_SUBJECT = { scope: 'users:write', subject: 'user', streams: userStreams } as const;

/**
 * Starts to deactivate an onboarding or active user, for whom no further payout is accepted. A repeat keeps
 * the first reason. Throws `not_found`, or `invalid_transition` for a deactivated user.
 */
@Operation({ ...USER_SUBJECT, name: 'users.deactivate' })
export class StartDeactivation extends OperatorCommand {}

@CommandHandler(StartDeactivation)
export class StartDeactivationHandler implements OperationHandler<StartDeactivation> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async check({ subjectId }: StartDeactivation): Promise<void> {
    const { state } = await this.loop.load(user, subjectId);
    if (state.account_state === 'deactivating') throw refused('The user is deactivating already');
    startDeactivation(NO_ACT, state);
  }

  async execute({ subjectId, operation }: StartDeactivation): Promise<void> {
    const act = { ...operation!, at: timestamp(this.clock) };
    await this.loop.execute(user, subjectId, (state) => startDeactivation(act, state), BY_OPERATOR);
  }
}

/** Ends a deactivation. Throws `not_found`, `invalid_transition`, or `unavailable` (payouts not counted). */
export class CompleteDeactivation extends Command<void> {
  constructor(
    readonly userId: string,
    readonly pendingPayouts: number | null,
  ) {
    super();
  }
}

@CommandHandler(CompleteDeactivation)
export class CompleteDeactivationHandler implements ICommandHandler<CompleteDeactivation> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId, pendingPayouts }: CompleteDeactivation): Promise<void> {
    const command = { pendingPayouts, at: timestamp(this.clock) };
    const options = { metadata: { actor: 'payouts.deactivation' }, follows: true } as const;
    await this.loop.execute(user, userId, (state) => completeDeactivation(command, state), options);
  }
}

/**
 * Activates an onboarding user with a wallet (EIP-55 checksummed). Throws `not_found`, and
 * `invalid_transition` for a user who is deactivating or deactivated. Throws `validation_failed` if another
 * user of any merchant has the wallet, because a transfer to it would confirm payouts of both users.
 */
export class ActivateUser extends Command<void> {
  constructor(
    readonly userId: string,
    readonly issuerWalletAddress: string,
    readonly cause: EventMetadata = {},
  ) {
    super();
  }
}

@CommandHandler(ActivateUser)
export class ActivateUserHandler implements ICommandHandler<ActivateUser> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId, issuerWalletAddress, cause }: ActivateUser): Promise<void> {
    const command = { issuer_wallet_address: issuerWalletAddress, activated_at: timestamp(this.clock) };
    const claim = {
      category: 'user_wallet',
      key: issuerWalletAddress.toLowerCase(),
      field: 'issuer_wallet_address',
      message: 'belongs to another user',
    };
    await this.loop
      .execute(user, userId, (state) => activateUser(command, state), { metadata: cause, claims: [claim] })
      .catch(refuseHeld);
  }
}

/**
 * Erases a deactivated user (contract.md 8.10). Reads find no user from then on; workers drop personal data.
 * Throws `not_found`, or `invalid_transition` before the deactivation has ended. Idempotent.
 */
@Operation({ ...USER_SUBJECT, name: 'users.erase', secondPerson: 'before' })
export class EraseUser extends OperatorCommand {}

@CommandHandler(EraseUser)
export class EraseUserHandler implements OperationHandler<EraseUser> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async check({ subjectId }: EraseUser): Promise<void> {
    const { state } = await this.loop.load(user, subjectId);
    if (state.account_state === 'erased') throw refused('The user is erased already');
    eraseUser(NO_ACT, state);
  }

  async execute({ subjectId, operation }: EraseUser): Promise<void> {
    const act = { ...operation!, at: timestamp(this.clock) };
    await this.loop.execute(user, subjectId, (state) => eraseUser(act, state), BY_OPERATOR);
    failpoint('erasure.recorded');
  }
}
