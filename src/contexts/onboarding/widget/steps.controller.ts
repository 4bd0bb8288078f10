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
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { ValidBody } from '../../../platform/http/decorators.js';
import { PageCall, PageController, Visit } from '../../../platform/http/pages/page.js';
import { toClient, LocalRateLimiter, refuseUntil } from '../../../platform/http/rate-limit.guard.js';
import { BytesBelow } from '../../../platform/http/request-body.js';
import { Refusal, toProblem } from '../../../platform/http/problem.js';
import {
  Onboardings,
  SendPhoneCode,
  TakeStep,
  WrongCode,
  type Step,
} from '../onboardings/onboardings.commands.js';
import { PresentTerms } from '../onboardings/present-terms.service.js';
import { SmsInbox } from '../providers/providers.ports.js';
import { IMAGE_KINDS, type ImageKind } from '../identity/image-kind.js';
import type { Onboarding } from '../onboardings/onboarding.js';
import { isSameSubscriber, type ExistingUser, parsePhoneNumber } from '../../users/users.contract.js';
import { Images } from '../identity/images.store.js';
import { reasonIn } from '../words/messages.js';
import { NO_IMAGE, readImageType } from '../identity/image-content.dto.js';
import {
  ONBOARDING_PAGE,
  OnboardingSessions,
  SessionGuard,
  VisitorGuard,
  type OnboardingVisitor,
} from './onboarding-session.guard.js';
import type { SentCode, StepState, StepBodies } from './onboarding.dto.js';
import { getRequest } from '../../../platform/http/request-state.js';
import { asciiDigits, tidy } from '../../../kernel/typed-text.js';
import { Field } from '../../../platform/dto/field.js';
import { text } from '../../../platform/dto/rules.js';

const MAX_NAME_LENGTH = 100;
/** The pattern of names with a letter. Any other name would fail an identity check, which costs money. */
const READABLE = /\p{L}/u;
/** Control characters, lone surrogates and bidirectional controls. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** A random value of at least 128 bits, unique per page. */
const nonce = text({}, (given) =>
  /^[0-9a-f]{32,64}$/.test(given) ? given : new Fault('must be 32 to 64 hex digits'),
);

const name = text({}, (given) => {
  const trimmed = given.trim();
  if (trimmed.length > MAX_NAME_LENGTH || !READABLE.test(trimmed))
    return new Fault(`must have a letter and at most ${MAX_NAME_LENGTH} characters`);
  return UNPRINTABLE.test(trimmed) ? new Fault('must not hold control characters') : trimmed;
});

/** A date since 1900. The minimum age excludes future dates. */
const dayOfBirth = text({}, (sent) => {
  const given = asciiDigits(tidy(sent));
  const day = new Date(/^(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}$/.test(given) ? given : NaN);
  // Date reads the 30th of February as the 2nd of March.
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(given);
  return exists ? given : new Fault('must be an existing date since 1900 in the form YYYY-MM-DD');
});

/** Parses a phone number. An invalid number is kept and does not match the number of the account. */
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

/** The size in bytes from which an image is refused with 413. */
const IMAGE_LIMIT = 8 * 1_048_576;

const IMAGES_PER_MINUTE = 20;

type StepVisit = Visit<OnboardingVisitor>;

/** Rejects unknown kinds and excess uploads before the body is read. It runs after SessionGuard. */
@Injectable()
class UploadGuard implements CanActivate {
  private readonly uploads = new LocalRateLimiter(IMAGES_PER_MINUTE);

  canActivate(context: ExecutionContext): boolean {
    const { params, edge } = getRequest(context);
    if (!IMAGE_KINDS.some((kind) => kind === (params as { readonly kind: string }).kind))
      throw DomainError.notFound('Page');
    refuseUntil(this.uploads.take((edge.visitor as OnboardingVisitor).userId));
    return true;
  }
}

