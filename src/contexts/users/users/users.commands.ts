import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld } from '../../../platform/event-store/command-loop-types.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import { failpoint } from '../../../platform/failpoints.js';
import {
  activateUser,
  completeDeactivation,
  eraseUser,
  refused,
  startDeactivation,
  user,
  userStreams,
} from './user.js';

/** Rethrows the error of an append. A held claim becomes `validation_failed`. */
export function refuseHeld(error: unknown): never {
  if (!(error instanceof ClaimHeld)) throw error;
  throw DomainError.invalid({ [error.claim.field]: [error.claim.message] }).asTransient();
}

const NO_ACT = { reason: '', actor: '', at: '' };
const BY_OPERATOR = { metadata: { actor: 'operator' } };

/** The facts of every operation on a user (admin-api.md 4). Parameters contain no personal data. */
export const USER_SUBJECT = { scope: 'users:write', subject: 'user', streams: userStreams } as const;

/**
 * Starts the deactivation of an onboarding or active user. No payout is accepted afterwards. A repeat keeps the first
 * reason. Throws `not_found`, or `invalid_transition` for a deactivated user.
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

/** Completes a deactivation. Throws `not_found`, `invalid_transition`, or `unavailable` while `pendingPayouts` is null. */
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
 * Activates an onboarding user with a wallet (EIP-55 checksummed). Throws `not_found`, and `invalid_transition` for a
 * user who is deactivating or deactivated. Throws `validation_failed` when any merchant's user has the wallet: a
 * transfer to it would confirm both users' payouts.
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
 * Erases a deactivated user (contract.md 8.10): the user is unreadable at once, and workers drop the personal data of all
 * contexts. Throws `not_found`, or `invalid_transition` before the deactivation has ended. Idempotent.
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
