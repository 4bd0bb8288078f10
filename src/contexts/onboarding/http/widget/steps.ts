import { Inject, Injectable, Optional } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import type { EventMetadata } from '../../../../platform/event-store/port.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { findApplicant } from '../../application/applicant.js';
import { ConfirmDetails } from '../../application/confirm-details.js';
import { SMS_INBOX, type SmsInbox } from '../../application/ports.js';
import { RetryCard } from '../../application/retry-card.js';
import { SendPhoneCode } from '../../application/send-phone-code.js';
import { StartOnboarding } from '../../application/start-onboarding.js';
import { SubmitKyc } from '../../application/submit-kyc.js';
import { VerifyPhone } from '../../application/verify-phone.js';
import type { Consent, Details, Onboarding, Stage } from '../../domain/onboarding.js';
import { UsersView } from '../../../users/contract.js';
import { WidgetSessions } from './sessions.js';

const MAX_NAME_LENGTH = 100;
/** What people put between the digits of a phone number. */
const PHONE_SEPARATORS = /[\s().-]/g;

export interface StepCall {
  readonly merchantId: string;
  readonly userId: string;
  readonly session: string;
  /** What the events of the step say of their cause. */
  readonly cause: EventMetadata;
  readonly body: Readonly<Record<string, unknown>>;
}
export interface StepResponse {
  readonly stage?: Stage;
  readonly session?: string;
  /** Why the identity was not verified, when it was not. */
  readonly reason?: string;
  /** The code that the sandbox's phone got last. */
  readonly code?: string | null;
}

/** The steps of the widget, by the last part of their path. Those after the phone ask for a session. */
@Injectable()
export class WidgetSteps {
  readonly byName: Readonly<Record<string, (call: StepCall) => Promise<StepResponse>>> = {
    code: (call) => this.sendCode(call),
    phone: (call) => this.verifyPhone(call),
    details: (call) =>
      this.inSession(
        call,
        () =>
          new ConfirmDetails(
            call.merchantId,
            call.userId,
            detailsOf(call.body, this.today()),
            consentOf(call.body),
            call.cause,
          ),
      ),
    identity: (call) => this.inSession(call, () => new SubmitKyc(call.merchantId, call.userId, call.cause)),
    'card/retry': (call) => this.inSession(call, () => new RetryCard(call.userId, call.cause)),
    state: (call) =>
      this.inSession(call, () => new StartOnboarding(call.merchantId, call.userId, call.cause)),
    inbox: (call) => this.readInbox(call),
  };

  constructor(
    private readonly commandBus: CommandBus,
    private readonly users: UsersView,
    private readonly sessions: WidgetSessions,
    @Inject(CLOCK) private readonly clock: Clock,
    @Optional() @Inject(SMS_INBOX) private readonly inbox: SmsInbox | null = null,
  ) {}

  /** Whether codes go to the sandbox's phone, which whoever tries the widget may look at. */
  get sandbox(): boolean {
    return this.inbox !== null;
  }

  /** The day it is, `YYYY-MM-DD` in UTC. */
  today(): string {
    return timestamp(this.clock).slice(0, 10);
  }

  private async sendCode({ merchantId, userId, body, cause }: StepCall): Promise<StepResponse> {
    const applicant = await findApplicant(this.users, merchantId, userId);
    if (phoneOf(body) !== applicant.phoneNumber) {
      throw DomainError.invalid({ phone_number: ['is not the phone number of this account'] });
    }
    // The first act of a person: whoever only looks at the page starts nothing (contract.md 18.3).
    await this.commandBus.execute(new StartOnboarding(merchantId, userId, cause));
    await this.commandBus.execute(new SendPhoneCode(merchantId, userId));
    return {};
  }

  private async verifyPhone({ merchantId, userId, body, cause }: StepCall): Promise<StepResponse> {
    const code = textOf(body, 'code').trim();
    const state = await this.commandBus.execute(
      new VerifyPhone(merchantId, userId, phoneOf(body), code, cause),
    );
    return { ...responseOf(state), session: this.sessions.open(userId) };
  }

  private async inSession(
    { userId, session }: StepCall,
    command: () => ConfirmDetails | SubmitKyc | StartOnboarding | RetryCard,
  ): Promise<StepResponse> {
    if (!this.sessions.isOpen(userId, session)) {
      throw new DomainError('forbidden', 'Confirm your phone number first', { session: ['has ended'] });
    }
    return responseOf(await this.commandBus.execute(command()));
  }

  private async readInbox({ merchantId, userId }: StepCall): Promise<StepResponse> {
    if (this.inbox === null) throw DomainError.notFound('Page');
    const { phoneNumber } = await findApplicant(this.users, merchantId, userId);
    return { code: this.inbox.lastCode(phoneNumber) };
  }
}

function responseOf(state: Onboarding): StepResponse {
  return 'reason' in state ? { stage: state.stage, reason: state.reason } : { stage: state.stage };
}

function phoneOf(body: StepCall['body']): string {
  return textOf(body, 'phone_number').replace(PHONE_SEPARATORS, '');
}

function consentOf(body: StepCall['body']): Consent {
  return { termsVersion: textOf(body, 'terms_version'), privacyVersion: textOf(body, 'privacy_version') };
}

function detailsOf(body: StepCall['body'], today: string): Details {
  const name = (field: string): string => {
    const text = textOf(body, field).trim();
    if (text === '' || text.length > MAX_NAME_LENGTH)
      throw DomainError.invalid({ [field]: ['must not be blank or too long'] });
    return text;
  };
  const dateOfBirth = textOf(body, 'date_of_birth');
  if (!isPastDay(dateOfBirth, today)) {
    throw DomainError.invalid({ date_of_birth: ['must be a day in the past'] });
  }
  return { firstName: name('first_name'), lastName: name('last_name'), dateOfBirth };
}

/** Whether that is a day of the calendar since 1900, `YYYY-MM-DD`. */
function isPastDay(text: string, today: string): boolean {
  if (!/^(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}$/.test(text)) return false;
  // Date takes the 30th of February for the 2nd of March.
  const day = new Date(text);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text) && text < today;
}

function textOf(body: StepCall['body'], field: string): string {
  const value = body[field];
  if (typeof value !== 'string') throw DomainError.invalid({ [field]: ['must be a string'] });
  return value;
}
