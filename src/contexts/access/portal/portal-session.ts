import { HOUR_MS } from '../../../kernel/clock.js';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { IdempotencyKeyExpired } from '../../../kernel/idempotency.js';
import { historyRules } from '../../../kernel/history-rules.js';

const RESOURCES = 'keys endpoints deliveries events payouts orders requests usage'.split(' ');
const reads = RESOURCES.map((resource) => `${resource}:read`);

/** The scopes of portal sessions (admin-api.md 6). */
export const PORTAL_SCOPES: readonly string[] = [...reads, ...RESOURCES.map((each) => `${each}:write`)];
export const DEFAULT_PORTAL_SCOPES: readonly string[] = [...reads, 'endpoints:write', 'deliveries:write'];

const CODE_LASTS_MS = 15 * 60_000;
const SESSION_LASTS_MS = 8 * HOUR_MS;

/** A person of the merchant, by the id and name that the merchant assigned. Both are personal data. */
export interface PortalActor {
  readonly id: string;
  readonly name: string;
}

type Ids = Readonly<Record<'session_id' | 'merchant_id', string>>;

interface Created extends Ids {
  /** The sealed actor; null if unset or erased. */
  readonly actor: PortalActor | null;
  readonly scopes: readonly string[];
  readonly return_url: string | null;
  readonly code_hash: string;
  readonly code_expires_at: string;
  readonly created_at: string;
}

interface Entered {
  /** The keyed hash of the token in the cookie. */
  readonly token_hash: string;
  readonly session_expires_at: string;
  readonly entered_at: string;
}

type Revoked = Readonly<Record<'revoked_at', string>>;

export type PortalSessionEvent =
  | DomainEvent<'portal_session.created.v1', Created>
  | DomainEvent<'portal_session.entered.v1', Ids & Entered>
  | DomainEvent<'portal_session.revoked.v1', Ids & Revoked>;

/** A portal session. Members that a later event sets are null until then. Times are ISO 8601. */
export type PortalSession = Created & { readonly [Name in keyof (Entered & Revoked)]: string | null };

const PENDING = { token_hash: null, session_expires_at: null, entered_at: null, revoked_at: null };

/** The session of one person in the portal; the stream is `portal_session-<id>`. */
export const portalSession: Aggregate<PortalSession | null, PortalSessionEvent> = {
  category: 'portal_session',
  initial: null,
  evolve(state, { type, data }) {
    if (type === 'portal_session.created.v1') return { ...data, ...PENDING };
    return state && { ...state, ...data };
  },
};

export type NewPortalSession = Omit<Created, 'code_expires_at'>;

/** Creates a session. A repeat throws IdempotencyKeyExpired, because only the lost response had the code. */
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
  /** The merchant of the browser's live session; null or absent if there is none or it may be replaced. */
  readonly leaves?: string | null;
}

/** Enters a session. Throws `forbidden` (bad code) or `invalid_transition` (in another merchant's portal). */
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

/** Revokes a session. Throws `not_found`, also for a session of another merchant. */
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
  { revoked_at, session_expires_at, code_expires_at }: PortalSession,
  at: string,
): PortalSessionStatus {
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
    'portal_session.created.v1': createPortalSession,
    'portal_session.entered.v1': (data, state) =>
      enterPortal({ ...data, code_hash: state?.code_hash ?? '' }, state),
    'portal_session.revoked.v1': revokePortalSession,
  },
  { id: 'session_id' },
);
