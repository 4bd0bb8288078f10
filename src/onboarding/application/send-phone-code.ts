import { Inject } from '@nestjs/common';
import { Command, CommandHandler, QueryBus, type ICommandHandler } from '@nestjs/cqrs';
import { findApplicant } from './applicant.js';
import { PhoneCodes } from './phone-codes.js';
import { SMS_SENDER, type SmsSender } from './ports.js';

/**
 * Sends a one-time code to the number of the user's profile, and to no other: the widget's address is not secret.
 * Throws `not_found`, `invalid_transition`, or what the provider throws.
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
    private readonly queryBus: QueryBus,
    private readonly codes: PhoneCodes,
    @Inject(SMS_SENDER) private readonly sms: SmsSender,
  ) {}

  async execute({ merchantId, userId }: SendPhoneCode): Promise<void> {
    const { phoneNumber } = await findApplicant(this.queryBus, merchantId, userId);
    await this.sms.send(phoneNumber, await this.codes.issue(userId, phoneNumber));
  }
}
