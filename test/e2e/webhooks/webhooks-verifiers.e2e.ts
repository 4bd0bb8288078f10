import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHmac, randomBytes } from 'node:crypto';
import { newId } from '../../../src/kernel/ids.js';
import { RequestTestDelivery } from '../../../src/contexts/webhooks/application/delivery-commands.js';
import { RotateSigningSecret } from '../../../src/contexts/webhooks/application/endpoint-commands.js';
import { dropTestDatabase, testDatabaseUrl } from '../../support/postgres.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import {
  byClient,
  byPackage,
  byPython,
  type Message,
  type Verifier,
} from '../../support/webhooks/webhook-verifiers.js';
import { WebhookWorker } from '../../support/webhooks/webhook-worker.js';

/** Metadata whose bytes are lost when it is parsed and written again. */
const METADATA = [
  '{ "a":1.0}',
  '{"name":"Zoë 😀 \\u00e9 \\ud800 \u2028\u202e","emoji":"👩‍👩‍👧‍👦"}',
  '{"big":12345678901234567890.10,"e":1E400,"__proto__":{"x":[[[[[{}]]]]]},"a":1,"a":2}',
  '{\n\t"text" : "line\\nbreak \\"quoted\\" \\u0000 </script>" \r\n}',
];

const python = byPython();
const verifiers: readonly Verifier[] = [byPackage, byClient, ...(python === null ? [] : [python])];
const verdicts = (message: Message): Promise<boolean[]> =>
  Promise.all(verifiers.map((each) => each.accepts(message)));
const all = (accepted: boolean): boolean[] => verifiers.map(() => accepted);

afterAll(() => verifiers.forEach((each) => each.stop()));

const header = (secret: string, { headers, body }: Message, version = 'v1'): string => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const digest = createHmac('sha256', key)
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body);
  return `${version},${digest.digest('base64')}`;
};
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
const with_ = (message: Message, headers: Message['headers']): Message => ({
  ...message,
  headers: { ...message.headers, ...headers },
});
/** The same message as if it had been signed at another time, by the same secret. */
const signedAt = (message: Message, timestamp: string): Message => {
  const moved = with_(message, { 'webhook-timestamp': timestamp });
  return with_(moved, { 'webhook-signature': header(moved.secrets[0]!, moved) });
};
const signatureOf = ({ headers }: Message): string => headers['webhook-signature']!;

type Change = (message: Message) => Message;
const ACCEPTED: Readonly<Record<string, Change>> = {
  'as it came': (message) => message,
  'verified 300 s later': (message) => ({
    ...message,
    now: Number(message.headers['webhook-timestamp']) + 300,
  }),
  'verified 300 s earlier': (message) => ({
    ...message,
    now: Number(message.headers['webhook-timestamp']) - 300,
  }),
  'other entries before and after': (message) =>
    with_(message, {
      'webhook-signature': `v1a,x v2,${'A'.repeat(43)}= v1,${'A'.repeat(43)}= ${signatureOf(message)} v1,x`,
    }),
  'an old and a new secret have signed, the receiver has the old one': (message) =>
    with_(message, { 'webhook-signature': `${header(newSecret(), message)} ${signatureOf(message)}` }),
  'an old and a new secret have signed, the receiver has the new one': (message) =>
    with_(message, { 'webhook-signature': `${signatureOf(message)} ${header(newSecret(), message)}` }),
  'the receiver has two secrets': (message) => ({ ...message, secrets: [newSecret(), ...message.secrets] }),
  'more headers': (message) => with_(message, { 'webhook-signature-2': 'v1,x', via: '1.1 proxy' }),
};

const REFUSED: Readonly<Record<string, Change>> = {
  'a byte of the body changed': (message) => {
    const body = Buffer.from(message.body);
    body[body.length - 3]! ^= 1;
    return { ...message, body };
  },
  'a space after the body': (message) => ({
    ...message,
    body: Buffer.concat([message.body, Buffer.from(' ')]),
  }),
  'the body cut': (message) => ({ ...message, body: message.body.subarray(0, -1) }),
  'no body': (message) => ({ ...message, body: Buffer.alloc(0) }),
  'another id': (message) => with_(message, { 'webhook-id': newId() }),
  'the timestamp moved by a second': (message) =>
    with_(message, { 'webhook-timestamp': String(Number(message.headers['webhook-timestamp']) - 1) }),
  'signed 301 s ago': (message) => signedAt(message, String(message.now - 301)),
  'signed 301 s ahead': (message) => signedAt(message, String(message.now + 301)),
  'signed in milliseconds': (message) => signedAt(message, String(message.now * 1000)),
  'a timestamp that is a word': (message) => signedAt(message, 'now'),
  'a negative timestamp': (message) => signedAt(message, `-${message.now}`),
  'no id': (message) => with_(message, { 'webhook-id': undefined }),
  'no timestamp': (message) => with_(message, { 'webhook-timestamp': undefined }),
  'no signature': (message) => with_(message, { 'webhook-signature': undefined }),
  'an empty id': (message) => with_(message, { 'webhook-id': '' }),
  'an empty timestamp': (message) => with_(message, { 'webhook-timestamp': '' }),
  'an empty signature': (message) => with_(message, { 'webhook-signature': '' }),
  'another secret': (message) => ({ ...message, secrets: [newSecret()] }),
  'the entry of another secret': (message) =>
    with_(message, { 'webhook-signature': header(newSecret(), message) }),
  'version v2': (message) =>
    with_(message, { 'webhook-signature': header(message.secrets[0]!, message, 'v2') }),
  'version v1a': (message) =>
    with_(message, { 'webhook-signature': header(message.secrets[0]!, message, 'v1a') }),
  'version V1': (message) =>
    with_(message, { 'webhook-signature': header(message.secrets[0]!, message, 'V1') }),
  'no version': (message) => with_(message, { 'webhook-signature': signatureOf(message).slice(3) }),
  'a version alone': (message) => with_(message, { 'webhook-signature': 'v1' }),
  'an empty v1 entry': (message) => with_(message, { 'webhook-signature': 'v1,' }),
  'a digest cut short': (message) =>
    with_(message, { 'webhook-signature': signatureOf(message).slice(0, 20) }),
  'a digest without padding': (message) =>
    with_(message, { 'webhook-signature': signatureOf(message).replace('=', '') }),
  'a digest with a longer end': (message) =>
    with_(message, { 'webhook-signature': `${signatureOf(message)}=` }),
  'a digest in hexadecimal': (message) => {
    const digest = Buffer.from(signatureOf(message).slice(3), 'base64').toString('hex');
    return with_(message, { 'webhook-signature': `v1,${digest}` });
  },
  'only entries that do not fit': (message) =>
    with_(message, {
      'webhook-signature': [newSecret(), newSecret()].map((each) => header(each, message)).join(' '),
    }),
};

