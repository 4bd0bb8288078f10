import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { issueSecret, revokeSecret, setAddresses, type CredentialKind } from '../domain/credential.js';
import { Credentials, type CredentialChanged, type IssuedSecret } from './credentials.js';
import { canonicalCidrs } from './ip-allow-list.js';

/** A second secret alongside the one in use, for a rotation. Throws `not_found`, or `invalid_transition` beyond two. */
export class IssueSecret extends Command<IssuedSecret> {
  constructor(
    readonly kind: CredentialKind,
    readonly credentialId: string,
  ) {
    super();
  }
}

@CommandHandler(IssueSecret)
export class IssueSecretHandler implements ICommandHandler<IssueSecret> {
  constructor(private readonly credentials: Credentials) {}

  execute({ kind, credentialId }: IssueSecret): Promise<IssuedSecret> {
    return this.credentials.issue(kind, credentialId, (state, at, secret) =>
      issueSecret(kind, { secret, at }, state),
    );
  }
}

/** Signatures made with this secret are refused from now on. Throws `not_found`, `invalid_transition` for one that stays. */
export class RevokeSecret extends Command<CredentialChanged> {
  constructor(
    readonly kind: CredentialKind,
    readonly credentialId: string,
    readonly secretId: string,
  ) {
    super();
  }
}

@CommandHandler(RevokeSecret)
export class RevokeSecretHandler implements ICommandHandler<RevokeSecret> {
  constructor(private readonly credentials: Credentials) {}

  execute({ kind, credentialId, secretId }: RevokeSecret): Promise<CredentialChanged> {
    return this.credentials.change(kind, credentialId, (state, at) =>
      revokeSecret(kind, { secretId, at }, state),
    );
  }
}

/**
 * Calls from outside these addresses and CIDR ranges get 403; none: anywhere.
 * Throws `not_found`, `invalid_transition` for a revoked key, or `validation_failed` on `cidrs`.
 */
export class SetAddresses extends Command<CredentialChanged> {
  constructor(
    readonly kind: CredentialKind,
    readonly credentialId: string,
    readonly cidrs: readonly string[],
  ) {
    super();
  }
}

@CommandHandler(SetAddresses)
export class SetAddressesHandler implements ICommandHandler<SetAddresses> {
  constructor(private readonly credentials: Credentials) {}

  async execute({ kind, credentialId, cidrs: given }: SetAddresses): Promise<CredentialChanged> {
    const cidrs = canonicalCidrs(given);
    return this.credentials.change(kind, credentialId, (state, at) =>
      setAddresses(kind, { cidrs, at }, state),
    );
  }
}
