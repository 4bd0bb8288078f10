import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  ReinstateMerchant,
  SuspendMerchant,
} from '../../../src/contexts/access/merchants/merchants.commands.js';
import { createMerchant } from '../../../sandbox/issuing.js';
import type { OnboardingFacts } from '../../../src/contexts/onboarding/widget/onboarding.dto.js';
import { SandboxSms } from '../../../src/contexts/onboarding/providers/sandbox-providers.adapter.js';
import { MESSAGES } from '../../../src/contexts/onboarding/words/messages.js';
import { Log } from '../../../src/platform/telemetry/logger.js';
import { eventually } from '../../support/eventually.js';
import { factsIn } from '../../support/onboarding/people.js';
import { specFolder } from '../../support/run-folder.js';
import { framersOf, TERMS, Widget, type Visitor } from '../../support/onboarding/widget-harness.js';

const STEPS = ['code', 'phone', 'details', 'identity', 'state', 'inbox'];
const ONE_KIB = 1024;
const HTML = { accept: 'text/html' };

const inLanguage = (visitor: Visitor, language: string) =>
  visitor.page({ headers: { ...HTML, 'accept-language': language } });
let unreachable: string | null = null;
class UnreachableSms extends SandboxSms {
  override async send(phone: string, message: { readonly code: string }): Promise<void> {
    if (phone === unreachable) throw new Error(`no route to ${phone} for "${message.code} is your code"`);
    await super.send(phone, message);
  }
}

const logFile = join(specFolder('widget-log'), 'service.log');
const log = { LOG_LEVEL: 'info', LOG_FILE: logFile };
const env = { ...log, RATE_LIMIT_PER_MINUTE: '10000', ONBOARDING_MINIMUM_AGE: '21', ...TERMS };
const widget = await Widget.start(env, (builder) =>
  builder.overrideProvider(SandboxSms).useClass(UnreachableSms),
);

