import { HOUR_MS } from '../../../kernel/clock.js';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { IdempotencyKeyExpired } from '../../../kernel/idempotency.js';
import { historyRules } from '../../../kernel/history-rules.js';

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

/** The scopes of portal sessions (admin-api.md 6). */
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

interface Created extends Ids {
  /** Sealed; null also once it is forgotten. */
  readonly actor: PortalActor | null;
  readonly scopes: readonly string[];
  readonly return_url: string | null;
  /** A keyed hash. */
  readonly code_hash: string;
  readonly code_expires_at: string;
  readonly created_at: string;
}

interface Entered {
  /** A keyed hash of what the cookie holds. */
  readonly token_hash: string;
  readonly session_expires_at: string;
  readonly entered_at: string;
}

interface Revoked {
  readonly revoked_at: string;
}

export type PortalSessionEvent =
  | DomainEvent<'portal_session.created.v1', Created>
  | DomainEvent<'portal_session.entered.v1', Ids & Entered>
  | DomainEvent<'portal_session.revoked.v1', Ids & Revoked>;

/** Times are ISO 8601. The last members are null until a browser has entered with the code, and until it is revoked. */
export type PortalSession = Created & { readonly [Name in keyof (Entered & Revoked)]: string | null };

const PENDING = { token_hash: null, session_expires_at: null, entered_at: null, revoked_at: null };

/** One person's way into the portal; the stream is `portal_session-<id>`. */
export const portalSession: Aggregate<PortalSession | null, PortalSessionEvent> = {
  category: 'portal_session',
  initial: null,
  evolve(state, { type, data }) {
    if (type === 'portal_session.created.v1') return { ...data, ...PENDING };
    return state && { ...state, ...data };
  },
};

export type NewPortalSession = Omit<Created, 'code_expires_at'>;

/** Throws IdempotencyKeyExpired for a repeat without its response: the code is lost, so it gets a new session. */
export function createPortalSession(
  session: NewPortalSession,
  state: PortalSession | null,
): PortalSessionEvent[] {
  if (state !== null)
    throw new IdempotencyKeyExpired('the code of this session was in a response that is not kept');
  const data = { ...session, code_expires_at: later(session.created_at, CODE_LASTS_MS) };
  return [{ type: 'portal_session.created.v1', data }];
}

interface Entry extends Omit<Entered, 'session_expires_at'> {
  readonly code_hash: string;
  /** The merchant whose portal the browser is in; absent or null: none, or the person leaves it. */
  readonly leaves?: string | null;
}

/**
 * Throws `forbidden` for a code that is unknown, used or expired, without saying which, and `invalid_transition` where the
 * browser is in the portal of another merchant.
 */
export function enterPortal(
  { code_hash, token_hash, entered_at, leaves = null }: Entry,
  state: PortalSession | null,
): PortalSessionEvent[] {
  if (
    state?.code_hash !== code_hash ||
    state.entered_at !== null ||
    portalSessionStatus(state, entered_at) !== 'pending'
  )
    throw new DomainError('forbidden', 'The link was used already, has expired or was revoked');
  const { session_id, merchant_id } = state;
  if (leaves !== null && leaves !== merchant_id)
    throw new DomainError('invalid_transition', 'This browser is in the portal of another merchant');
  const session_expires_at = later(entered_at, SESSION_LASTS_MS);
  const data = { session_id, merchant_id, token_hash, session_expires_at, entered_at };
  return [{ type: 'portal_session.entered.v1', data }];
}

/** A repeat, and one that has expired, changes nothing. Throws `not_found`, for a session of another merchant too. */
export function revokePortalSession(
  { merchant_id, revoked_at }: Revoked & Pick<Ids, 'merchant_id'>,
  state: PortalSession | null,
): PortalSessionEvent[] {
  if (state?.merchant_id !== merchant_id) throw DomainError.notFound('Portal session');
  const status = portalSessionStatus(state, revoked_at);
  if (status === 'revoked' || status === 'expired') return [];
  const { session_id } = state;
  return [{ type: 'portal_session.revoked.v1', data: { session_id, merchant_id, revoked_at } }];
}

export const PORTAL_SESSION_STATUSES = ['pending', 'active', 'revoked', 'expired'] as const;
type PortalSessionStatus = (typeof PORTAL_SESSION_STATUSES)[number];

export function portalSessionStatus(
  session: Readonly<Record<'revoked_at' | 'session_expires_at', string | Date | null>> & {
    readonly code_expires_at: string | Date;
  },
  at: string,
): PortalSessionStatus {
  const { revoked_at, session_expires_at, code_expires_at } = session;
  if (revoked_at !== null) return 'revoked';
  if (new Date(at) >= new Date(session_expires_at ?? code_expires_at)) return 'expired';
  return session_expires_at === null ? 'pending' : 'active';
}

function later(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

export const portalSessionHistory = historyRules(
  portalSession,
  {
    'portal_session.created.v1': (data, state) => createPortalSession(data, state),
    'portal_session.entered.v1': (data, state) =>
      enterPortal({ ...data, code_hash: state?.code_hash ?? '' }, state),
    'portal_session.revoked.v1': (data, state) => revokePortalSession(data, state),
  },
  { id: 'session_id' },
);
