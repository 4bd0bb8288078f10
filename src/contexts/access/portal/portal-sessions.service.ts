import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { newId, toUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import {
  createPortalSession,
  enterPortal,
  portalSession,
  portalSessionStatus,
  revokePortalSession,
  type NewPortalSession,
  type PortalSession,
} from './portal-session.js';
import { DIRECTORY_VIEW } from '../merchants/directory.view.js';

const ID_BYTES = 16;
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{64}$/;

/**
 * Reads sessions from their streams, so that a revocation takes effect at once. A code or token is the
 * session id and 32 random bytes in base64url. Only its keyed hash is stored.
 */
@Injectable()
export class PortalSessions {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keyedHash: KeyedHash,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Returns the session id in a code or token, or an unused id for any other text. */
  idIn(secret: string): string {
    if (!SECRET.test(secret)) return newId();
    return toUuid(Buffer.from(secret, 'base64url').subarray(0, ID_BYTES));
  }

  async find(token: string): Promise<PortalSession | null> {
    const { state } = await this.loop.load(portalSession, this.idIn(token));
    const isOwn = state !== null && state.token_hash === this.toHash('token', token);
    return isOwn && portalSessionStatus(state, timestamp(this.clock)) === 'active' ? state : null;
  }

  /** Creates a session and returns the JSON of the 201 response. */
  async create(
    session: Pick<NewPortalSession, 'merchant_id' | 'actor' | 'scopes' | 'return_url'>,
    portalUrl: string,
    ticket: IdempotencyTicket,
    metadata: EventMetadata,
  ): Promise<string> {
    const at = timestamp(this.clock);
    const id = ticket.id('portal_session');
    const code = this.secretFor(id);
    // The code is in the fragment, because logs do not contain the fragment of a URL.
    const url = `${portalUrl.replace(/\/+$/, '')}/enter#${code}`;
    const code_hash = this.toHash('code', code);
    const command = { session_id: id, ...session, code_hash, created_at: at };
    const toBody = (created: PortalSession | null): string =>
      JSON.stringify({ portal_session: toJson(created!, at), url });
    const response = { ticket, status: 201, body: toBody };
    const decide = (current: PortalSession | null) => createPortalSession(command, current);
    const { body, position } = await this.loop.execute(portalSession, id, decide, { metadata, response });
    await this.progress.waitFor(DIRECTORY_VIEW, position);
    return body;
  }

  /** Exchanges the code for the session token. If enterPortal throws, the code stays valid. */
  async enter(code: string, leaves: string | null): Promise<{ token: string; expiresAt: string }> {
    const id = this.idIn(code);
    const token = this.secretFor(id);
    const hashes = { code_hash: this.toHash('code', code), token_hash: this.toHash('token', token) };
    const command = { ...hashes, entered_at: timestamp(this.clock), leaves };
    const { state } = await this.loop.execute(portalSession, id, (current) => enterPortal(command, current), {
      metadata: { actor: 'portal' },
    });
    return { token, expiresAt: state!.session_expires_at! };
  }

  async revoke(merchant_id: string, id: string, metadata: EventMetadata): Promise<void> {
    const command = { merchant_id, revoked_at: timestamp(this.clock) };
    const decide = (state: PortalSession | null) => revokePortalSession(command, state);
    const { position } = await this.loop.execute(portalSession, id, decide, { metadata });
    await this.progress.waitFor(DIRECTORY_VIEW, position);
  }

  private secretFor(sessionId: string): string {
    const id = Buffer.from(sessionId.replaceAll('-', ''), 'hex');
    return Buffer.concat([id, randomBytes(SECRET_BYTES)]).toString('base64url');
  }

  /** Hashes codes and tokens differently, so that a code is never accepted as a token. */
  private toHash(kind: 'code' | 'token', secret: string): string {
    return this.keyedHash.of(`portal ${kind}`, secret);
  }
}

/** Returns the JSON of a new session (admin-api.md 6). */
function toJson(session: PortalSession, at: string): object {
  const { session_id: id, actor, scopes, return_url, created_at } = session;
  const { code_expires_at, session_expires_at } = session;
  const status = portalSessionStatus(session, at);
  const times = { created_at, code_expires_at, session_expires_at, last_seen_at: null };
  return { id, actor, scopes, return_url, status, ...times };
}
