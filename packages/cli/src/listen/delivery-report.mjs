// The report of a delivery, for people or as a line of JSON.
import { compactJson, isJson, jsonLines, printable } from '../json-text.mjs';
import { bold, cyan, dim, elapsed, green, red, printLine } from '../terminal.mjs';

const MAX_LINES = 400;
const MAX_TEXT = 2000;
const KNOWN_IDS = 10_000;

/** Counts how often each `webhook-id` came, as far as this command knows: `count(id)` from 1. */
export class Attempts {
  seen = new Map();

  count(id) {
    const times = (this.seen.get(id) ?? 0) + 1;
    this.seen.delete(id);
    this.seen.set(id, times);
    if (this.seen.size > KNOWN_IDS) this.seen.delete(this.seen.keys().next().value);
    return times;
  }
}

/** `type` and `occurred_at` of an envelope, null where it has none. */
export function envelopeFacts(text) {
  const read = (value) => (typeof value === 'string' ? value : null);
  try {
    const { type, occurred_at } = JSON.parse(text) ?? {};
    return { type: read(type), occurredAt: read(occurred_at) };
  } catch {
    return { type: null, occurredAt: null };
  }
}

/**
 * One delivery for people.
 * @param arrival `{at: Date, id, attempt, type, occurredAt, reason: null when genuine, text, bytes}`
 * @param reply `{status, error, via: URL it was passed on to or null, tookMs, delayMs: still to wait}`
 */
export function showDelivery(arrival, reply) {
  const { at, id, attempt, type, reason, text, bytes } = arrival;
  const genuine = reason === null;
  const mark = genuine ? green('✓') : red('✗');
  const verdict = genuine ? green('verified') : red('not verified');
  const late = reply.delayMs > 0 ? 'delayed ' : '';
  const again = attempt > 1 ? `  ${bold(`attempt ${attempt}`)}` : '';
  printLine(
    `  ${mark} ${dim(clockTime(at))}  ${bold(printable(type ?? 'unknown type'))}  ${verdict}${again}`,
  );
  if (!genuine) printLine(`    ${red(printable(reason))}`);
  printLine(`    ${dim('id')} ${printable(id ?? 'none')}`);
  printLine(`    ${dim(`${bytes} bytes${age(arrival)}, ${late}response `)}${statusOf(reply)}`);
  if (reply.via !== null) printLine(`    ${passedOn(reply)}`);
  if (genuine && reply.status === 410)
    printLine(`    ${red('410 disables the endpoint: only tests come until it is enabled')}`);
  for (const line of bodyLines(text)) printLine(`    ${line}`);
  printLine();
}

/** One delivery on one line; `body` is JSON as it came, a string when it is no JSON. */
export function deliveryLine({ at, id, attempt, type, reason, text, headers }, { status, error }) {
  const fields = {
    at: at.toISOString(),
    id,
    type,
    attempt,
    verified: reason === null,
    reason,
    status,
    ...(error ? { error } : {}),
    timestamp: headers['webhook-timestamp'] ?? null,
    signature: headers['webhook-signature'] ?? null,
  };
  const body = isJson(text) ? compactJson(text) : JSON.stringify(text);
  return `${JSON.stringify(fields).slice(0, -1)},"body":${body}}\n`;
}

function age({ at, occurredAt, reason }) {
  const after = at.getTime() - Date.parse(occurredAt ?? '');
  return reason === null && after >= 0 ? `, ${elapsed(after)} after it occurred` : '';
}

function statusOf({ status }) {
  return status >= 200 && status < 300 ? green(status) : red(status);
}

function passedOn({ via, error, tookMs }) {
  const heard = error ? red(`does not respond (${error})`) : dim(`responded in ${elapsed(tookMs)}`);
  return `${dim('→')} ${via.href} ${heard}`;
}

function bodyLines(text) {
  if (text === '') return [dim('no body')];
  if (!isJson(text)) return [printable(text.slice(0, MAX_TEXT)) + (text.length > MAX_TEXT ? '…' : '')];
  const lines = jsonLines(text, cyan);
  if (lines.length <= MAX_LINES) return lines;
  return [
    ...lines.slice(0, MAX_LINES),
    dim(`… and ${lines.length - MAX_LINES} more lines: --json shows all`),
  ];
}

function clockTime(at) {
  const two = (part) => String(part).padStart(2, '0');
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  return `${time}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}
