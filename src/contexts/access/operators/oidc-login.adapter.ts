import { Inject, Injectable, Logger } from '@nestjs/common';
import * as openid from 'openid-client';
import { DomainError } from '../../../kernel/domain-error.js';
import { accessConfig, type AccessConfig } from '../access.config.js';
import { People } from '../console/people.service.js';
import type { Operator } from './operator.js';

const TIMEOUT_SECONDS = 10;
/** The maximum age of the login at the provider (admin-api.md 5). */
const MAX_AGE_SECONDS = 300;

/** The state of a login at the identity provider, in a sealed cookie. */
export interface OidcAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly returnTo: string;
  /** The id of the browser's former session, or null. The provider's redirect lacks the session cookie. */
  readonly former: string | null;
}

/** The claims of the ID token and of the UserInfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

/** A path of the console. It must not begin with `//` or `/\`, after which browsers expect a host. */
const RETURN_TO = /^\/(?![/\\])[\x21-\x7e]{0,1023}$/;

export function returnPath(given: unknown): string {
  return typeof given === 'string' && RETURN_TO.test(given) && !given.includes('\\') ? given : '/';
}

/** The OpenID Connect login. The verified email identifies the operator (admin-api.md 5). */
@Injectable()
export class OidcLogin {
  private readonly logger = new Logger(OidcLogin.name);
  private discovered: Promise<openid.Configuration> | null = null;

  constructor(
    private readonly people: People,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {}

  get isConfigured(): boolean {
    return this.config.adminOidcIssuer !== null;
  }

  /** Returns the login URL of the provider. A `former` session forces a new login at the provider. */
  async begin(redirectUri: string, from: Pick<OidcAttempt, 'returnTo' | 'former'>) {
    const provider = await this.provider();
    const attempt = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
      ...from,
    };
    const url = openid.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      max_age: String(MAX_AGE_SECONDS),
      ...(from.former !== null && { prompt: 'login' }),
    });
    return { url: url.href, attempt };
  }

  /** Returns the person and the login time at the provider. Throws `forbidden` or `unavailable`. */
  async finish(url: URL, attempt: OidcAttempt, address: string) {
    const claims = await this.readClaims(url, attempt).catch((error: unknown) => {
      throw this.toDomainError(error);
    });
    const { adminOidcClaim: demanded } = this.config;
    if (demanded !== null && !holds(claims[demanded[0]], demanded[1]))
      throw new DomainError('forbidden', `The claim ${demanded[0]} does not grant access to the console`);
    const { email, email_verified: isVerified } = claims;
    if (typeof email !== 'string' || isVerified !== true)
      throw new DomainError('forbidden', 'The identity provider has not verified the email');
    const person = await this.people.findByEmail(email.toLowerCase());
    if (person === null) throw new DomainError('forbidden', 'The email belongs to no active operator');
    const authenticatedAt = new Date(Number(claims['auth_time']) * 1000);
    return { person: await this.withRole(person, claims, address), authenticatedAt };
  }

  /** Applies the role of the person's groups, unless it adds scopes, which requires a second person. */
  private async withRole(person: Operator, claims: Claims, address: string): Promise<Operator> {
    const { adminOidcRoles: roles } = this.config;
    if (roles === null) return person;
    const role = roles.find(([group]) => holds(claims['groups'], group))?.[1];
    if (role === undefined)
      throw new DomainError('forbidden', 'None of your groups grants access to the console');
    const { operator_id, role: former } = person;
    if (!(await this.people.lowerRole(person, role, address))) {
      const msg = 'role not raised: it needs a second person';
      this.logger.warn({ msg, operator_id, role: former, requested: role });
      return person;
    }
    if (role !== former) this.logger.log({ msg: 'role set by groups', operator_id, role, former });
    return (await this.people.find(operator_id)) ?? person;
  }

  /** Exchanges the code in `url` for claims, whose `auth_time` is within the last 5 minutes. */
  protected async readClaims(url: URL, { state, nonce, verifier }: OidcAttempt): Promise<Claims> {
    const provider = await this.provider();
    const tokens = await openid.authorizationCodeGrant(provider, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
      maxAge: MAX_AGE_SECONDS,
    });
    const claims: Claims = { ...tokens.claims() };
    if (this.isComplete(claims) || provider.serverMetadata().userinfo_endpoint === undefined) return claims;
    const info = await openid.fetchUserInfo(provider, tokens.access_token, String(claims['sub']));
    return { ...info, ...claims };
  }

  private isComplete(claims: Claims): boolean {
    const demanded = this.config.adminOidcClaim;
    return ['email', 'email_verified', 'groups', ...(demanded === null ? [] : [demanded[0]])].every(
      (name) => name in claims,
    );
  }

  private provider(): Promise<openid.Configuration> {
    const { adminOidcIssuer, adminOidcClientId, adminOidcClientSecret, mode } = this.config;
    if (adminOidcIssuer === null || adminOidcClientId === null)
      throw DomainError.notFound('Identity provider');
    const isPlain = mode === 'sandbox' && adminOidcIssuer.startsWith('http:');
    return (this.discovered ??= openid
      .discovery(
        new URL(adminOidcIssuer),
        adminOidcClientId,
        {},
        adminOidcClientSecret === null ? openid.None() : openid.ClientSecretBasic(adminOidcClientSecret),
        {
          timeout: TIMEOUT_SECONDS,
          // Only the sandbox accepts an issuer without TLS. The package compares the function by identity.
          execute: isPlain ? [openid.allowInsecureRequests] : [],
        },
      )
      .catch((error: unknown) => {
        this.discovered = null;
        throw this.unavailable(error);
      }));
  }

  /** Maps refusals and failed verifications to `forbidden`, and transient errors to `unavailable`. */
  private toDomainError(error: unknown): DomainError {
    const { code } = error as { readonly code?: string };
    if (error instanceof DomainError) return error;
    if (error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT')
      return this.unavailable(error);
    this.logger.warn({ msg: 'login refused by the identity provider', err: error });
    return new DomainError('forbidden', 'The identity provider did not confirm the login');
  }

  private unavailable(error: unknown): DomainError {
    this.logger.warn({ msg: 'identity provider unavailable', reason: (error as Error).message });
    return new DomainError('unavailable', 'The identity provider is unavailable', {}, 5);
  }
}

function holds(claim: unknown, value: string): boolean {
  return Array.isArray(claim)
    ? claim.map(String).includes(value)
    : claim !== undefined && String(claim) === value;
}
