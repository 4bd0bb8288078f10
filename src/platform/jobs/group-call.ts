import { setTimeout as sleep } from 'node:timers/promises';

interface Waiting<In, Out> {
  readonly input: In;
  readonly resolve: (output: Out) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_BATCH = 500;
const LOAD = 4;

/** Batches calls that arrive while a batch is in flight. `run` returns results in the order of its inputs. */
export class GroupCall<In, Out> {
  private waiting: Waiting<In, Out>[] = [];
  private scheduled = false;
  private lastSize = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly run: (inputs: readonly In[]) => Promise<readonly Out[]>,
    private readonly options: {
      readonly max?: number;
      /** The milliseconds for which a batch waits for more calls under load. */
      readonly gatherMs?: number;
      /** Returns a batch's filter, which accepts the first input. Rejected inputs wait for the next batch. */
      readonly group?: () => (input: In) => boolean;
    } = {},
  ) {}

  call(input: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, resolve, reject });
      this.schedule();
    });
  }

  /** Runs `work` while no call is in flight. */
  between<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  async settled(): Promise<void> {
    for (let last: Promise<unknown> | null = null; last !== this.last; await last) last = this.last;
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    void this.between(() => this.flush());
  }

  private async flush(): Promise<void> {
    const { max = MAX_BATCH, gatherMs = 0, group = () => () => true } = this.options;
    if (gatherMs > 0 && this.lastSize >= LOAD && this.waiting.length < max) await sleep(gatherMs);
    this.scheduled = false;
    const joins = group();
    const batch: Waiting<In, Out>[] = [];
    const rest: Waiting<In, Out>[] = [];
    for (const each of this.waiting) (batch.length < max && joins(each.input) ? batch : rest).push(each);
    this.waiting = rest;
    this.lastSize = batch.length;
    if (this.waiting.length > 0) this.schedule();
    try {
      const outputs = await this.run(batch.map((each) => each.input));
      batch.forEach((each, index) => each.resolve(outputs[index]!));
    } catch (error) {
      for (const each of batch) each.reject(error);
    }
  }
}

/** Wakes waiters after a change, also after a change between their check and their wait. */
export class ChangeNotifier {
  /** The number of changes, which a waiter reads before its check. */
  version = 0;
  private readonly waiting = new Set<() => void>();

  notify(): void {
    this.version += 1;
    for (const wake of [...this.waiting]) wake();
  }

  /** Resolves after a change since `version`, after `ms` milliseconds, or when `abort` aborts. */
  async changedSince(version: number, ms: number, abort?: AbortSignal): Promise<void> {
    if (this.version !== version || abort?.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        abort?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      timer.unref();
      this.waiting.add(wake);
      abort?.addEventListener('abort', wake);
    });
  }
}