describe('the document of the onboarding page (contract.md 18.7 and 18.9)', () => {
  afterAll(() => widget.close());

  it('starts no onboarding when it is opened, only at the first request for a code', async () => {
    const visitor = await widget.visitor();
    expect((await visitor.page()).status).toBe(200);
    expect((await visitor.page({ method: 'HEAD' })).status).toBe(200);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect((await visitor.page({ method })).status).toBe(404);
    for (const name of STEPS.slice(1, 5)) expect((await visitor.step(name)).status).not.toBe(200);
    expect((await visitor.step('code', { phone_number: '+15559999999' })).status).toBe(422);
    expect(await widget.eventsOf(visitor)).toEqual([]);
    expect((await visitor.step('code', { phone_number: visitor.phone })).status).toBe(200);
    expect((await visitor.step('code', { phone_number: visitor.phone })).status).toBe(409);
    expect((await visitor.page()).status).toBe(200);
    expect(await widget.eventsOf(visitor)).toEqual(['onboarding.started.v1']);
  });

  it('403: is not served for a suspended merchant, and no code is sent', async () => {
    const visitor = await widget.visitor();
    await widget.people.commandBus.execute(new SuspendMerchant(widget.merchantId));
    await eventually(async () => (await visitor.page()).status === 403);
    const html = await (await visitor.page({ headers: { accept: 'text/html' } })).text();
    expect(html).not.toContain(visitor.phone);
    expect((await visitor.page({ method: 'HEAD' })).status).toBe(403);
    for (const name of STEPS) {
      const response = await visitor.step(name, { phone_number: visitor.phone, code: '000000' });
      expect([name, response.status, await response.json()]).toEqual([
        name,
        403,
        expect.objectContaining({ detail: 'The merchant is suspended' }),
      ]);
    }
    expect(await widget.codesOf(visitor)).toBe(0);
    expect(await widget.eventsOf(visitor)).toEqual([]);
    await widget.people.commandBus.execute(new ReinstateMerchant(widget.merchantId));
    await eventually(async () => (await visitor.page()).status === 200);
  });

  it('cannot be framed if it is a refusal', async () => {
    const visitor = await widget.visitor();
    const refused = [
      await fetch(`${widget.url}/onboarding`, { headers: { accept: 'text/html' } }),
      await fetch(`${widget.url}/elsewhere`, { headers: { accept: 'text/html' } }),
      await fetch(`${widget.url}/onboarding`),
      await fetch(`${widget.url}/%`),
      await visitor.step('phone'),
      await visitor.step('nonsense'),
    ];
    for (const response of refused) {
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(framersOf(response)).toBe("frame-ancestors 'none'");
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('400: refuses a callback_url outside the list of the merchant, unless the list is empty', async () => {
    const visitor = await widget.visitor();
    const opened = async (callback: string): Promise<number> =>
      (await visitor.page({ method: 'HEAD' }, { callback_url: callback })).status;
    expect(await opened('https://elsewhere.example/')).toBe(200);
    await widget.embed({ callbacks: ['https://shop.example', 'shopapp:'] });
    await eventually(async () => (await opened('https://elsewhere.example/')) === 400);
    expect(await opened('shopapp://done')).toBe(200);
    const page = await visitor.page({ headers: HTML }, { callback_url: 'otherapp://done' });
    expect(await page.text()).toContain('one that the merchant allows');
    expect(framersOf(page)).toBe("frame-ancestors 'none'");
    const twice = await visitor.page({}, [
      ['callback_url', 'https://shop.example/'],
      ['callback_url', 'https://evil.example/'],
    ]);
    expect(twice.status).toBe(400);
    expect((await visitor.page()).status).toBe(200);
    await widget.embed({ callbacks: [] });
  });

  it('loads only its own files, requests only the camera and is not cached', async () => {
    const response = await (await widget.visitor()).page();
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src blob:; base-uri 'none'; form-action 'none'",
    );
    expect(response.headers.get('permissions-policy')).toBe(
      'camera=(self), microphone=(self), geolocation=(), payment=()',
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('vary')).toBe('accept-language');
    expect(response.headers.get('set-cookie')).toBeNull();
    const html = await response.text();
    expect(html).not.toMatch(/<script>|<style|style="|\son\w+=/);
    const [icon, ...files] = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!);
    expect(icon).toBe('/onboarding/assets/icon.svg');
    expect((await fetch(`${widget.url}${icon}`)).headers.get('content-type')).toBe('image/svg+xml');
    expect(files).toEqual([
      expect.stringMatching(/^\/onboarding\/assets\/style-[0-9a-f]{16}\.css$/),
      expect.stringMatching(/^\/onboarding\/assets\/script-[0-9a-f]{16}\.js$/),
    ]);
    for (const path of files) {
      const file = await fetch(`${widget.url}${path}`);
      expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(file.headers.get('content-encoding')).toBe('gzip');
      const text = await file.text();
      expect(gzipSync(text).length).toBeLessThan(80 * ONE_KIB);
      const plain = await fetch(`${widget.url}${path}`, { headers: { 'accept-encoding': 'identity' } });
      expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, text]);
    }
    for (const path of [
      '/onboarding/assets/',
      '/onboarding/assets/..%2fpay%2flicenses.txt',
      '/onboarding/assets/x.js',
    ])
      expect((await fetch(`${widget.url}${path}`)).status).toBe(404);
    expect(await (await fetch(`${widget.url}/onboarding/assets/licenses.txt`)).text()).toContain('preact');
  });

  it('contains all data of the page in the language of the browser', async () => {
    const visitor = await widget.visitor();
    for (const [requested, locale] of [
      ['fr', 'en'],
      ['en;q=0.3, es', 'es'],
    ] as const) {
      const response = await inLanguage(visitor, requested);
      expect(await response.clone().text()).toContain(`<html lang="${locale}">`);
      expect(await factsIn<OnboardingFacts>(response)).toEqual({
        steps: `/onboarding/${widget.merchantId}/${visitor.userId}`,
        userId: visitor.userId,
        merchantName: 'Shop',
        phoneNumber: visitor.phone,
        email: null,
        callbackUrl: null,
        framers: null,
        codeEverySeconds: 30,
        minimumAge: 21,
        identityProvider: 'sandbox',
        imageDays: 7,
        consent: {
          terms: { version: TERMS.ONBOARDING_TERMS_VERSION, url: TERMS.ONBOARDING_TERMS_URL },
          privacy: { version: TERMS.ONBOARDING_PRIVACY_VERSION, url: TERMS.ONBOARDING_PRIVACY_URL },
        },
        today: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        sandbox: { rejected: 'Rejected', review: 'Review', cardFails: 'Cardless' },
        locale,
        messages: MESSAGES[locale],
      });
    }
  });

  it('contains the name of the merchant and the callback_url as text, never as HTML', async () => {
    const visitor = await widget.visitor();
    const name = `"></main><script>alert(1)</script>'&amp;`;
    const origins = ['https://shop.example'];
    await widget.embed({ display_name: name, origins });
    const callback = 'https://shop.example/?a="><script>alert(2)</script>';
    const facts = await eventually(async () => {
      const response = await visitor.page({}, { callback_url: callback });
      expect(await response.clone().text()).not.toContain('<script>');
      const found = await factsIn<OnboardingFacts>(response);
      return found.merchantName === name ? found : null;
    });
    expect(facts).toMatchObject({ framers: origins, callbackUrl: new URL(callback).href });
  });

  it('404: an unknown merchant or user gets a page in a browser, and problem details in other clients', async () => {
    const { userId } = await widget.visitor();
    const other = await createMerchant(widget.people.commandBus, 'Other shop');
    for (const query of [
      { merchant_id: other.merchantId, user_id: userId },
      { merchant_id: widget.merchantId, user_id: randomUUID() },
      { merchant_id: widget.merchantId, user_id: '\'"><script>alert(1)</script>' },
    ]) {
      const url = `${widget.url}/onboarding?${new URLSearchParams(query).toString()}`;
      const page = await fetch(url, { headers: HTML });
      expect([page.status, await page.text()]).toEqual([
        404,
        expect.stringContaining('This link does not work'),
      ]);
      const response = await fetch(url);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(await response.json()).toMatchObject({ status: 404, detail: 'User not found' });
    }
  });

  it('is in the language of the browser for a refusal too', async () => {
    const headers = { ...HTML, 'accept-language': 'es' };
    const lost = await fetch(`${widget.url}/onboarding?merchant_id=x&user_id=y`, { headers });
    expect(await lost.text()).toMatch(new RegExp(`<html lang="es">[^]*${MESSAGES.es.refusedLink}`));
  });

  const logged = (): string => {
    widget.people.module.get(Log, { strict: false }).flush();
    return readFileSync(logFile, 'utf8');
  };
  const linesOf = (response: Response): Promise<Record<string, unknown>[]> =>
    eventually(() => {
      const id = response.headers.get('request-id')!;
      const lines = logged()
        .split('\n')
        .filter((line) => line.includes(id) && line.endsWith('}'));
      return lines.length > 0 && lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    });

  it('is logged as one line per request, without personal data', async () => {
    const visitor = await widget.visitor();
    for (const [response, method, route, status] of [
      [await visitor.page(), 'GET', '/onboarding', 200],
      [
        await visitor.step('phone', { phone_number: visitor.phone, code: '135790' }),
        'POST',
        '/onboarding/:merchantId/:userId/phone',
        422,
      ],
      [await fetch(`${widget.url}/elsewhere?email=ada@example.com`), 'GET', 'unknown', 404],
    ] as const) {
      const [line, ...more] = await linesOf(response);
      expect(more).toEqual([]);
      expect(line).toMatchObject({ msg: 'request', level: 'info', method, route, status });
      expect(line!['duration_ms']).toBeGreaterThan(0);
    }
    for (const personal of [visitor.phone.slice(1), 'ada@example.com', '135790'])
      expect(logged()).not.toContain(personal);
  });

  it('503: reports a code that could not be sent, and neither returns nor logs the error', async () => {
    const visitor = await widget.visitor();
    unreachable = visitor.phone;
    const response = await visitor.step('code', { phone_number: visitor.phone });
    expect([response.status, await response.text()]).toEqual([503, expect.not.stringContaining('no route')]);
    expect(JSON.stringify(await linesOf(response))).not.toMatch(/no route|is your code/);
  });
});
