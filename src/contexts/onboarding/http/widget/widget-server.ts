import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { AddressInfo, Socket } from 'node:net';
import { randomBytes, randomUUID } from 'node:crypto';
import { DomainError } from '../../../../kernel/domain-error.js';
import { isUuid } from '../../../../kernel/ids.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { refuseClientError } from '../../../../platform/http/connections.js';
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  TIMEOUT_CHECK_MS,
} from '../../../../platform/http/connections.js';
import { toProblem } from '../../../../platform/http/error-mapping.js';
import { sendProblem, type Problem } from '../../../../platform/http/problem.js';
import { drainRefusedBody } from '../../../../platform/http/request-body.js';
import { HealthRegistry } from '../../../../platform/telemetry/health.js';
import { Log } from '../../../../platform/telemetry/logger.js';
import { findApplicant } from '../../application/applicant.js';
import { CODE_EVERY_SECONDS } from '../../store/phone-codes.js';
import { REJECTED_LAST_NAME } from '../../adapters/sandbox-providers.js';
import { UsersView } from '../../../users/contract.js';
import { acceptCallbackUrl } from './callback-url.js';
import { guard, receive, type GuardConfig } from './edge.js';
import { WidgetGate } from './gate.js';
import { contentSecurityPolicy, onboardingPage, refusalPage } from './page.js';
import { WidgetSteps } from './steps.js';

/** Bodies of this many bytes and more are refused with 413. */
const BODY_LIMIT = 16_384;
const TIMEOUT_MS = 15_000;

type WidgetConfig = GuardConfig & Pick<Config, 'roles' | 'host' | 'widgetPort'>;

/** Serves `{widget_url}/onboarding` (contract.md 18) on WIDGET_PORT, in processes with the role `widget`. */
@Injectable()
export class WidgetServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly server: FastifyInstance;

  constructor(
    @Inject(CONFIG) private readonly config: WidgetConfig,
    private readonly users: UsersView,
    private readonly gate: WidgetGate,
    private readonly steps: WidgetSteps,
    private readonly log: Log,
    private readonly health: HealthRegistry,
  ) {
    this.server = fastify({
      bodyLimit: BODY_LIMIT - 1,
      requestTimeout: TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      http: {
        headersTimeout: HEADERS_TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
        // Node's own response to a request without Host is no problem document; the edge gives one.
        requireHostHeader: false,
      },
      trustProxy: config.trustProxy ?? false,
      requestIdHeader: false,
      genReqId: () => randomUUID(),
      frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
        receive(request, reply);
        refuse(request, reply, error);
      },
      clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => refuseClientError(error, socket),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.roles.includes('widget')) return;
    guard(this.server, this.config, this.log, sendRefusal);
    this.server.get('/health/live', () => ({ status: 'ok' }));
    this.server.get('/health/ready', async (_, reply) => {
      const report = await this.health.report();
      return reply.code(report.status === 'ok' ? 200 : 503).send(report);
    });
    this.server.get('/onboarding', (request, reply) => this.page(request, reply));
    this.server.post('/onboarding/:merchantId/:userId/:step', (request, reply) => this.step(request, reply));
    this.server.setErrorHandler((error, request, reply) => refuse(request, reply, error));
    this.server.setNotFoundHandler((request, reply) => refuse(request, reply, DomainError.notFound('Page')));
    await this.server.listen({ port: this.config.widgetPort, host: this.config.host });
  }

  /** The port it listens on; null without the role `widget`. */
  get port(): number | null {
    return (this.server.server.address() as AddressInfo | null)?.port ?? null;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.server.close();
  }

  private async page(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = request.query as Readonly<Record<string, unknown>>;
    const [merchantId, userId] = [idOf(query['merchant_id']), idOf(query['user_id'])];
    const callback = query['callback_url'];
    const callbackUrl = typeof callback === 'string' ? acceptCallbackUrl(callback) : null;
    if (callback !== undefined && callbackUrl === null) {
      throw new DomainError(
        'bad_request',
        'callback_url must be an https address or the deep link of an app',
      );
    }
    const refusal = await this.gate.refusal(merchantId, userId, request.ip);
    if (refusal !== null) return sendRefusal(request, reply, refusal);
    const { phoneNumber, email } = await findApplicant(this.users, merchantId, userId);
    const facts = { merchantId, userId, phoneNumber, email, callbackUrl, today: this.steps.today() };
    const sandbox = this.steps.sandbox ? { rejectedLastName: REJECTED_LAST_NAME } : null;
    return sendPage(reply, 'anybody', (nonce) =>
      onboardingPage({ ...facts, sandbox, codeEverySeconds: CODE_EVERY_SECONDS }, nonce),
    );
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
    const refusal = await this.gate.refusal(merchantId, userId, request.ip);
    if (refusal !== null) return sendRefusal(request, reply, refusal);
    const body = request.body;
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new DomainError('bad_request', 'The body must be a JSON object');
    const response = await step({
      merchantId,
      userId,
      session: (request.headers.authorization ?? '').replace(/^Bearer /, ''),
      body: body as Readonly<Record<string, unknown>>,
    });
    return reply.header('cache-control', 'no-store').send(response);
  }
}

function idOf(value: unknown): string {
  if (!isUuid(value)) throw DomainError.notFound('User');
  return value.toLowerCase();
}

function sendPage(
  reply: FastifyReply,
  framedBy: 'anybody' | 'nobody',
  html: (nonce: string) => string,
): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  return reply
    .headers({
      'content-security-policy': contentSecurityPolicy(nonce, framedBy),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(html(nonce));
}

/** What people are told who followed a link; the words of the service stand below it in small print. */
function adviceOn(status: number): { heading: string; text: string } {
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

/** Responds with what was thrown; what went wrong inside is told to the log alone. */
function refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const problem = toProblem(error);
  if (problem.status >= 500) request.edge.failure = error;
  if (problem.status !== 413) {
    sendRefusal(request, reply, problem);
    return;
  }
  drainRefusedBody(request, reply);
  const detail = `The request body must be smaller than ${BODY_LIMIT} bytes`;
  sendRefusal(request, reply, { ...problem, detail });
}

/** A page for people who navigate, problem details for everybody else; framed by nobody, as the page alone has to be. */
function sendRefusal(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  if (request.method !== 'GET' || !(request.headers.accept ?? '').includes('text/html')) {
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    reply.header('x-content-type-options', 'nosniff');
    sendProblem(reply, problem);
    return reply;
  }
  reply.status(problem.status).headers(problem.headers ?? {});
  return sendPage(reply, 'nobody', (nonce) =>
    refusalPage({ ...adviceOn(problem.status), detail: problem.detail }, nonce),
  );
}
