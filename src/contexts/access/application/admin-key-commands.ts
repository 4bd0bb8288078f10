import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import {
  adminKey,
  issueAdminKey,
  knownAdminKey,
  readScopes,
  rollAdminKey,
  usableAdminKey,
  type AdminKeyTerms,
} from '../domain/admin-key.js';
import { knownOperator, operatorPerson } from '../domain/operator.js';
import { ROLE_SCOPES } from '../domain/roles.js';
import { rolledUntil } from '../domain/validity.js';
import { canonicalCidrs } from './allow-lists.js';
import { CredentialSecrets } from './credential-secrets.js';
import { AccessCommands } from './access-commands.js';

interface IssuedAdminKey {
  readonly secret: string;
}

export type AdminKeyOrder = Omit<AdminKeyTerms, 'scopes'> & {
  /** Null: those of the person's role now. */
  readonly scopes: readonly string[] | null;
};

/**
 * A key of an active person; the same `keyId` gives the same secret again. Throws `not_found`, `forbidden` for a scope that
 * the person's role lacks, `invalid_transition` for a disabled person, or `validation_failed`.
 */
export class IssueAdminKey extends Command<IssuedAdminKey> {
  constructor(
    readonly keyId: string,
    readonly order: AdminKeyOrder,
    readonly isPending: boolean,
  ) {
    super();
  }
}

@CommandHandler(IssueAdminKey)
export class IssueAdminKeyHandler implements ICommandHandler<IssueAdminKey> {
  constructor(
    private readonly access: AccessCommands,
    private readonly loop: CommandLoop,
    private readonly secrets: CredentialSecrets,
  ) {}

  async execute({ keyId, order, isPending }: IssueAdminKey): Promise<IssuedAdminKey> {
    const { status, role } = knownOperator((await this.loop.load(operatorPerson, order.operatorId)).state);
    if (status === 'disabled') throw new DomainError('invalid_transition', 'The operator is disabled');
    const scopes = order.scopes === null ? ROLE_SCOPES[role] : readScopes(order.scopes);
    const lacking = scopes.find((scope) => !ROLE_SCOPES[role].some((each) => each === scope));
    if (lacking !== undefined) throw new DomainError('forbidden', `The scope ${lacking} is missing`);
    const { secret, hash: secretHash } = await this.secrets.obtainAdmin(keyId);
    const key = { ...order, credentialId: keyId, addresses: canonicalCidrs(order.addresses), scopes };
    await this.access.change(adminKey, keyId, (state, at) =>
      issueAdminKey({ ...key, secretHash, isPending, replaces: null, at }, state),
    );
    return { secret };
  }
}

/**
 * `newKeyId` with the same person, scopes and expiry replaces `keyId`, which ends after the overlap. Throws `not_found`, or
 * `invalid_transition` for a key that is not active.
 */
export class RollAdminKey extends Command<IssuedAdminKey> {
  constructor(
    readonly keyId: string,
    readonly newKeyId: string,
    readonly overlapSeconds: number,
  ) {
    super();
  }
}

@CommandHandler(RollAdminKey)
export class RollAdminKeyHandler implements ICommandHandler<RollAdminKey> {
  constructor(
    private readonly access: AccessCommands,
    private readonly loop: CommandLoop,
    private readonly secrets: CredentialSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ keyId, newKeyId, overlapSeconds }: RollAdminKey): Promise<IssuedAdminKey> {
    const { state } = await this.loop.load(adminKey, keyId);
    const { issued, replacedBy } = knownAdminKey(state);
    if (replacedBy !== newKeyId) usableAdminKey(state, timestamp(this.clock));
    const { secret, hash: secretHash } = await this.secrets.obtainAdmin(newKeyId);
    const { operator_id: operatorId, expires_at: expiresAt, name, scopes, merchants, addresses } = issued;
    const key = { operatorId, name, scopes, merchants, addresses, expiresAt, secretHash };
    // The new one first: a retry after a crash in between finds it, and replaces the old one.
    await this.access.change(adminKey, newKeyId, (before, at) =>
      issueAdminKey({ ...key, credentialId: newKeyId, isPending: false, replaces: keyId, at }, before),
    );
    await this.access.change(adminKey, keyId, (before, at) => {
      const until = rolledUntil(at, overlapSeconds, expiresAt);
      return rollAdminKey({ replacedBy: newKeyId, until, at }, before);
    });
    return { secret };
  }
}
