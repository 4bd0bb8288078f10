import { Inject } from '@nestjs/common';
import { Command, CommandBus, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { setTimeout as wait } from 'node:timers/promises';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { UsersView, type ExistingUser } from '../../users/contract.js';
import type { Details, Onboarding } from '../domain/onboarding.js';
import { findApplicant } from './applicant.js';
import { ConfirmDetails } from './confirm-details.js';
import { SMS_INBOX, type SmsInbox } from './ports.js';
import { PresentTerms } from './present-terms.js';
import { RetryCard } from './retry-card.js';
import { SendPhoneCode } from './send-phone-code.js';
import { sandboxImages } from './sandbox-images.js';
import { StartOnboarding } from './start-onboarding.js';
import { StoreImage } from './store-image.js';
import { SubmitKyc } from './submit-kyc.js';
import { VerifyPhone } from './verify-phone.js';

const ACTIVATION_TIMEOUT_MS = 10_000;
const POLL_MS = 20;
/** The phone shows the last code alone, which may be one that somebody else requested in between. */
const CODE_ATTEMPTS = 5;
const DETAILS: Details = { firstName: 'Sandy', lastName: 'Box', dateOfBirth: '1990-01-01' };

/**
 * Goes through the onboarding as the user would, with the sandbox's phone, a made-up person and made-up images, and waits
 * for the activation. A user who is active already is given at once. Throws `not_found`, `invalid_transition` for a user
 * on the way out, or `unavailable` when the activation takes too long; it may still come.
 */
export class CompleteSandboxOnboarding extends Command<ExistingUser> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly cause: EventMetadata = {},
  ) {
    super();
  }
}

@CommandHandler(CompleteSandboxOnboarding, { sandbox: true })
export class CompleteSandboxOnboardingHandler implements ICommandHandler<CompleteSandboxOnboarding> {
  private readonly underWay = new Map<string, Promise<ExistingUser>>();

  constructor(
    private readonly commandBus: CommandBus,
    private readonly users: UsersView,
    @Inject(SMS_INBOX) private readonly inbox: SmsInbox,
    private readonly terms: PresentTerms,
  ) {}

  /** Calls for one user at a time share one run. */
  execute({ merchantId, userId, cause }: CompleteSandboxOnboarding): Promise<ExistingUser> {
    const key = `${merchantId} ${userId}`;
    const running = this.underWay.get(key);
    if (running !== undefined) return running;
    const started = this.complete(merchantId, userId, cause).finally(() => this.underWay.delete(key));
    this.underWay.set(key, started);
    return started;
  }

  private async complete(merchantId: string, userId: string, cause: EventMetadata): Promise<ExistingUser> {
    const user = await findApplicant(this.users, merchantId, userId);
    if (user.accountState === 'active') return user;
    let state = await this.commandBus.execute(new StartOnboarding(merchantId, userId, cause));
    if (state.stage === 'started') state = await this.verifyPhone(user, cause);
    if (state.stage === 'phone_verified' || state.stage === 'kyc_failed') {
      const confirmed = new ConfirmDetails(merchantId, userId, DETAILS, this.terms.consent(), cause);
      state = await this.commandBus.execute(confirmed);
    }
    if (state.stage === 'card_failed') await this.commandBus.execute(new RetryCard(userId, cause));
    if (state.stage === 'details_confirmed') await this.handIn(merchantId, userId, cause);
    return this.activation(merchantId, userId);
  }

  private async verifyPhone(
    { merchantId, userId, phoneNumber }: ExistingUser,
    cause: EventMetadata,
  ): Promise<Onboarding> {
    const request = { browser: newId(), address: null };
    for (let attempt = 1; ; attempt += 1) {
      await this.commandBus.execute(new SendPhoneCode(merchantId, userId, request));
      const code = this.inbox.lastCode(phoneNumber) ?? '';
      try {
        return await this.commandBus.execute(
          new VerifyPhone(merchantId, userId, phoneNumber, code, request.browser, cause),
        );
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'validation_failed') throw error;
        if (attempt === CODE_ATTEMPTS)
          throw new DomainError('unavailable', 'The phone could not be verified; try again');
      }
    }
  }

  private async handIn(merchantId: string, userId: string, cause: EventMetadata): Promise<void> {
    try {
      for (const image of sandboxImages())
        await this.commandBus.execute(new StoreImage(merchantId, userId, image));
    } catch (error) {
      // Somebody else has handed in the identity by now, and then the same again does no harm.
      if (!(error instanceof DomainError) || error.code !== 'invalid_transition') throw error;
    }
    await this.commandBus.execute(new SubmitKyc(merchantId, userId, cause));
  }

  private async activation(merchantId: string, userId: string): Promise<ExistingUser> {
    const deadline = performance.now() + ACTIVATION_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const user = await findApplicant(this.users, merchantId, userId);
      if (user.accountState === 'active') return user;
      await wait(POLL_MS);
    }
    throw new DomainError('unavailable', 'The onboarding is still under way; try again');
  }
}
