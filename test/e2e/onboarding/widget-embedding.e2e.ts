import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SetEmbedding } from '../../../src/contexts/access/application/merchant-commands.js';
import type { Embedding } from '../../../src/contexts/access/domain/merchant.js';
import { Logger } from '@nestjs/common';
import { eventually } from '../../support/eventually.js';
import { framersOf, TERMS, Widget, type Visitor } from '../../support/onboarding/widget-harness.js';

let widget: Widget;
const embed = (change: Partial<Embedding>) =>
  widget.people.commandBus.execute(new SetEmbedding(widget.merchantId, change));
const framers = async (visitor: Visitor): Promise<string | undefined> => {
  const response = await visitor.page({ method: 'HEAD' });
  expect(response.status).toBe(200);
  return framersOf(response);
};

describe('the page in the sandbox (contract.md 18.7)', () => {
  beforeAll(async () => {
    widget = await Widget.start({ RATE_LIMIT_PER_MINUTE: '10000' });
  });
  afterAll(() => widget?.close());

  it('is displayed in any frame until origins are listed, then in those of exactly these', async () => {
    const visitor = await widget.visitor();
    expect(await framers(visitor)).toBeUndefined();
    await embed({ origins: ['https://shop.example', 'http://localhost:3000', 'https://bücher.example'] });
    const named = 'frame-ancestors http://localhost:3000 https://shop.example https://xn--bcher-kva.example';
    await eventually(async () => (await framers(visitor)) === named);
    await embed({ callbacks: ['shopapp:'] });
    expect(await framers(visitor)).toBe(named);
    await embed({ origins: [], callbacks: [] });
    await eventually(async () => (await framers(visitor)) === undefined);
  });

  it('400: a callback_url that the merchant does not allow, once it allows any', async () => {
    const visitor = await widget.visitor();
    const opened = async (callback: string): Promise<number> =>
      (await visitor.page({ method: 'HEAD' }, { callback_url: callback })).status;
    expect(await opened('https://elsewhere.example/')).toBe(200);
    await embed({ callbacks: ['https://shop.example', 'shopapp:'] });
    await eventually(async () => (await opened('https://elsewhere.example/')) === 400);
    for (const allowed of ['https://shop.example/done', 'shopapp://done'])
      expect(await opened(allowed)).toBe(200);
    for (const refused of [
      'https://shop.example.evil.example',
      'https://shop.example@evil.example',
      'app:',
      'x',
    ])
      expect(await opened(refused)).toBe(400);
    const page = await visitor.page(
      { headers: { accept: 'text/html' } },
      { callback_url: 'otherapp://done' },
    );
    expect(await page.text()).toContain('one that the merchant allows');
    expect(framersOf(page)).toBe("frame-ancestors 'none'");
    const twice = await visitor.page({}, [
      ['callback_url', 'https://shop.example/'],
      ['callback_url', 'https://evil.example/'],
    ]);
    expect(twice.status).toBe(400);
    expect((await visitor.page()).status).toBe(200);
    await embed({ callbacks: [] });
  });
});

describe('the page in production', () => {
  beforeAll(async () => {
    widget = await Widget.start({
      MODE: 'production',
      PUBLIC_URL: 'https://api.example',
      REQUIRE_HTTPS: 'false',
      RATE_LIMIT_PER_MINUTE: '10000',
      ...TERMS,
      CHAIN_RPC_URL: 'http://127.0.0.1:1',
      USDC_ADDRESS: `0x${'1'.repeat(40)}`,
      PAY_URL: 'https://pay.example',
    });
  });
  afterAll(() => widget?.close());

  it('is displayed in no frame until origins are listed, then in those of exactly these', async () => {
    const visitor = await widget.visitor();
    expect(await framers(visitor)).toBe("frame-ancestors 'none'");
    await expect(embed({ origins: ['http://localhost:3000'] })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    await embed({ origins: ['https://shop.example'] });
    await eventually(async () => (await framers(visitor)) === 'frame-ancestors https://shop.example');
  });

  it('that is refused in a frame is logged once per merchant', async () => {
    await embed({ origins: [] });
    const visitor = await widget.visitor();
    await eventually(async () => (await framers(visitor)) === "frame-ancestors 'none'");
    const warn = jest.spyOn(Logger.prototype, 'warn');
    await visitor.page({ headers: { 'sec-fetch-dest': 'document' } });
    expect(warn).not.toHaveBeenCalled();
    for (let i = 0; i < 2; i += 1) await visitor.page({ headers: { 'sec-fetch-dest': 'iframe' } });
    expect(warn.mock.calls).toEqual([
      [
        expect.objectContaining({
          msg: expect.stringContaining('merchant -- embedding'),
          merchant_id: widget.merchantId,
        }),
      ],
    ]);
    warn.mockRestore();
  });

  it('is not displayed in frames of localhost from sandbox settings', async () => {
    const visitor = await widget.visitor();
    await widget.people.database.query(
      `update access.merchants set origins = '{http://localhost:3000, https://shop.example}'`,
    );
    await eventually(async () => (await framers(visitor)) === 'frame-ancestors https://shop.example');
    // The audit at the end would name what no event says.
    await widget.people.database.query(`update access.merchants set origins = '{}'`);
  });
});
