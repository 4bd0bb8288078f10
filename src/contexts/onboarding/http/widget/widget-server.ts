import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { isUuid } from '../../../../kernel/ids.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import type { KnownMerchant } from '../../../../platform/http/merchant-directory.js';
import type { Advice } from '../../../../platform/http/pages/page.js';
import { PageServer, sendPage, type PageServerConfig } from '../../../../platform/http/pages/page-server.js';
import { HealthRegistry } from '../../../../platform/telemetry/health.js';
import { Log } from '../../../../platform/telemetry/logger.js';
import { findApplicant } from '../../application/applicant.js';
import { CODE_EVERY_SECONDS } from '../../store/phone-codes.js';
import { SANDBOX_NAMES } from '../../adapters/sandbox-providers.js';
import { UsersView } from '../../../users/contract.js';
import { acceptCallbackUrl } from './callback-url.js';
import { WidgetGate } from './gate.js';
import { onboardingPage } from './page.js';
import { WidgetSteps } from './steps.js';

/** Serves `{widget_url}/onboarding` (contract.md 18) on WIDGET_PORT, in processes with the role `widget`. */
@Injectable()
export class WidgetServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly server: PageServer;
  private readonly warned = new Set<string>();

  constructor(
    @Inject(CONFIG)
    private readonly config: PageServerConfig &
      Pick<Config, 'roles' | 'widgetPort' | 'onboardingTermsVersion' | 'onboardingPrivacyVersion'>,
    private readonly users: UsersView,
    private readonly gate: WidgetGate,
    private readonly steps: WidgetSteps,
    private readonly log: Log,
    health: HealthRegistry,
  ) {
    this.server = new PageServer(config, log, health, adviceOn);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.roles.includes('widget')) return;
    const { routes } = this.server;
    routes.get('/onboarding', (request, reply) => this.page(request, reply));
    routes.post('/onboarding/:merchantId/:userId/:step', (request, reply) => this.step(request, reply));
    await this.server.listen(this.config.widgetPort);
  }

  /** The port it listens on; null without the role `widget`. */
  get port(): number | null {
    return this.server.port;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.server.close();
  }

  private async page(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = request.query as Readonly<Record<string, unknown>>;
    const [merchantId, userId] = [idOf(query['merchant_id']), idOf(query['user_id'])];
    const merchant = await this.gate.enter(merchantId, userId, request.ip);
    const callbackUrl = callbackOf(query['callback_url'], merchant);
    const { phoneNumber, email } = await findApplicant(this.users, merchantId, userId);
    const facts = { merchantId, userId, phoneNumber, email, callbackUrl, today: this.steps.today() };
    const { onboardingTermsVersion: terms_version, onboardingPrivacyVersion: privacy_version } = this.config;
    const consent = { terms_version, privacy_version };
    const sandbox = this.steps.sandbox ? { rejectedLastName: SANDBOX_NAMES.rejected } : null;
    const framers = this.gate.framersOf(merchant);
    if (framers?.length === 0 && request.headers['sec-fetch-dest'] === 'iframe') this.warn(merchantId);
    return sendPage(reply, framers, (nonce) =>
      onboardingPage({ ...facts, sandbox, consent, codeEverySeconds: CODE_EVERY_SECONDS }, nonce),
    );
  }

  /** Once for each merchant: its page stays blank in frames, and nobody else would be told why. */
  private warn(merchantId: string): void {
    if (this.warned.has(merchantId)) return;
    this.warned.add(merchantId);
    const text =
      'a page in a frame is refused: the merchant named no origins (npm run merchant -- embedding)';
    this.log.write('warn', text, { merchant_id: merchantId });
  }

  private async step(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const params = request.params as {
      readonly merchantId: string;
      readonly userId: string;
      readonly step: string;
    };
    const step = Object.hasOwn(this.steps.byName, params.step) ? this.steps.byName[params.step] : undefined;
    if (step === undefined) throw DomainError.notFound('Page');
    const [merchantId, userId] = [idOf(params.merchantId), idOf(params.userId)];
    await this.gate.enter(merchantId, userId, request.ip);
    const body = request.body;
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new DomainError('bad_request', 'The body must be a JSON object');
    const response = await step({
      merchantId,
      userId,
      session: (request.headers.authorization ?? '').replace(/^Bearer /, ''),
      cause: {
        actor: `POST /onboarding/:merchantId/:userId/${params.step}`,
        request_id: request.id,
        merchant_id: merchantId,
      },
      body: body as Readonly<Record<string, unknown>>,
    });
    return reply.header('cache-control', 'no-store').send(response);
  }
}

function callbackOf(given: unknown, { callbacks }: KnownMerchant): string | null {
  if (given === undefined) return null;
  const accepted = typeof given === 'string' ? acceptCallbackUrl(given, callbacks) : null;
  if (accepted !== null) return accepted;
  const whatever = callbacks.length === 0 ? '' : ', and one that the merchant allows';
  throw new DomainError(
    'bad_request',
    `callback_url must be an https address or the deep link of an app${whatever}`,
  );
}

function idOf(value: unknown): string {
  if (!isUuid(value)) throw DomainError.notFound('User');
  return value.toLowerCase();
}

/** What people are told who followed a link; the words of the service stand below it in small print. */
function adviceOn(status: number): Advice {
  if (status >= 500) {
    return {
      heading: 'We are having trouble',
      text: 'Please try again in a moment. Nothing you entered is lost.',
    };
  }
  if (status === 429) return { heading: 'Too many requests', text: 'Please wait a minute and try again.' };
  if (status === 409) {
    return { heading: 'This account is being closed', text: 'Nobody can sign up with this link any more.' };
  }
  return {
    heading: 'This link does not work',
    text: 'It is incomplete or no longer valid. Please go back to where you found it and open it again.',
  };
}
