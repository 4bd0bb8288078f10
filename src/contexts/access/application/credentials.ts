import { Injectable, Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Claim } from '../../../platform/event-store/command-loop-types.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import {
  issueSecret,
  revokeSecret,
  rollSecret,
  setAddresses,
  type Credential,
  type CredentialKind,
  type NewSecret,
} from '../domain/credential.js';
import { exchangeKey } from '../domain/exchange-key.js';
import { merchant } from '../domain/merchant.js';
import { DIRECTORY_VIEW } from '../views/directory-projection.js';
import { canonicalCidrs } from './allow-lists.js';
import { CredentialSecrets } from './credential-secrets.js';

/** As what they have in common. */
const AGGREGATES: Readonly<Record<CredentialKind, Aggregate<Credential, DomainEvent>>> = {
  api_key: merchant,
  exchange_key: exchangeKey,
};

export interface CredentialChanged {
  /** Whether the directory has the change; false when no worker applied it in time. */
  readonly visible: boolean;
}

export interface IssuedSecret extends CredentialChanged {
  readonly secretId: string;
  readonly secret: string;
}

/** Changes a credential and waits, bounded, until the directory has the change: a printed secret can be used at once. */
@Injectable()
export class Credentials {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly secrets: CredentialSecrets,
    private readonly progress: SubscriptionProgress,
  ) {}

  async change<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    decide: (state: State, at: string) => readonly Event[],
    claims: readonly Claim[] = [],
    metadata: EventMetadata = { actor: 'operator' },
  ): Promise<CredentialChanged> {
    const at = timestamp(this.clock);
    const { position } = await this.loop.execute(aggregate, id, (state) => decide(state, at), {
      metadata,
      claims,
    });
    return { visible: await this.progress.waitFor(DIRECTORY_VIEW, position) };
  }

  async issue<State, Event extends DomainEvent>(
    kind: CredentialKind,
    aggregate: Aggregate<State, Event>,
    id: string,
    decide: (state: State, at: string, secret: NewSecret) => readonly Event[],
    secretId: string | null = null,
    cause?: EventMetadata,
  ): Promise<IssuedSecret> {
    const { secret, ...sealed } =
      secretId === null ? this.secrets.generate(kind, id) : await this.secrets.obtain(kind, id, secretId);
    const { visible } = await this.change(aggregate, id, (state, at) => decide(state, at, sealed), [], cause);
    return { secretId: sealed.secretId, secret, visible };
  }
}

/** What is known of a secret before it is issued. */
export interface SecretOrder {
  /** The same id gives the same secret again; null: a new one. */
  readonly secretId?: string | null;
  readonly name?: string | null;
  readonly expiresAt?: string | null;
}

/** A change of an aggregate of this context; each is a subclass. Throws what its decision throws. */
export class AccessChange<State, Event extends DomainEvent> extends Command<CredentialChanged> {
  constructor(
    readonly aggregate: Aggregate<State, Event>,
    readonly id: string,
    readonly decide: (state: State, at: string) => readonly Event[],
    /** Absent: an operator. */
    readonly cause?: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(AccessChange)
export class AccessChangeHandler implements ICommandHandler<AccessChange<unknown, DomainEvent>> {
  constructor(private readonly credentials: Credentials) {}

  execute({ aggregate, id, decide, cause }: AccessChange<unknown, DomainEvent>): Promise<CredentialChanged> {
    return this.credentials.change(aggregate, id, decide, [], cause);
  }
}

/** A change that issues a secret: the same `secretId` gives the same secret again; null: a new one. */
class SecretChange extends Command<IssuedSecret> {
  constructor(
    readonly kind: CredentialKind,
    readonly id: string,
    readonly decide: (state: Credential, at: string, secret: NewSecret) => readonly DomainEvent[],
    readonly secretId: string | null,
    /** Absent: an operator. */
    readonly cause?: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(SecretChange)
export class SecretChangeHandler implements ICommandHandler<SecretChange> {
  constructor(private readonly credentials: Credentials) {}

  execute({ kind, id, decide, secretId, cause }: SecretChange): Promise<IssuedSecret> {
    return this.credentials.issue(kind, AGGREGATES[kind], id, decide, secretId, cause);
  }
}

/** A second secret alongside the one in use, for a rotation. Throws `not_found`, or `invalid_transition` beyond two. */
export class IssueSecret extends SecretChange {
  constructor(kind: CredentialKind, credentialId: string, order: SecretOrder = {}, cause?: EventMetadata) {
    const { secretId = null, ...facts } = order;
    super(
      kind,
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
export class RollSecret extends SecretChange {
  constructor(
    kind: CredentialKind,
    id: string,
    secretId: string,
    newSecretId: string,
    overlapSeconds: number,
  ) {
    super(
      kind,
      id,
      (state, at, secret) => rollSecret(kind, { secretId, secret, overlapSeconds, at }, state),
      newSecretId,
    );
  }
}

/** Throws `not_found`, or `invalid_transition` for the last secret of a kind that keeps one. */
export class RevokeSecret extends AccessChange<Credential, DomainEvent> {
  constructor(kind: CredentialKind, id: string, secretId: string, cause?: EventMetadata) {
    super(AGGREGATES[kind], id, (state, at) => revokeSecret(kind, { secretId, at }, state), cause);
  }
}

/**
 * Calls from outside these addresses and CIDR ranges get 403; none: anywhere.
 * Throws `not_found`, `invalid_transition` for a revoked key, or `validation_failed` on `cidrs`.
 */
export class SetAddresses extends AccessChange<Credential, DomainEvent> {
  constructor(kind: CredentialKind, credentialId: string, cidrs: readonly string[]) {
    super(AGGREGATES[kind], credentialId, (state, at) =>
      setAddresses(kind, { cidrs: canonicalCidrs(cidrs), at }, state),
    );
  }
}
