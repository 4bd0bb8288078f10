import { Inject, Injectable, Logger } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Executed, ExecuteOptions, Loaded } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { newId } from '../../../kernel/ids.js';
import { isSameSubscriber, UsersView, type ExistingUser } from '../../users/users.contract.js';
import { startOnboarding, confirmDetails, submitKyc, retryCard, verifyPhone } from './decisions.js';
import {
  onboarding,
  reached,
  type Consent,
  type Details,
  type Onboarding,
  type OnboardingEvent,
} from './onboarding.js';
import type { IdentityImage } from '../identity/image-kind.js';
import { Images } from '../identity/images.store.js';
import { DELIVERY_SECONDS, PhoneCodes, VALID_SECONDS, type CodeOrigin } from '../phone/phone-codes.store.js';
import { MESSAGES, type Locale } from '../words/messages.js';
import { PresentTerms } from './present-terms.service.js';
import { onboardingConfig, type OnboardingConfig } from '../onboarding.config.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { measureCall } from '../onboarding.metrics.js';
import { describeError, MessageUncertain, SmsSender } from '../providers/providers.ports.js';

export type Decision = (state: Onboarding, at: string) => OnboardingEvent[];

@Injectable()
export class Onboardings {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly users: UsersView,
  ) {}

  /** Returns the user. Throws `not_found`, or `invalid_transition` if deactivating or deactivated. */
  async applicant(merchantId: string, userId: string): Promise<ExistingUser> {
    const found = await this.users.get(merchantId, userId);
    if (found.account_state === 'deactivating' || found.account_state === 'deactivated')
      throw new DomainError(
        'invalid_transition',
        `The user is ${found.account_state} and cannot be onboarded`,
      );
    return found;
  }

  load(userId: string): Promise<Loaded<Onboarding>> {
    return this.loop.load(onboarding, userId);
  }

  execute(
    userId: string,
    decision: Decision,
    options: ExecuteOptions<Onboarding>,
  ): Promise<Executed<Onboarding, OnboardingEvent>> {
    const at = timestamp(this.clock);
    return this.loop.execute(onboarding, userId, (current) => decision(current, at), options);
  }
}

export type Step =
  /** A repeated `start` changes nothing. */
  | { readonly name: 'start' | 'submit_identity' | 'retry_card' }
  | {
      readonly name: 'verify_phone';
      readonly phoneNumber: string;
      readonly code: string;
      readonly browser: string;
    }
  | { readonly name: 'confirm_details'; readonly details: Details; readonly consent: Consent }
  | { readonly name: 'store_image'; readonly image: IdentityImage };

/**
 * Performs a step. Throws `not_found`, `validation_failed` (WrongCode), `rate_limited`, or `unavailable`
 * without terms. Throws `invalid_transition` for a step out of order or a user who is deactivating.
 */
export class TakeStep extends Command<Onboarding> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly step: Step,
    readonly cause: EventMetadata = {},
  ) {
    super();
  }
}

/** The error for a wrong code. `attemptsLeft` is null for a long code, which has no limit. */
export class WrongCode extends DomainError {
  constructor(readonly attemptsLeft: number | null) {
    const refusal = attemptsLeft === 0 ? 'is no longer valid: ask for a new one' : 'is wrong';
    super('validation_failed', `code ${refusal}`, { code: [refusal] });
  }
}

@CommandHandler(TakeStep)
export class TakeStepHandler implements ICommandHandler<TakeStep> {
  constructor(
    private readonly onboardings: Onboardings,
    private readonly codes: PhoneCodes,
    private readonly images: Images,
    private readonly terms: PresentTerms,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
  ) {}

  async execute({ merchantId, userId, step, cause }: TakeStep): Promise<Onboarding> {
    const applicant = await this.onboardings.applicant(merchantId, userId);
    const decision = await this.prepare(applicant, step);
    // The user may have been deactivated during a slow step.
    await this.onboardings.applicant(merchantId, userId);
    return (await this.onboardings.execute(userId, decision, { metadata: cause })).state;
  }

