import { Inject, Logger } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { failpoint } from '../../../platform/failpoints.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  DELIVERY_SECONDS,
  PhoneCodes,
  VALID_SECONDS,
  type CodeOrigin,
  type PhoneCode,
} from '../store/phone-codes.js';
import { MESSAGES, type Locale } from '../words/messages.js';
import { verifyPhone } from '../domain/decisions.js';
import type { Onboarding } from '../domain/onboarding.js';
import { isSameSubscriber } from '../../users/contract.js';
import { Onboardings, PersonCommand } from './person-commands.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { MessageUncertain, SMS_SENDER, type SmsSender } from './ports.js';
import { measureCall, describeError } from './provider-call.js';

interface MessageParameters {
  readonly locale: Locale;
  readonly merchant: string;
}

/** A longer name would need a second message. */
const MAX_NAME_LENGTH = 40;

/**
 * Sends a one-time code to the number of the user's profile. Throws `not_found`, errors of {@link PhoneCodes.issue},
 * `validation_failed` with `phone_unreachable` for a number that gets no messages, `unavailable`, or other errors without
 * the code in them.
 */
export class SendPhoneCode extends PersonCommand<Pick<PhoneCode, 'isLong'>> {
  constructor(
    merchantId: string,
    userId: string,
    readonly request: CodeOrigin,
    readonly parameters: MessageParameters = { locale: 'en', merchant: 'your account' },
  ) {
    super(merchantId, userId);
  }
}

@CommandHandler(SendPhoneCode)
export class SendPhoneCodeHandler implements ICommandHandler<SendPhoneCode> {
  private readonly logger = new Logger(SendPhoneCodeHandler.name);

  constructor(
    private readonly onboardings: Onboardings,
    private readonly codes: PhoneCodes,
    @Inject(SMS_SENDER) private readonly sms: SmsSender,
  ) {}

  async execute(command: SendPhoneCode): Promise<Pick<PhoneCode, 'isLong'>> {
    const { merchantId, userId, request, parameters } = command;
    const { phone_number } = await this.onboardings.applicant(merchantId, userId);
    const { id, code, isLong } = await this.codes.issue(userId, phone_number, request);
    failpoint('onboarding.code_issued');
    const validSeconds = isLong ? DELIVERY_SECONDS : VALID_SECONDS;
    const message = { code, text: toText(code, isLong, parameters), validSeconds };
    try {
      await measureCall('sms', () => this.sms.send(phone_number, message));
      failpoint('onboarding.code_sent');
    } catch (error) {
      // The message may still arrive, so its code stays valid.
      if (error instanceof MessageUncertain) {
        this.warn(userId, error.message);
        return { isLong };
      }
      await this.codes.notSent(id, !(error instanceof ProviderUnavailable));
      if (error instanceof ProviderRefused) throw unreachable();
      if (!(error instanceof ProviderUnavailable)) throw withoutCode(error, code);
      this.warn(userId, describeError(error));
      throw new DomainError('unavailable', 'The message could not be sent; try again in a moment');
    }
    return { isLong };
  }

  private warn(userId: string, reason: string): void {
    this.logger.warn({ msg: 'code not confirmed as sent', user_id: userId, reason });
  }
}

function unreachable(): DomainError {
  const sentence = 'We cannot send a message to this number';
  return new DomainError('validation_failed', sentence, { phone_unreachable: ['gets no messages'] });
}

function toText(code: string, isLong: boolean, { locale, merchant }: MessageParameters): string {
  const values: Readonly<Record<string, string>> = { code, merchant: merchant.slice(0, MAX_NAME_LENGTH) };
  return MESSAGES[locale][isLong ? 'smsLong' : 'sms'].replaceAll(
    /\{(code|merchant)\}/g,
    (_, name: string) => values[name]!,
  );
}

/** Errors of providers quote the message and are logged; a bare code cannot be redacted by its form. */
function withoutCode(error: unknown, code: string): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    each.message = each.message.replaceAll(code, '[redacted]');
    each.stack = each.stack?.replaceAll(code, '[redacted]');
  }
  return error;
}

/**
 * Throws `not_found`, `invalid_transition`, {@link WrongCode} when the code is wrong, expired, used, tried too often or of
 * another browser, or `validation_failed` when `phoneNumber` is not that of the profile (contract.md 18.4).
 */
export class VerifyPhone extends PersonCommand {
  constructor(
    merchantId: string,
    userId: string,
    readonly phoneNumber: string,
    readonly code: string,
    readonly browser: string,
    cause?: EventMetadata,
  ) {
    super(merchantId, userId, cause);
  }
}

/** `attemptsLeft`: of a short code; null for a long one, which has no limit. */
export class WrongCode extends DomainError {
  constructor(readonly attemptsLeft: number | null) {
    const refusal = attemptsLeft === 0 ? 'is no longer valid: ask for a new one' : 'is wrong';
    super('validation_failed', `code ${refusal}`, { code: [refusal] });
  }
}

@CommandHandler(VerifyPhone)
export class VerifyPhoneHandler implements ICommandHandler<VerifyPhone> {
  constructor(
    private readonly onboardings: Onboardings,
    private readonly codes: PhoneCodes,
  ) {}

  async execute(command: VerifyPhone): Promise<Onboarding> {
    const { merchantId, userId, phoneNumber, code, browser } = command;
    const { phone_number: profilePhone } = await this.onboardings.applicant(merchantId, userId);
    const verifiedPhone = isSameSubscriber(phoneNumber, profilePhone) ? profilePhone : phoneNumber;
    const tried = await this.codes.redeem(userId, verifiedPhone, browser, code);
    if (tried !== 'right') throw new WrongCode(tried);
    return this.onboardings.decide(command, (state, at) =>
      verifyPhone({ verifiedPhone, profilePhone, at }, state),
    );
  }
}
