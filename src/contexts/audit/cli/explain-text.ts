import type { Cause, Explanation, Row, ToldEvent } from '../application/explain/explanation.js';
import type { ExplainedBalance } from '../application/explain/explain-balance.js';
import { actorInWords, bareName } from '../domain/words.js';
import { columns, time } from './text.js';

/** For a person, at 2 a.m.: the figure, what happened, what backs it, and why. */
export function explanationText(explanation: Explanation): string {
  const { what, figure, events, sections } = explanation;
  return [
    what,
    ...rows(figure),
    '',
    'what happened (UTC)',
    ...(events.length === 0
      ? ['  nothing that the log tells']
      : events.flatMap((event) => eventLines(event, explanation))),
    ...sections.flatMap(({ title, rows: all }) => ['', title, ...rows(all)]),
    ...why(explanation),
  ].join('\n');
}

/** One line per event, with what the balance was after it. */
export function balanceText(explanation: ExplainedBalance): string {
  const { what, figure, events, after } = explanation;
  const head = ['time (UTC)', 'position', 'event', 'payout', 'pending', 'confirmed', 'caused by'];
  const lines = events.map((event, place) => [
    ...[time(event.recorded_at), event.position, bareName(event.type), event.stream.replace('payout-', '')],
    ...[after[place]!.pending, after[place]!.confirmed, shortCause(event.cause)],
  ]);
  return [
    what,
    ...rows(figure),
    '',
    ...(lines.length === 0 ? ['no payouts'] : columns([head, ...lines], [1, 4, 5])),
    ...(lines.length === 0 ? [] : ['', 'audit -- explain payout ID shows what backs each figure']),
  ].join('\n');
}

function eventLines(event: ToldEvent, { merchants }: Explanation): string[] {
  const { position, recorded_at: at, type, says, cause } = event;
  const by = causeLines(cause, merchants);
  return [
    `  ${time(at)}  position ${position}  ${bareName(type)}`,
    ...says.map((line) => `    ${printable(line)}`),
    ...by.map((line) => `    ${line}`),
  ];
}

function causeLines(cause: Cause, merchants: Explanation['merchants']): string[] {
  const { actor, request_id: request, causation_id: id, causing_position: position, traceparent } = cause;
  const from =
    id === null ? '' : position === null ? `, because of ${id}` : `, because of position ${position}`;
  const merchant = cause.merchant_id === null ? '' : `merchant ${named(cause.merchant_id, merchants)}`;
  const key = cause.key_id === null ? '' : `key ${cause.key_id}`;
  const asked = [request === null ? '' : `request ${request}`, merchant, key].filter((each) => each !== '');
  return [
    `by ${actorInWords(actor)}${from}`,
    ...(asked.length === 0 || request === null ? [] : [`   ${asked.join(', ')}`]),
    ...(traceparent === null ? [] : [`   traceparent ${traceparent}`]),
  ];
}

function shortCause({ actor, request_id: request, causing_position: position }: Cause): string {
  if (request !== null) return `${actor}, ${request}`;
  const from = position === null ? '' : `, because of ${position}`;
  return `${actor}${from}`;
}

/** From the last event back to the merchant's call. */
function why({ chain, events, merchants }: Explanation): string[] {
  const links = chain.flatMap((position) => events.filter((event) => event.position === position));
  if (links.length === 0) return [];
  const lines = links.map(({ type, position, cause }) => [
    `${bareName(type)} at ${position}`,
    `by ${cause.actor}`,
  ]);
  const { request_id: request, merchant_id: merchant } = links.at(-1)!.cause;
  const origin =
    request === null
      ? []
      : [[`request ${request}`, merchant === null ? '' : `of merchant ${named(merchant, merchants)}`]];
  const all = columns([...lines, ...origin]);
  return ['', 'why', ...all.map((line, place) => `  ${place === 0 ? '  ' : '← '}${line}`)];
}

function named(id: string, merchants: Explanation['merchants']): string {
  const name = merchants[id];
  return name === undefined ? id : `${id} (${printable(name)})`;
}

function printable(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

function rows(all: readonly Row[]): string[] {
  return columns(all.map(([label, text]) => [label, printable(text)])).map((line) => `  ${line}`);
}
