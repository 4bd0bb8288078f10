import { Injectable } from '@nestjs/common';
import { Background } from '../background/background-work.js';
import { currentOperation, withinOperation } from '../event-store/current-operation.js';
import { ReadModelRebuild, type Rebuilt } from './read-model-rebuild.js';
import { DueWork } from '../work/due-work.js';
import { WorkItems } from '../work/work-items.js';

/** Starts the rebuild of a read model: in the background of the service, at once in a program. */
export abstract class Rebuilds {
  /** The result of a rebuild that is complete; `{}` for one that a worker does. */
  abstract start(name: string, options: { readonly compare: boolean }): Promise<object>;
}

const REBUILDING = 'operations.rebuilding';

/** What a worker rebuilds: its change names the operation, as that of a program does. */
interface RequestedRebuild {
  readonly name: string;
}

/** A worker rebuilds what an operator requested, however long it takes. */
@Injectable()
export class ScheduledRebuilds extends Rebuilds {
  @Background()
  readonly work: DueWork<RequestedRebuild>;

  constructor(
    private readonly items: WorkItems,
    readModels: ReadModelRebuild,
  ) {
    super();
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

  async start(name: string): Promise<object> {
    const operation = currentOperation();
    if (operation === undefined) throw new Error('a rebuild in the background belongs to an operation');
    await this.items.schedule(REBUILDING, [{ key: operation.id, state: { name } }]);
    this.work.wake();
    return {};
  }
}

/** Of a program: the rebuild is complete when `start` resolves. */
@Injectable()
export class ImmediateRebuilds extends Rebuilds {
  /** Receives what a rebuild waits for. */
  print: (line: string) => void = () => undefined;

  constructor(private readonly readModels: ReadModelRebuild) {
    super();
  }

  start(name: string, { compare }: { readonly compare: boolean }): Promise<Rebuilt> {
    return this.readModels.rebuild(name, { compare, print: (line) => this.print(line) });
  }
}
