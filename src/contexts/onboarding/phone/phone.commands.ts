import { Logger } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { failpoint } from '../../../platform/failpoints.js';
import {
  DELIVERY_SECONDS,
  PhoneCodes,
  VALID_SECONDS,
  type CodeOrigin,
  type PhoneCode,
} from './phone-codes.store.js';
import { MESSAGES, type Locale } from '../words/messages.js';
import { Onboardings } from '../onboardings/onboardings.commands.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { MessageUncertain, SmsSender } from '../providers/providers.ports.js';
import { measureCall, describeError } from '../providers/provider-call.service.js';

interface MessageParameters {
  readonly locale: Locale;
  readonly merchant: string;
}

/** A longer name would require a second SMS segment. */
const MAX_NAME_LENGTH = 40;

/**
 * Sends a one-time code to the user's phone number. Throws `not_found`, errors of {@link PhoneCodes.issue},
 * `validation_failed` with `phone_unreachable`, `unavailable`, or other errors with the code redacted.
 */
export class SendPhoneCode extends Command<Pick<PhoneCode, 'isLong'>> {
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

  async execute(command: SendPhoneCode): Promise<Pick<PhoneCode, 'isLong'>> {
    const { merchantId, userId, request, parameters } = command;
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
      // The message may still arrive: its code stays valid.
      if (error instanceof MessageUncertain) warn(error.message);
      else {
        await this.codes.notSent(id, !(error instanceof ProviderUnavailable));
        if (error instanceof ProviderRefused) {
          const fields = { phone_unreachable: ['gets no messages'] };
          throw new DomainError('validation_failed', 'We cannot send a message to this number', fields);
        }
        if (!(error instanceof ProviderUnavailable)) throw withoutCode(error, code);
        warn(describeError(error));
        throw new DomainError('unavailable', 'The message could not be sent; try again in a moment');
      }
    }
    return { isLong };
  }
}

function toText(code: string, isLong: boolean, { locale, merchant }: MessageParameters): string {
  return MESSAGES[locale][isLong ? 'smsLong' : 'sms']
    .replaceAll('{code}', code)
    .replaceAll('{merchant}', () => merchant.slice(0, MAX_NAME_LENGTH));
}

/** Redacts the code: provider errors quote the message and are logged. */
function withoutCode(error: unknown, code: string): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    each.message = each.message.replaceAll(code, '[redacted]');
    each.stack = each.stack?.replaceAll(code, '[redacted]');
  }
  return error;
}
