import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { UsersView } from '../../users/contract.js';
import { verifyPhone } from '../domain/decisions.js';
import { onboarding, type Onboarding } from '../domain/onboarding.js';
import { findApplicant } from './applicant.js';
import { PhoneCodes } from '../store/phone-codes.js';

/**
 * The user entered the code that was sent to `phoneNumber`, in the `browser` that requested it. Throws `not_found`,
 * `invalid_transition`, {@link WrongCode} when it is wrong, too old, used, tried too often or of another browser, or `validation_failed` on `phone_number` when it is not the one of the profile, and then nothing is linked
 * (contract.md 18.4).
 */
export class VerifyPhone extends Command<Onboarding> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly phoneNumber: string,
    readonly code: string,
    readonly browser: string,
    readonly cause: EventMetadata = {},
  ) {
    super();
  }
}

/** The code was not the one that was sent; it takes `attemptsLeft` more guesses; null: a long code takes any number. */
export class WrongCode extends DomainError {
  constructor(readonly attemptsLeft: number | null) {
    const refusal = attemptsLeft === 0 ? 'is no longer valid: ask for a new one' : 'is wrong';
    super('validation_failed', `code ${refusal}`, { code: [refusal] });
  }
}

@CommandHandler(VerifyPhone)
export class VerifyPhoneHandler implements ICommandHandler<VerifyPhone> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly users: UsersView,
    private readonly codes: PhoneCodes,
  ) {}

  async execute({ merchantId, userId, phoneNumber, code, browser, cause }: VerifyPhone): Promise<Onboarding> {
    const profile = await findApplicant(this.users, merchantId, userId);
    const tried = await this.codes.redeem(userId, phoneNumber, browser, code);
    if (tried !== 'right') throw new WrongCode(tried);
    const at = timestamp(this.clock);
    const verified = { verifiedPhone: phoneNumber, profilePhone: profile.phoneNumber, at };
    return (
      await this.loop.execute(onboarding, userId, (current) => verifyPhone(verified, current), {
        metadata: cause,
      })
    ).state;
  }
}
