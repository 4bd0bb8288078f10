import { HOUR_MS } from '../../../kernel/clock.js';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { IdempotencyKeyExpired } from '../../../kernel/idempotency.js';

const RESOURCES = [
  'keys',
  'endpoints',
  'deliveries',
  'events',
  'payouts',
  'orders',
  'requests',
  'usage',
] as const;
const reads = RESOURCES.map((resource) => `${resource}:read`);

/** What a session of the portal may do (admin-api.md 6). */
export const PORTAL_SCOPES: readonly string[] = [
  ...reads,
  ...RESOURCES.map((resource) => `${resource}:write`),
];
export const DEFAULT_PORTAL_SCOPES: readonly string[] = [...reads, 'endpoints:write', 'deliveries:write'];

const CODE_LASTS_MS = 15 * 60_000;
const SESSION_LASTS_MS = 8 * HOUR_MS;

/** A person of the merchant, by the merchant's own id and name; personal. */
export interface PortalActor {
  readonly id: string;
  readonly name: string;
}

interface Ids {
  readonly session_id: string;
  readonly merchant_id: string;
}

export type PortalSessionEvent =
  | DomainEvent<
      'portal_session.created.v1',
      Ids & {
        /** Sealed; null also once it is forgotten. */
        readonly actor: PortalActor | null;
        readonly scopes: readonly string[];
        readonly return_url: string | null;
        /** A keyed hash. */
        readonly code_hash: string;
        readonly code_expires_at: string;
        readonly created_at: string;
      }
    >
  | DomainEvent<
      'portal_session.entered.v1',
      Ids & {
        /** A keyed hash of what the cookie holds. */
        readonly token_hash: string;
        readonly session_expires_at: string;
        readonly entered_at: string;
      }
    >
  | DomainEvent<'portal_session.revoked.v1', Ids & { readonly revoked_at: string }>;

/** Times are ISO 8601. */
export interface PortalSession {
  readonly id: string;
  readonly merchantId: string;
  readonly actor: PortalActor | null;
  readonly scopes: readonly string[];
  readonly returnUrl: string | null;
  readonly codeHash: string;
  readonly createdAt: string;
  readonly codeExpiresAt: string;
  /** Null until a browser has entered with the code, and so are the next two. */
  readonly enteredAt: string | null;
  readonly tokenHash: string | null;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** One person's way into the portal; the stream is `portal_session-<id>`. */
export const portalSession: Aggregate<PortalSession | null, PortalSessionEvent> = {
  category: 'portal_session',
  initial: null,
  evolve(state, { type, data }) {
    if (type === 'portal_session.created.v1')
      return {
        id: data.session_id,
        merchantId: data.merchant_id,
        actor: data.actor,
        scopes: data.scopes,
        returnUrl: data.return_url,
        codeHash: data.code_hash,
        createdAt: data.created_at,
        codeExpiresAt: data.code_expires_at,
        enteredAt: null,
        tokenHash: null,
        expiresAt: null,
        revokedAt: null,
      };
    if (state === null) return state;
    if (type === 'portal_session.entered.v1') {
      const { token_hash: tokenHash, session_expires_at: expiresAt, entered_at: enteredAt } = data;
      return { ...state, tokenHash, expiresAt, enteredAt };
    }
    return { ...state, revokedAt: data.revoked_at };
  },
};

export type NewPortalSession = { readonly at: string } & Pick<
  PortalSession,
  'id' | 'merchantId' | 'actor' | 'scopes' | 'returnUrl' | 'codeHash'
>;

/** Throws IdempotencyKeyExpired for a repeat without its response: the code is lost, so it gets a new session. */
export function createPortalSession(
  session: NewPortalSession,
  state: PortalSession | null,
): PortalSessionEvent[] {
  if (state !== null)
    throw new IdempotencyKeyExpired('the code of this session was in a response that is not kept');
  const { id: session_id, merchantId: merchant_id, actor, scopes, returnUrl: return_url } = session;
  const { codeHash: code_hash, at: created_at } = session;
  const terms = { code_hash, code_expires_at: later(created_at, CODE_LASTS_MS), created_at };
  const data = { session_id, merchant_id, actor, scopes, return_url, ...terms };
  return [{ type: 'portal_session.created.v1', data }];
}

interface Entry {
  readonly codeHash: string;
  readonly tokenHash: string;
  readonly at: string;
  /** The merchant whose portal the browser is in; absent or null: none, or the person leaves it. */
  readonly leaves?: string | null;
}

/**
 * Throws `forbidden` for a code that is unknown, used or expired, without saying which, and `invalid_transition` where the
 * browser is in the portal of another merchant.
 */
export function enterPortal(
  { codeHash, tokenHash, at, leaves = null }: Entry,
  state: PortalSession | null,
): PortalSessionEvent[] {
  if (
    state?.codeHash !== codeHash ||
    state.enteredAt !== null ||
    portalSessionStatus(state, at) !== 'pending'
  )
    throw new DomainError('forbidden', 'The link was used already, has expired or was revoked');
  if (leaves !== null && leaves !== state.merchantId)
    throw new DomainError('invalid_transition', 'This browser is in the portal of another merchant');
  const session_expires_at = later(at, SESSION_LASTS_MS);
  const data = { ...idsOf(state), token_hash: tokenHash, session_expires_at, entered_at: at };
  return [{ type: 'portal_session.entered.v1', data }];
}

/** A repeat, and one that has expired, changes nothing. Throws `not_found`, for a session of another merchant too. */
export function revokePortalSession(
  { merchantId, at }: { readonly merchantId: string; readonly at: string },
  state: PortalSession | null,
): PortalSessionEvent[] {
  if (state?.merchantId !== merchantId) throw DomainError.notFound('Portal session');
  const status = portalSessionStatus(state, at);
  if (status === 'revoked' || status === 'expired') return [];
  return [{ type: 'portal_session.revoked.v1', data: { ...idsOf(state), revoked_at: at } }];
}

export const PORTAL_SESSION_STATUSES = ['pending', 'active', 'revoked', 'expired'] as const;
type PortalSessionStatus = (typeof PORTAL_SESSION_STATUSES)[number];

/** At this time, ISO 8601. */
export function portalSessionStatus(
  session: Pick<PortalSession, 'revokedAt' | 'expiresAt' | 'codeExpiresAt'>,
  at: string,
): PortalSessionStatus {
  if (session.revokedAt !== null) return 'revoked';
  if (at >= (session.expiresAt ?? session.codeExpiresAt)) return 'expired';
  return session.expiresAt === null ? 'pending' : 'active';
}

function idsOf({ id: session_id, merchantId: merchant_id }: PortalSession): Ids {
  return { session_id, merchant_id };
}

function later(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}
