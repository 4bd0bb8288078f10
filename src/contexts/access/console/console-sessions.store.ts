import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { newId } from '../../../kernel/ids.js';
import { httpConfig, listenerUrl, type HttpConfig } from '../../../platform/config/config.js';
import { databaseNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { accessConfig, type AccessConfig } from '../access.config.js';

export interface LoginFacts {
  readonly method: 'passkey' | 'oidc' | 'link';
  readonly address: string;
  /** The login time by the clock of the identity provider. Defaults to now. */
  readonly authenticatedAt?: Date;
}

interface ConsoleSessionRow {
  readonly session_id: string;
  readonly operator_id: string;
  readonly method: LoginFacts['method'];
  readonly address: string;
  readonly authenticated_at: Date;
  readonly expires_at: Date;
  readonly idle_expires_at: Date;
}

/** The columns that a row's MAC covers. `expires_at` is checked against `authenticated_at` instead. */
type SessionFacts = Omit<ConsoleSessionRow, 'expires_at' | 'idle_expires_at'> & {
  readonly token_hash: string;
};

/** The maximum duration of a session (admin-api.md 5). */
export const SESSION_SECONDS = 43_200;
const LINK_SECONDS = 900;
/** The minimum time between two updates of `last_seen_at` in a session's row. */
const SEEN_EVERY_SECONDS = 1;
const KEPT_SECONDS = 86_400;

const SESSION = 'console session';
const END = 'update access.console_sessions set ended_at = now() where ended_at is null';

const newToken = (): string => randomBytes(32).toString('base64url');

function sessionText(facts: SessionFacts): string {
  const { token_hash, session_id, operator_id, method, address, authenticated_at } = facts;
  return JSON.stringify([token_hash, session_id, operator_id, method, address, authenticated_at]);
}

/** The sessions of the console. Rows store the keyed hash of a token. Times are by the database's clock. */
@Injectable()
export class ConsoleSessionTable {
  private readonly logger = new Logger(ConsoleSessionTable.name);

  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
    private readonly keyedHash: KeyedHash,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {}

  /** Opens a session and returns its token. Deletes sessions that expired over a day ago. */
  async open(operator_id: string, { method, address, authenticatedAt }: LoginFacts): Promise<string> {
    const token = newToken();
    const now = await databaseNow(this.database);
    const authenticated_at = authenticatedAt !== undefined && authenticatedAt < now ? authenticatedAt : now;
    const [token_hash, session_id] = [this.hashToken(token), newId()];
    const facts = { token_hash, session_id, operator_id, method, address, authenticated_at };
    const mac = this.sealer.mac(SESSION, sessionText(facts));
    await this.database.query(
      `with ended as (
         delete from access.console_sessions where expires_at < now() - ${KEPT_SECONDS} * interval '1 s'
       )
       insert into access.console_sessions (token_hash, session_id, operator_id, method, address, authenticated_at,
         last_seen_at, expires_at, mac)
       values ($1, $2, $3, $4, $5, $6, now(), $6::timestamptz + $7 * interval '1 s', $8)`,
      [...Object.values(facts), SESSION_SECONDS, mac],
    );
    this.logger.log({ msg: 'console login', operator_id, session_id, method });
    return token;
  }

  /** Returns null for an ended, idle or forged session. If `uses` is true, the request counts as activity. */
  async find(token: string, uses = true): Promise<ConsoleSessionRow | null> {
    const { consoleIdleSeconds: idleSeconds } = this.config;
    const token_hash = this.hashToken(token);
    const [row] = await this.database.query<ConsoleSessionRow & { mac: string | null; stale: boolean }>(
      `select session_id, operator_id, method, address, authenticated_at, expires_at, mac,
         last_seen_at + $2 * interval '1 s' as idle_expires_at,
         last_seen_at < now() - ${SEEN_EVERY_SECONDS} * interval '1 s' as stale
       from access.console_sessions
       where token_hash = $1 and ended_at is null and expires_at > now() and last_seen_at > now() - $2 * interval '1 s'`,
      [token_hash, idleSeconds],
    );
    if (row === undefined) return null;
    const { stale, mac, ...session } = row;
    const isLonger =
      session.expires_at.getTime() > session.authenticated_at.getTime() + SESSION_SECONDS * 1000;
    if (isLonger || !this.sealer.isAuthentic(SESSION, sessionText({ ...session, token_hash }), mac))
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
    await this.database.query(`${END} and session_id = $1`, [sessionId]);
  }

  async endAll(operatorId: string): Promise<void> {
    await this.database.query(`${END} and operator_id = $1`, [operatorId]);
  }

  private hashToken(token: string): string {
    return this.keyedHash.of(SESSION, token);
  }
}

/** The purpose of a login secret: a one-time link, or the WebAuthn challenge of an enrolment or a login. */
export type LoginPurpose = 'link' | 'enrol' | 'passkey';

interface SecretRow {
  /** The operator who may use the secret; null allows any operator. */
  readonly operator_id: string | null;
  readonly expires_at: Date;
  readonly mac: string | null;
}

const SECRET = 'login secret';
const LIVING = 'access.login_secrets where hash = $1 and purpose = $2 and expires_at > now()';

/** Returns the console URL without a final slash. WebAuthn needs a host name, so loopback is `localhost`. */
export function consoleUrl({ adminUrl, adminPort }: HttpConfig): string {
  return (adminUrl ?? listenerUrl('localhost', adminPort)).replace(/\/+$/, '');
}

/** The keyed hashes of login secrets, and passkey counters, which change too often to be events. */
@Injectable()
export class LoginSecrets {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
    private readonly keyedHash: KeyedHash,
    private readonly sessions: ConsoleSessionTable,
    @Inject(httpConfig.KEY) private readonly http: HttpConfig,
  ) {}

  /** Creates a link; logs lack its fragment. Ends former links and sessions, because a device may be lost. */
  async issueLink(operatorId: string): Promise<string> {
    const token = newToken();
    const unused = "delete from access.login_secrets where operator_id = $1 and purpose = 'link'";
    await this.database.query(unused, [operatorId]);
    await this.sessions.endAll(operatorId);
    await this.insert('link', token, operatorId, LINK_SECONDS);
    return `${consoleUrl(this.http)}/enrol#${token}`;
  }

  /** Stores the hash of a secret and deletes expired hashes. A null `operatorId` allows any operator. */
  async insert(purpose: LoginPurpose, secret: string, operatorId: string | null, seconds: number) {
    const hash = this.hashSecret(purpose, secret);
    const expires_at = new Date((await databaseNow(this.database)).getTime() + seconds * 1000);
    const mac = this.sealer.mac(SECRET, secretText(hash, purpose, { operator_id: operatorId, expires_at }));
    await this.database.query(
      `with expired as (delete from access.login_secrets where expires_at < now())
       insert into access.login_secrets (hash, purpose, operator_id, expires_at, mac)
       values ($1, $2, $3, $4, $5)`,
      [hash, purpose, operatorId, expires_at, mac],
    );
  }

  /** Returns null for a secret that is unknown, used, expired or not authentic. */
  async find(purpose: LoginPurpose, secret: string): Promise<SecretRow | null> {
    return this.one(`select operator_id, expires_at, mac from ${LIVING}`, purpose, secret);
  }

  /** Finds and deletes a secret. One of two concurrent calls returns null. */
  async take(purpose: LoginPurpose, secret: string): Promise<SecretRow | null> {
    return this.one(`delete from ${LIVING} returning operator_id, expires_at, mac`, purpose, secret);
  }

  /** Stores the counter. Returns false if it did not increase, because the passkey may be a clone. */
  async advanceCounter(passkeyId: string, counter: number): Promise<boolean> {
    const rows = await this.database.query(
      `insert into access.passkey_counters as kept (passkey_id, counter, used_at) values ($1, $2, now())
       on conflict (passkey_id) do update set counter = excluded.counter, used_at = excluded.used_at
         where excluded.counter > kept.counter or (excluded.counter = 0 and kept.counter = 0)
       returning 1 as moved`,
      [passkeyId, counter],
    );
    return rows.length === 1;
  }

  private async one(sql: string, purpose: LoginPurpose, secret: string): Promise<SecretRow | null> {
    const hash = this.hashSecret(purpose, secret);
    const [row] = await this.database.query<SecretRow>(sql, [hash, purpose]);
    const isAuthentic = row && this.sealer.isAuthentic(SECRET, secretText(hash, purpose, row), row.mac);
    return isAuthentic ? row : null;
  }

  private hashSecret(purpose: LoginPurpose, secret: string): string {
    return this.keyedHash.of(purpose === 'link' ? 'login link' : 'webauthn challenge', secret);
  }
}

function secretText(hash: string, purpose: LoginPurpose, row: Omit<SecretRow, 'mac'>): string {
  return JSON.stringify([hash, purpose, row.operator_id, row.expires_at]);
}
