import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { ALL_CONTEXTS, readConfig } from './composition.js';
import { merchantScheme } from './contexts/access/http/merchant-scheme.js';
import { exchangeListScheme, exchangeScheme } from './contexts/exchange/http/api-scheme.js';
import { TEST_TYPE } from './contexts/webhooks/domain/webhook-endpoints.js';
import { TestEventData } from './contexts/webhooks/http/webhook-dto.js';
import type { Config } from './platform/config/config.js';
import { EdgeAdapter } from './platform/http/fastify-adapter.js';
import { documentOf, webhooksOf, type WebhookWords } from './platform/openapi/document.js';

/** Pages that render the document show operations by tag, in this order. */
const TAGS: Readonly<Record<string, string>> = {
  Users: 'The people who are paid.',
  Payouts: 'Transfers that were broadcast, reported and verified on the chain; balances are with the users.',
  'Webhook endpoints': 'Where the service tells what happened.',
  'Webhook deliveries': 'What became of each delivery, and how it is sent again.',
  Events: 'Server-side events of the merchant, and the journeys they make.',
  'Exchange orders': 'Orders that exchange what is deposited, and pay out to an address.',
  Exchange: 'What can be exchanged, and links to the pay widget.',
  Webhooks: 'What the service sends to the endpoints of a merchant.',
  Audit: 'Proofs that what is stored was not changed.',
  Sandbox: 'Short cuts that exist in the sandbox alone.',
  Documentation: 'This document.',
  Health: 'For load balancers and operators; not signed.',
};

/** What a merchant's endpoints receive: what contexts publish, and test deliveries. */
const WEBHOOKS: readonly WebhookWords[] = [
  ...ALL_CONTEXTS.flatMap(({ publishes = {} }) => Object.values(publishes)),
  { type: TEST_TYPE, when: 'POST .../test_delivery was called.', data: TestEventData },
];

/** The OpenAPI document of the whole service in a mode. Nothing is started for it; `scripts/openapi.mjs` keeps it. */
export async function serviceDocument(mode: Config['mode'], modules: readonly Type[]): Promise<object> {
  const config: Config = { ...readConfig({ MODE: 'sandbox' }), mode };
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.of(config, modules),
    new EdgeAdapter(config),
    { preview: true, logger: false, abortOnError: false },
  );
  return documentOf(app, {
    info: { title: 'disburse API', version: '1' },
    tags: TAGS,
    schemes: [merchantScheme, exchangeListScheme, exchangeScheme],
    webhooks: webhooksOf(WEBHOOKS),
    models: WEBHOOKS.map(({ data }) => data),
  });
}
