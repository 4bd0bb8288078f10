/** One-time links with which a person enrols a passkey (admin-api.md 3). */
export abstract class LoginLinks {
  /** Null where persons sign in with OpenID Connect. */
  abstract issue(operatorId: string): Promise<string | null>;
}
