import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  issueSecret,
  revokeSecret,
  rollSecret,
  setAddresses,
  type CredentialKind,
} from '../domain/credential.js';
import {
  AccessCommands,
  AGGREGATES,
  type CredentialChanged,
  type IssuedSecret,
  type SecretOrder,
} from './access-commands.js';
import { canonicalCidrs } from './allow-lists.js';

/** A second secret alongside the one in use, for a rotation. Throws `not_found`, or `invalid_transition` beyond two. */
export class IssueSecret extends Command<IssuedSecret> {
  constructor(
    readonly kind: CredentialKind,
    readonly credentialId: string,
    readonly order: SecretOrder = {},
    readonly cause?: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(IssueSecret)
export class IssueSecretHandler implements ICommandHandler<IssueSecret> {
  constructor(private readonly access: AccessCommands) {}

  execute({ kind, credentialId, order, cause }: IssueSecret): Promise<IssuedSecret> {
    const { secretId = null, ...facts } = order;
    return this.access.issue(
      kind,
      AGGREGATES[kind],
      credentialId,
      (state, at, secret) => issueSecret(kind, { secret: { ...secret, ...facts }, at }, state),
      secretId,
      cause,
    );
  }
}

/**
 * `newSecretId` with the name and expiry of `secretId` replaces that, which ends after the overlap. Throws `not_found`, or
 * `invalid_transition` for one that is not active, and beyond two valid ones.
 */
export class RollSecret extends Command<IssuedSecret> {
  constructor(
    readonly kind: CredentialKind,
    readonly id: string,
    readonly secretId: string,
    readonly newSecretId: string,
    readonly overlapSeconds: number,
  ) {
    super();
  }
}

@CommandHandler(RollSecret)
export class RollSecretHandler implements ICommandHandler<RollSecret> {
  constructor(private readonly access: AccessCommands) {}

  execute({ kind, id, secretId, newSecretId, overlapSeconds }: RollSecret): Promise<IssuedSecret> {
    return this.access.issue(
      kind,
      AGGREGATES[kind],
      id,
      (state, at, secret) => rollSecret(kind, { secretId, secret, overlapSeconds, at }, state),
      newSecretId,
    );
  }
}

/** Throws `not_found`, or `invalid_transition` for the last secret of a kind that keeps one. */
export class RevokeSecret extends Command<CredentialChanged> {
  constructor(
    readonly kind: CredentialKind,
    readonly id: string,
    readonly secretId: string,
    readonly cause?: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(RevokeSecret)
export class RevokeSecretHandler implements ICommandHandler<RevokeSecret> {
  constructor(private readonly access: AccessCommands) {}

  execute({ kind, id, secretId, cause }: RevokeSecret): Promise<CredentialChanged> {
    return this.access.change(
      AGGREGATES[kind],
      id,
      (state, at) => revokeSecret(kind, { secretId, at }, state),
      [],
      cause,
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
  constructor(private readonly access: AccessCommands) {}

  execute({ kind, credentialId, cidrs }: SetAddresses): Promise<CredentialChanged> {
    return this.access.change(AGGREGATES[kind], credentialId, (state, at) =>
      setAddresses(kind, { cidrs: canonicalCidrs(cidrs), at }, state),
    );
  }
}
