import { Inject, Injectable } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import {
  createPortalSession,
  enterPortal,
  portalSession,
  revokePortalSession,
  type NewPortalSession,
  type PortalSession,
  portalSessionStatus,
} from '../domain/portal-session.js';
import { PORTAL_SESSIONS_VIEW } from '../views/portal-sessions.js';
import { randomBytes } from 'node:crypto';
import { newId, uuidOf } from '../../../kernel/ids.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';

const ID_BYTES = 16;
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{64}$/;

/** Codes and tokens of the portal: in base64url the id of the session and 32 random bytes; a keyed hash is stored. */
@Injectable()
export class PortalLinks {
  constructor(private readonly keyedHash: KeyedHash) {}

  secretFor(sessionId: string): string {
    const id = Buffer.from(sessionId.replaceAll('-', ''), 'hex');
    return Buffer.concat([id, randomBytes(SECRET_BYTES)]).toString('base64url');
  }

  /** The session of a code or token; of text that is neither, an id that no session has. */
  idIn(secret: string): string {
    if (!SECRET.test(secret)) return newId();
    return uuidOf(Buffer.from(secret, 'base64url').subarray(0, ID_BYTES));
  }

  /** A code is no token. */
  hashOf(kind: 'code' | 'token', secret: string): string {
    return this.keyedHash.of(`portal ${kind}`, secret);
  }

  /** The code is in the fragment, so that no log has it. */
  entry(portalUrl: string, code: string): string {
    return `${portalUrl.replace(/\/+$/, '')}/enter#${code}`;
  }
}

/** Sessions of the portal, read from their streams: one that is revoked ends at once. */
@Injectable()
export class ActivePortalSessions {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly links: PortalLinks,
  ) {}

  /** The session of a token, while it is active; null otherwise. */
  async find(token: string): Promise<PortalSession | null> {
    const { state } = await this.loop.load(portalSession, this.links.idIn(token));
    const isOwn = state !== null && state.token_hash === this.links.hashOf('token', token);
    return isOwn && portalSessionStatus(state, timestamp(this.clock)) === 'active' ? state : null;
  }
}

/** Gives the JSON text of the 201. */
export class CreatePortalSession extends Command<string> {
  constructor(
    readonly session: Pick<NewPortalSession, 'merchant_id' | 'actor' | 'scopes' | 'return_url'>,
    readonly portalUrl: string,
    readonly ticket: IdempotencyTicket,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(CreatePortalSession)
class CreatePortalSessionHandler implements ICommandHandler<CreatePortalSession> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly links: PortalLinks,
    private readonly progress: SubscriptionProgress,
  ) {}

  async execute({ session, portalUrl, ticket, cause: metadata }: CreatePortalSession): Promise<string> {
    const at = timestamp(this.clock);
    const id = ticket.id('portal_session');
    const code = this.links.secretFor(id);
    const url = this.links.entry(portalUrl, code);
    const terms = { code_hash: this.links.hashOf('code', code), created_at: at };
    const command = { session_id: id, ...session, ...terms };
    const { body, position } = await this.loop.execute(
      portalSession,
      id,
      (current) => createPortalSession(command, current),
      {
        metadata,
        response: {
          ticket,
          status: 201,
          body: (created) => JSON.stringify({ portal_session: toJson(created!, at), url }),
        },
      },
    );
    await this.progress.waitFor(PORTAL_SESSIONS_VIEW, position);
    return body;
  }
}

interface PortalEntry {
  readonly token: string;
  readonly expiresAt: string;
}

/** A session that is new, as merchants get it (admin-api.md 6). */
function toJson(session: PortalSession, at: string): object {
  return {
    id: session.session_id,
    actor: session.actor,
    scopes: session.scopes,
    return_url: session.return_url,
    status: portalSessionStatus(session, at),
    created_at: session.created_at,
    code_expires_at: session.code_expires_at,
    session_expires_at: session.session_expires_at,
    last_seen_at: null,
  };
}

/** Exchanges the code for the token of the cookie. Throws as {@link enterPortal}; the code is good then as before. */
export class EnterPortal extends Command<PortalEntry> {
  constructor(
    readonly code: string,
    readonly leaves: string | null,
  ) {
    super();
  }
}

@CommandHandler(EnterPortal)
class EnterPortalHandler implements ICommandHandler<EnterPortal> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly links: PortalLinks,
  ) {}

  async execute({ code, leaves }: EnterPortal): Promise<PortalEntry> {
    const id = this.links.idIn(code);
    const token = this.links.secretFor(id);
    const command = {
      code_hash: this.links.hashOf('code', code),
      token_hash: this.links.hashOf('token', token),
      entered_at: timestamp(this.clock),
      leaves,
    };
    const { state } = await this.loop.execute(portalSession, id, (current) => enterPortal(command, current), {
      metadata: { actor: 'portal' },
    });
    return { token, expiresAt: state!.session_expires_at! };
  }
}

/** Its code and its cookie are worth nothing from now on. Throws `not_found`. */
export class RevokePortalSession extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly sessionId: string,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(RevokePortalSession)
class RevokePortalSessionHandler implements ICommandHandler<RevokePortalSession> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly progress: SubscriptionProgress,
  ) {}

  async execute({ merchantId, sessionId, cause: metadata }: RevokePortalSession): Promise<void> {
    const command = { merchant_id: merchantId, revoked_at: timestamp(this.clock) };
    const { position } = await this.loop.execute(
      portalSession,
      sessionId,
      (state) => revokePortalSession(command, state),
      { metadata },
    );
    await this.progress.waitFor(PORTAL_SESSIONS_VIEW, position);
  }
}

export const PORTAL_SESSION_HANDLERS = [
  CreatePortalSessionHandler,
  EnterPortalHandler,
  RevokePortalSessionHandler,
];
