import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type HttpConfig, httpConfig, listenerUrl } from '../../../../platform/config/config.js';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';
import { ConsoleSessionTable } from '../../store/console-sessions.js';
import { LoginSecrets } from '../../store/login-secrets.js';
import { accessConfig, type AccessConfig } from '../../settings.js';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Where people open the console, without a slash at its end. WebAuthn needs a name: on loopback that is `localhost`. */
export function consoleUrl({ adminUrl, adminPort }: HttpConfig): string {
  return (adminUrl ?? listenerUrl('localhost', adminPort)).replace(/\/+$/, '');
}

/** One-time links with which a person enrols a passkey: `{admin_url}/enrol#<token>`, in the fragment so that no log has it. */
@Injectable()
export class LoginLinks {
  constructor(
    private readonly secrets: LoginSecrets,
    private readonly keyedHash: KeyedHash,
    private readonly sessions: ConsoleSessionTable,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
    @Inject(httpConfig.KEY) private readonly http: HttpConfig,
  ) {}

  /** Replaces former links of the person that were not used, and ends the sessions: the device may be lost. */
  async issue(operatorId: string): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    await this.secrets.dropLinks(operatorId);
    await this.sessions.endAll(operatorId);
    await this.secrets.insert('link', this.hashOf(token), operatorId, this.config.loginLinkSeconds);
    return `${consoleUrl(this.http)}/enrol#${token}`;
  }

  /** Whose link it is; null for one that is unknown, used or expired. */
  async find(token: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    return (await this.secrets.find('link', this.hashOf(token)))?.operatorId ?? null;
  }

  /** As {@link find}; afterwards it is used. */
  async take(token: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    return (await this.secrets.take('link', this.hashOf(token)))?.operatorId ?? null;
  }

  private hashOf(token: string): string {
    return this.keyedHash.of('login link', token);
  }
}
