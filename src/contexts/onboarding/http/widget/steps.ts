import { Inject, Injectable, Optional } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import type { EventMetadata } from '../../../../platform/event-store/port.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import type { KnownMerchant } from '../../../../platform/http/merchant-directory.js';
import { clientOf } from '../../../../platform/http/address.js';
import { toProblem } from '../../../../platform/http/error-mapping.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { findApplicant } from '../../application/applicant.js';
import { ConfirmDetails } from '../../application/confirm-details.js';
import { PresentTerms } from '../../application/present-terms.js';
import { SMS_INBOX, type SmsInbox } from '../../application/ports.js';
import { RetryCard } from '../../application/retry-card.js';
import { SendPhoneCode } from '../../application/send-phone-code.js';
import { StartOnboarding } from '../../application/start-onboarding.js';
import { StoreImage } from '../../application/store-image.js';
import { SubmitKyc } from '../../application/submit-kyc.js';
import { VerifyPhone, WrongCode } from '../../application/verify-phone.js';
import type { IdentityImage } from '../../domain/identity-image.js';
import type { Onboarding } from '../../domain/onboarding.js';
import { UsersView } from '../../../users/contract.js';
import { Images } from '../../store/images.js';
import { reasonIn } from '../../words/reasons.js';
import type { Locale } from '../../words/words.js';
import type { SentCode, StepState } from './page-types.js';
import type { Person } from './person.js';
import { WidgetSessions } from './sessions.js';
import { browserOf, consentOf, detailsOf, phoneOf, textOf } from './step-bodies.js';

export interface StepCall {
  readonly merchant: KnownMerchant;
  readonly userId: string;
  readonly session: string;
  readonly address: string;
  readonly locale: Locale;
  /** What the events of the step say of their cause. */
  readonly cause: EventMetadata;
  readonly body: Readonly<Record<string, unknown>>;
}
/** `code`: the one that the sandbox's phone got last. */
type StepResponse = StepState | SentCode | { readonly code: string | null };

/** The steps of the widget, by their path. Those after the phone ask for a session. */
@Injectable()
export class WidgetSteps {
  readonly byName: Readonly<Record<string, (call: StepCall) => Promise<StepResponse>>> = {
    code: (call) => this.sendCode(call),
    phone: (call) => this.verifyPhone(call),
    details: (call) => this.confirmDetails(call),
    identity: (call) =>
      this.inSession(call, (merchantId, userId) => new SubmitKyc(merchantId, userId, call.cause)),
    'card/retry': (call) => this.retryCard(call),
    state: (call) =>
      this.inSession(call, (merchantId, userId) => new StartOnboarding(merchantId, userId, call.cause)),
    inbox: (call) => this.readInbox(call),
  };

  constructor(
    private readonly commandBus: CommandBus,
    private readonly users: UsersView,
    private readonly sessions: WidgetSessions,
    private readonly images: Images,
    private readonly terms: PresentTerms,
    @Inject(CLOCK) private readonly clock: Clock,
    @Optional() @Inject(SMS_INBOX) private readonly inbox: SmsInbox | null = null,
  ) {}

  private async sendCode(call: StepCall): Promise<SentCode> {
    const { merchant, userId, address, locale, body, cause } = call;
    const { merchantId } = merchant;
    // Where nobody can agree to anything, nobody gets a message either.
    this.terms.present();
    const applicant = await findApplicant(this.users, merchantId, userId);
    if (phoneOf(body) !== applicant.phoneNumber) {
      throw DomainError.invalid({ phone_number: ['is not the phone number of this account'] });
    }
    const request = { browser: browserOf(body), address: clientOf(address) };
    // The first act of a person: whoever only looks at the page starts nothing (contract.md 18.3).
    await this.commandBus.execute(new StartOnboarding(merchantId, userId, cause));
    const words = { locale, merchant: merchant.shownAs };
    const send = new SendPhoneCode(merchantId, userId, request, words);
    return { long: (await this.commandBus.execute(send)).isLong };
  }

  private async verifyPhone({ merchant, userId, locale, body, cause }: StepCall): Promise<StepResponse> {
    const [code, browser] = [textOf(body, 'code'), browserOf(body)];
    const verify = new VerifyPhone(merchant.merchantId, userId, phoneOf(body), code, browser, cause);
    try {
      const state = await this.commandBus.execute(verify);
      return { ...(await this.stateOf(state, locale)), session: this.sessions.open(userId) };
    } catch (error) {
      if (!(error instanceof WrongCode)) throw error;
      const { attemptsLeft } = error;
      throw new Refusal({
        ...toProblem(error),
        ...(attemptsLeft !== null && { members: { attempts_left: attemptsLeft } }),
      });
    }
  }

  private confirmDetails(call: StepCall): Promise<StepResponse> {
    return this.inSession(call, (merchantId, userId) => {
      const details = detailsOf(call.body, timestamp(this.clock).slice(0, 10));
      return new ConfirmDetails(merchantId, userId, details, consentOf(call.body), call.cause);
    });
  }

  private async retryCard(call: StepCall): Promise<StepResponse> {
    // Operators ask by the user alone; here the merchant has to be the user's.
    await findApplicant(this.users, call.merchant.merchantId, call.userId);
    return this.inSession(call, (_, userId) => new RetryCard(userId, call.cause));
  }

  /** Of a person whose session was seen. */
  async storeImage(
    { merchantId, userId }: Person,
    image: IdentityImage,
    locale: Locale,
    cause: EventMetadata,
  ): Promise<StepState> {
    await this.commandBus.execute(new StoreImage(merchantId, userId, image));
    const state = await this.commandBus.execute(new StartOnboarding(merchantId, userId, cause));
    return this.stateOf(state, locale);
  }

  private async inSession(
    { merchant, userId, session, locale }: StepCall,
    command: (merchantId: string, userId: string) => ConfirmDetails | SubmitKyc | StartOnboarding | RetryCard,
  ): Promise<StepResponse> {
    this.sessions.require(userId, session);
    return this.stateOf(await this.commandBus.execute(command(merchant.merchantId, userId)), locale);
  }

  private async readInbox({ merchant, userId }: StepCall): Promise<StepResponse> {
    if (this.inbox === null) throw DomainError.notFound('Page');
    const { phoneNumber } = await findApplicant(this.users, merchant.merchantId, userId);
    return { code: this.inbox.lastCode(phoneNumber) };
  }

  /** All that the page needs after a reload, in the person's language. */
  private async stateOf(state: Onboarding, locale: Locale): Promise<StepState> {
    const { stage } = state;
    if (stage === 'kyc_submitted') return { stage, submitted_at: state.submittedAt };
    if (stage === 'kyc_failed' || stage === 'card_failed')
      return { stage, reason: reasonIn(locale, stage, state.reason) };
    if (stage !== 'details_confirmed') return { stage };
    return { stage, images: await this.images.kinds(state.userId) };
  }
}
