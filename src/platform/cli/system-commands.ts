import { Inject } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { DAY_MS } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/domain-error.js';
import { type ProcessConfig, processConfig, type SealingConfig, sealingConfig } from '../config/config.js';
import { Background } from '../jobs/background-work.js';
import { currentOperation, withinOperation } from '../event-store/command-loop.js';
import { EventCodec } from '../event-store/event-codec.js';
import { PassingTypes } from '../projections/passing-types.js';
import { ReadModelRebuild } from '../projections/read-model-rebuild.js';
import { toMasterKeys } from '../sealing/key-ring.js';
import { FRESH_AFTER_SECONDS, KeyRotation } from '../sealing/key-rotation.js';
import { DueWork } from '../jobs/due-work.js';
import { WorkItems } from '../jobs/work-items.js';
import {
  Operation,
  OperatorCommand,
  type EmptyParameters,
  type OperationHandler,
} from '../operations/operation.js';

const REBUILDING = 'operations.rebuilding';
const SYSTEM = { scope: 'system:write', streams: () => [] } as const;

@Operation({
  ...SYSTEM,
  name: 'projections.rebuild',
  subject: 'projection',
  // A rebuild in a program may take hours.
  takesMs: DAY_MS / 4,
})
export class RebuildProjection extends OperatorCommand<EmptyParameters, object> {}

/** Rebuilds a read model: at once in a program (a process without roles), otherwise later, by a worker. */
@CommandHandler(RebuildProjection)
export class RebuildProjectionHandler implements OperationHandler<RebuildProjection> {
  @Background()
  readonly work: DueWork<{ readonly name: string }>;

  /** Receives the progress of a rebuild in a program. */
  print: (line: string) => void = () => undefined;

  constructor(
    private readonly readModels: ReadModelRebuild,
    private readonly items: WorkItems,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
  ) {
    this.work = new DueWork(items, {
      kind: REBUILDING,
      everyMs: 5000,
      batch: 1,
      leaseMs: 60_000,
      keepsLease: true,
      retry: { firstMs: 10_000, maxMs: 600_000 },
      perform: async ({ key: id, state: { name } }) => {
        const operation = { id, expected: new Map<string, null>(), written: [] };
        await withinOperation(operation, () => readModels.rebuild(name));
        return 'done';
      },
    });
  }

  async check({ subjectId }: RebuildProjection): Promise<void> {
    if (!this.readModels.names().includes(subjectId)) throw DomainError.notFound('Projection');
  }

  async execute({ subjectId: name }: RebuildProjection): Promise<object> {
    if (this.config.roles.length === 0) return this.readModels.rebuild(name, (line) => this.print(line));
    const operation = currentOperation();
    if (operation === undefined) throw new Error('a background rebuild must belong to an operation');
    await this.items.schedule(REBUILDING, [{ key: operation.id, state: { name } }]);
    this.work.wake();
    return {};
  }
}

@Operation({ ...SYSTEM, name: 'event_types.let_pass', subject: 'event_type', secondPerson: 'before' })
export class LetEventTypePass extends OperatorCommand {}

@CommandHandler(LetEventTypePass)
class LetEventTypePassHandler implements OperationHandler<LetEventTypePass> {
  constructor(
    private readonly passing: PassingTypes,
    private readonly codec: EventCodec,
  ) {}

  async check({ subjectId: type }: LetEventTypePass): Promise<void> {
    if (this.codec.knows(type))
      throw new DomainError(
        'invalid_transition',
        `This version can read ${type}, so no subscription waits at an event of this type.`,
      );
  }

  execute({ subjectId, operation }: LetEventTypePass) {
    return this.passing.allow(subjectId, operation!.reason);
  }
}

/** Retires former master keys. The subject is the master key of the process that received the request. */
@Operation({ ...SYSTEM, name: 'master_key.retire_former', subject: 'master_key', secondPerson: 'before' })
export class RetireFormerMasterKey extends OperatorCommand<
  EmptyParameters,
  { readonly retired: readonly string[] }
> {}

@CommandHandler(RetireFormerMasterKey)
class RetireFormerMasterKeyHandler implements OperationHandler<RetireFormerMasterKey> {
  constructor(
    private readonly rotation: KeyRotation,
    @Inject(sealingConfig.KEY) private readonly config: SealingConfig,
  ) {}

  async execute({ operation, subjectId }: RetireFormerMasterKey) {
    const { current, former } = toMasterKeys(this.config);
    // This process has an older or a newer MASTER_KEY than the approved one.
    const wrong = `MASTER_KEY of this process is ${current.id}, not ${subjectId}`;
    if (current.id !== subjectId) throw new DomainError('invalid_transition', wrong);
    return { retired: await this.rotation.retireFormer({ current, former }, operation!.id) };
  }
}

@Operation({ ...SYSTEM, name: 'keys.create', subject: 'master_key' })
export class CreateFreshKey extends OperatorCommand<
  EmptyParameters,
  { readonly key_id: string; readonly seals_in_seconds: number }
> {}

@CommandHandler(CreateFreshKey)
class CreateFreshKeyHandler implements OperationHandler<CreateFreshKey> {
  constructor(
    private readonly rotation: KeyRotation,
    @Inject(sealingConfig.KEY) private readonly config: SealingConfig,
  ) {}

  async execute({ operation }: CreateFreshKey) {
    return {
      key_id: await this.rotation.addFreshKey(toMasterKeys(this.config), operation!.id),
      seals_in_seconds: FRESH_AFTER_SECONDS,
    };
  }
}

/** The handlers of operations on the platform (admin-api.md 3, `/system`). */
export const SYSTEM_HANDLERS = [
  RebuildProjectionHandler,
  LetEventTypePassHandler,
  RetireFormerMasterKeyHandler,
  CreateFreshKeyHandler,
];
