import { Inject, Injectable } from '@nestjs/common';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ViewProgress } from '../../../platform/projections/view-progress.js';
import type { CredentialKind, NewSecret } from '../domain/credential.js';
import { exchangeKey } from '../domain/exchange-key.js';
import { merchant } from '../domain/merchant.js';
import { DIRECTORY_VIEW } from '../views/directory.js';
import { CredentialSecrets } from './credential-secrets.js';

const AGGREGATES = { api_key: merchant, exchange_key: exchangeKey };
type Aggregates = typeof AGGREGATES;
type StateOf<Kind extends CredentialKind> = Aggregates[Kind]['initial'];
type EventOf<Kind extends CredentialKind> = Parameters<Aggregates[Kind]['evolve']>[1];

/** What every command on a credential gives. */
export interface CredentialChanged {
  /** Whether the directory shows the change; false when no worker brought it there in time, though it will. */
  readonly visible: boolean;
}

/** `secret` is shown to the operator once; nothing in the service can show it again. */
export interface IssuedSecret extends CredentialChanged {
  readonly secretId: string;
  readonly secret: string;
}

/** Changes a credential and waits, bounded, until the directory shows it: a secret can be used as soon as it is shown. */
@Injectable()
export class Credentials {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly secrets: CredentialSecrets,
    private readonly progress: ViewProgress,
  ) {}

  async change<Kind extends CredentialKind>(
    kind: Kind,
    id: string,
    decide: (state: StateOf<Kind>, at: string) => readonly EventOf<Kind>[],
  ): Promise<CredentialChanged> {
    const aggregate = AGGREGATES[kind] as unknown as Aggregate<StateOf<Kind>, EventOf<Kind> & DomainEvent>;
    const at = timestamp(this.clock);
    const { position } = await this.loop.execute(
      aggregate,
      id,
      (state) => decide(state, at) as readonly (EventOf<Kind> & DomainEvent)[],
      { metadata: { actor: 'operator' } },
    );
    return { visible: await this.progress.reached(DIRECTORY_VIEW, position) };
  }

  /** The same with a new secret. */
  async issue<Kind extends CredentialKind>(
    kind: Kind,
    id: string,
    decide: (state: StateOf<Kind>, at: string, secret: NewSecret) => readonly EventOf<Kind>[],
  ): Promise<IssuedSecret> {
    const { secret, ...sealed } = this.secrets.generate(kind, id);
    const { visible } = await this.change(kind, id, (state, at) => decide(state, at, sealed));
    return { secretId: sealed.secretId, secret, visible };
  }
}
