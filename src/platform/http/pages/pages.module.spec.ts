import 'reflect-metadata';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Module, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '../../../../test/support/eventually.js';
import { CONFIG_PARTS, readConfig } from '../../../composition.js';
import { MESSAGES } from '../../../contexts/onboarding/words/messages.js';
import { configModule } from '../../config/config.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { EVENT_STORE } from '../../event-store/port.js';
import { ResponseStore } from '../../idempotency/response-store.js';
import { TelemetryModule } from '../../telemetry/telemetry.module.js';
import { EdgeAdapter } from '../fastify-adapter.js';
import { HealthController } from '../health.controller.js';
import { IdempotencyInterceptor } from '../idempotency.interceptor.js';
import { BytesBelow } from '../request-body.js';
import type { Page } from '../listeners.js';
import { PageCall, PageController } from './page.js';
import { PageListeners, PagesModule } from '../http.module.js';

const pageOf = (name: string, requestTimeoutMs = 15_000): Page => ({
  name,
  path: `/${name}`,
  role: 'portal',
  port: () => 0,
  messages: MESSAGES,
  requestTimeoutMs,
  media: "img-src 'self'",
});
const [SHOP, DESK] = [pageOf('onboarding', 500), pageOf('pay')];

class Closed implements CanActivate {
  canActivate(): boolean {
    throw new DomainError('forbidden', 'not in');
  }
}

@PageController(SHOP, 'shop')
class ShopController {
  @Get('goods')
  goods() {
    return { goods: [] };
  }

  @PageCall('orders')
  order(@Body() body: object) {
    return { body };
  }

  @PageCall('closed')
  @BytesBelow(8)
  @UseGuards(Closed)
  upload() {
    return {};
  }

  @PageCall('open')
  @BytesBelow(8)
  raw(@Body() body: Buffer) {
    return { bytes: body.length };
  }
}

@PageController(DESK, 'desk')
class DeskController {
  @Get('work')
  work() {
    throw new Error('broken');
  }
}

@Module({
  controllers: [ShopController, DeskController, HealthController],
  providers: [
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
    { provide: ResponseStore, useValue: {} },
    { provide: EVENT_STORE, useValue: {} },
  ],
})
class PagesOfTwo {}

@Controller('merchants')
class ForgottenController {
  @Get(':id')
  read() {}
}

const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const app of running.splice(0)) await app.close();
});

async function started(...controllers: Type[]) {
  const config = readConfig({ LOG_LEVEL: 'silent', SHUTDOWN_GRACE_MS: '20000' });
  const imports = [configModule(config, CONFIG_PARTS), TelemetryModule, PagesModule, PagesOfTwo];
  class Root {}
  Module({ imports, controllers })(Root);
  const adapter = new EdgeAdapter(config);
  const app = await NestFactory.create(Root, adapter, { logger: false });
  running.push(app);
  await app.init();
  const listeners = app.get(PageListeners);
  const [shop, desk] = [SHOP, DESK].map((page) => listeners.portOf(page)!);
  const at = (port: number, path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, init);
  return { app, adapter, shop: shop!, desk: desk!, at };
}

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

describe('the page listeners', () => {
  it('serve only the routes and the files of their page, and health checks', async () => {
    const { adapter, shop, desk, at } = await started();
    const statuses = async (port: number) =>
      Promise.all(
        ['/shop/goods', '/desk/work', '/onboarding/assets/licenses.txt', '/pay/assets/icon.svg'].map(
          async (path) => (await at(port, path)).status,
        ),
      );
    expect(await statuses(shop)).toEqual([200, 404, 200, 404]);
    expect(await statuses(desk)).toEqual([404, 500, 404, 200]);
    const ofApi = adapter.routes.all.filter(({ listener }) => listener === 'api');
    expect(ofApi).toEqual([]);
    expect((await at(desk, '/health/live')).status).toBe(200);
    expect((await at(desk, '/pay/assets/icon.svg')).headers.get('content-type')).toBe('image/svg+xml');
    const malformed = await at(desk, '/%');
    expect([malformed.status, malformed.headers.get('x-content-type-options')]).toEqual([400, 'nosniff']);
  });

  it('do not open if a route of the API has no guard', () =>
    expect(started(ForgottenController)).rejects.toThrow('ForgottenController.read has no guard'));

  it('accept a JSON object, or bytes below a limit, and read the body only after the guards', async () => {
    const { shop, at } = await started();
    const order = await at(shop, '/shop/orders', json({ a: 1 }));
    expect([order.status, await order.json()]).toEqual([200, { body: { a: 1 } }]);
    const text = { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } };
    expect((await at(shop, '/shop/orders', text)).status).toBe(415);
    expect((await at(shop, '/shop/orders', json([]))).status).toBe(400);
    expect((await at(shop, '/shop/orders', json('x'.repeat(16_384)))).status).toBe(413);
    expect(await (await at(shop, '/shop/open', { method: 'POST', body: '1234567' })).json()).toEqual({
      bytes: 7,
    });
    const large = await at(shop, '/shop/open', { method: 'POST', body: '12345678' });
    expect(await large.json()).toMatchObject({
      status: 413,
      detail: 'The request body must be smaller than 8 bytes',
    });
    const endless = connect(shop, '127.0.0.1');
    endless.write('POST /shop/closed HTTP/1.1\r\nhost: x\r\ncontent-length: 7\r\n\r\n');
    const [response] = (await once(endless, 'data')) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 403 /);
    endless.destroy();
  });

  it('close although a browser keeps an unused connection open', async () => {
    const { app, shop } = await started();
    // It may be sent a 408 before the end.
    const browser = connect(shop, '127.0.0.1').resume();
    await once(browser, 'connect');
    running.pop();
    await app.close();
    await eventually(() => browser.destroyed);
  });

  it('respond with 408 to a request that is sent too slowly', async () => {
    const { shop } = await started();
    const slow = connect(shop, '127.0.0.1');
    slow.write(
      'POST /shop/orders HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{',
    );
    const drip = setInterval(() => slow.write(' '), 100);
    try {
      const [response] = (await once(slow, 'data')) as [Buffer];
      expect(response.toString()).toMatch(/^HTTP\/1\.1 408 /);
    } finally {
      clearInterval(drip);
      slow.destroy();
    }
  });
});