  private async prepare(applicant: ExistingUser, step: Step): Promise<Decision> {
    const { user_id, merchant_id, phone_number: profilePhone } = applicant;
    switch (step.name) {
      case 'start':
        return (state, at) => startOnboarding({ user_id, merchant_id, at }, state);
      case 'verify_phone': {
        const { phoneNumber, code, browser } = step;
        const verifiedPhone = isSameSubscriber(phoneNumber, profilePhone) ? profilePhone : phoneNumber;
        const tried = await this.codes.redeem(user_id, verifiedPhone, browser, code);
        if (tried !== 'right') throw new WrongCode(tried);
        return (state, at) => verifyPhone({ verifiedPhone, profilePhone, at }, state);
      }
      case 'confirm_details': {
        const { details, consent } = step;
        const minimumAge = this.config.onboardingMinimumAge;
        return (state, at) => {
          this.terms.require(consent);
          return confirmDetails({ details, consent, minimumAge, at }, state);
        };
      }
      case 'store_image': {
        const { state } = await this.onboardings.load(user_id);
        if (!reached(state, 'phone_verified'))
          throw new DomainError('invalid_transition', 'The phone number must be verified first');
        if (reached(state, 'kyc_submitted'))
          throw new DomainError('invalid_transition', 'The identity is being verified already');
        await this.images.keep(user_id, step.image);
        failpoint('onboarding.image_stored');
        return () => [];
      }
      case 'submit_identity': {
        const { state: seen } = await this.onboardings.load(user_id);
        const stored = await this.images.kinds(user_id);
        const verification_id = newId();
        return (state, at) => {
          // A concurrent verification may have deleted the images.
          const images = toVerification(state) === toVerification(seen) ? stored : [];
          return submitKyc({ verification_id, images, at }, state);
        };
      }
      case 'retry_card':
        return (state, at) => retryCard({ at }, state);
    }
  }
}

function toVerification(state: Onboarding): string | null {
  return 'verification_id' in state ? state.verification_id : null;
}

interface MessageParameters {
  readonly locale: Locale;
  readonly merchant: string;
}

/** The maximum length of the merchant's name. A longer name would require a second SMS segment. */
const MAX_NAME_LENGTH = 40;

/** Throws `not_found`, `unavailable`, `validation_failed` (`phone_unreachable`), or errors of PhoneCodes. */
export class SendPhoneCode extends Command<{ readonly long: boolean }> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly request: CodeOrigin,
    readonly parameters: MessageParameters = { locale: 'en', merchant: 'your account' },
  ) {
    super();
  }
}

@CommandHandler(SendPhoneCode)
export class SendPhoneCodeHandler implements ICommandHandler<SendPhoneCode> {
  private readonly logger = new Logger(SendPhoneCodeHandler.name);

  constructor(
    private readonly onboardings: Onboardings,
    private readonly codes: PhoneCodes,
    private readonly sms: SmsSender,
  ) {}

  async execute({ merchantId, userId, request, parameters }: SendPhoneCode): Promise<{ long: boolean }> {
    const { phone_number } = await this.onboardings.applicant(merchantId, userId);
    const { id, code, isLong } = await this.codes.issue(userId, phone_number, request);
    failpoint('onboarding.code_issued');
    const validSeconds = isLong ? DELIVERY_SECONDS : VALID_SECONDS;
    const message = { code, text: toText(code, isLong, parameters), validSeconds };
    const warn = (reason: string): void =>
      this.logger.warn({ msg: 'code not confirmed as sent', user_id: userId, reason });
    try {
      await measureCall('sms', () => this.sms.send(phone_number, message));
      failpoint('onboarding.code_sent');
    } catch (error) {
      // The message may still arrive, so its code stays valid.
      if (error instanceof MessageUncertain) warn(error.message);
      else {
        await this.codes.notSent(id, !(error instanceof ProviderUnavailable));
        if (error instanceof ProviderRefused) {
          const fields = { phone_unreachable: ['gets no messages'] };
          throw new DomainError('validation_failed', 'We cannot send a message to this number', fields);
        }
        warn(describeError(error));
        throw new DomainError('unavailable', 'The message could not be sent; try again in a moment');
      }
    }
    return { long: isLong };
  }
}

function toText(code: string, isLong: boolean, { locale, merchant }: MessageParameters): string {
  return MESSAGES[locale][isLong ? 'smsLong' : 'sms']
    .replaceAll('{code}', code)
    .replaceAll('{merchant}', () => merchant.slice(0, MAX_NAME_LENGTH));
}
