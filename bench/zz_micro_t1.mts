import { randomUUID, createHmac, createHash, hash } from 'node:crypto';
import { isUtf8, isAscii } from 'node:buffer';
import { parse } from 'secure-json-parse';
import { Ajv } from 'ajv';
import { parseJsonBody } from '../src/platform/http/json-body.js';
import { itemsOf } from '../src/tracking/domain/event-batch.js';
const body = (n: number) => Buffer.from(JSON.stringify({ events: Array.from({ length: n }, (_, i) => ({
  event_name: 'Checkout Completed', payload: { amount: '12.50', currency: 'USDC', screen: 'checkout', step: i, items: [{ sku: `sku-${i}`, quantity: 2 }], ok: true },
  event_datetime: new Date(1767225600000 + i * 1000).toISOString(), event_id: randomUUID(), user_external_id: `customer-${i % 97}`, device_id: randomUUID() })) }));
const b = body(1000); console.log('bytes', b.length);
function time(name: string, f: () => unknown, n = 300) { for (let i = 0; i < 100; i++) f(); let best = 1e9; for (let r = 0; r < 7; r++) { const t = process.cpuUsage(); const s = performance.now(); for (let i = 0; i < n/5; i++) f(); const ms = (performance.now() - s) / (n/5); if (ms < best) best = ms; } console.log(name.padEnd(30), best.toFixed(3), 'ms'); }
const text = b.toString();
const dec = new TextDecoder('utf-8', { fatal: true });
time('isUtf8', () => isUtf8(b)); time('isAscii', () => isAscii(b));
time('TextDecoder', () => dec.decode(b)); time('toString utf8', () => b.toString('utf8')); time('latin1Slice', () => b.latin1Slice());
time('hmac', () => createHmac('sha256', 'key').update('x').update(b).digest()); time('sha256', () => createHash('sha256').update(b).digest('base64url'));
time('JSON.parse', () => JSON.parse(text)); const l1 = b.latin1Slice(); time('JSON.parse latin1', () => JSON.parse(l1));
time('decode latin1+parse', () => JSON.parse(b.latin1Slice()));
time('secure parse', () => parse(text));
time('includes x3', () => l1.includes('__proto__') || l1.includes('constructor') || l1.includes('\\u'));
time('parseJsonBody', () => parseJsonBody(b));
const parsed = JSON.parse(text);
time('hand check', () => itemsOf(parsed));
const ajv = new Ajv({ allErrors: false });
ajv.addFormat('ev', { type: 'string', validate: (s: string) => /^\d{4}/.test(s) });
const str = { type: 'string', minLength: 1, maxLength: 255, pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]*$' };
const v = ajv.compile({ type: 'object', required: ['events'], properties: { events: { type: 'array', minItems: 1, maxItems: 1000, items: { type: 'object', required: ['event_name', 'payload', 'event_datetime', 'event_id', 'user_external_id'], properties: { event_name: str, user_external_id: str, device_id: { ...str, nullable: true }, payload: { type: 'object' }, event_id: { type: 'string', pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$' }, event_datetime: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2})?$' } } } } } });
console.log(v(parsed), v.errors);
time('ajv', () => v(parsed));
time('whole now', () => itemsOf(parseJsonBody(b)));
time('bare', () => itemsOf(JSON.parse(b.toString())));
const s2 = body(100), s3 = body(10);
time('whole 100', () => itemsOf(parseJsonBody(s2))); time('whole 10', () => itemsOf(parseJsonBody(s3)));