/** The steps of the widget. All except `code`, `phone` and `inbox` require a session. */
@PageController(ONBOARDING_PAGE, 'onboarding/:merchantId/:userId')
@UseGuards(VisitorGuard)
export class StepsController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly onboardings: Onboardings,
    private readonly sessions: OnboardingSessions,
    private readonly images: Images,
    private readonly terms: PresentTerms,
    @Optional() @Inject(SmsInbox) private readonly inbox: SmsInbox | null = null,
  ) {}

  @PageCall('code')
  async sendCode(@Visit() visit: StepVisit, @ValidBody() body: CodeRequest): Promise<SentCode> {
    const { merchant, userId, ip, locale } = visit;
    // Throws without terms, before a message is sent.
    this.terms.present();
    const applicant = await this.findApplicant(visit);
    if (!isSameSubscriber(body.phone_number, applicant.phone_number))
      throw DomainError.invalid({ phone_number: ['is not the phone number of this account'] });
    // An onboarding starts with the first code, not with the page (contract.md 18.3).
    await this.execute(visit, { name: 'start' });
    const request = { browser: body.browser, address: toClient(ip) };
    const parameters = { locale, merchant: merchant.name };
    return this.commandBus.execute(new SendPhoneCode(merchant.merchantId, userId, request, parameters));
  }

  @PageCall('phone')
  async verifyPhone(@Visit() visit: StepVisit, @ValidBody() body: CodeEntry): Promise<StepState> {
    const { phone_number: phoneNumber, code, browser } = body;
    try {
      const state = await this.take(visit, { name: 'verify_phone', phoneNumber, code, browser });
      return { ...state, session: this.sessions.open(visit.userId) };
    } catch (error) {
      if (!(error instanceof WrongCode) || error.attemptsLeft === null) throw error;
      throw new Refusal({ ...toProblem(error), members: { attempts_left: error.attemptsLeft } });
    }
  }

  @PageCall('details')
  @UseGuards(SessionGuard)
  confirmDetails(@Visit() visit: StepVisit, @ValidBody() body: DetailsEntry): Promise<StepState> {
    return this.take(visit, { name: 'confirm_details', details: body, consent: body });
  }

  @PageCall('images/:kind')
  @BytesBelow(IMAGE_LIMIT)
  @UseGuards(SessionGuard, UploadGuard)
  async storeImage(
    @Visit() visit: StepVisit,
    @Param('kind') kind: ImageKind,
    @Body() body: Buffer,
  ): Promise<StepState> {
    const type = readImageType(body);
    if (type === NO_IMAGE) throw new Refusal({ status: 415, detail: NO_IMAGE.message });
    if (type instanceof Fault) throw DomainError.invalid({ image: [type.message] });
    return this.take(visit, { name: 'store_image', image: { kind, type, bytes: body } });
  }

  @PageCall('identity')
  @UseGuards(SessionGuard)
  submitIdentity(@Visit() visit: StepVisit): Promise<StepState> {
    return this.take(visit, { name: 'submit_identity' });
  }

  @PageCall('card/retry')
  @UseGuards(SessionGuard)
  retryCard(@Visit() visit: StepVisit): Promise<StepState> {
    return this.take(visit, { name: 'retry_card' });
  }

  @PageCall('state')
  @UseGuards(SessionGuard)
  state(@Visit() visit: StepVisit): Promise<StepState> {
    return this.take(visit, { name: 'start' });
  }

  @PageCall('inbox')
  async readInbox(@Visit() visit: StepVisit): Promise<{ readonly code: string | null }> {
    if (this.inbox === null) throw DomainError.notFound('Page');
    return { code: this.inbox.lastCode((await this.findApplicant(visit)).phone_number) };
  }

  private findApplicant({ merchant, userId }: OnboardingVisitor): Promise<ExistingUser> {
    return this.onboardings.applicant(merchant.merchantId, userId);
  }

  private execute({ merchant, userId, cause }: StepVisit, step: Step): Promise<Onboarding> {
    return this.commandBus.execute(new TakeStep(merchant.merchantId, userId, step, cause));
  }

  private async take(visit: StepVisit, step: Step): Promise<StepState> {
    const state = await this.execute(visit, step);
    const { stage } = state;
    if (stage === 'kyc_submitted') return { stage, submitted_at: state.submitted_at };
    if (stage === 'kyc_failed' || stage === 'card_failed')
      return { stage, reason: reasonIn(visit.locale, stage, state.reason) };
    if (stage !== 'details_confirmed') return { stage };
    return { stage, images: await this.images.kinds(state.user_id) };
  }
}
