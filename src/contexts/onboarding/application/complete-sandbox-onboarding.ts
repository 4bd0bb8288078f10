import { setTimeout as wait } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import type { ExistingUser } from '../../users/contract.js';
import type { Details, Onboarding } from '../domain/onboarding.js';
import { REQUIRED_IMAGES } from '../domain/image-kind.js';
import {
  ConfirmDetails,
  Onboardings,
  RetryCard,
  StartOnboarding,
  StoreImage,
  SubmitKyc,
} from './person-commands.js';
import { SMS_INBOX, type SmsInbox } from './ports.js';
import { PresentTerms } from './present-terms.js';
import { SendPhoneCode, VerifyPhone, WrongCode } from './phone-verification.js';

const ACTIVATION_TIMEOUT_MS = 10_000;
const POLL_MS = 20;
const DETAILS: Details = { first_name: 'Sandy', last_name: 'Box', date_of_birth: '1990-01-01' };
/** A grey square of the smallest size that is accepted. */
const GREY_PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAMgAAADICAAAAACIM/FCAAAAtklEQVR42u3PQREAAAwCIKMb3ddK7KAB6RMRERERERERERER' +
    'ERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERER' +
    'ERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERER' +
    'ETkDnJgkk7vm1XgAAAAASUVORK5CYII=',
  'base64',
);

/**
 * Completes an onboarding with a fictitious person and images, and waits for the activation. Throws `not_found`,
 * `invalid_transition` for a user who is deactivating, or `unavailable` after a timeout.
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

@CommandHandler(CompleteSandboxOnboarding)
export class CompleteSandboxOnboardingHandler implements ICommandHandler<CompleteSandboxOnboarding> {
  private readonly running = new Map<string, Promise<ExistingUser>>();

  constructor(
    private readonly commandBus: CommandBus,
    private readonly onboardings: Onboardings,
    @Inject(SMS_INBOX) private readonly inbox: SmsInbox,
    private readonly terms: PresentTerms,
  ) {}

  /** Concurrent calls for one user share a run. */
  execute({ merchantId, userId, cause }: CompleteSandboxOnboarding): Promise<ExistingUser> {
    const key = `${merchantId} ${userId}`;
    const current = this.running.get(key);
    if (current !== undefined) return current;
    const started = this.complete(merchantId, userId, cause).finally(() => this.running.delete(key));
    this.running.set(key, started);
    return started;
  }

  private async complete(merchantId: string, userId: string, cause: EventMetadata): Promise<ExistingUser> {
    const user = await this.onboardings.applicant(merchantId, userId);
    if (user.account_state === 'active') return user;
    let state = await this.commandBus.execute(new StartOnboarding(merchantId, userId, cause));
    if (state.stage === 'started') state = await this.verifyPhone(user, cause);
    if (state.stage === 'phone_verified' || state.stage === 'kyc_failed') {
      const confirmed = new ConfirmDetails(merchantId, userId, DETAILS, this.terms.consent(), cause);
      state = await this.commandBus.execute(confirmed);
    }
    if (state.stage === 'card_failed') await this.commandBus.execute(new RetryCard(merchantId, userId, cause));
    if (state.stage === 'details_confirmed') await this.submit(merchantId, userId, cause);
    return this.activation(merchantId, userId);
  }

  private async verifyPhone(
    { merchant_id: merchantId, user_id: userId, phone_number: phoneNumber }: ExistingUser,
    cause: EventMetadata,
  ): Promise<Onboarding> {
    const request = { browser: newId(), address: null };
    await this.commandBus.execute(new SendPhoneCode(merchantId, userId, request));
    const code = this.inbox.lastCode(phoneNumber) ?? '';
    const verify = new VerifyPhone(merchantId, userId, phoneNumber, code, request.browser, cause);
    try {
      return await this.commandBus.execute(verify);
    } catch (error) {
      // The inbox has the last code only, which may belong to a concurrent request of the page.
      if (!(error instanceof WrongCode)) throw error;
      throw new DomainError('unavailable', 'The phone could not be verified; try again');
    }
  }

  private async submit(merchantId: string, userId: string, cause: EventMetadata): Promise<void> {
    try {
      for (const kind of REQUIRED_IMAGES) {
        const image = { kind, type: 'image/png', bytes: GREY_PNG } as const;
        await this.commandBus.execute(new StoreImage(merchantId, userId, image));
      }
    } catch (error) {
      // The identity was submitted concurrently; a repeat is harmless.
      if (!(error instanceof DomainError) || error.code !== 'invalid_transition') throw error;
    }
    await this.commandBus.execute(new SubmitKyc(merchantId, userId, cause));
  }

  private async activation(merchantId: string, userId: string): Promise<ExistingUser> {
    const deadline = performance.now() + ACTIVATION_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const user = await this.onboardings.applicant(merchantId, userId);
      if (user.account_state === 'active') return user;
      await wait(POLL_MS);
    }
    throw new DomainError('unavailable', 'The onboarding is still in progress; try again');
  }
}
