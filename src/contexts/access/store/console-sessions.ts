import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

export type LoginMethod = 'passkey' | 'oidc' | 'link';

export interface ConsoleSessionRow {
  readonly session_id: string;
  readonly operator_id: string;
  readonly method: LoginMethod;
  readonly authenticated_at: Date;
  readonly expires_at: Date;
  readonly idle_expires_at: Date;
}

interface NewConsoleSession {
  readonly sessionId: string;
  readonly tokenHash: string;
  readonly operatorId: string;
  readonly method: LoginMethod;
  readonly address: string;
  readonly seconds: number;
  /** By another clock; null: now. */
  readonly authenticatedAt: Date | null;
}

/** The row is written at most this often for requests of one session. */
const SEEN_EVERY_SECONDS = 1;
const KEPT_SECONDS = 86_400;

/** Sessions of the console, in `access.console_sessions`. Ages are by the clock of the database. */
@Injectable()
export class ConsoleSessionTable {
  constructor(private readonly database: Database) {}

  /** Drops those that ended a day ago. */
  async insert(session: NewConsoleSession): Promise<void> {
    const { sessionId, tokenHash, operatorId, method, address, seconds, authenticatedAt } = session;
    await this.database.query(
      `with ended as (
         delete from access.console_sessions where expires_at < now() - ${KEPT_SECONDS} * interval '1 s'
       )
       insert into access.console_sessions (session_id, token_hash, operator_id, method, address, authenticated_at,
         last_seen_at, expires_at)
       values ($1, $2, $3, $4, $5, least(now(), $7::timestamptz), now(), now() + $6 * interval '1 s')`,
      [sessionId, tokenHash, operatorId, method, address, seconds, authenticatedAt],
    );
  }

  /** Null for one that is unknown, ended, or idle for too long. `uses`: the request counts as activity. */
  async find(tokenHash: string, idleSeconds: number, uses: boolean): Promise<ConsoleSessionRow | null> {
    const [row] = await this.database.query<
      Omit<ConsoleSessionRow, 'idle_expires_at'> & { idle_expires_at: Date; stale: boolean }
    >(
      `select session_id, operator_id, method, authenticated_at, expires_at,
         last_seen_at + $2 * interval '1 s' as idle_expires_at,
         last_seen_at < now() - ${SEEN_EVERY_SECONDS} * interval '1 s' as stale
       from access.console_sessions
       where token_hash = $1 and ended_at is null and expires_at > now() and last_seen_at > now() - $2 * interval '1 s'`,
      [tokenHash, idleSeconds],
    );
    if (row === undefined) return null;
    const { stale, ...session } = row;
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
