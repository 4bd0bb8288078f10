import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { UsersView } from '../../users/contract.js';
import { findApplicant } from './applicant.js';
import { PhoneCodes } from '../store/phone-codes.js';
import { WORDS } from '../words/words.js';
import { SMS_SENDER, type SmsSender } from './ports.js';

/**
 * Sends a one-time code to the number of the user's profile, and to no other: the widget's address is not secret.
 * Throws `not_found`, `invalid_transition` when one was sent a moment ago, `rate_limited`, or what the provider throws,
 * without the code.
 */
export class SendPhoneCode extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
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

  async execute({ merchantId, userId }: SendPhoneCode): Promise<void> {
    const { phoneNumber } = await findApplicant(this.users, merchantId, userId);
    const code = await this.codes.issue(userId, phoneNumber);
    try {
      const text = WORDS.en.sms.replace('{code}', code).replace('{merchant}', 'your account');
      await this.sms.send(phoneNumber, { code, text });
    } catch (error) {
      await this.codes.notSent(userId, phoneNumber, code);
      throw withoutCode(error, code);
    }
  }
}

/** Providers quote the message they refuse, and what they say is logged; a bare code is not known by its form. */
function withoutCode(error: unknown, code: string): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    each.message = each.message.replaceAll(code, '[redacted]');
    each.stack = each.stack?.replaceAll(code, '[redacted]');
  }
  return error;
}
