import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import {
  ClaimHeld,
  type Executed,
  type ExecuteOptions,
} from '../../../platform/event-store/command-loop-types.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { failpoint } from '../../../platform/failpoints.js';
import {
  readAct,
  startDeactivation,
  completeDeactivation,
  eraseUser,
  type OperatorAct,
} from '../domain/deactivation.js';
import { user, activateUser, type UserEvent, type User } from '../domain/user.js';

export type UserChanged = Executed<User, UserEvent>;

/** Any change that the aggregate decides: {@link ChangeUserHandler} executes every one. */
class ChangeUser extends Command<UserChanged> {
  constructor(
    readonly userId: string,
    readonly decide: (state: User, at: string) => UserEvent[],
    readonly options: ExecuteOptions<User>,
  ) {
    super();
  }
}

@CommandHandler(ChangeUser)
export class ChangeUserHandler implements ICommandHandler<ChangeUser> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId, decide, options }: ChangeUser): Promise<UserChanged> {
    const at = timestamp(this.clock);
    try {
      const changed = await this.loop.execute(user, userId, (state) => decide(state, at), options);
      if (changed.state.accountState === 'erased') failpoint('erasure.recorded');
      return changed;
    } catch (error) {
      throw claimRefusal(error);
    }
  }
}

/** A claim of another user as `validation_failed` on its field. */
export function claimRefusal(error: unknown): unknown {
  return error instanceof ClaimHeld
    ? DomainError.invalid({ [error.claim.field]: [error.claim.message] })
    : error;
}

const BY_OPERATOR = { metadata: { actor: 'operator' } };

/**
 * onboarding or active to deactivating: no payout is accepted from now on. A repeat keeps the first reason. Throws
 * `bad_request` for an invalid reason or actor, `not_found`, or `invalid_transition` when the user is deactivated.
 */
export class StartDeactivation extends ChangeUser {
  constructor(userId: string, act: OperatorAct) {
    super(userId, (state, at) => startDeactivation({ ...readAct(act), at }, state), BY_OPERATOR);
  }
}

/** deactivating to deactivated. Throws `not_found`, `invalid_transition`, or `unavailable` while `pendingPayouts` is null. */
export class CompleteDeactivation extends ChangeUser {
  constructor(userId: string, pendingPayouts: number | null) {
    super(userId, (state, at) => completeDeactivation({ pendingPayouts, at }, state), {
      metadata: { actor: 'users.deactivation' },
      follows: true,
    });
  }
}

/**
 * onboarding to active, with a wallet (EIP-55 checksummed). Throws `not_found`, `invalid_transition` when the user is
 * deactivating or deactivated, and `validation_failed` when any merchant's user has the wallet: a transfer to it would
 * confirm the payouts of both.
 */
export class ActivateUser extends ChangeUser {
  constructor(userId: string, issuerWalletAddress: string, cause: EventMetadata = {}) {
    const claim = {
      category: 'user_wallet',
      key: issuerWalletAddress.toLowerCase(),
      field: 'issuer_wallet_address',
      message: 'belongs to another user',
    };
    super(userId, (state, at) => activateUser({ issuerWalletAddress, at }, state), {
      metadata: cause,
      claims: [claim],
    });
  }
}

/**
 * Erases a person (contract.md 8.10): the user cannot be read from now on, and workers drop what contexts store of the
 * person. Throws `bad_request` for an invalid reason or actor, `not_found`, or `invalid_transition` unless the user is
 * deactivated. A repeat changes nothing.
 */
export class EraseUser extends ChangeUser {
  constructor(userId: string, act: OperatorAct) {
    super(userId, (state, at) => eraseUser({ ...readAct(act), at }, state), BY_OPERATOR);
  }
}
