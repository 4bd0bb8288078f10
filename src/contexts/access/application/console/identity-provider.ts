/** What a login at the identity provider needs to come back to; in a sealed cookie until then. */
export interface OidcAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path of the console. */
  readonly returnTo: string;
}

/** Claims of the person who signed in, from the ID token and the endpoint for user information. */
export type Claims = Readonly<Record<string, unknown>>;

/** An OpenID Connect provider: code flow with PKCE, state and nonce. */
export abstract class IdentityProvider {
  abstract readonly isConfigured: boolean;
  /** Where the browser goes. Throws {@link ProviderUnavailable}. */
  abstract begin(redirectUri: string, returnTo: string): Promise<{ url: string; attempt: OidcAttempt }>;
  /** `url`: the whole address that the provider sent the browser back to. Throws {@link ProviderRefused}, {@link ProviderUnavailable}. */
  abstract finish(url: URL, attempt: OidcAttempt): Promise<Claims>;
}
