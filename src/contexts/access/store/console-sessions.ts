import { Injectable } from '@nestjs/common';
import { databaseNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { Sealer } from '../../../platform/sealing/sealer.js';

export type LoginMethod = 'passkey' | 'oidc' | 'link';

export interface ConsoleSessionRow {
  readonly session_id: string;
  readonly operator_id: string;
  readonly method: LoginMethod;
  readonly address: string;
  readonly authenticated_at: Date;
  readonly expires_at: Date;
  readonly idle_expires_at: Date;
}

/** The members of a row that its MAC authenticates; `expires_at` follows from them. */
type SessionFacts = Omit<ConsoleSessionRow, 'expires_at' | 'idle_expires_at'> & {
  readonly token_hash: string;
};

interface NewConsoleSession {
  readonly sessionId: string;
  readonly tokenHash: string;
  readonly operatorId: string;
  readonly method: LoginMethod;
  readonly address: string;
  /** The time of the login, from {@link authenticatedAt}. */
  readonly seconds: number;
  /** By another clock; null: now. */
  readonly authenticatedAt: Date | null;
}

/** The row is written at most this often for requests of one session. */
const SEEN_EVERY_SECONDS = 1;
const KEPT_SECONDS = 86_400;

/** Purpose of MACs. */
const SESSION = 'console session';

function textOf(facts: SessionFacts): string {
  const { token_hash, session_id, operator_id, method, address, authenticated_at } = facts;
  return JSON.stringify([token_hash, session_id, operator_id, method, address, authenticated_at]);
}

/** Sessions of the console, in `access.console_sessions`. Ages are by the clock of the database. */
@Injectable()
export class ConsoleSessionTable {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Drops those that ended a day ago. */
  async insert(session: NewConsoleSession): Promise<void> {
    const { sessionId, tokenHash, operatorId, method, address, seconds, authenticatedAt } = session;
    const now = await databaseNow(this.database);
    const authenticated_at = authenticatedAt !== null && authenticatedAt < now ? authenticatedAt : now;
    const ids = { token_hash: tokenHash, session_id: sessionId, operator_id: operatorId };
    const mac = this.sealer.mac(SESSION, textOf({ ...ids, method, address, authenticated_at }));
    await this.database.query(
      `with ended as (
         delete from access.console_sessions where expires_at < now() - ${KEPT_SECONDS} * interval '1 s'
       )
       insert into access.console_sessions (session_id, token_hash, operator_id, method, address, authenticated_at,
         last_seen_at, expires_at, mac)
       values ($1, $2, $3, $4, $5, $6, now(), $6::timestamptz + $7 * interval '1 s', $8)`,
      [sessionId, tokenHash, operatorId, method, address, authenticated_at, seconds, mac],
    );
  }

  /**
   * Null for one that is unknown, ended, idle for too long, or changed outside the service. `uses`: the request counts as
   * activity.
   */
  async find(
    tokenHash: string,
    { idleSeconds, seconds }: { readonly idleSeconds: number; readonly seconds: number },
    uses: boolean,
  ): Promise<ConsoleSessionRow | null> {
    const [row] = await this.database.query<ConsoleSessionRow & { mac: string | null; stale: boolean }>(
      `select session_id, operator_id, method, address, authenticated_at, expires_at, mac,
         last_seen_at + $2 * interval '1 s' as idle_expires_at,
         last_seen_at < now() - ${SEEN_EVERY_SECONDS} * interval '1 s' as stale
       from access.console_sessions
       where token_hash = $1 and ended_at is null and expires_at > now() and last_seen_at > now() - $2 * interval '1 s'`,
      [tokenHash, idleSeconds],
    );
    if (row === undefined) return null;
    const { stale, mac, ...session } = row;
    const isLonger = session.expires_at.getTime() > session.authenticated_at.getTime() + seconds * 1000;
    if (isLonger || !this.sealer.isAuthentic(SESSION, textOf({ ...session, token_hash: tokenHash }), mac))
      return null;
    if (!uses || !stale) return session;
    const [seen] = await this.database.query<{ idle_expires_at: Date }>(
      `update access.console_sessions set last_seen_at = now() where session_id = $1 and ended_at is null
       returning last_seen_at + $2 * interval '1 s' as idle_expires_at`,
      [session.session_id, idleSeconds],
    );
    return seen === undefined ? null : { ...session, ...seen };
  }

  async end(sessionId: string): Promise<void> {
    await this.database.query(
      'update access.console_sessions set ended_at = now() where session_id = $1 and ended_at is null',
      [sessionId],
    );
  }

  /** Of a person who gets another way to sign in. */
  async endAll(operatorId: string): Promise<void> {
    await this.database.query(
      'update access.console_sessions set ended_at = now() where operator_id = $1 and ended_at is null',
      [operatorId],
    );
  }
}
