import { Get, Inject, Logger, Param, Query, Req, Res, type OnApplicationBootstrap } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import {
  escapeHtml,
  sendPage,
  sendPlainPage,
  type Framers,
} from '../../../../platform/http/pages/document.js';
import { readLocale } from '../../../../platform/http/pages/locale.js';
import { PageController } from '../../../../platform/http/pages/page.js';
import { HealthRegistry } from '../../../../platform/telemetry/health.js';
import { leadsToApp } from '../../../access/contract.js';
import { chooseProvider, onboardingConfig, type OnboardingConfig } from '../../settings.js';
import { SANDBOX_NAMES } from '../../domain/image-kind.js';
import { Onboardings } from '../../application/person-commands.js';
import { PresentTerms, SANDBOX_PATHS } from '../../application/present-terms.js';
import { CODE_EVERY_SECONDS } from '../../domain/onboarding.js';
import { MESSAGES } from '../../words/messages.js';
import { ONBOARDING_PAGE, VisitorGuard, type OnboardingVisitor } from './onboarding-page.js';
import type { OnboardingFacts } from './onboarding-types.js';

/**
 * The redirect target in canonical form (contract.md 18.2): https, or the deep link of an app, among those of the merchant
 * if it has any; in the sandbox also `http://localhost`. Null when it is refused.
 */
export function acceptCallbackUrl(
  text: string,
  allowed: readonly string[] = [],
  isSandbox = false,
): string | null {
  // The URL class drops tabs and line ends that hide a scheme, as browsers do.
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, origin, username, password, href } = new URL(text);
  const isLocal = isSandbox && protocol === 'http:' && hostname === 'localhost';
  const isWeb = protocol === 'https:' || isLocal;
  if (!isWeb && !leadsToApp(protocol)) return null;
  // A user name before an @ imitates a host.
  if (isWeb && (username !== '' || password !== '')) return null;
  return allowed.length === 0 || allowed.includes(isWeb ? origin : protocol) ? href : null;
}

/** The page requests the camera itself, also where a merchant's frame delegates it; the contract has it delegate both. */
const PERMISSIONS = 'camera=(self), microphone=(self), geolocation=(), payment=()';

/** Displayed names of identity providers. */
const NAMES: Readonly<Record<string, string>> = { onfido: 'Onfido', sandbox: 'sandbox' };

@PageController(ONBOARDING_PAGE, 'onboarding')
export class OnboardingPageController implements OnApplicationBootstrap {
  private readonly logger = new Logger(OnboardingPageController.name);
  private readonly warned = new Set<string>();

  constructor(
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly visitors: VisitorGuard,
    private readonly onboardings: Onboardings,
    private readonly terms: PresentTerms,
    private readonly health: HealthRegistry,
  ) {}

  onApplicationBootstrap(): void {
    const missing = this.terms.missing();
    if (missing.length === 0 || !this.config.roles.includes('widget')) return;
    const text = `onboarding unavailable: ${missing.join(', ')} not set`;
    this.logger.warn(text);
    this.health.register({ name: 'onboarding_terms', check: async () => text });
  }

  @Get()
  async open(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query() query: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const locale = readLocale(request);
    const visitor = await this.visitors.admit(query['merchant_id'], query['user_id'], request);
    const callbackUrl = this.readCallback(query['callback_url'], visitor);
    const messages = MESSAGES[locale];
    const facts = { ...(await this.toFacts(visitor)), callbackUrl, locale, messages };
    if (facts.framers?.length === 0 && request.headers['sec-fetch-dest'] === 'iframe') this.warn(visitor);
    reply.header('permissions-policy', PERMISSIONS);
    const { title } = messages;
    sendPage(reply, ONBOARDING_PAGE, { locale, framedBy: facts.framers, facts, title, heading: title });
  }

  /** Terms and privacy notice of the sandbox. */
  @Get(':document')
  sandboxTerms(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('document') document: string,
  ): void {
    const locale = readLocale(request);
    const { sandboxTerms, sandboxPrivacy, sandboxTermsText } = MESSAGES[locale];
    const titles: Readonly<Record<string, string>> = {
      [SANDBOX_PATHS.terms]: sandboxTerms,
      [SANDBOX_PATHS.privacy]: sandboxPrivacy,
    };
    const title = this.config.mode === 'sandbox' ? titles[`/onboarding/${document}`] : undefined;
    if (title === undefined) throw DomainError.notFound('Page');
    reply.header('vary', 'accept-language');
    const body = `<p>${escapeHtml(sandboxTermsText)}</p>`;
    sendPlainPage(reply, ONBOARDING_PAGE, { heading: title, body, lang: locale });
  }

  /** Throws `not_found`, `invalid_transition` for a user who is deactivating, `unavailable` where no terms are set. */
  private async toFacts({
    merchant: { merchantId, displayName, origins },
    userId,
  }: OnboardingVisitor): Promise<Omit<OnboardingFacts, 'callbackUrl' | 'locale' | 'messages'>> {
    const { config } = this;
    const consent = this.terms.present();
    const { phone_number, email } = await this.onboardings.applicant(merchantId, userId);
    return {
      steps: `/onboarding/${merchantId}/${userId}`,
      userId,
      merchantName: displayName,
      phoneNumber: phone_number,
      email,
      framers: this.toFramers(origins),
      codeEverySeconds: CODE_EVERY_SECONDS,
      minimumAge: config.onboardingMinimumAge,
      identityProvider: NAMES[chooseProvider(config).identity] ?? null,
      imageDays: config.onboardingImageDays,
      consent,
      today: timestamp(this.clock).slice(0, 10),
      sandbox: config.mode === 'sandbox' ? SANDBOX_NAMES : null,
    };
  }

  /** The merchant's origins; in the sandbox any site for a merchant without origins. */
  private toFramers(origins: readonly string[]): Framers {
    if (this.config.mode === 'sandbox') return origins.length === 0 ? null : origins;
    return origins.filter((origin) => origin.startsWith('https:'));
  }

  /** Once per merchant: frames are blank, and nothing else explains it. */
  private warn({ merchant: { merchantId } }: OnboardingVisitor): void {
    if (this.warned.has(merchantId)) return;
    this.warned.add(merchantId);
    const msg = 'page refused in a frame: the merchant has no origins (npm run admin -- merchants update)';
    this.logger.warn({ msg, merchant_id: merchantId });
  }

  private readCallback(given: unknown, { merchant: { callbacks } }: OnboardingVisitor): string | null {
    if (given === undefined) return null;
    const isSandbox = this.config.mode === 'sandbox';
    const accepted = typeof given === 'string' ? acceptCallbackUrl(given, callbacks, isSandbox) : null;
    if (accepted !== null) return accepted;
    const allowed = callbacks.length === 0 ? '' : ', and one that the merchant allows';
    throw new DomainError(
      'bad_request',
      `callback_url must be an https address or the deep link of an app${allowed}`,
    );
  }
}
