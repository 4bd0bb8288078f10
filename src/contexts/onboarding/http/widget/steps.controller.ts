import {
  Body,
  Inject,
  Injectable,
  Optional,
  Param,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Fault } from '../../../../kernel/fault.js';
import { ValidBody } from '../../../../platform/http/decorators.js';
import { PageCall, PageController, Visit } from '../../../../platform/http/pages/page.js';
import { toClient, LocalRateLimiter, refuseUntil } from '../../../../platform/http/rate-limit.guard.js';
import { BytesBelow } from '../../../../platform/http/request-body.js';
import { Refusal, toProblem } from '../../../../platform/http/problem.js';
import {
  ConfirmDetails,
  Onboardings,
  RetryCard,
  StartOnboarding,
  StoreImage,
  SubmitKyc,
} from '../../application/person-commands.js';
import { PresentTerms } from '../../application/present-terms.js';
import { SMS_INBOX, type SmsInbox } from '../../application/ports.js';
import { SendPhoneCode, VerifyPhone, WrongCode } from '../../application/phone-verification.js';
import { IMAGE_KINDS, type IdentityImage, type ImageKind } from '../../domain/image-kind.js';
import type { Onboarding } from '../../domain/onboarding.js';
import { isSameSubscriber, type ExistingUser, parsePhoneNumber } from '../../../users/contract.js';
import { Images } from '../../store/images.js';
import { reasonIn, type Locale } from '../../words/messages.js';
import { NO_IMAGE, readImage } from './image-content.js';
import {
  ONBOARDING_PAGE,
  OnboardingSessions,
  SessionGuard,
  VisitorGuard,
  type OnboardingVisitor,
} from './onboarding-page.js';
import type { SentCode, StepState, StepBodies } from './onboarding-types.js';
import { getRequest } from '../../../../platform/http/request-state.js';
import { asciiDigits, tidy } from '../../../../kernel/typed-text.js';
import { Field } from '../../../../platform/dto/field.js';
import { text } from '../../../../platform/dto/rules.js';

const MAX_NAME_LENGTH = 100;
/** A name without a letter would fail a check that costs money. */
const READABLE = /\p{L}/u;
/** Control characters, lone surrogates and bidirectional controls. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** A value of at least 128 bits, so that no two pages share one by chance. */
const nonce = text({}, (given) =>
  /^[0-9a-f]{32,64}$/.test(given) ? given : new Fault('must be 32 to 64 hex digits'),
);

const name = text({}, (given) => {
  const trimmed = given.trim();
  if (trimmed.length > MAX_NAME_LENGTH || !READABLE.test(trimmed))
    return new Fault('must not be blank or too long');
  return UNPRINTABLE.test(trimmed) ? new Fault('must not hold control characters') : trimmed;
});

/** A day of the calendar since 1900; the minimum age excludes those in the future. */
const dayOfBirth = text({}, (sent) => {
  const given = asciiDigits(tidy(sent));
  const day = new Date(/^(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}$/.test(given) ? given : NaN);
  // Date reads the 30th of February as the 2nd of March.
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(given);
  return exists ? given : new Fault('must be a day in the past');
});

/** A text that can be no number is not the number of the account. */
const phoneNumber = text({}, (given) => {
  const number = parsePhoneNumber(given);
  return number instanceof Fault ? given : number;
});

export class CodeRequest implements Required<StepBodies['code']> {
  @Field(phoneNumber) phone_number!: string;
  @Field(nonce) browser!: string;
}

class CodeEntry extends CodeRequest implements Required<StepBodies['phone']> {
  @Field(text()) code!: string;
}

export class DetailsEntry implements Required<StepBodies['details']> {
  @Field(name) first_name!: string;
  @Field(name, { nullable: true }) last_name!: string | null;
  @Field(dayOfBirth) date_of_birth!: string;
  @Field(text()) terms_version!: string;
  @Field(text()) privacy_version!: string;
}

/** 413 for images of so many bytes. */
const IMAGE_LIMIT = 8 * 1_048_576;

/** The uploads a minute of one user in a process. */
const IMAGES_PER_MINUTE = 20;

type StepVisit = Visit<OnboardingVisitor>;

/** Refuses unknown kinds of images, and too many of them, before a byte of the image is read. After {@link SessionGuard}. */
@Injectable()
class UploadGuard implements CanActivate {
  /** The limiter by user, across addresses. */
  private readonly uploads = new LocalRateLimiter(IMAGES_PER_MINUTE);

  canActivate(context: ExecutionContext): boolean {
    const { params, edge } = getRequest(context);
    kindOf((params as { readonly kind: string }).kind);
    refuseUntil(this.uploads.take((edge.visitor as OnboardingVisitor).userId));
    return true;
  }
}

