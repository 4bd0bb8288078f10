import type { FastifyReply, FastifyRequest } from 'fastify';
import { SECRET_PREFIX } from '../../kernel/text.js';
import { REDACTED, redactText } from '../telemetry/redaction.js';
import { MAX_UNKNOWN, rawPath, rawQuery } from './request-state.js';

/** The record of a merchant's request, without its body and the values of its query (admin-api.md 3). */
export type RequestRecord = NonNullable<ReturnType<typeof loggedRequest>>;

/** Records requests to the APIs of merchants. The access context provides it. */
export abstract class RequestLog {
  /** Returns at once and never throws. */
  abstract record(request: RequestRecord): void;
}

/** The maximum length of a logged text. A longer text loses its middle, because a digest may end the text. */
const MAX_TEXT = 1024;
const END_OF_TEXT = 128;
/** Matches every text with personal data or secrets, and few other texts. */
const MAY_BE_PERSONAL = new RegExp(`[%@+]|${SECRET_PREFIX}|\\d{7}`);
const ENCODED = /(?:%[0-9a-f]{2})+/gi;
/** A phone number without a plus, as a path segment. */
const DIGITS = /(?<=\/)\d{7,15}(?=\/|$)/gm;
const MAX_QUERY_NAMES = 50;
/** The form of a parameter's name. Other text before a `=` may be a value. */
const QUERY_NAME = /^[A-Za-z_][\w.-]{0,63}$/;
const UNNAMED = '?';

export function loggedRequest(request: FastifyRequest, reply: FastifyReply) {
  const { edge, method } = request;
  if (edge.identifiedMerchant === null) return null;
  const parts = queryParts(rawQuery(request));
  return {
    requestId: request.id as string,
    merchantId: edge.identifiedMerchant.merchantId,
    credentialId: edge.credentialId,
    startedAt: edge.startedAt,
    method,
    /** The client address, which is not stored. */
    client: edge.client,
    path: storableText(rawPath(request)),
    queryNames: parts
      .map(({ name }) => name ?? UNNAMED)
      .filter((name, place, all) => all.indexOf(name) === place),
    status: reply.statusCode,
    durationMs: performance.now() - edge.startedAt,
    refusal: refusalWithoutValues(edge.refusal, parts),
    stringToSign: edge.stringToSign === null ? null : storableText(edge.stringToSign),
  };
}

/** Decodes and masks a text with personal data; shortens a long text. Returns other texts as received. */
function storableText(text: string): string {
  if (text.length <= MAX_TEXT && !MAY_BE_PERSONAL.test(text)) return text;
  const decoded = text.replaceAll('%25', '%').replace(ENCODED, decodeText);
  const masked = redactText(decoded).replace(DIGITS, REDACTED);
  const kept = masked === decoded ? text : masked;
  return kept.length <= MAX_TEXT
    ? kept
    : `${kept.slice(0, MAX_TEXT - END_OF_TEXT - 1)}…${kept.slice(-END_OF_TEXT)}`;
}

/** Decodes percent-encoded text if it is valid. Replaces NUL, because PostgreSQL cannot store it. */
function decodeText(encoded: string): string {
  try {
    return decodeURIComponent(encoded).replaceAll('\0', '\ufffd');
  } catch {
    return encoded;
  }
}

/** Returns the parameters of the query. A name is null if its text may be a value without a name. */
function queryParts(query: string) {
  return query
    .slice(1)
    .split('&', MAX_QUERY_NAMES)
    .filter((part) => part !== '')
    .map((part) => {
      const sent = part.split('=', 1)[0]!;
      return { name: part.includes('=') && QUERY_NAME.test(sent) ? sent : null, sent };
    });
}

/** Masks the parameter name at the start of a refusal, if the name may be a value. */
function refusalWithoutValues(refusal: string | null, parts: ReturnType<typeof queryParts>): string | null {
  for (const { name, sent } of parts) {
    if (refusal === null || name !== null) continue;
    const [[decoded] = ['']] = new URLSearchParams(sent);
    const start = decoded.slice(0, MAX_UNKNOWN);
    if (refusal.startsWith(`${start} `)) return `${UNNAMED}${refusal.slice(start.length)}`;
  }
  return refusal;
}
