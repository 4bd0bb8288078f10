import { Inject, Logger } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { failpoint } from '../../../platform/failpoints.js';
import { CommandHandler } from '../../../platform/commands.js';
import { UsersView } from '../../users/contract.js';
import { findApplicant } from './applicant.js';
import { DELIVERY_SECONDS, PhoneCodes, VALID_SECONDS, type CodeRequest } from '../store/phone-codes.js';
import { WORDS, type Locale } from '../words/words.js';
import {
  MessageUncertain,
  ProviderRefusal,
  ProviderUnavailable,
  SMS_SENDER,
  type SmsSender,
} from './ports.js';
import { calling, plainWords } from './provider-call.js';

/** What the message with the code says besides: in which language, and for whom. */
export interface MessageWords {
  readonly locale: Locale;
  readonly merchant: string;
}

/** Longer names would make two messages of one. */
const MOST_OF_NAME = 40;

/**
 * Sends a one-time code to the number of the user's profile, and to no other: the widget's address is not secret. Returns
 * whether it is a long one. Throws `not_found`, what {@link PhoneCodes.issue} throws, `validation_failed` with
 * `phone_unreachable` for a number that gets no messages, `unavailable`, or whatever else goes wrong, without the code.
 */
export class SendPhoneCode extends Command<{ readonly isLong: boolean }> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly request: CodeRequest,
    readonly words: MessageWords = { locale: 'en', merchant: 'your account' },
  ) {
    super();
  }
}

@CommandHandler(SendPhoneCode)
export class SendPhoneCodeHandler implements ICommandHandler<SendPhoneCode> {
  private readonly logger = new Logger(SendPhoneCodeHandler.name);

  constructor(
    private readonly users: UsersView,
    private readonly codes: PhoneCodes,
    @Inject(SMS_SENDER) private readonly sms: SmsSender,
  ) {}

  async execute({
    merchantId,
    userId,
    request,
    words,
  }: SendPhoneCode): Promise<{ readonly isLong: boolean }> {
    const { phoneNumber } = await findApplicant(this.users, merchantId, userId);
    const { id, code, isLong } = await this.codes.issue(userId, phoneNumber, request);
    failpoint('onboarding.code_issued');
    try {
      const message = {
        ...{ code, text: textOf(code, isLong, words) },
        validSeconds: isLong ? DELIVERY_SECONDS : VALID_SECONDS,
      };
      await calling('sms', () => this.sms.send(phoneNumber, message));
      failpoint('onboarding.code_sent');
    } catch (error) {
      // It may still come: the code is good, and another one would make it worthless.
      if (error instanceof MessageUncertain) {
        this.warn(userId, error.message);
        return { isLong };
      }
      await this.codes.notSent(id, !(error instanceof ProviderUnavailable));
      if (error instanceof ProviderRefusal) throw unreachable();
      if (!(error instanceof ProviderUnavailable)) throw withoutCode(error, code);
      this.warn(userId, plainWords(error));
      throw new DomainError('unavailable', 'The message could not be sent; try again in a moment');
    }
    return { isLong };
  }

  private warn(userId: string, reason: string): void {
    this.logger.warn({ msg: 'a code may not have been sent', userId, reason });
  }
}

function unreachable(): DomainError {
  const sentence = 'We cannot send a message to this number';
  return new DomainError('validation_failed', sentence, { phone_unreachable: ['gets no messages'] });
}

function textOf(code: string, isLong: boolean, { locale, merchant }: MessageWords): string {
  const put: Readonly<Record<string, string>> = { code, merchant: merchant.slice(0, MOST_OF_NAME) };
  return WORDS[locale][isLong ? 'smsLong' : 'sms'].replaceAll(
    /\{(code|merchant)\}/g,
    (_, name: string) => put[name]!,
  );
}

/** Providers quote the message they refuse, and what they say is logged; a bare code is not known by its form. */
function withoutCode(error: unknown, code: string): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    each.message = each.message.replaceAll(code, '[redacted]');
    each.stack = each.stack?.replaceAll(code, '[redacted]');
  }
  return error;
}