describe('deliveries of the service', () => {
  let databaseUrl: string;
  let worker: WebhookWorker;
  let receiver: TestReceiver;
  let messages: Message[];

  beforeAll(async () => {
    databaseUrl = await testDatabaseUrl();
    [worker, receiver] = await Promise.all([WebhookWorker.start({ databaseUrl }), TestReceiver.start()]);
    const merchantId = newId();
    const { id, signing_secret } = await worker.register(merchantId, receiver.url);
    await worker.execute(new RequestTestDelivery(worker.caller(merchantId), id));
    for (const metadata of METADATA) await worker.publish(merchantId, 1, metadata);
    await worker.settled(id, 1 + METADATA.length);
    messages = receiver.received.map(({ headers, body }) => ({
      secrets: [signing_secret],
      headers: headers as Record<string, string>,
      body: Buffer.from(body),
      now: Math.floor(Date.now() / 1000),
    }));
  });
  afterAll(async () => {
    await worker.close();
    await receiver.stop();
    await dropTestDatabase(databaseUrl);
  });

  it('carry the metadata byte for byte', () => {
    const bodies = messages.map(({ body }) => body.toString());
    for (const metadata of METADATA)
      expect(bodies).toContainEqual(expect.stringContaining(`"custom_metadata":${metadata}}}`));
    expect(bodies).toContainEqual(expect.stringContaining('"webhook_endpoint.test"'));
  });

  it.each(Object.keys(ACCEPTED))('are accepted by every verifier: %s', async (name) => {
    for (const message of messages) expect(await verdicts(ACCEPTED[name]!(message))).toEqual(all(true));
  });

  it.each(Object.keys(REFUSED))('are refused by every verifier: %s', async (name) => {
    for (const message of messages) expect(await verdicts(REFUSED[name]!(message))).toEqual(all(false));
  });

  it('are accepted under either secret while one replaces another, and under no third', async () => {
    const merchant = newId();
    const replaced = await TestReceiver.start();
    const { id, signing_secret: old } = await worker.register(merchant, replaced.url);
    const { body } = await worker.execute(new RotateSigningSecret(worker.caller(merchant), id, 3600));
    const fresh = (JSON.parse(body) as { webhook_endpoint: { signing_secret: string } }).webhook_endpoint;
    await worker.execute(new RequestTestDelivery(worker.caller(merchant), id));
    await worker.publish(merchant, 1, METADATA[1]);
    await worker.settled(id, 2);
    const now = Math.floor(Date.now() / 1000);
    for (const { headers, body: sent } of replaced.received) {
      const message = { headers: headers as Record<string, string>, body: Buffer.from(sent), now };
      expect(signatureOf({ ...message, secrets: [] })).toMatch(/^v1,\S+ v1,\S+$/);
      const under = (secret: string): Promise<boolean[]> => verdicts({ ...message, secrets: [secret] });
      expect(await under(old)).toEqual(all(true));
      expect(await under(fresh.signing_secret)).toEqual(all(true));
      expect(await under(newSecret())).toEqual(all(false));
    }
    await replaced.stop();
  });
});

describe('the vectors that Standard Webhooks publishes', () => {
  const VECTOR: Message = {
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: Buffer.from('{"test": 2432232314}'),
    now: 1614265330,
  };
  const WRONG = 'Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';
  const signature = signatureOf(VECTOR);
  const signed = (value: string): Message => with_(VECTOR, { 'webhook-signature': value });

  it.each<[string, boolean, Message]>([
    ['the signature of the specification', true, VECTOR],
    ['a secret without its prefix', true, { ...VECTOR, secrets: ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] }],
    ['several signatures', true, signed(`v1,${WRONG} v2,${WRONG} ${signature} v1,${WRONG}`)],
    ['no signature that fits', false, signed(`v1,${WRONG} v2,${WRONG}`)],
    ['an invalid signature', false, signed('v1,dawfeoifkpqwoekfpqoekf')],
    ['a part of the signature', false, signed(signature.slice(0, 8))],
    ['an empty signature', false, signed('v1,')],
    ['an old timestamp', false, { ...VECTOR, now: VECTOR.now + 301 }],
    ['a timestamp of the future', false, { ...VECTOR, now: VECTOR.now - 301 }],
    ['an invalid timestamp', false, with_(VECTOR, { 'webhook-timestamp': 'hello' })],
  ])('have the same verdict: %s', async (_name, accepted, message) => {
    expect(await verdicts(message)).toEqual(all(accepted));
  });
});
