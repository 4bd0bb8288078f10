import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { readAssets, sendAsset, type PageAssets } from '../../../../platform/http/pages/assets.js';
import { localeOf } from '../../../../platform/http/pages/locale.js';
import { PageServer, sendPage, type PageServerConfig } from '../../../../platform/http/pages/page-server.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { HealthRegistry } from '../../../../platform/telemetry/health.js';
import { Log } from '../../../../platform/telemetry/logger.js';
import { PayerOrders } from '../../application/payer.js';
import { OrderChanges } from '../../views/order-changes.js';
import { sendIcon } from '../icons.controller.js';
import { PayGate } from './gate.js';
import { PayOpening } from './opening.js';
import { OrderStreams } from './order-streams.js';
import { adviceOn, payPage } from './page.js';
import { PayCalls, type PageCall } from './pay-calls.js';
import { PayFactsOf } from './page-facts.js';
import { PaySessions } from './sessions.js';
import { TestPayments } from './test-payments.js';

type PayConfig = PageServerConfig & Pick<Config, 'roles' | 'payPort' | 'payFramedBy'>;
type Params = Readonly<Record<'file' | 'id' | 'action', string>>;

const SOURCES = { script: "'self'", style: "'self'", image: "'self' data:" };

/** Serves `{pay_url}/widget` (contract.md 26) on PAY_PORT, in processes with the role `widget`. */
@Injectable()
export class PayServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly server: PageServer;
  private readonly streams: OrderStreams;

  constructor(
    @Inject(CONFIG) private readonly config: PayConfig,
    private readonly opening: PayOpening,
    private readonly gate: PayGate,
    private readonly sessions: PaySessions,
    private readonly facts: PayFactsOf,
    private readonly calls: PayCalls,
    private readonly orders: PayerOrders,
    private readonly testPayments: TestPayments,
    changes: OrderChanges,
    log: Log,
    health: HealthRegistry,
  ) {
    this.server = new PageServer(config, log, health, (problem, request) =>
      adviceOn(problem, localeOf(request)),
    );
    this.streams = new OrderStreams(changes);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.roles.includes('widget')) return;
    const assets = readAssets('pay');
    const { routes } = this.server;
    routes.get('/widget', (request, reply) => this.page(request, reply, assets));
    routes.get('/widget/assets/:file', (request, reply) => sendAsset(request, reply, assets));
    routes.get('/icons/:file', (request, reply) => sendIcon((request.params as Params).file, reply));
    routes.get('/widget/api/quote', (request, reply) =>
      this.call(request, reply, (call) =>
        this.calls.quote(call, request.query as Readonly<Record<string, unknown>>),
      ),
    );
    routes.post('/widget/api/orders', (request, reply) =>
      this.call(request, reply, (call) => this.calls.create(call, bodyOf(request))),
    );
    routes.get('/widget/api/orders/:id', (request, reply) =>
      this.call(request, reply, (call) => this.calls.order(call, (request.params as Params).id)),
    );
    // Who asks for its head alone would keep a stream open that has no connection.
    routes.get('/widget/api/orders/:id/events', { exposeHeadRoute: false }, (request, reply) =>
      this.call(request, reply, (call) => this.follow(call, request, reply)),
    );
    routes.post('/widget/api/orders/:id/:action', (request, reply) => {
      const { id, action } = request.params as Params;
      return this.call(request, reply, (call) => this.calls.act(call, id, action));
    });
    if (this.testPayments.areOffered)
      routes.post('/widget/api/orders/:id/test_payment', (request, reply) =>
        this.call(request, reply, (call) => this.calls.payForTest(call, (request.params as Params).id)),
      );
    await this.server.listen(this.config.payPort);
  }

  /** The port it listens on; null without the role `widget`. */
  get port(): number | null {
    return this.server.port;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.streams.drain();
    await this.server.close();
  }

  private async page(
    request: FastifyRequest,
    reply: FastifyReply,
    assets: PageAssets,
  ): Promise<FastifyReply> {
    const opened = await this.opening.open(request);
    const refusal = await this.gate.refusal(opened.payer, request.ip);
    if (refusal !== null) return this.server.sendRefusal(request, reply, refusal);
    if (opened.hasExpired) {
      const accepts = (request.headers.accept ?? '').includes('text/html');
      if (!accepts) throw new Refusal({ status: 401, title: 'Invalid link', detail: 'The link has expired' });
      reply.status(401);
    }
    const facts = await this.facts.of(opened, request.ip, localeOf(request));
    reply.header('vary', 'accept-language');
    return sendPage(reply, this.config.payFramedBy, () => payPage(facts, assets), SOURCES);
  }

  /** A call of the page: its session says for whom, and its gate whether. */
  private async call(
    request: FastifyRequest,
    reply: FastifyReply,
    act: (call: PageCall) => Promise<object>,
  ): Promise<FastifyReply> {
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    const payer = this.sessions.read(token);
    if (payer === null)
      throw new Refusal({ status: 401, title: 'Invalid session', detail: 'The session has ended' });
    const refusal = await this.gate.refusal(payer, request.ip);
    if (refusal !== null) return this.server.sendRefusal(request, reply, refusal);
    const response = await act({ payer, address: request.ip, requestId: request.id });
    return reply.header('x-content-type-options', 'nosniff').send(response);
  }

  private async follow(
    { payer, address }: PageCall,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<object> {
    const { state, revision } = await this.orders.find(payer, (request.params as Params).id);
    const body = this.streams.follow({
      orderId: state.facts.order_id,
      address,
      revision,
      state,
      isAllowed: async () => (await this.gate.closed(payer)) === null,
    });
    if ('status' in body) throw new Refusal(body);
    // Some proxies keep what they pass on until there is more of it.
    reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no');
    return body;
  }
}

function bodyOf({ body }: FastifyRequest): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new DomainError('bad_request', 'The body must be a JSON object');
  return body as Readonly<Record<string, unknown>>;
}
