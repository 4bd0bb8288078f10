import {
  Get,
  Headers,
  Inject,
  Logger,
  Param,
  Query,
  Req,
  Res,
  UseGuards,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { escapeHtml, sendPage, sendPlainPage, type Framers } from '../../../platform/http/pages/document.js';
import type { MerchantProfile } from '../../../platform/http/merchant-directory.js';
import { readLocale } from '../../../platform/http/pages/locale.js';
import { PageController, Visit } from '../../../platform/http/pages/page.js';
import { HealthRegistry } from '../../../platform/telemetry/health.js';
import { leadsToApp } from '../../access/access.contract.js';
import { chooseProvider, onboardingConfig, type OnboardingConfig } from '../onboarding.config.js';
import { SANDBOX_NAMES } from '../identity/image-kind.js';
import { Onboardings } from '../onboardings/onboardings.commands.js';
import { PresentTerms, SANDBOX_PATHS } from '../onboardings/present-terms.service.js';
import { CODE_EVERY_SECONDS } from '../onboardings/onboarding.js';
import { MESSAGES } from '../words/messages.js';
import { ONBOARDING_PAGE, VisitorGuard, type OnboardingVisitor } from './onboarding-session.guard.js';
import type { OnboardingFacts } from './onboarding.dto.js';

/**
 * Returns the canonical URL, or null if it is not allowed (contract.md 18.2). `allowed` lists origins and app
 * schemes; if it is empty, every https URL and deep link is allowed.
 */
export function acceptCallbackUrl(
  text: string,
  allowed: readonly string[] = [],
  isSandbox = false,
): string | null {
  // URL drops tabs and line breaks, as browsers do; they could hide a scheme.
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, origin, username, password, href } = new URL(text);
  const isLocal = isSandbox && protocol === 'http:' && hostname === 'localhost';
  const isWeb = protocol === 'https:' || isLocal;
  if (!isWeb && !leadsToApp(protocol)) return null;
  // A user name before an @ can imitate a host.
  if (isWeb && (username !== '' || password !== '')) return null;
  return allowed.length === 0 || allowed.includes(isWeb ? origin : protocol) ? href : null;
}

/** Permits camera and microphone. A merchant's frame must delegate both. */
const PERMISSIONS = 'camera=(self), microphone=(self), geolocation=(), payment=()';

const NAMES: Readonly<Record<string, string>> = { onfido: 'Onfido', sandbox: 'sandbox' };

@PageController(ONBOARDING_PAGE, 'onboarding')
export class OnboardingPageController implements OnApplicationBootstrap {
  private readonly logger = new Logger(OnboardingPageController.name);
  private readonly warned = new Set<string>();

  constructor(
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
    @Inject(CLOCK) private readonly clock: Clock,
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
  @UseGuards(VisitorGuard)
  async open(
    @Visit() visit: Visit<OnboardingVisitor>,
    @Res() reply: FastifyReply,
    @Query('callback_url') callback: unknown,
    @Headers('sec-fetch-dest') destination: string | undefined,
  ): Promise<void> {
    const { locale, userId, merchant } = visit;
    const { merchantId } = merchant;
    const { config } = this;
    const messages = MESSAGES[locale];
    const callbackUrl = this.readCallback(callback, merchant);
    const consent = this.terms.present();
    const { phone_number, email } = await this.onboardings.applicant(merchantId, userId);
    const facts = {
      steps: `/onboarding/${merchantId}/${userId}`,
      userId,
      merchantName: merchant.name,
      phoneNumber: phone_number,
      email,
      callbackUrl,
      framers: this.toFramers(merchant),
      codeEverySeconds: CODE_EVERY_SECONDS,
      minimumAge: config.onboardingMinimumAge,
      identityProvider: NAMES[chooseProvider(config).identity] ?? null,
      imageDays: config.onboardingImageDays,
      consent,
      today: timestamp(this.clock).slice(0, 10),
      sandbox: config.mode === 'sandbox' ? SANDBOX_NAMES : null,
      locale,
      messages,
    } satisfies OnboardingFacts;
    if (facts.framers?.length === 0 && destination === 'iframe') this.warn(merchantId);
    reply.header('permissions-policy', PERMISSIONS);
    const { title } = messages;
    sendPage(reply, ONBOARDING_PAGE, { locale, framedBy: facts.framers, facts, title, heading: title });
  }

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

  /** Returns the merchant's origins, or null (any site) for a sandbox merchant without origins. */
  private toFramers({ origins }: MerchantProfile): Framers {
    return this.config.mode === 'sandbox' && origins.length === 0 ? null : origins;
  }

  /** Logs a refused frame once per merchant, because the blank page displays no reason. */
  private warn(merchantId: string): void {
    if (this.warned.has(merchantId)) return;
    this.warned.add(merchantId);
    const msg = 'page refused in a frame: the merchant has no origins (npm run admin -- merchants update)';
    this.logger.warn({ msg, merchant_id: merchantId });
  }

  private readCallback(given: unknown, { callbacks }: MerchantProfile): string | null {
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
