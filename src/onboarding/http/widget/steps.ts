import { Injectable } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { findApplicant } from '../../application/applicant.js';
import { ConfirmDetails } from '../../application/confirm-details.js';
import { PhoneCodes } from '../../application/phone-codes.js';
import { SendPhoneCode } from '../../application/send-phone-code.js';
import { StartOnboarding } from '../../application/start-onboarding.js';
import { SubmitKyc } from '../../application/submit-kyc.js';
import { VerifyPhone } from '../../application/verify-phone.js';
import type { Details, Stage } from '../../domain/onboarding.js';
import { WidgetSessions } from './sessions.js';

/** Seconds between two codes for one user: a message costs money and the widget's address is not secret. */
const CODE_EVERY_SECONDS = 30;
const MAX_NAME_LENGTH = 100;

export interface StepCall {
  readonly merchantId: string;
  readonly userId: string;
  readonly session: string;
  readonly body: Readonly<Record<string, unknown>>;
}
export interface StepAnswer {
  readonly stage?: Stage;
  readonly session?: string;
}

/** The steps of the widget, by the last part of their path. All but the first two ask for a session. */
@Injectable()
export class WidgetSteps {
  readonly byName: Readonly<Record<string, (call: StepCall) => Promise<StepAnswer>>> = {
    code: (call) => this.sendCode(call),
    phone: (call) => this.verifyPhone(call),
    details: (call) =>
      this.inSession(call, () => new ConfirmDetails(call.merchantId, call.userId, detailsOf(call.body))),
    identity: (call) => this.inSession(call, () => new SubmitKyc(call.merchantId, call.userId)),
    state: (call) => this.inSession(call, () => new StartOnboarding(call.merchantId, call.userId)),
  };

  constructor(
    private readonly commandBus: CommandBus,
    private readonly queryBus: QueryBus,
    private readonly codes: PhoneCodes,
    private readonly sessions: WidgetSessions,
  ) {}

  private async sendCode({ merchantId, userId, body }: StepCall): Promise<StepAnswer> {
    const applicant = await findApplicant(this.queryBus, merchantId, userId);
    if (textOf(body, 'phone_number') !== applicant.phoneNumber) {
      throw DomainError.invalid({ phone_number: ['is not the phone number of this account'] });
    }
    if (await this.codes.issuedWithin(userId, CODE_EVERY_SECONDS)) {
      throw new DomainError(
        'invalid_transition',
        'A code was sent a moment ago; wait before asking for another',
      );
    }
    await this.commandBus.execute(new SendPhoneCode(merchantId, userId));
    return {};
  }

  private async verifyPhone({ merchantId, userId, body }: StepCall): Promise<StepAnswer> {
    const [phone, code] = [textOf(body, 'phone_number'), textOf(body, 'code').trim()];
    const { stage } = await this.commandBus.execute(new VerifyPhone(merchantId, userId, phone, code));
    return { stage, session: this.sessions.open(userId) };
  }

  private async inSession(
    { userId, session }: StepCall,
    command: () => ConfirmDetails | SubmitKyc | StartOnboarding,
  ): Promise<StepAnswer> {
    if (!this.sessions.isOpen(userId, session)) {
      throw new DomainError('forbidden', 'Confirm your phone number first');
    }
    const { stage } = await this.commandBus.execute(command());
    return { stage };
  }
}

function detailsOf(body: StepCall['body']): Details {
  const name = (field: string): string => {
    const text = textOf(body, field).trim();
    if (text === '' || text.length > MAX_NAME_LENGTH)
      throw DomainError.invalid({ [field]: ['must not be blank or too long'] });
    return text;
  };
  const dateOfBirth = textOf(body, 'date_of_birth');
  if (!/^(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}$/.test(dateOfBirth) || Number.isNaN(Date.parse(dateOfBirth))) {
    throw DomainError.invalid({ date_of_birth: ['must be a date'] });
  }
  return { firstName: name('first_name'), lastName: name('last_name'), dateOfBirth };
}

function textOf(body: StepCall['body'], field: string): string {
  const value = body[field];
  if (typeof value !== 'string') throw DomainError.invalid({ [field]: ['must be a string'] });
  return value;
}
