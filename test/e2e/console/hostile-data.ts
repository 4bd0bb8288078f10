import { randomInt, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { eventually } from '../../support/eventually.js';
import type { ApiResponse } from '../../support/http/signed-client.js';
import { ADDRESS } from '../../support/exchange/exchange-orders.js';
import { pageUrl } from '../../support/onboarding/people.js';
import { DETAILS, visitorAt } from '../../support/onboarding/widget-harness.js';
import { randomHash } from '../../support/payouts/payout-calls.js';
import { eventItem } from '../../support/tracking/event-batches.js';
import type { PagesService } from '../../support/pages/pages-service.js';

const AT_ONCE = 8;
const ENDPOINTS = 10;
/** Each text takes three requests with one key of the admin API. */
const TEXTS_PER_KEY = 150;
/** One user in so many enters a name at the onboarding page. */
const NAMED = 5;
export const VICTIM = 'hostile customer';

/** Ids of the resources with hostile texts, by the number of the text. */
export interface HostileData {
  readonly users: readonly string[];
  readonly merchants: readonly string[];
  readonly payouts: readonly string[];
  readonly orders: readonly string[];
  readonly deliveries: readonly string[];
  readonly requests: readonly string[];
}

/** Writes each text into each field that a merchant, a user or a receiver controls, through the APIs. */
export async function writeHostile(service: PagesService, texts: readonly string[]): Promise<HostileData> {
  const { app, admin, receiver } = service;
  const { merchant } = app;
  const id = (response: ApiResponse, name: string, status = 201): string => {
    if (response.status !== status) throw new Error(`${response.status} ${response.text}`);
    return response.json<Record<string, { id: string }>>()[name]!.id;
  };
  const users = await each(texts, async (text, number) => {
    const phone_number = `+1415${String(randomInt(2_000_000, 10_000_000))}`;
    const external_id = `${text.slice(0, 240)}${randomInt(1e9)}`.trim();
    const user = id(await merchant.post('/merchants/v1/users', { phone_number, external_id }), 'user');
    if (number % NAMED === 0) {
      const visitor = visitorAt(pageUrl(app.app), merchant.credentials.apiKey, user, phone_number);
      const name = text.replace(/\P{L}*$/u, '').slice(0, 100);
      await visitor.step(
        'details',
        { ...DETAILS, first_name: name, last_name: name },
        await visitor.signIn(),
      );
    }
    return user;
  });
  const payouts = await each(texts, async (text, number) =>
    id(
      await merchant.post('/merchants/v1/payouts/report', {
        user_id: users[number],
        payout: {
          amount: '1',
          transaction_hash: randomHash(),
          custom_metadata: { [text.slice(0, 40)]: text },
        },
      }),
      'payout',
    ),
  );
  // A key has 600 requests a minute.
  const keys = Math.ceil(texts.length / TEXTS_PER_KEY);
  const admins = await Promise.all(Array.from({ length: keys }, () => app.newAdmin()));
  const merchants = await each(texts, async (text, number) => {
    const admin = admins[Math.floor(number / TEXTS_PER_KEY)]!;
    // The service refuses bidirectional characters in texts of operators.
    const written = text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '');
    const body = { name: written, reason: written, ticket: written };
    const created = id(await admin.post('/merchants', body), 'merchant');
    const changed = await admin.change(`/merchants/${created}`, '', {
      embedding: { origins: [], callbacks: [], display_name: written },
      reason: written,
    });
    if (changed.status !== 200) throw new Error(changed.text);
    return created;
  });
  const orders = await each(texts, async (text) => {
    const query = { user_id: text, withdraw_address_tag: text, withdraw_address_memo: text };
    const ordered = await app.exchange.open.order({
      pair_id: 'USDCSOL',
      withdraw_address: ADDRESS,
      ...query,
    });
    return id(ordered, 'order');
  });
  // The refusal names the parameter.
  const requests = await each(texts, async (text) => {
    const { headers } = await merchant.get(`/merchants/v1/payouts?${encodeURIComponent(text)}=1`);
    return headers['request-id']!;
  });
  const events = texts.map((text) =>
    eventItem({
      event_name: text,
      device_id: text.slice(0, 250),
      payload: { [text]: text },
      user_external_id: VICTIM,
      event_datetime: new Date().toISOString(),
    }),
  );
  for (let n = 0; n < events.length; n += 100) {
    const batch = { events: events.slice(n, n + 100) };
    const accepted = await merchant.post('/merchants/v1/events', batch, randomUUID());
    if (accepted.status !== 202) throw new Error(accepted.text);
  }
  const endpoints = await each(texts.slice(0, ENDPOINTS), async (text, number) =>
    id(
      await merchant.post('/merchants/v1/webhook_endpoints', {
        webhook_endpoint: {
          url: `${receiver.url}/${number}?${text.replace(/[^!-~]/gu, '')}`,
          description: text,
          event_types: ['payout.received'],
        },
      }),
      'webhook_endpoint',
    ),
  );
  const deliveries = await deliver(service, endpoints[0]!, texts);
  await eventually(async () => {
    const found = await admin.get(`/requests?request_id=${requests.at(-1)!}`);
    return found.json<{ requests: object[] }>().requests.length > 0;
  });
  return { users, merchants, payouts, orders, deliveries, requests };
}

