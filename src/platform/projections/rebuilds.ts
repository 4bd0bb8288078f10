import { Inject, Injectable } from '@nestjs/common';
import { Background } from '../background/background-work.js';
import { processConfig, type ProcessConfig } from '../config/config.js';
import { currentOperation, withinOperation } from '../event-store/command-loop.js';
import { ReadModelRebuild } from './read-model-rebuild.js';
import { DueWork } from '../work/due-work.js';
import { WorkItems } from '../work/work-items.js';

const REBUILDING = 'operations.rebuilding';

/** What a worker rebuilds: its change names the operation, as that of a program does. */
interface RequestedRebuild {
  readonly name: string;
}

/**
 * Rebuilds what an operator requests, however long it takes: a worker does it in the background of the service, and a
 * process without a role, which is a program, at once.
 */
@Injectable()
export class Rebuilds {
  @Background()
  readonly work: DueWork<RequestedRebuild>;

  /** Receives what a rebuild in a program waits for. */
  print: (line: string) => void = () => undefined;

  constructor(
    private readonly items: WorkItems,
    private readonly readModels: ReadModelRebuild,
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
        await withinOperation(operation, () => readModels.rebuild(name, { compare: false }));
        return 'done';
      },
    });
  }

  /** The result of a rebuild that is complete; `{}` for one that a worker does. */
  async start(name: string, { compare }: { readonly compare: boolean }): Promise<object> {
    if (this.config.roles.length === 0)
      return this.readModels.rebuild(name, { compare, print: (line) => this.print(line) });
    const operation = currentOperation();
    if (operation === undefined) throw new Error('a rebuild in the background belongs to an operation');
    await this.items.schedule(REBUILDING, [{ key: operation.id, state: { name } }]);
    this.work.wake();
    return {};
  }
}
