import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { issueSecret, revokeSecret, type CredentialKind } from '../domain/credential.js';
import { AccessCommands, AGGREGATES, type IssuedSecret, type SecretOrder } from './access-commands.js';

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

/** Throws `not_found`, or `invalid_transition` for the last secret of a kind that keeps one. */
export class RevokeSecret extends Command<void> {
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

  execute({ kind, id, secretId, cause }: RevokeSecret): Promise<void> {
    return this.access.change(
      AGGREGATES[kind],
      id,
      (state, at) => revokeSecret(kind, { secretId, at }, state),
      [],
      cause,
    );
  }
}
