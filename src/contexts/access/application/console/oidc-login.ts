import { Inject, Injectable, Logger } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { ProviderRefused, ProviderUnavailable } from '../../../../platform/outbound/provider-errors.js';
import { People, type Person } from './people.js';
import { accessConfig, type AccessConfig } from '../../settings.js';

/** What a login at the identity provider needs to come back to; in a sealed cookie until then. */
export interface OidcAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path of the console. */
  readonly returnTo: string;
  /** The session of the browser when it left: its cookie does not come back from another site. Null: none. */
  readonly former: string | null;
}

/** Claims of the person who signed in, from the ID token and the endpoint for user information. */
export type Claims = Readonly<Record<string, unknown>>;

/** An OpenID Connect provider: code flow with PKCE, state and nonce. */
export abstract class IdentityProvider {
  abstract readonly isConfigured: boolean;
  /**
   * Where the browser goes. The person is to have signed in at the provider within 5 minutes; with `former`, who is signed in
   * here already, signs in there again. Throws {@link ProviderUnavailable}.
   */
  abstract begin(
    redirectUri: string,
    from: Pick<OidcAttempt, 'returnTo' | 'former'>,
  ): Promise<{ url: string; attempt: OidcAttempt }>;
  /** The claims include `auth_time`, within the last 5 minutes. `url`: the whole address that the provider sent the browser back to. Throws {@link ProviderRefused}, {@link ProviderUnavailable}. */
  abstract finish(url: URL, attempt: OidcAttempt): Promise<Claims>;
}

/** A path of the console's own origin: one slash, and no second one in any spelling that browsers take for one. */
const RETURN_TO = /^\/(?![/\\])[\x21-\x7e]{0,1023}$/;

export function returnPath(given: unknown): string {
  return typeof given === 'string' && RETURN_TO.test(given) && !given.includes('\\') ? given : '/';
}

/** Logins at the identity provider (admin-api.md 5). The verified email names the operator. */
@Injectable()
export class OidcLogin {
  private readonly logger = new Logger(OidcLogin.name);

  constructor(
    private readonly provider: IdentityProvider,
    private readonly people: People,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {}

  get isConfigured(): boolean {
    return this.provider.isConfigured;
  }

  async begin(
    redirectUri: string,
    from: Pick<OidcAttempt, 'returnTo' | 'former'>,
  ): Promise<{ url: string; attempt: OidcAttempt }> {
    if (!this.isConfigured) throw DomainError.notFound('Identity provider');
    return this.calling(() => this.provider.begin(redirectUri, from));
  }

  /** Who signed in, and when they did so at the provider. Throws DomainError `forbidden` where they may not, `unavailable` for the provider. */
  async finish(
    url: URL,
    attempt: OidcAttempt,
    address: string,
  ): Promise<{ readonly person: Person; readonly authenticatedAt: Date }> {
    const claims = await this.calling(() => this.provider.finish(url, attempt));
    const { adminOidcClaim: demanded } = this.config;
    if (demanded !== null && !holds(claims[demanded[0]], demanded[1]))
      throw new DomainError('forbidden', `The claim ${demanded[0]} does not allow the console`);
    const { email, email_verified: isVerified } = claims;
    if (typeof email !== 'string' || isVerified !== true)
      throw new DomainError('forbidden', 'The identity provider has not verified the email');
    const person = await this.people.findByEmail(email.toLowerCase());
    if (person === null) throw new DomainError('forbidden', 'The email belongs to no active operator');
    const authenticatedAt = new Date(Number(claims['auth_time']) * 1000);
    return { person: await this.withRole(person, claims, address), authenticatedAt };
  }

  /** A role by groups takes effect where it gives nothing new: more takes an operation with a second person. */
  private async withRole(person: Person, claims: Claims, address: string): Promise<Person> {
    const { adminOidcRoles: roles } = this.config;
    if (roles === null) return person;
    const role = roles.find(([group]) => holds(claims['groups'], group))?.[1];
    if (role === undefined) throw new DomainError('forbidden', 'No group of yours allows the console');
    const { operatorId } = person;
    if (!(await this.people.lowerRole(person, role, address))) {
      this.logger.warn({
        msg: 'role not raised: it needs a second person',
        operator_id: operatorId,
        role: person.role,
        requested: role,
      });
      return person;
    }
    if (role !== person.role)
      this.logger.log({ msg: 'role set by groups', operator_id: operatorId, role, former: person.role });
    return (await this.people.find(operatorId)) ?? person;
  }

  private async calling<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ProviderUnavailable) {
        this.logger.warn({ msg: 'identity provider unavailable', reason: error.message });
        throw new DomainError('unavailable', 'The identity provider is unavailable', {}, 5);
      }
      if (!(error instanceof ProviderRefused)) throw error;
      this.logger.warn({ msg: 'login refused by the identity provider', err: error.cause ?? error });
      throw new DomainError('forbidden', error.message);
    }
  }
}

/** Whether the claim is the value, or a list with it. */
function holds(claim: unknown, value: string): boolean {
  return Array.isArray(claim)
    ? claim.map(String).includes(value)
    : claim !== undefined && String(claim) === value;
}
