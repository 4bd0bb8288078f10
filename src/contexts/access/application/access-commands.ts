import { Injectable, Inject } from '@nestjs/common';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Claim } from '../../../platform/event-store/command-loop-types.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import type { Credential, CredentialKind, NewSecret } from '../domain/credential.js';
import { exchangeKey } from '../domain/exchange-key.js';
import { merchant } from '../domain/merchant.js';
import { DIRECTORY_VIEW } from '../views/directory-projection.js';
import { CredentialSecrets } from './credential-secrets.js';

/** Credentials as what they have in common. */
export const AGGREGATES: Readonly<Record<CredentialKind, Aggregate<Credential, DomainEvent>>> = {
  api_key: merchant,
  exchange_key: exchangeKey,
};

export interface IssuedSecret {
  readonly secretId: string;
  readonly secret: string;
}

/** Decides on one aggregate, then waits, for a bounded time, until the directory has the change: a printed secret can be used at once. */
@Injectable()
export class AccessCommands {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly secrets: CredentialSecrets,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** The state by the events, without any delay. */
  async load<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
  ): Promise<State> {
    return (await this.loop.load(aggregate, id)).state;
  }

  async change<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    id: string,
    decide: (state: State, at: string) => readonly Event[],
    claims: readonly Claim[] = [],
    metadata: EventMetadata = { actor: 'operator' },
  ): Promise<void> {
    const at = timestamp(this.clock);
    const { position } = await this.loop.execute(aggregate, id, (state) => decide(state, at), {
      metadata,
      claims,
    });
    await this.progress.waitFor(DIRECTORY_VIEW, position);
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
    await this.change(aggregate, id, (state, at) => decide(state, at, sealed), [], cause);
    return { secretId: sealed.secretId, secret };
  }
}

/** What is known of a secret before it is issued. */
export interface SecretOrder {
  /** The same id gives the same secret again; null: a new one. */
  readonly secretId?: string | null;
  readonly name?: string | null;
  readonly expiresAt?: string | null;
}
