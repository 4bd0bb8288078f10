import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import type { EventMetadata } from '../../../../platform/event-store/port.js';
import type { KnownMerchant } from '../../../../platform/http/merchant-directory.js';
import { readAssets, sendAsset, type PageAssets } from '../../../../platform/http/pages/assets.js';
import { localeOf } from '../../../../platform/http/pages/locale.js';
import { PageServer, sendPage, type PageServerConfig } from '../../../../platform/http/pages/page-server.js';
import { HealthRegistry } from '../../../../platform/telemetry/health.js';
import { Log } from '../../../../platform/telemetry/logger.js';
import { PresentTerms } from '../../application/present-terms.js';
import { acceptCallbackUrl } from './callback-url.js';
import { IdentityCallbacks } from '../callbacks/identity-callbacks.js';
import { WidgetGate } from './gate.js';
import { ImageUploads } from './image-uploads.js';
import { OnboardingFactsOf } from './page-facts.js';
import { adviceOn, onboardingPage } from './page.js';
import { idOf, personIn, sessionOf } from './person.js';
import { serveSandboxTerms } from './sandbox-terms.js';
import { WidgetSteps } from './steps.js';

/** What the page shows of the camera and of images before they are sent are blobs of its own. */
const SOURCES = { script: "'self'", style: "'self'", image: "'self' data: blob:", media: 'blob:' };
/** The page asks for the camera itself, also where a merchant's frame delegates it; the contract has it delegate both. */
const PERMISSIONS = 'camera=(self), microphone=(self), geolocation=(), payment=()';

/** A photo takes its time from a phone with a bad connection. */
const UPLOAD_TIMEOUT_MS = 60_000;

/** Serves `{widget_url}/onboarding` (contract.md 18) on WIDGET_PORT, in processes with the role `widget`. */
@Injectable()
export class WidgetServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly server: PageServer;
  private readonly warned = new Set<string>();

  constructor(
    @Inject(CONFIG) private readonly config: PageServerConfig & Pick<Config, 'mode' | 'roles' | 'widgetPort'>,
    private readonly gate: WidgetGate,
    private readonly facts: OnboardingFactsOf,
    private readonly steps: WidgetSteps,
    private readonly uploads: ImageUploads,
    private readonly terms: PresentTerms,
    private readonly callbacks: IdentityCallbacks,
    private readonly log: Log,
    private readonly health: HealthRegistry,
  ) {
    this.server = new PageServer(
      config,
      log,
      health,
      (problem, request) => adviceOn(problem, localeOf(request)),
      UPLOAD_TIMEOUT_MS,
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.roles.includes('widget')) return;
    this.tellWhatIsMissing();
    const { routes } = this.server;
    const assets = readAssets('onboarding');
    routes.get('/onboarding', (request, reply) => this.page(request, reply, assets));
    routes.get('/onboarding/assets/:file', (request, reply) => sendAsset(request, reply, assets));
    if (this.config.mode === 'sandbox') serveSandboxTerms(routes);
    for (const name of Object.keys(this.steps.byName))
      routes.post(`/onboarding/:merchantId/:userId/${name}`, (request, reply) =>
        this.step(name, request, reply),
      );
    this.uploads.serve(routes, (person, image, request) =>
      this.steps.storeImage(person, image, localeOf(request), causeOf(request, person.merchantId)),
    );
    this.callbacks.serve(routes);
    await this.server.listen(this.config.widgetPort);
  }

  /** The port it listens on; null without the role `widget`. */
  get port(): number | null {
    return this.server.port;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.server.close();
  }

  private tellWhatIsMissing(): void {
    const missing = this.terms.missing();
    if (missing.length === 0) return;
    const text = `nobody can be onboarded: ${missing.join(', ')} not set`;
    this.log.warn(text);
    this.health.register({ name: 'onboarding_terms', check: async () => text });
  }

  private async page(
    request: FastifyRequest,
    reply: FastifyReply,
    assets: PageAssets,
  ): Promise<FastifyReply> {
    const query = request.query as Readonly<Record<string, unknown>>;
    const [merchantId, userId] = [idOf(query['merchant_id']), idOf(query['user_id'])];
    const merchant = await this.gate.enter(merchantId, userId, request.ip);
    const callbackUrl = callbackOf(query['callback_url'], merchant, this.config.mode === 'sandbox');
    const facts = await this.facts.of({ merchant, userId, callbackUrl, locale: localeOf(request) });
    if (facts.framers?.length === 0 && request.headers['sec-fetch-dest'] === 'iframe') this.warn(merchantId);
    reply.headers({ 'permissions-policy': PERMISSIONS, vary: 'accept-language' });
    return sendPage(reply, facts.framers, () => onboardingPage(facts, assets), SOURCES);
  }

  /** Once for each merchant: its page stays blank in frames, and nobody else would be told why. */
  private warn(merchantId: string): void {
    if (this.warned.has(merchantId)) return;
    this.warned.add(merchantId);
    const msg = 'a page in a frame is refused: the merchant named no origins (npm run merchant -- embedding)';
    this.log.warn({ msg, merchant_id: merchantId });
  }

  private async step(name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { merchantId, userId } = personIn(request);
    const merchant = await this.gate.enter(merchantId, userId, request.ip);
    const body = request.body;
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new DomainError('bad_request', 'The body must be a JSON object');
    const response = await this.steps.byName[name]!({
      merchant,
      userId,
      session: sessionOf(request),
      address: request.ip,
      locale: localeOf(request),
      cause: causeOf(request, merchantId),
      body: body as Readonly<Record<string, unknown>>,
    });
    return reply.header('x-content-type-options', 'nosniff').send(response);
  }
}

/** What the events of a step say of their cause. */
function causeOf({ id, routeOptions }: FastifyRequest, merchantId: string): EventMetadata {
  return { actor: `POST ${routeOptions.url}`, request_id: id, merchant_id: merchantId };
}

function callbackOf(given: unknown, { callbacks }: KnownMerchant, isSandbox: boolean): string | null {
  if (given === undefined) return null;
  const accepted = typeof given === 'string' ? acceptCallbackUrl(given, callbacks, isSandbox) : null;
  if (accepted !== null) return accepted;
  const whatever = callbacks.length === 0 ? '' : ', and one that the merchant allows';
  throw new DomainError(
    'bad_request',
    `callback_url must be an https address or the deep link of an app${whatever}`,
  );
}
