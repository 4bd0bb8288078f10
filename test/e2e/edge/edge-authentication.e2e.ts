import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Controller, Get, Module, Post, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authentications, type Authentication } from '../../../src/platform/http/authentication.js';
import { MerchantId } from '../../../src/platform/http/decorators.js';
import {
  MERCHANT_DIRECTORY,
  type ApiCaller,
  type MerchantDirectory,
} from '../../../src/platform/http/merchant-directory.js';
import { sendProblem } from '../../../src/platform/http/problem.js';
import { startEdgeApp, type EdgeApp } from '../../support/http/edge-app.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';

/** A header names the merchant, and nothing is signed. */
class ApiKeyHeader implements Authentication {
  readonly prefix = '/v1';
  bodies: string[] = [];

  constructor(private readonly directory: MerchantDirectory) {}

  async identify(request: FastifyRequest, reply: FastifyReply): Promise<ApiCaller | null> {
    const merchant = await this.directory.find(String(request.headers['x-api-key']));
    if (merchant === null) sendProblem(reply, { status: 401, detail: 'Invalid X-Api-Key' });
    return merchant;
  }

  verify(request: FastifyRequest, reply: FastifyReply): boolean {
    const body = request.edge.rawBody.toString();
    this.bodies.push(body);
    if (body !== '{"forged":true}') return true;
    sendProblem(reply, { status: 401, detail: 'Invalid X-Signature' });
    return false;
  }
}

let runs = 0;

@Controller('v1')
class OrdersController {
  @Get('orders')
  orders(@MerchantId() merchantId: string) {
    return { merchant_id: merchantId };
  }

  @Post('orders')
  create() {
    return { run: (runs += 1) };
  }
}

@Module({ controllers: [OrdersController] })
class SecondApi implements OnModuleInit {
  constructor(
    private readonly authentications: Authentications,
    private readonly modules: ModuleRef,
  ) {}

  onModuleInit(): void {
    this.authentications.register(
      new ApiKeyHeader(this.modules.get<MerchantDirectory>(MERCHANT_DIRECTORY, { strict: false })),
    );
  }
}

describe('an API with another way to authenticate', () => {
  let db: TestDatabase;
  let edge: EdgeApp;
  let apiKey: string;

  beforeAll(async () => {
    db = await testDatabase();
    edge = await startEdgeApp(db.database, {}, [SecondApi]);
    apiKey = randomUUID();
    edge.merchants.set(apiKey, {
      merchantId: apiKey,
      privateKeys: [],
      status: 'active',
      ipAllowList: [],
    });
  });

  afterAll(async () => {
    await edge.close();
    await db.drop();
  });

  const ask = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
    fetch(`${edge.url}${path}`, { ...init, headers: { 'x-api-key': apiKey, ...init.headers } });

  it('lets in whom it recognises, and counts his requests', async () => {
    const response = await ask('/v1/orders');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ merchant_id: apiKey });
    expect(response.headers.get('ratelimit')).toMatch(/^"merchant";r=\d+/);
  });

  it('refuses others in its own words, without revealing which paths exist', async () => {
    for (const path of ['/v1/orders', '/v1/nothing']) {
      const response = await ask(path, { headers: { 'x-api-key': 'unknown' } });
      expect(response.status).toBe(401);
      expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(await response.json()).toMatchObject({ detail: 'Invalid X-Api-Key' });
    }
    expect((await ask('/v1/nothing')).status).toBe(404);
    expect((await ask('/v1/orders', { method: 'DELETE' })).status).toBe(405);
  });

  it('verifies a request over the bytes of its body before these are parsed', async () => {
    const headers = { 'content-type': 'application/json' };
    const forged = await ask('/v1/orders', { method: 'POST', headers, body: '{"forged":true}' });
    expect([forged.status, runs]).toEqual([401, 0]);
    const broken = await ask('/v1/orders', { method: 'POST', headers, body: '{' });
    expect(broken.status).toBe(400);
  });

  it('replays what was done under an Idempotency-Key', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': `"${randomUUID()}"` };
    const once = async () => {
      const response = await ask('/v1/orders', { method: 'POST', headers, body: '{}' });
      return [response.status, await response.json(), response.headers.get('idempotent-replayed')];
    };
    const [status, body] = await once();
    expect(await once()).toEqual([status, body, 'true']);
  });

  it('takes its key nowhere else', async () => {
    const response = await ask('/merchants/v1/probe/whoami');
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining('svc-api-key') });
  });
});