/** The steps of the widget. Those after the phone need a session. */
@PageController(ONBOARDING_PAGE, 'onboarding/:merchantId/:userId')
@UseGuards(VisitorGuard)
export class StepsController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly onboardings: Onboardings,
    private readonly sessions: OnboardingSessions,
    private readonly images: Images,
    private readonly terms: PresentTerms,
    @Optional() @Inject(SMS_INBOX) private readonly inbox: SmsInbox | null = null,
  ) {}

  @PageCall('code')
  async sendCode(@Visit() visit: StepVisit, @ValidBody() body: CodeRequest): Promise<SentCode> {
    const { merchant, userId, ip, locale, cause } = visit;
    // This throws without terms, so that no message is sent.
    this.terms.present();
    const applicant = await this.findApplicant(visit);
    if (!isSameSubscriber(body.phone_number, applicant.phone_number))
      throw DomainError.invalid({ phone_number: ['is not the phone number of this account'] });
    // The first step of a person: opening the page starts nothing (contract.md 18.3).
    await this.commandBus.execute(new StartOnboarding(merchant.merchantId, userId, cause));
    const request = { browser: body.browser, address: toClient(ip) };
    const parameters = { locale, merchant: merchant.displayName };
    const send = new SendPhoneCode(merchant.merchantId, userId, request, parameters);
    return { long: (await this.commandBus.execute(send)).isLong };
  }

  @PageCall('phone')
  async verifyPhone(@Visit() visit: StepVisit, @ValidBody() body: CodeEntry): Promise<StepState> {
    const { merchant, userId, locale, cause } = visit;
    const entry = [body.phone_number, body.code, body.browser] as const;
    const verify = new VerifyPhone(merchant.merchantId, userId, ...entry, cause);
    try {
      const state = await this.commandBus.execute(verify);
      return { ...(await this.toState(state, locale)), session: this.sessions.open(userId) };
    } catch (error) {
      if (!(error instanceof WrongCode) || error.attemptsLeft === null) throw error;
      throw new Refusal({ ...toProblem(error), members: { attempts_left: error.attemptsLeft } });
    }
  }

  @PageCall('details')
  @UseGuards(SessionGuard)
  async confirmDetails(@Visit() visit: StepVisit, @ValidBody() body: DetailsEntry): Promise<StepState> {
    const { merchant, userId, cause, locale } = visit;
    const confirm = new ConfirmDetails(merchant.merchantId, userId, body, body, cause);
    return this.toState(await this.commandBus.execute(confirm), locale);
  }

  @PageCall('images/:kind')
  @BytesBelow(IMAGE_LIMIT)
  @UseGuards(SessionGuard, UploadGuard)
  async storeImage(
    @Visit() visit: StepVisit,
    @Param('kind') kind: string,
    @Body() body: Buffer,
  ): Promise<StepState> {
    const { merchant, userId } = visit;
    await this.commandBus.execute(new StoreImage(merchant.merchantId, userId, toIdentityImage(kind, body)));
    return this.state(visit);
  }

  @PageCall('identity')
  @UseGuards(SessionGuard)
  submitIdentity(@Visit() visit: StepVisit): Promise<StepState> {
    return this.step(SubmitKyc, visit);
  }

  @PageCall('card/retry')
  @UseGuards(SessionGuard)
  retryCard(@Visit() visit: StepVisit): Promise<StepState> {
    return this.step(RetryCard, visit);
  }

  @PageCall('state')
  @UseGuards(SessionGuard)
  state(@Visit() visit: StepVisit): Promise<StepState> {
    return this.step(StartOnboarding, visit);
  }

  @PageCall('inbox')
  async readInbox(@Visit() visit: StepVisit): Promise<{ readonly code: string | null }> {
    if (this.inbox === null) throw DomainError.notFound('Page');
    return { code: this.inbox.lastCode((await this.findApplicant(visit)).phone_number) };
  }

  private findApplicant({ merchant, userId }: OnboardingVisitor): Promise<ExistingUser> {
    return this.onboardings.applicant(merchant.merchantId, userId);
  }

  private async step(
    Step: typeof StartOnboarding | typeof SubmitKyc | typeof RetryCard,
    { merchant, userId, cause, locale }: StepVisit,
  ): Promise<StepState> {
    return this.toState(await this.commandBus.execute(new Step(merchant.merchantId, userId, cause)), locale);
  }

  private async toState(state: Onboarding, locale: Locale): Promise<StepState> {
    const { stage } = state;
    if (stage === 'kyc_submitted') return { stage, submitted_at: state.submitted_at };
    if (stage === 'kyc_failed' || stage === 'card_failed')
      return { stage, reason: reasonIn(locale, stage, state.reason) };
    if (stage !== 'details_confirmed') return { stage };
    return { stage, images: await this.images.kinds(state.user_id) };
  }
}

/** Throws `not_found`. */
function kindOf(name: string): ImageKind {
  const known = IMAGE_KINDS.find((each) => each === name);
  if (known === undefined) throw DomainError.notFound('Page');
  return known;
}

/** The type follows from the bytes. Throws `not_found`, 415, `validation_failed`. */
function toIdentityImage(kind: string, body: Buffer): IdentityImage {
  const known = kindOf(kind);
  const content = readImage(body);
  if (content === NO_IMAGE) throw new Refusal({ status: 415, detail: NO_IMAGE.message });
  if (content instanceof Fault) throw DomainError.invalid({ image: [content.message] });
  return { kind: known, type: content.type, bytes: content.bytes };
}