/** Returns ids of deliveries to which a receiver responded with the texts. */
async function deliver(
  { app: { merchant }, receiver }: PagesService,
  endpoint: string,
  texts: readonly string[],
): Promise<readonly string[]> {
  const bodies = new Map<string, string>();
  receiver.behavior = (response: ServerResponse, { headers, body }) => {
    const id = String(headers['webhook-id']);
    if (!body.includes('webhook_endpoint.test')) return response.writeHead(204).end();
    if (!bodies.has(id)) bodies.set(id, texts[bodies.size % texts.length]!);
    return response.writeHead(400, { 'content-type': 'text/html' }).end(bodies.get(id));
  };
  await each(texts, async () => {
    const sent = await merchant.post(`/merchants/v1/webhook_endpoints/${endpoint}/test_delivery`);
    if (sent.status !== 202) throw new Error(`${sent.status} ${sent.text}`);
  });
  await eventually(() => bodies.size === texts.length);
  return [...bodies.entries()].sort(([, a], [, b]) => texts.indexOf(a) - texts.indexOf(b)).map(([id]) => id);
}

/** Runs a few items at a time, in order. */
async function each<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let n = 0; n < items.length; n += AT_ONCE) {
    const some = items.slice(n, n + AT_ONCE).map((item, index) => work(item, n + index));
    results.push(...(await Promise.all(some)));
  }
  return results;
}

/** Texts that would run `code` as markup, an address, a template or a script. */
const SHAPES: readonly ((code: string) => string)[] = [
  (code) => `<script>${code}</script>`,
  (code) => `<img src=x onerror=${code}>`,
  (code) => `"><img src=x onerror="${code}">`,
  (code) => `</textarea></title></style><script>${code}</script>`,
  (code) => `<a href="javascript:${code}" autofocus>open</a>`,
  (code) => `JaVaScRiPt://%0a${code}`,
  (code) => `data:text/html,<script>opener.${code}</script>`,
  (code) => `" autofocus onfocus="${code}`,
  (code) => `\` onerror=${code} \``,
  (code) => `{{constructor.constructor('${code}')()}}`,
  (code) => `');${code};('`,
  (code) => `\\u0022;${code}//`,
  (code) => `<details open ontoggle=${code}>`,
  (code) => `<form action="javascript:${code}"><button>press`,
  (code) => `<base href="javascript:${code}//"><link rel=import href=/>`,
  (code) => `<style>@import "javascript:${code}";*{background:url(//evil.example/)}</style>`,
  (code) => `--><!--><script>${code}</script><!--`,
  (code) => `\u202e>tpircs/<${code}>tpircs<\u202c\u2066\u200f`,
  (code) => `\uff1cscript\uff1e${code}\uff1c/script\uff1e`,
  (code) => `__proto__ constructor null undefined NaN [object Object] ${code}`,
  (code) => `${'\u0f00\u0300\u0301'.repeat(20)}${code}${'W'.repeat(60)}`,
];

/** Disguises of a text against filters. */
const DISGUISES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) =>
    text.replaceAll(/<(\/?)(\w+)/g, (_, slash: string, name: string) => `<${slash}${name.toUpperCase()}`),
  (text) => text.replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  (text) => text.replaceAll('script', 'scr\u200bipt'),
  (text) => `"'>${text}`,
  (text) => `${text}<!-- '"\``,
];

/** The part of a text that a page has to display. */
export const markOf = (number: number): string => `hostile${number}e`;

/** Returns constant texts of at most 255 printable characters that run `ran.push(number)` if they can. */
export function hostileTexts(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => {
    const shape = SHAPES[number % SHAPES.length]!;
    const disguise = DISGUISES[Math.floor(number / SHAPES.length) % DISGUISES.length]!;
    const code = `globalThis.ran=[globalThis.ran,${number}]`;
    const text = `${markOf(number)} ${disguise(shape(code))}`;
    const cut = [...text].slice(0, 255).join('');
    // Half of a surrogate pair would be refused.
    return cut.replace(/\p{Cs}$/u, '').trim();
  });
}
