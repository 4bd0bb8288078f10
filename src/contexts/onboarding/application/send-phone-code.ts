import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { UsersView } from '../../users/contract.js';
import { findApplicant } from './applicant.js';
import { PhoneCodes } from '../store/phone-codes.js';
import { WORDS, type Locale } from '../words/words.js';
import { SMS_SENDER, type SmsSender } from './ports.js';
import { calling } from './provider-call.js';

/** What the message with the code says besides: in which language, and for whom. */
export interface MessageWords {
  readonly locale: Locale;
  readonly merchant: string;
}

/** Longer names would make two messages of one. */
const MOST_OF_NAME = 40;

/**
 * Sends a one-time code to the number of the user's profile, and to no other: the widget's address is not secret.
 * Throws `not_found`, `invalid_transition` when one was sent a moment ago, `rate_limited`, or what the provider throws,
 * without the code.
 */
export class SendPhoneCode extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly words: MessageWords = { locale: 'en', merchant: 'your account' },
  ) {
    super();
  }
}

@CommandHandler(SendPhoneCode)
export class SendPhoneCodeHandler implements ICommandHandler<SendPhoneCode> {
  constructor(
    private readonly users: UsersView,
    private readonly codes: PhoneCodes,
    @Inject(SMS_SENDER) private readonly sms: SmsSender,
  ) {}

  async execute({ merchantId, userId, words }: SendPhoneCode): Promise<void> {
    const { phoneNumber } = await findApplicant(this.users, merchantId, userId);
    const code = await this.codes.issue(userId, phoneNumber);
    try {
      await calling('sms', () => this.sms.send(phoneNumber, { code, text: textOf(code, words) }));
    } catch (error) {
      await this.codes.notSent(userId, phoneNumber, code);
      throw withoutCode(error, code);
    }
  }
}

function textOf(code: string, { locale, merchant }: MessageWords): string {
  const put: Readonly<Record<string, string>> = { code, merchant: merchant.slice(0, MOST_OF_NAME) };
  return WORDS[locale].sms.replaceAll(/\{(code|merchant)\}/g, (_, name: string) => put[name]!);
}

/** Providers quote the message they refuse, and what they say is logged; a bare code is not known by its form. */
function withoutCode(error: unknown, code: string): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    each.message = each.message.replaceAll(code, '[redacted]');
    each.stack = each.stack?.replaceAll(code, '[redacted]');
  }
  return error;
}
