import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { ALL_CONTEXTS, readConfig, type Config } from './composition.js';
import { EdgeAdapter } from './platform/http/fastify-adapter.js';
import { createDocument, type DocumentPart } from './platform/openapi/document.js';
import { SANDBOX_VALUES } from './sandbox-values.js';

const PLATFORM: DocumentPart = {
  tags: {
    Sandbox: [10, SANDBOX_VALUES],
    Documentation: [11, 'This document.'],
    Health: [12, 'For load balancers and operators; not signed.'],
  },
};

/** Returns the OpenAPI document without starting the service. `scripts/openapi.mjs` writes the file. */
export async function serviceDocument(mode: Config['mode'], modules: readonly Type[]): Promise<object> {
  const config: Config = { ...readConfig({ MODE: 'sandbox' }), mode };
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(config, modules),
    new EdgeAdapter(config),
    { preview: true, logger: false, abortOnError: false },
  );
  const published = ALL_CONTEXTS.map(({ publishes = {} }) => ({
    webhooks: Object.values(publishes).flat(),
  }));
  const own = ALL_CONTEXTS.map(({ document = {} }) => document);
  return createDocument(app, [...published, ...own, PLATFORM]);
}
