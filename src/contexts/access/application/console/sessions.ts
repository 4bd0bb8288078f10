import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { newId } from '../../../../kernel/ids.js';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';
import {
  ConsoleSessionTable,
  type ConsoleSessionRow,
  type LoginMethod,
} from '../../store/console-sessions.js';
import { People, type Person } from './people.js';
import { accessConfig, type AccessConfig } from '../../settings.js';

export type { LoginMethod };

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export interface ConsoleSession extends ConsoleSessionRow {
  readonly person: Person;
}

interface LoginFacts {
  readonly method: LoginMethod;
  readonly address: string;
  /** Null: now. */
  readonly authenticatedAt: Date | null;
}

/** Sessions of the console: a random token in a cookie, of which a keyed hash is stored. */
@Injectable()
export class SessionTokens {
  private readonly logger = new Logger(SessionTokens.name);

  constructor(
    private readonly table: ConsoleSessionTable,
    private readonly people: People,
    private readonly keyedHash: KeyedHash,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {}

  /** The token of a new session. */
  async open(operatorId: string, { method, address, authenticatedAt }: LoginFacts): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const sessionId = newId();
    const { consoleSessionSeconds: seconds } = this.config;
    const tokenHash = this.hashOf(token);
    await this.table.insert({ sessionId, tokenHash, operatorId, method, address, seconds, authenticatedAt });
    this.logger.log({ msg: 'console login', operator_id: operatorId, session_id: sessionId, method });
    return token;
  }

  /** Null where it has ended, or its person may not sign in any more. `uses`: the request counts as activity. */
  async find(token: string, uses = true): Promise<ConsoleSession | null> {
    if (!TOKEN.test(token)) return null;
    const { consoleIdleSeconds: idleSeconds, consoleSessionSeconds: seconds } = this.config;
    const session = await this.table.find(this.hashOf(token), { idleSeconds, seconds }, uses);
    if (session === null) return null;
    const person = await this.people.find(session.operator_id);
    const isOld = person?.disabledAt && session.authenticated_at <= person.disabledAt;
    return person && !isOld ? { ...session, person } : null;
  }

  async end(sessionId: string): Promise<void> {
    await this.table.end(sessionId);
  }

  private hashOf(token: string): string {
    return this.keyedHash.of('console session', token);
  }
}
